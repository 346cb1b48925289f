// Recurrent layers backward through time: one loop that carries the states'
// gradients; products with the weights' gradients stand outside of it.

#include "dialects/dl/ops/RecurrentGradient.h"

#include "dialects/dl/Gradient.h"
#include "dialects/dl/ops/MatMul.h"
#include "dialects/dl/ops/Recurrent.h"
#include "dialects/dl/ops/RecurrentSteps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dialects/dl/ops/RecurrentGradient.cpp.inc"

namespace dlc::dl {

void registerRecurrentGradientOps(DlDialect &dialect) {
  dialect.addFamily<
#define GET_OP_LIST
#include "dialects/dl/ops/RecurrentGradient.cpp.inc"
      >();
}

LogicalResult RecurrentGradientOp::inferTypes(InferContext &c) {
  TensorInfo x = c.of(getProjected()), w = c.of(getWeights());
  const int64_t gatesOf[] = {1, 3, 4};
  if (x.rank() != 3 || w.rank() != 2) // C1
    return c.error() << "projected input has rank " << x.rank() << " and weights rank "
                     << w.rank() << ", expects 3 and 2";
  if (failed(c.equal(x.dims[2], w.dims[0], "gates")) ||
      failed(c.equal(w.dims[0], w.dims[1] * gatesOf[int(getKind())], "hidden sizes"))) // C1
    return failure();
  Shape sequence = {x.dims[0], x.dims[1], w.dims[1]}, state = {x.dims[1], w.dims[1]};
  auto check = [&](Value operand, ArrayRef<AffineExpr> wanted, StringRef what) -> LogicalResult {
    TensorInfo info = c.of(operand);
    if (info.rank() != int64_t(wanted.size()))
      return c.error() << what << " has rank " << info.rank() << ", expects " << wanted.size();
    for (auto [axis, size] : llvm::enumerate(wanted))
      if (failed(c.equal(info.dims[axis], size, "axis " + Twine(axis) + " of " + what)))
        return failure();
    return success();
  };
  if (failed(check(getRecurrent(), x.dims, "recurrent")) || // C1
      failed(check(getPreviousH(), sequence, "previous_h")) || // C2
      failed(check(getSequenceGrad(), sequence, "sequence_grad")) ||
      failed(check(getInitialC(), state, "initial_c")) ||
      failed(check(getLastHGrad(), state, "last_h_grad")) ||
      failed(check(getLastCGrad(), state, "last_c_grad")))
    return failure();
  c.addResult(x.dims, x.element);
  c.addResult(x.dims, x.element);
  c.addResult(state, x.element);
  c.addResult(state, x.element);
  c.addResult(sequence, x.element);
  return success();
}

namespace {

/// The gates of ONNX's order that a formula names.
enum LstmGate { I, O, F, C };
enum GruGate { Z, R, N };

class BackwardLoop : RecurrentSteps<RecurrentGradientOp> {
public:
  BackwardLoop(RecurrentGradientOp op, LinalgLowering &l) : RecurrentSteps(op, l, op.getMemory()) {}

  FailureOr<SmallVector<Value>> run() {
    if (failed(checkActivations()))
      return failure();
    Value zero = l.scalar(storageType(element), 0);
    Value memory = l.filled(op.getMemory(), zero);
    if (op.getKind() == RecurrentKind::lstm)
      memory = cells(memory);
    SmallVector<Value> init = {l.filled(op.getProjectedGrad(), zero), l.filled(op.getRecurrentGrad(), zero),
                               memory, widen(op.getLastHGrad()), widen(op.getLastCGrad())};
    auto loop = forSteps(init, [&](Value step, ValueRange carried) {
      return emitStep(timeOf(step, !op.getReverse()), carried);
    });
    return SmallVector<Value>{loop.getResult(0), loop.getResult(1),
                              l.toStored(loop.getResult(3), op.getInitialHGrad()),
                              l.toStored(loop.getResult(4), op.getInitialCGrad()), loop.getResult(2)};
  }

private:
  using StepFn = llvm::function_ref<SmallVector<Value>(Value step, ValueRange carried)>;
  scf::ForOp forSteps(ArrayRef<Value> init, StepFn body) {
    return scf::ForOp::create(b, loc, l.index(0), steps, l.index(1), init,
                              [&](OpBuilder &inner, Location, Value step, ValueRange carried) {
                                OpBuilder::InsertionGuard guard(b);
                                b.setInsertionPointToEnd(inner.getInsertionBlock());
                                scf::YieldOp::create(b, loc, body(step, carried));
                              });
  }

  /// A gate before its activation: projected + recurrent (+ peephole * cell).
  Value before(Value time, int64_t gate, Value cell = {}, int64_t peephole = 0) {
    SmallVector<Value> inputs = {gateAt(l.operand(op.getProjected()), time, gate),
                                 gateAt(l.operand(op.getRecurrent()), time, gate)};
    SmallVector<Type> types = {element, element};
    if (cell && op.getPeepholes()) {
      inputs.append({cell, peepholeOf(peephole)});
      types.append({Type(), Type()});
    }
    return pointwise(inputs, types, [&](ScalarMath &m, ValueRange x) {
      Value sum = m.add(x[0], x[1]);
      return x.size() == 4 ? m.add(sum, m.multiply(x[2], x[3])) : sum;
    });
  }
  Value peepholeOf(int64_t which) { return spread(gateSlice(l.operand(op.getPeepholes()), which)); }
  Value active(Value a, unsigned function, bool clips = true) {
    return pointwise({a}, {}, [&](ScalarMath &m, ValueRange x) { return activation(m, function, x[0], clips); });
  }
  /// grad * f'(a)
  Value through(Value grad, Value a, unsigned function, bool clips = true) {
    return pointwise({grad, a}, {}, [&](ScalarMath &m, ValueRange x) {
      return m.multiply(x[0], derivative(m, function, x[1], clips));
    });
  }
  Value product(Value x, Value y) {
    return pointwise({x, y}, {}, [](ScalarMath &m, ValueRange v) { return m.multiply(v[0], v[1]); });
  }
  Value sum(Value x, Value y) {
    return pointwise({x, y}, {}, [](ScalarMath &m, ValueRange v) { return m.add(v[0], v[1]); });
  }
  /// x + y * z
  Value addProduct(Value x, Value y, Value z) {
    return pointwise({x, y, z}, {}, [](ScalarMath &m, ValueRange v) {
      return m.add(v[0], m.multiply(v[1], v[2]));
    });
  }
  Value oneMinus(Value x) {
    return pointwise({x}, {}, [](ScalarMath &m, ValueRange v) {
      return m.subtract(m.constant(v[0].getType(), 1), v[0]);
    });
  }
  Value stateAt(Value tensor, Value time) {
    return pointwise({gateAt(tensor, time, 0)}, {element}, [](ScalarMath &, ValueRange x) { return x[0]; });
  }

  //===--------------------------------------------------------------------===//
  // LSTM
  //===--------------------------------------------------------------------===//

  struct LstmCell {
    Value beforeI, beforeO, beforeF, beforeC, i, f, n, cell;
  };
  /// The cell up to its new c, from the c it began with.
  LstmCell lstmCell(Value time, Value c) {
    LstmCell s;
    s.beforeI = before(time, I, c, 0);
    s.i = active(s.beforeI, 0);
    s.beforeF = before(time, F, c, 2);
    s.f = op.getInputForget() ? oneMinus(s.i) : active(s.beforeF, 0);
    s.beforeC = before(time, C);
    s.n = active(s.beforeC, 1);
    s.cell = addProduct(product(s.f, c), s.i, s.n);
    s.beforeO = before(time, O, s.cell, 1);
    return s;
  }

  /// c after every step.
  Value cells(Value memory) {
    auto loop = forSteps({memory, widen(op.getInitialC())}, [&](Value step, ValueRange carried) {
      Value time = timeOf(step, op.getReverse()), c = carried[1];
      Value next = whereValid(time, lstmCell(time, c).cell, c);
      return SmallVector<Value>{insertAt(next, carried[0], time, 0), store(next, c)};
    });
    return loop.getResult(0);
  }

  /// c that step `step` (counted from the last) began with.
  Value cellBefore(Value time, Value memory) {
    Value one = l.index(1), zero = l.index(0);
    Value last = arith::SubIOp::create(b, loc, steps, one);
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, time, op.getReverse() ? last : zero);
    Value other = op.getReverse() ? arith::AddIOp::create(b, loc, time, one).getResult()
                                  : arith::SubIOp::create(b, loc, time, one).getResult();
    Value earlier = stateAt(memory, arith::SelectOp::create(b, loc, isFirst, time, other));
    AffineMap identity = map2({d(0), d(1)});
    Value initial = widen(op.getInitialC());
    return l.generic({earlier, initial}, l.empty(stateSizes(), compute), {identity, identity, identity},
                     parallel2(), [&](OpBuilder &at, Location where, ValueRange x) -> Value {
                       return arith::SelectOp::create(at, where, isFirst, x[1], x[0]);
                     });
  }

  struct StepGrads {
    SmallVector<Value> projected, recurrent; // one per gate
    Value h, c;                              // of the state the step began with
    Value memory;                            // gru: r * h
  };

  StepGrads backLstm(Value time, Value memory, Value dh, Value dc) {
    Value c = cellBefore(time, memory);
    LstmCell s = lstmCell(time, c);
    Value o = active(s.beforeO, 0), shown = active(s.cell, 2, /*clips=*/false);
    Value dO = through(product(dh, shown), s.beforeO, 0);
    Value dCell = sum(dc, through(product(dh, o), s.cell, 2, /*clips=*/false));
    if (op.getPeepholes())
      dCell = addProduct(dCell, dO, peepholeOf(1));
    Value di = product(dCell, s.n), df = product(dCell, c);
    if (op.getInputForget())
      di = pointwise({di, df}, {}, [](ScalarMath &m, ValueRange x) { return m.subtract(x[0], x[1]); });
    Value dI = through(di, s.beforeI, 0), dN = through(product(dCell, s.i), s.beforeC, 1);
    Value dF = op.getInputForget() ? zeroState() : through(df, s.beforeF, 0);
    Value before = product(dCell, s.f);
    if (op.getPeepholes())
      before = addProduct(addProduct(before, dI, peepholeOf(0)), dF, peepholeOf(2));
    SmallVector<Value> gates = {dI, dO, dF, dN};
    Value previous = zeroState();
    for (auto [gate, grad] : llvm::enumerate(gates))
      previous = multiplyInto(previous, grad, gate, false);
    return {gates, gates, previous, before, {}};
  }

  //===--------------------------------------------------------------------===//
  // RNN and GRU
  //===--------------------------------------------------------------------===//

  StepGrads backRnn(Value time, Value dh, Value dc) {
    Value grad = through(dh, before(time, 0), 0);
    return {{grad}, {grad}, multiplyInto(zeroState(), grad, 0, false), dc, {}};
  }

  StepGrads backGru(Value time, Value dh, Value dc) {
    Value h = stateAt(l.operand(op.getPreviousH()), time);
    Value aZ = before(time, Z), aR = before(time, R), z = active(aZ, 0), r = active(aR, 0);
    Value gated = product(r, h);
    bool isLinear = op.getLinearBeforeReset();
    Value fromState = isLinear ? stateOf(op.getRecurrent(), time, N) : recur(N, gated);
    Value scaled = isLinear ? product(r, fromState) : fromState;
    Value aN = sum(stateOf(op.getProjected(), time, N), scaled), n = active(aN, 1);
    Value dz = pointwise({dh, h, n}, {}, [](ScalarMath &m, ValueRange x) {
      return m.multiply(x[0], m.subtract(x[1], x[2]));
    });
    Value dZ = through(dz, aZ, 0), dN = through(product(dh, oneMinus(z)), aN, 1);
    Value previous = product(dh, z), dr, dFromState = dN;
    if (isLinear) {
      dr = product(dN, fromState);
      dFromState = product(dN, r);
      previous = multiplyInto(previous, dFromState, N, false);
    } else {
      Value dGated = multiplyInto(zeroState(), dN, N, false);
      dr = product(dGated, h);
      previous = addProduct(previous, dGated, r);
    }
    Value dR = through(dr, aR, 0);
    previous = multiplyInto(multiplyInto(previous, dZ, Z, false), dR, R, false);
    return {{dZ, dR, dN}, {dZ, dR, dFromState}, previous, dc, gated};
  }
  Value stateOf(Value tensor, Value time, int64_t gate) {
    return pointwise({gateAt(l.operand(tensor), time, gate)}, {element},
                     [](ScalarMath &, ValueRange x) { return x[0]; });
  }

  SmallVector<Value> emitStep(Value time, ValueRange carried) {
    Value projected = carried[0], recurrent = carried[1], memory = carried[2], dh = carried[3], dc = carried[4];
    Value total = pointwise({dh, gateAt(l.operand(op.getSequenceGrad()), time, 0)}, {Type(), element},
                            [](ScalarMath &m, ValueRange x) { return m.add(x[0], x[1]); });
    StepGrads s = op.getKind() == RecurrentKind::rnn   ? backRnn(time, total, dc)
                  : op.getKind() == RecurrentKind::gru ? backGru(time, total, dc)
                                                       : backLstm(time, memory, total, dc);
    Value zero = zeroState();
    for (auto [gate, grads] : llvm::enumerate(llvm::zip(s.projected, s.recurrent))) {
      projected = insertAt(whereValid(time, std::get<0>(grads), zero), projected, time, gate);
      recurrent = insertAt(whereValid(time, std::get<1>(grads), zero), recurrent, time, gate);
    }
    if (s.memory)
      memory = insertAt(s.memory, memory, time, 0);
    Value nextH = whereValid(time, s.h, dh), nextC = whereValid(time, s.c, dc);
    return {projected, recurrent, memory, store(nextH, dh), store(nextC, dc)};
  }
};

} // namespace

FailureOr<SmallVector<Value>> RecurrentGradientOp::lowerToLinalg(LinalgLowering &l) {
  return BackwardLoop(*this, l).run();
}

//===----------------------------------------------------------------------===//
// The gradient of dl.recurrent around that loop
//===----------------------------------------------------------------------===//

namespace {

struct RecurrentGradientBuilder {
  RecurrentGradientBuilder(RecurrentOp op, GradientBuilder &g)
      : op(op), g(g), steps(g.sizesOf(op.getSequence(), 0)), one(g.indices({1})) {}

  /// What each step began with, from what each step left: shifted by one step.
  /// Steps that do not count leave anything.
  Value previous(Value left, Value initial) {
    Value sizes = g.concat({one, g.shapeOf(initial)}, 0), first = g.reshape(initial, sizes);
    Value count = g.sub(steps, one);
    if (!op.getReverse())
      return g.concat({first, g.slice(left, 0, g.indices({0}), count)}, 0);
    Value shifted = g.concat({g.slice(left, 0, one, count), first}, 0);
    if (!op.getLengths())
      return shifted;
    Value next = g.reshape(g.offset(g.iota(steps), 1), g.indices({-1, 1, 1}));
    Value lengths = g.reshape(g.cast(op.getLengths(), g.b.getI64Type()), g.indices({1, -1, 1}));
    return g.select(g.compare(Comparison::lt, next, lengths), shifted, first);
  }

  FailureOr<SmallVector<Value>> run(ArrayRef<Value> grads) {
    bool isLstm = op.getKind() == RecurrentKind::lstm;
    Value h = previous(op.getSequence(), op.getInitialH());
    Value product = g.make<MatMulOp>(h, op.getWeights(), UnitAttr(), g.b.getUnitAttr());
    Value recurrent = g.add(product, op.getBias());
    auto orZeros = [&](Value grad, Value like) { return grad ? grad : g.zerosLike(like); };
    Value dLastH = orZeros(grads[1], op.getLastH()), dLastC = orZeros(grads[2], op.getLastC());
    if (!isLstm) { // the last h again
      dLastH = grads[2] ? g.add(dLastH, dLastC) : dLastH;
      dLastC = g.zerosLike(op.getLastC());
    }
    if (!recurrent || !dLastH || !dLastC || g.hasFailed())
      return failure();
    auto back = makeMulti<RecurrentGradientOp>(
        g.b, g.loc, 5, op.getProjected(), recurrent, op.getWeights(), op.getBias(), h, op.getInitialC(),
        orZeros(grads[0], op.getSequence()), dLastH, dLastC, op.getLengths(), op.getPeepholes(),
        op.getKindAttr(), op.getActivationsAttr(), op.getAlphasAttr(), op.getBetasAttr(), op.getReverseAttr(),
        op.getLinearBeforeResetAttr(), op.getInputForgetAttr(), op.getClipAttr());
    if (!back)
      return failure();
    SmallVector<Value> result = {back.getProjectedGrad(), weightsGrad(back, h),
                                 g.sum(back.getRecurrentGrad(), {0, 1}, false), back.getInitialHGrad(),
                                 isLstm ? back.getInitialCGrad() : Value()};
    if (op.getLengths())
      result.push_back({});
    if (op.getPeepholes())
      result.push_back(isLstm ? peepholesGrad(back) : Value());
    return result;
  }

  Value rows(Value x) { return g.flatten(x, {0, 2}); }
  Value gate(Value x, int64_t axis, int64_t first, int64_t count) {
    Value hidden = g.sizesOf(op.getWeights(), 1);
    return g.slice(x, axis, g.mul(hidden, g.indices({first})), g.mul(hidden, g.indices({count})));
  }
  Value outer(Value grad, Value state) {
    return g.make<MatMulOp>(rows(grad), rows(state), g.b.getUnitAttr(), UnitAttr());
  }

  Value weightsGrad(RecurrentGradientOp back, Value h) {
    Value grad = back.getRecurrentGrad();
    if (op.getKind() != RecurrentKind::gru || op.getLinearBeforeReset())
      return outer(grad, h);
    return g.concat({outer(gate(grad, 2, 0, 2), h), outer(gate(grad, 2, 2, 1), back.getMemory())}, 0);
  }

  /// Peepholes i and f see the old c, o the new one.
  Value peepholesGrad(RecurrentGradientOp back) {
    Value grad = back.getProjectedGrad(), cells = back.getMemory();
    Value old = previous(cells, op.getInitialC());
    auto part = [&](int64_t which, Value c) { return g.sum(g.mul(gate(grad, 2, which, 1), c), {0, 1}, false); };
    return g.concat({part(I, old), part(O, cells), part(F, old)}, 0);
  }

  RecurrentOp op;
  GradientBuilder &g;
  Value steps, one;
};

} // namespace

FailureOr<SmallVector<Value>> RecurrentOp::buildGradient(GradientBuilder &g, ArrayRef<Value> grads) {
  return RecurrentGradientBuilder(*this, g).run(grads);
}

} // namespace dlc::dl
