// What recurrent layers mean: one loop over time on tensors.

#include "dialects/dl/ops/Recurrent.h"

#include "dialects/dl/LinalgLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dialects/dl/ops/Recurrent.cpp.inc"

namespace dlc::dl {

void registerRecurrentOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/Recurrent.cpp.inc"
      >();
}

LogicalResult RecurrentOp::inferTypes(InferContext &c) {
  TensorInfo x = c.of(getProjected()), w = c.of(getWeights());
  const int64_t gatesOf[] = {1, 3, 4};
  const size_t activationsOf[] = {1, 2, 3};
  int64_t gates = gatesOf[int(getKind())];
  if (x.rank() != 3 || w.rank() != 2) // C1
    return c.error() << "projected input has rank " << x.rank() << " and weights rank "
                     << w.rank() << ", expects 3 and 2";
  if (failed(c.equal(x.dims[2], w.dims[0], "gates")) ||
      failed(c.equal(w.dims[0], w.dims[1] * gates, "hidden sizes"))) // C1
    return failure();
  if (getActivations().size() != activationsOf[int(getKind())] ||
      getAlphas().size() != getActivations().size() ||
      getBetas().size() != getActivations().size()) // C2
    return c.error() << "has " << getActivations().size() << " activations";
  Shape state = {x.dims[1], w.dims[1]};
  auto check = [&](Value operand, ArrayRef<AffineExpr> wanted, StringRef what) -> LogicalResult {
    if (!operand)
      return success();
    TensorInfo info = c.of(operand);
    if (info.rank() != int64_t(wanted.size()))
      return c.error() << what << " has rank " << info.rank() << ", expects " << wanted.size();
    for (auto [axis, size] : llvm::enumerate(wanted))
      if (failed(c.equal(info.dims[axis], size, "axis " + Twine(axis) + " of " + what)))
        return failure();
    return success();
  };
  if (failed(check(getBias(), {w.dims[0]}, "bias")) || // C3
      failed(check(getInitialH(), state, "initial_h")) ||
      failed(check(getInitialC(), state, "initial_c")) ||
      failed(check(getLengths(), {x.dims[1]}, "lengths")) ||
      failed(check(getPeepholes(), {w.dims[1] * 3}, "peepholes")))
    return failure();
  c.addResult({x.dims[0], x.dims[1], w.dims[1]}, x.element);
  c.addResult(state, x.element);
  c.addResult(state, x.element);
  return success();
}

namespace {

/// An activation function by its ONNX name; null when there is none such.
Value activate(ScalarMath &m, StringRef name, double alpha, double beta, Value x) {
  auto k = [&](double v) { return m.constant(x.getType(), v); };
  auto exp = [&](Value v) -> Value { return math::ExpOp::create(m.b, m.loc, v); };
  auto positive = [&] { return m.compare(Comparison::gt, x, k(0)); };
  if (name == "Sigmoid")
    return m.sigmoid(x);
  if (name == "Tanh")
    return math::TanhOp::create(m.b, m.loc, x);
  if (name == "Relu")
    return m.relu(x);
  if (name == "Affine")
    return m.add(m.multiply(x, k(alpha)), k(beta));
  if (name == "LeakyRelu")
    return m.select(positive(), x, m.multiply(x, k(alpha)));
  if (name == "ThresholdedRelu")
    return m.select(m.compare(Comparison::gt, x, k(alpha)), x, k(0));
  if (name == "ScaledTanh")
    return m.multiply(k(alpha), math::TanhOp::create(m.b, m.loc, m.multiply(x, k(beta))));
  if (name == "HardSigmoid")
    return m.minimum(m.maximum(m.add(m.multiply(x, k(alpha)), k(beta)), k(0)), k(1));
  if (name == "Elu")
    return m.select(positive(), x, m.multiply(k(alpha), m.subtract(exp(m.minimum(x, k(0))), k(1))));
  if (name == "Softsign")
    return m.divide(x, m.add(k(1), m.abs(x)));
  if (name == "Softplus")
    return math::Log1pOp::create(m.b, m.loc, exp(x));
  return {};
}

/// Builds the time loop of one RecurrentOp.
class TimeLoop {
public:
  TimeLoop(RecurrentOp op, LinalgLowering &l) : op(op), l(l), b(l.b), loc(l.loc) {
    element = l.element(op.getProjected());
    compute = computeType(element);
    auto sequence = op.getSequence();
    steps = l.dimValue(sequence, 0);
    batch = l.dim(sequence, 1);
    hidden = l.dim(sequence, 2);
  }

  FailureOr<SmallVector<Value>> run() {
    for (Attribute name : op.getActivations()) {
      OpBuilder::InsertionGuard guard(b);
      ScalarMath m{b, loc, false};
      Value probe = m.constant(compute, 0);
      if (!activate(m, cast<StringAttr>(name).getValue(), 1, 0, probe))
        return op.emitOpError("unsupported: the activation ") << name;
    }
    Value zero = l.scalar(l.type(op.getProjected()).getElementType(), 0);
    SmallVector<Value> init = {l.filled(op.getSequence(), zero),
                               widen(op.getInitialH()), widen(op.getInitialC())};
    auto loop = scf::ForOp::create(
        b, loc, l.index(0), steps, l.index(1), init,
        [&](OpBuilder &inner, Location, Value step, ValueRange carried) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToEnd(inner.getInsertionBlock());
          scf::YieldOp::create(b, loc, emitStep(step, carried));
        });
    return SmallVector<Value>{loop.getResult(0), l.toStored(loop.getResult(1), op.getLastH()),
                              l.toStored(loop.getResult(2), op.getLastC())};
  }

private:
  using Body = LinalgLowering::BodyFn;

  SmallVector<OpFoldResult> stateSizes() { return {batch, hidden}; }
  AffineMap map2(ArrayRef<AffineExpr> exprs) { return AffineMap::get(2, 0, exprs, b.getContext()); }
  AffineExpr d(unsigned i) { return b.getAffineDimExpr(i); }

  Value widen(Value state) {
    Value stored = l.operand(state);
    if (cast<RankedTensorType>(stored.getType()).getElementType() == compute)
      return stored;
    return pointwise({stored}, {element}, [&](ScalarMath &, ValueRange x) { return x[0]; });
  }

  /// f over [N,H] tensors; `elements` gives each input's dl type (null: compute).
  Value pointwise(ValueRange inputs, ArrayRef<Type> elements,
                  llvm::function_ref<Value(ScalarMath &, ValueRange)> f) {
    AffineMap identity = map2({d(0), d(1)});
    SmallVector<AffineMap> maps(inputs.size() + 1, identity);
    SmallVector<utils::IteratorType> kinds(2, utils::IteratorType::parallel);
    return l.generic(inputs, l.empty(stateSizes(), compute), maps, kinds,
                     [&](OpBuilder &at, Location where, ValueRange args) {
                       ScalarMath m{at, where, false};
                       SmallVector<Value> x;
                       for (size_t i = 0; i < inputs.size(); ++i)
                         x.push_back(i < elements.size() && elements[i]
                                         ? toCompute(at, where, args[i], elements[i])
                                         : args[i]);
                       return f(m, x);
                     });
  }

  /// Rows [gate*H, (gate+1)*H) of a [G*H] or [G*H,H] tensor.
  Value gateSlice(Value tensor, int64_t gate) {
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
        sizes = {hidden}, strides(type.getRank(), b.getIndexAttr(1));
    if (type.getRank() == 2)
      sizes.push_back(hidden);
    offsets[0] = scaled(gate);
    return tensor::ExtractSliceOp::create(b, loc, tensor, offsets, sizes, strides);
  }
  OpFoldResult scaled(int64_t gate) {
    if (auto size = getConstantIntValue(hidden))
      return b.getIndexAttr(gate * *size);
    return arith::MulIOp::create(b, loc, l.asValue(hidden), l.index(gate)).getResult();
  }

  /// R_gate h + b_gate, in compute precision.
  Value recur(int64_t gate, Value h) {
    Value weights = gateSlice(l.operand(op.getWeights()), gate);
    Value bias = gateSlice(l.operand(op.getBias()), gate);
    SmallVector<utils::IteratorType> pair(2, utils::IteratorType::parallel);
    Value start = l.generic({bias}, l.empty(stateSizes(), compute), {map2({d(1)}), map2({d(0), d(1)})},
                            pair, [&](OpBuilder &at, Location where, ValueRange x) {
                              return toCompute(at, where, x[0], element);
                            });
    auto map3 = [&](ArrayRef<AffineExpr> e) { return AffineMap::get(3, 0, e, b.getContext()); };
    SmallVector<utils::IteratorType> kinds = pair;
    kinds.push_back(utils::IteratorType::reduction);
    return l.generic({h, weights}, start, {map3({d(0), d(2)}), map3({d(1), d(2)}), map3({d(0), d(1)})},
                     kinds, [&](OpBuilder &at, Location where, ValueRange x) {
                       ScalarMath m{at, where, false};
                       return m.add(x[2], m.multiply(x[0], toCompute(at, where, x[1], element)));
                     });
  }

  /// The projected input of one gate at this step, [N,H].
  Value inputGate(Value time, int64_t gate) {
    SmallVector<OpFoldResult> offsets = {time, b.getIndexAttr(0), scaled(gate)},
                              sizes = {b.getIndexAttr(1), batch, hidden},
                              strides(3, b.getIndexAttr(1));
    auto type = RankedTensorType::get(
        {getConstantIntValue(batch).value_or(ShapedType::kDynamic),
         getConstantIntValue(hidden).value_or(ShapedType::kDynamic)},
        l.type(op.getProjected()).getElementType());
    return tensor::ExtractSliceOp::create(b, loc, type, l.operand(op.getProjected()), offsets,
                                          sizes, strides);
  }

  Value activation(ScalarMath &m, unsigned which, Value x) {
    if (op.getClip()) {
      double bound = op.getClip()->convertToDouble();
      x = m.minimum(m.maximum(x, m.constant(x.getType(), -bound)), m.constant(x.getType(), bound));
    }
    auto number = [&](ArrayAttr list) { return cast<FloatAttr>(list[which]).getValueAsDouble(); };
    return activate(m, cast<StringAttr>(op.getActivations()[which]).getValue(),
                    number(op.getAlphas()), number(op.getBetas()), x);
  }

  /// f(projected gate + recurrent part (+ peephole * c)).
  Value gate(Value time, int64_t which, unsigned function, Value recurrent,
             Value cell = {}, int64_t peephole = 0) {
    SmallVector<Value> inputs = {inputGate(time, which), recurrent};
    SmallVector<Type> types = {element, Type()};
    if (cell && op.getPeepholes()) {
      inputs.push_back(cell);
      types.push_back(Type());
      Value p = gateSlice(l.operand(op.getPeepholes()), peephole);
      SmallVector<utils::IteratorType> pair(2, utils::IteratorType::parallel);
      inputs.push_back(l.generic({p}, l.empty(stateSizes(), compute), {map2({d(1)}), map2({d(0), d(1)})},
                                 pair, [&](OpBuilder &at, Location where, ValueRange x) {
                                   return toCompute(at, where, x[0], element);
                                 }));
      types.push_back(Type());
    }
    return pointwise(inputs, types, [&](ScalarMath &m, ValueRange x) {
      Value sum = m.add(x[0], x[1]);
      if (x.size() == 4)
        sum = m.add(sum, m.multiply(x[2], x[3]));
      return activation(m, function, sum);
    });
  }

  std::pair<Value, Value> cellRnn(Value time, Value h, Value c) {
    return {gate(time, 0, 0, recur(0, h)), c};
  }

  std::pair<Value, Value> cellGru(Value time, Value h, Value c) {
    Value z = gate(time, 0, 0, recur(0, h)), r = gate(time, 1, 0, recur(1, h));
    auto product = [](ScalarMath &m, ValueRange x) { return m.multiply(x[0], x[1]); };
    Value part = op.getLinearBeforeReset() ? pointwise({r, recur(2, h)}, {}, product)
                                           : recur(2, pointwise({r, h}, {}, product));
    Value n = gate(time, 2, 1, part);
    Value next = pointwise({z, n, h}, {}, [](ScalarMath &m, ValueRange x) {
      Value one = m.constant(x[0].getType(), 1);
      return m.add(m.multiply(m.subtract(one, x[0]), x[1]), m.multiply(x[0], x[2]));
    });
    return {next, c};
  }

  std::pair<Value, Value> cellLstm(Value time, Value h, Value c) {
    Value i = gate(time, 0, 0, recur(0, h), c, 0);
    Value f = op.getInputForget() ? pointwise({i}, {}, [](ScalarMath &m, ValueRange x) {
      return m.subtract(m.constant(x[0].getType(), 1), x[0]);
    })
                                  : gate(time, 2, 0, recur(2, h), c, 2);
    Value n = gate(time, 3, 1, recur(3, h));
    Value cell = pointwise({f, c, i, n}, {}, [](ScalarMath &m, ValueRange x) {
      return m.add(m.multiply(x[0], x[1]), m.multiply(x[2], x[3]));
    });
    Value o = gate(time, 1, 0, recur(1, h), cell, 1);
    Value next = pointwise({o, cell}, {}, [&](ScalarMath &m, ValueRange x) {
      auto number = [&](ArrayAttr list) { return cast<FloatAttr>(list[2]).getValueAsDouble(); };
      Value u = activate(m, cast<StringAttr>(op.getActivations()[2]).getValue(),
                         number(op.getAlphas()), number(op.getBetas()), x[1]);
      return m.multiply(x[0], u);
    });
    return {next, cell};
  }

  /// Keeps the old state where the sequence has ended.
  Value whereValid(Value time, Value next, Value old) {
    if (!op.getLengths())
      return next;
    SmallVector<utils::IteratorType> pair(2, utils::IteratorType::parallel);
    AffineMap identity = map2({d(0), d(1)});
    return l.generic({next, old, l.operand(op.getLengths())}, l.empty(stateSizes(), compute),
                     {identity, identity, map2({d(0)}), identity}, pair,
                     [&](OpBuilder &at, Location where, ValueRange x) -> Value {
                       Value length = arith::IndexCastOp::create(at, where, at.getIndexType(), x[2]);
                       Value valid = arith::CmpIOp::create(at, where, arith::CmpIPredicate::slt, time, length);
                       return arith::SelectOp::create(at, where, valid, x[0], x[1]);
                     });
  }

  SmallVector<Value> emitStep(Value step, ValueRange carried) {
    Value time = step;
    if (op.getReverse())
      time = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, steps, l.index(1)), step);
    Value h = carried[1], c = carried[2];
    auto [nextH, nextC] = op.getKind() == RecurrentKind::rnn   ? cellRnn(time, h, c)
                          : op.getKind() == RecurrentKind::gru ? cellGru(time, h, c)
                                                               : cellLstm(time, h, c);
    Value zero = l.filled(stateSizes(), l.scalar(compute, 0));
    Value shown = whereValid(time, nextH, zero);
    nextH = whereValid(time, nextH, h);
    nextC = op.getKind() == RecurrentKind::lstm ? whereValid(time, nextC, c) : nextH;
    Value row = shown;
    if (compute != l.type(op.getSequence()).getElementType()) {
      SmallVector<utils::IteratorType> pair(2, utils::IteratorType::parallel);
      AffineMap identity = map2({d(0), d(1)});
      row = l.generic({shown}, l.empty(stateSizes(), l.type(op.getSequence()).getElementType()),
                      {identity, identity}, pair, [&](OpBuilder &at, Location where, ValueRange x) {
                        return toStorage(at, where, x[0], element);
                      });
    }
    SmallVector<OpFoldResult> offsets = {time, b.getIndexAttr(0), b.getIndexAttr(0)},
                              sizes = {b.getIndexAttr(1), batch, hidden},
                              strides(3, b.getIndexAttr(1));
    Value sequence = tensor::InsertSliceOp::create(b, loc, row, carried[0], offsets, sizes, strides);
    // The state is written where it was read from, so that a step needs no
    // memory of its own.
    auto store = [&](Value v, Value into) -> Value {
      return linalg::CopyOp::create(b, loc, v, into).getResult(0);
    };
    return {sequence, store(nextH, carried[1]), store(nextC, carried[2])};
  }

  RecurrentOp op;
  LinalgLowering &l;
  OpBuilder &b;
  Location loc;
  Type element, compute;
  Value steps;
  OpFoldResult batch, hidden;
};

} // namespace

FailureOr<SmallVector<Value>> RecurrentOp::lowerToLinalg(LinalgLowering &l) {
  return TimeLoop(*this, l).run();
}

} // namespace dlc::dl
