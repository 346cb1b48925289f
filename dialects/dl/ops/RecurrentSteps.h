// What the time loops of a recurrent layer and of its gradient are made of:
// gates as slices, [N,H] arithmetic, activations, and steps that do not count.

#ifndef DLC_DIALECTS_DL_OPS_RECURRENTSTEPS_H
#define DLC_DIALECTS_DL_OPS_RECURRENTSTEPS_H

#include "dialects/dl/LinalgLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace dlc::dl {

/// An activation function by its ONNX name; null when there is none such.
mlir::Value activate(ScalarMath &m, llvm::StringRef name, double alpha, double beta, mlir::Value x);
/// Its derivative at x.
mlir::Value activateDerivative(ScalarMath &m, llvm::StringRef name, double alpha, double beta,
                               mlir::Value x);

template <typename Op> class RecurrentSteps {
protected:
  using Value = mlir::Value;
  using ValueRange = mlir::ValueRange;
  using OpFoldResult = mlir::OpFoldResult;
  using OpBuilder = mlir::OpBuilder;
  using Location = mlir::Location;
  using AffineMap = mlir::AffineMap;
  using Kinds = llvm::SmallVector<mlir::utils::IteratorType>;

  /// `sequence` is a dl value of the shape [T,N,H].
  RecurrentSteps(Op op, LinalgLowering &l, Value sequence)
      : op(op), l(l), b(l.b), loc(l.loc), element(l.element(op.getProjected())),
        compute(computeType(element)), steps(l.dimValue(sequence, 0)), batch(l.dim(sequence, 1)),
        hidden(l.dim(sequence, 2)) {}

  llvm::LogicalResult checkActivations() {
    OpBuilder::InsertionGuard guard(b);
    ScalarMath m{b, loc, false};
    Value probe = m.constant(compute, 0);
    for (mlir::Attribute name : op.getActivations())
      if (!activate(m, mlir::cast<mlir::StringAttr>(name).getValue(), 1, 0, probe))
        return op.emitOpError("unsupported: the activation ") << name;
    return mlir::success();
  }

  llvm::SmallVector<OpFoldResult> stateSizes() { return {batch, hidden}; }
  Kinds parallel2() { return Kinds(2, mlir::utils::IteratorType::parallel); }
  AffineMap map2(llvm::ArrayRef<mlir::AffineExpr> exprs) {
    return AffineMap::get(2, 0, exprs, b.getContext());
  }
  AffineMap map3(llvm::ArrayRef<mlir::AffineExpr> exprs) {
    return AffineMap::get(3, 0, exprs, b.getContext());
  }
  mlir::AffineExpr d(unsigned i) { return b.getAffineDimExpr(i); }

  /// A state [N,H] in compute precision.
  Value widen(Value state) {
    Value stored = l.operand(state);
    if (mlir::cast<mlir::RankedTensorType>(stored.getType()).getElementType() == compute)
      return stored;
    return pointwise({stored}, {element}, [&](ScalarMath &, ValueRange x) { return x[0]; });
  }

  /// f over [N,H] tensors; `elements` gives each input's dl type (null: compute).
  Value pointwise(ValueRange inputs, llvm::ArrayRef<mlir::Type> elements,
                  llvm::function_ref<Value(ScalarMath &, ValueRange)> f) {
    AffineMap identity = map2({d(0), d(1)});
    llvm::SmallVector<AffineMap> maps(inputs.size() + 1, identity);
    return l.generic(inputs, l.empty(stateSizes(), compute), maps, parallel2(),
                     [&](OpBuilder &at, Location where, ValueRange args) {
                       ScalarMath m{at, where, false};
                       llvm::SmallVector<Value> x;
                       for (size_t i = 0; i < inputs.size(); ++i)
                         x.push_back(i < elements.size() && elements[i]
                                         ? toCompute(at, where, args[i], elements[i])
                                         : args[i]);
                       return f(m, x);
                     });
  }

  OpFoldResult scaled(int64_t gate) {
    if (auto size = mlir::getConstantIntValue(hidden))
      return b.getIndexAttr(gate * *size);
    return mlir::arith::MulIOp::create(b, loc, l.asValue(hidden), l.index(gate)).getResult();
  }

  /// Rows [gate*H, (gate+1)*H) of a [G*H] or [G*H,H] tensor.
  Value gateSlice(Value tensor, int64_t gate) {
    auto type = mlir::cast<mlir::RankedTensorType>(tensor.getType());
    llvm::SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), sizes = {hidden},
        strides(type.getRank(), b.getIndexAttr(1));
    if (type.getRank() == 2)
      sizes.push_back(hidden);
    offsets[0] = scaled(gate);
    return mlir::tensor::ExtractSliceOp::create(b, loc, tensor, offsets, sizes, strides);
  }

  /// Where gate `gate` of step `time` lies in a [T,N,G*H] tensor ([T,N,H]: gate 0).
  struct Place {
    llvm::SmallVector<OpFoldResult> offsets, sizes, strides;
  };
  Place placeOf(Value time, int64_t gate) {
    return {{time, b.getIndexAttr(0), scaled(gate)},
            {b.getIndexAttr(1), batch, hidden},
            llvm::SmallVector<OpFoldResult>(3, b.getIndexAttr(1))};
  }
  Value gateAt(Value tensor, Value time, int64_t gate) {
    Place place = placeOf(time, gate);
    auto size = [](OpFoldResult v) {
      return mlir::getConstantIntValue(v).value_or(mlir::ShapedType::kDynamic);
    };
    auto type = mlir::RankedTensorType::get(
        {size(batch), size(hidden)},
        mlir::cast<mlir::RankedTensorType>(tensor.getType()).getElementType());
    return mlir::tensor::ExtractSliceOp::create(b, loc, type, tensor, place.offsets, place.sizes,
                                                place.strides);
  }
  /// Rounds an [N,H] value to the element type and writes it there.
  Value insertAt(Value value, Value into, Value time, int64_t gate) {
    mlir::Type stored = storageType(element);
    if (compute != stored) {
      AffineMap identity = map2({d(0), d(1)});
      value = l.generic({value}, l.empty(stateSizes(), stored), {identity, identity}, parallel2(),
                        [&](OpBuilder &at, Location where, ValueRange x) {
                          return toStorage(at, where, x[0], element);
                        });
    }
    Place place = placeOf(time, gate);
    return mlir::tensor::InsertSliceOp::create(b, loc, value, into, place.offsets, place.sizes,
                                               place.strides);
  }

  /// A stored vector [H] as rows of [N,H], in compute precision.
  Value spread(Value vector) {
    return l.generic({vector}, l.empty(stateSizes(), compute), {map2({d(1)}), map2({d(0), d(1)})},
                     parallel2(), [&](OpBuilder &at, Location where, ValueRange x) {
                       return toCompute(at, where, x[0], element);
                     });
  }

  /// start + x * R_gate (or its transpose, as the forward step has it).
  Value multiplyInto(Value start, Value x, int64_t gate, bool transpose) {
    Value weights = gateSlice(l.operand(op.getWeights()), gate);
    Kinds kinds = parallel2();
    kinds.push_back(mlir::utils::IteratorType::reduction);
    AffineMap read = transpose ? map3({d(1), d(2)}) : map3({d(2), d(1)});
    return l.generic({x, weights}, start, {map3({d(0), d(2)}), read, map3({d(0), d(1)})}, kinds,
                     [&](OpBuilder &at, Location where, ValueRange args) {
                       ScalarMath m{at, where, false};
                       return m.add(args[2], m.multiply(args[0], toCompute(at, where, args[1], element)));
                     });
  }
  /// R_gate h + b_gate, in compute precision.
  Value recur(int64_t gate, Value h) {
    return multiplyInto(spread(gateSlice(l.operand(op.getBias()), gate)), h, gate, true);
  }

  double parameter(mlir::ArrayAttr list, unsigned which) {
    return mlir::cast<mlir::FloatAttr>(list[which]).getValueAsDouble();
  }
  llvm::StringRef nameOf(unsigned which) {
    return mlir::cast<mlir::StringAttr>(op.getActivations()[which]).getValue();
  }
  Value activation(ScalarMath &m, unsigned which, Value x, bool clips = true) {
    if (op.getClip() && clips) {
      double bound = op.getClip()->convertToDouble();
      x = m.minimum(m.maximum(x, m.constant(x.getType(), -bound)), m.constant(x.getType(), bound));
    }
    return activate(m, nameOf(which), parameter(op.getAlphas(), which),
                    parameter(op.getBetas(), which), x);
  }
  Value derivative(ScalarMath &m, unsigned which, Value x, bool clips = true) {
    Value slope = activateDerivative(m, nameOf(which), parameter(op.getAlphas(), which),
                                     parameter(op.getBetas(), which), x);
    if (!op.getClip() || !clips)
      return slope;
    Value bound = m.constant(x.getType(), op.getClip()->convertToDouble());
    return m.select(m.compare(Comparison::le, m.abs(x), bound), slope, m.constant(x.getType(), 0));
  }

  /// `next`, but `old` where the sequence has ended.
  Value whereValid(Value time, Value next, Value old) {
    if (!op.getLengths())
      return next;
    AffineMap identity = map2({d(0), d(1)});
    return l.generic({next, old, l.operand(op.getLengths())}, l.empty(stateSizes(), compute),
                     {identity, identity, map2({d(0)}), identity}, parallel2(),
                     [&](OpBuilder &at, Location where, ValueRange x) -> Value {
                       using namespace mlir::arith;
                       Value length = IndexCastOp::create(at, where, at.getIndexType(), x[2]);
                       Value valid = CmpIOp::create(at, where, CmpIPredicate::slt, time, length);
                       return SelectOp::create(at, where, valid, x[0], x[1]);
                     });
  }

  /// The state is written where it was read from, so that a step needs no memory
  /// of its own.
  Value store(Value value, Value into) {
    return mlir::linalg::CopyOp::create(b, loc, value, into).getResult(0);
  }
  Value zeroState() { return l.filled(stateSizes(), l.scalar(compute, 0)); }
  /// The step that comes `step`-th, in either direction.
  Value timeOf(Value step, bool fromEnd) {
    if (!fromEnd)
      return step;
    Value last = mlir::arith::SubIOp::create(b, loc, steps, l.index(1));
    return mlir::arith::SubIOp::create(b, loc, last, step);
  }

  Op op;
  LinalgLowering &l;
  OpBuilder &b;
  Location loc;
  mlir::Type element, compute;
  Value steps;
  OpFoldResult batch, hidden;
};

} // namespace dlc::dl

#endif // DLC_DIALECTS_DL_OPS_RECURRENTSTEPS_H
