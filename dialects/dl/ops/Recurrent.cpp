// What recurrent layers mean: one loop over time on tensors.

#include "dialects/dl/ops/Recurrent.h"

#include "dialects/dl/ops/RecurrentSteps.h"

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

Value activateDerivative(ScalarMath &m, StringRef name, double alpha, double beta, Value x) {
  auto k = [&](double v) { return m.constant(x.getType(), v); };
  Value y = activate(m, name, alpha, beta, x);
  auto step = [&](double at) { return m.compare(Comparison::gt, x, k(at)); };
  if (name == "Sigmoid")
    return m.multiply(y, m.subtract(k(1), y));
  if (name == "Tanh")
    return m.subtract(k(1), m.multiply(y, y));
  if (name == "Relu")
    return m.select(step(0), k(1), k(0));
  if (name == "Affine")
    return k(alpha);
  if (name == "LeakyRelu")
    return m.select(step(0), k(1), k(alpha));
  if (name == "ThresholdedRelu")
    return m.select(step(alpha), k(1), k(0));
  if (name == "ScaledTanh") {
    Value t = math::TanhOp::create(m.b, m.loc, m.multiply(x, k(beta)));
    return m.multiply(k(alpha * beta), m.subtract(k(1), m.multiply(t, t)));
  }
  if (name == "HardSigmoid") {
    Value isInside = m.compare(Comparison::lt, m.abs(m.subtract(y, k(0.5))), k(0.5));
    return m.select(isInside, k(alpha), k(0));
  }
  if (name == "Elu")
    return m.select(step(0), k(1), m.add(y, k(alpha)));
  if (name == "Softsign") {
    Value d = m.add(k(1), m.abs(x));
    return m.divide(k(1), m.multiply(d, d));
  }
  return name == "Softplus" ? m.sigmoid(x) : Value();
}

namespace {

/// Builds the time loop of one RecurrentOp.
class TimeLoop : RecurrentSteps<RecurrentOp> {
public:
  TimeLoop(RecurrentOp op, LinalgLowering &l) : RecurrentSteps(op, l, op.getSequence()) {}

  FailureOr<SmallVector<Value>> run() {
    if (failed(checkActivations()))
      return failure();
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
  /// f(projected gate + recurrent part (+ peephole * c)).
  Value gate(Value time, int64_t which, unsigned function, Value recurrent,
             Value cell = {}, int64_t peephole = 0) {
    SmallVector<Value> inputs = {gateAt(l.operand(op.getProjected()), time, which), recurrent};
    SmallVector<Type> types = {element, Type()};
    if (cell && op.getPeepholes()) {
      inputs.append({cell, spread(gateSlice(l.operand(op.getPeepholes()), peephole))});
      types.append({Type(), Type()});
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
      return m.multiply(x[0], activation(m, 2, x[1], /*clips=*/false));
    });
    return {next, cell};
  }

  SmallVector<Value> emitStep(Value step, ValueRange carried) {
    Value time = timeOf(step, op.getReverse());
    Value h = carried[1], c = carried[2];
    auto [nextH, nextC] = op.getKind() == RecurrentKind::rnn   ? cellRnn(time, h, c)
                          : op.getKind() == RecurrentKind::gru ? cellGru(time, h, c)
                                                               : cellLstm(time, h, c);
    Value shown = whereValid(time, nextH, zeroState());
    nextH = whereValid(time, nextH, h);
    nextC = op.getKind() == RecurrentKind::lstm ? whereValid(time, nextC, c) : nextH;
    return {insertAt(shown, carried[0], time, 0), store(nextH, h), store(nextC, c)};
  }
};

} // namespace

FailureOr<SmallVector<Value>> RecurrentOp::lowerToLinalg(LinalgLowering &l) {
  return TimeLoop(*this, l).run();
}

} // namespace dlc::dl
