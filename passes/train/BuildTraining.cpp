#include "passes/train/BuildTraining.h"

#include "passes/train/BuildGradients.h"
#include "passes/train/MixedPrecision.h"
#include "passes/train/Optimizers.h"
#include "passes/train/Parameters.h"
#include "passes/train/Precision.h"
#include "passes/train/StepBuilder.h"

#include "passes/ShapeAnalysis.h"
#include "passes/States.h"

#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Random.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {

namespace {

/// Names of states that are no weights. ONNX names may hold anything, but not end so.
constexpr StringLiteral kSteps = "step.counter", kBatches = "batch.counter",
                        kWindow = "gradient.count";

func::FuncOp findFunction(ModuleOp module, StringRef name) {
  return module.lookupSymbol<func::FuncOp>(name);
}

/// `dl.dims` of the target, from the sizes of the output that it is for.
FailureOr<ArrayAttr> targetDims(func::FuncOp function, Value output, ArrayRef<int64_t> axes) {
  auto shapes = ShapeAnalysis::run(function);
  if (!shapes)
    return failure();
  Builder b(function.getContext());
  SmallVector<Attribute> dims;
  for (int64_t axis : axes) {
    AffineExpr size = shapes->lookup(output).dims[axis];
    if (auto constant = dl::constantSize(size))
      dims.push_back(b.getI64IntegerAttr(*constant));
    else if (auto symbol = dyn_cast<AffineSymbolExpr>(size))
      dims.push_back(b.getStringAttr(shapes->symbols()[symbol.getPosition()].name));
    else // checked against the output when it is used
      dims.push_back(b.getStringAttr("y." + std::to_string(axis)));
  }
  return b.getArrayAttr(dims);
}

class TrainingBuilder {
public:
  TrainingBuilder(ModuleOp module, const TrainingOptions &options)
      : module(module), options(options), main(findFunction(module, "main")),
        infer(findFunction(module, "infer")) {}

  LogicalResult run() {
    if (failed(buildEval()))
      return failure();
    cancelBiasInNormalizations(main);
    lowerPrecision(main, options.precision);
    LogicalResult built = options.accumulate ? buildAccumulation() : buildTrainStep();
    main.erase();
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      if (function != infer)
        widenSums(function);
    return built;
  }

private:
  struct Step {
    LossValue loss;
    SmallVector<BlockArgument> parameters;
  };

  /// Adds the target and the loss; the results that are outputs go.
  FailureOr<Step> beginStep(StepBuilder &s) {
    Value output = s.outputCalled(options.loss.output);
    auto loss = addLoss(s, output);
    if (failed(loss))
      return failure();
    s.dropOutputs();
    Step step{*loss, {}};
    for (BlockArgument arg : s.function().getArguments())
      if (roleOf(s, arg) == "parameter")
        step.parameters.push_back(arg);
    seedDraws(s);
    return step;
  }

  StringRef roleOf(StepBuilder &s, BlockArgument arg) {
    auto role = s.function().getArgAttrOfType<StringAttr>(arg.getArgNumber(), kRoleAttr);
    return role ? role.getValue() : StringRef();
  }

  FailureOr<LossValue> addLoss(StepBuilder &s, Value output) {
    if (!output)
      return emitError(module.getLoc()) << "the model has no output '" << options.loss.output << "'";
    auto target = targetFor(output, options.loss);
    if (failed(target))
      return failure();
    auto dims = targetDims(s.function(), output, target->axes);
    if (failed(dims))
      return failure();
    SmallVector<int64_t> shape;
    for (Attribute dim : *dims)
      shape.push_back(isa<IntegerAttr>(dim) ? cast<IntegerAttr>(dim).getInt() : ShapedType::kDynamic);
    StringRef name = s.hasInput("y") ? "target" : "y";
    if (s.hasInput(name) || s.hasInput("lr"))
      return emitError(module.getLoc()) << "the model has an input '" << (s.hasInput("lr") ? "lr" : name)
                                        << "', which its training step needs for itself; rename it";
    BlockArgument y = s.addInput(name, RankedTensorType::get(shape, target->element), *dims);
    Emitter e(s.builder(), NameLoc::get(s.builder().getStringAttr("loss")));
    LossValue loss = emitLoss(e, output, y, options.loss);
    if (!loss.sum || !loss.count)
      return failure();
    return loss;
  }

  /// Every batch draws anew: what it draws depends on the seed and the batch's number.
  void seedDraws(StepBuilder &s) {
    SmallVector<dl::RandomOp> draws;
    s.function().walk([&](dl::RandomOp op) { draws.push_back(op); });
    if (draws.empty())
      return;
    BlockArgument batch = s.counter(kBatches);
    for (dl::RandomOp op : draws) {
      op.setSeed(int64_t(uint64_t(op.getSeed()) + options.seed));
      if (!op.getCounter())
        op.getCounterMutable().assign(batch);
    }
    s.update(batch, s.emit().add(batch, s.emit().integer(1)));
  }

  LogicalResult buildEval() {
    StepBuilder s(infer, "eval");
    auto loss = addLoss(s, s.outputCalled(options.loss.output));
    if (failed(loss))
      return failure();
    s.addResult("loss", s.emit().div(loss->sum, loss->count));
    s.addResult("count", loss->count);
    return success();
  }

  LogicalResult buildTrainStep() {
    StepBuilder s(main, "train_step");
    auto step = beginStep(s);
    if (failed(step))
      return failure();
    Value loss = s.emit().div(step->loss.sum, step->loss.count);
    LossScale scale(s, options.precision);
    auto grads = gradients(s, loss, step->parameters, scale);
    if (failed(grads))
      return failure();
    s.addResult("loss", loss);
    return optimize(s, step->parameters, *grads, scale);
  }

  LogicalResult buildAccumulation() {
    StepBuilder s(main, "grad_step");
    auto step = beginStep(s);
    if (failed(step))
      return failure();
    // Of the sum: a mean over the whole window needs its count first.
    LossScale scale(s, options.precision);
    auto grads = gradients(s, step->loss.sum, step->parameters, scale);
    if (failed(grads))
      return failure();
    s.addResult("loss", s.emit().div(step->loss.sum, step->loss.count));
    for (auto [parameter, grad] : llvm::zip(step->parameters, *grads)) {
      BlockArgument sum = gradientState(s, parameter);
      s.update(sum, grad ? s.emit().add(sum, grad) : grad);
    }
    BlockArgument count = s.state(s.builder().getStringAttr(kWindow),
                                  step->loss.count.getType(), "counter");
    s.update(count, s.emit().add(count, step->loss.count));
    return buildApplyStep(s, step->parameters, step->loss.count.getType());
  }

  LogicalResult buildApplyStep(StepBuilder &from, ArrayRef<BlockArgument> parameters, Type countType) {
    StepBuilder s(module, "apply_step", from.function()->getAttrOfType<StringAttr>("dl.name"));
    SmallVector<BlockArgument> own, sums;
    for (BlockArgument parameter : parameters) {
      unsigned number = parameter.getArgNumber();
      auto initial = from.function().getArgAttrOfType<ElementsAttr>(number, kInitialAttr);
      own.push_back(s.state(from.stateName(number), parameter.getType(), "parameter", initial));
    }
    BlockArgument count = s.state(s.builder().getStringAttr(kWindow), countType, "counter");
    SmallVector<Value> grads;
    for (BlockArgument parameter : own) {
      sums.push_back(gradientState(s, parameter));
      Value divisor = s.emit().cast(count, Emitter::element(parameter));
      grads.push_back(s.emit().div(sums.back(), divisor));
    }
    LossScale scale(s, options.precision);
    if (failed(optimize(s, own, grads, scale)))
      return failure();
    for (BlockArgument sum : sums)
      s.update(sum, zerosLike(s.emit(), sum));
    s.update(count, s.emit().scalar(count, 0));
    return success();
  }

  Value zerosLike(Emitter &e, Value like) {
    return e.make<dl::ExpandOp>(e.scalar(like, 0), e.ints(Emitter::type(like).getShape()));
  }

  BlockArgument gradientState(StepBuilder &s, BlockArgument parameter) {
    std::string name = s.stateName(parameter.getArgNumber()).str() + ".gradient";
    return s.state(s.builder().getStringAttr(name), parameter.getType(), "gradient");
  }

  FailureOr<SmallVector<Value>> gradients(StepBuilder &s, Value loss, ArrayRef<BlockArgument> parameters,
                                          LossScale &scale) {
    if (!loss)
      return failure();
    if (parameters.empty())
      return s.function().emitError("nothing to train: the loss depends on no weight of the model");
    for (BlockArgument parameter : parameters)
      if (Emitter::element(parameter).getIntOrFloatBitWidth() < 32)
        return s.function().emitError("unsupported: the parameter '")
               << s.stateName(parameter.getArgNumber()).getValue() << "' has the element type "
               << Emitter::element(parameter) << "; f32 and f64 are trained";
    SmallVector<Value> wrt(parameters.begin(), parameters.end());
    auto grads = buildGradients(loss, wrt, s.builder(), scale.seed(loss));
    if (succeeded(grads))
      scale.unscale(*grads);
    return grads;
  }

  /// Clipped gradients: first each element, then all by their common norm.
  void clip(Emitter &e, SmallVectorImpl<Value> &grads) {
    if (options.clipValue > 0)
      for (Value &grad : grads)
        grad = grad ? e.max(e.min(grad, options.clipValue), -options.clipValue) : grad;
    if (options.clipNorm <= 0)
      return;
    Value total;
    for (Value grad : grads) {
      Value part = grad ? e.cast(e.sumAll(e.square(grad)), e.b.getF64Type()) : grad;
      total = total && part ? e.add(total, part) : part ? part : total;
    }
    if (!total)
      return;
    Value bound = e.scalar(total, options.clipNorm);
    Value factor = e.min(e.div(bound, e.add(e.sqrt(total), 1e-6)), 1.0);
    for (Value &grad : grads)
      grad = grad ? e.mul(grad, e.cast(factor, Emitter::element(grad))) : grad;
  }

  LogicalResult optimize(StepBuilder &s, ArrayRef<BlockArgument> parameters, ArrayRef<Value> gradients,
                         LossScale &scale) {
    Emitter e(s.builder(), NameLoc::get(s.builder().getStringAttr("optimizer")));
    SmallVector<Value> grads(gradients);
    scale.check(grads);
    clip(e, grads);
    auto scalar = RankedTensorType::get({}, e.b.getF64Type());
    Value learningRate = s.addInput("lr", scalar, e.b.getArrayAttr({}));
    BlockArgument steps = s.counter(kSteps);
    Value step = e.add(steps, e.integer(1));
    OptimizerGroups groups(e, options, learningRate, step);
    for (auto [parameter, grad] : llvm::zip(parameters, grads)) {
      if (!grad) // its way to the loss is constant piece by piece, or cancels
        grad = zerosLike(e, parameter);
      SmallVector<BlockArgument> moments = momentStates(s, parameter);
      Optimizer &optimizer = groups.of(s.stateName(parameter.getArgNumber()));
      SmallVector<Value> now = optimizer.update(parameter, grad, {moments.begin(), moments.end()});
      if (llvm::is_contained(now, Value()))
        return failure();
      s.update(parameter, scale.guarded(now[0], parameter));
      for (auto [moment, value] : llvm::zip(moments, ArrayRef(now).drop_front()))
        s.update(moment, scale.guarded(value, moment));
      updateAverage(s, parameter, now[0], scale);
    }
    s.update(steps, scale.guarded(step, steps));
    return success(bool(step));
  }

  /// average + (parameter - average) * (1 - decay); it begins as the parameter does.
  void updateAverage(StepBuilder &s, BlockArgument parameter, Value now, LossScale &scale) {
    if (options.averageDecay <= 0)
      return;
    unsigned number = parameter.getArgNumber();
    auto initial = s.function().getArgAttrOfType<ElementsAttr>(number, kInitialAttr);
    std::string name = s.stateName(number).str() + ".average";
    BlockArgument average = s.state(s.builder().getStringAttr(name), parameter.getType(), "average", initial);
    Emitter &e = s.emit();
    Value moved = e.add(average, e.mul(e.sub(now, average), 1 - options.averageDecay));
    s.update(average, scale.guarded(moved, average));
  }

  SmallVector<BlockArgument> momentStates(StepBuilder &s, BlockArgument parameter) {
    SmallVector<BlockArgument> moments;
    auto type = Emitter::type(parameter);
    double start = initialMoment(options.optimizer);
    ElementsAttr initial;
    if (start != 0)
      initial = DenseElementsAttr::get(type, Attribute(s.builder().getFloatAttr(type.getElementType(), start)));
    for (StringRef moment : momentsOf(options.optimizer)) {
      std::string name = s.stateName(parameter.getArgNumber()).str() + "." + moment.str();
      moments.push_back(s.state(s.builder().getStringAttr(name), type, "moment", initial));
    }
    return moments;
  }

  ModuleOp module;
  const TrainingOptions &options;
  func::FuncOp main, infer;
};

} // namespace

LogicalResult separateWeights(ModuleOp module, const TrainingOptions &options) {
  auto main = findFunction(module, "main"), infer = findFunction(module, "infer");
  Value output;
  for (unsigned i = 0; i < main.getNumResults() && !output; ++i) {
    auto name = main.getResultAttrOfType<StringAttr>(i, "dl.name");
    if (name && (options.loss.output.empty() || name.getValue() == options.loss.output))
      output = main.getBody().front().getTerminator()->getOperand(i);
  }
  if (!output)
    return emitError(module.getLoc()) << "the model has no output '" << options.loss.output << "'";
  auto states = chooseStates(main, output, options);
  weightsToStates(main, states);
  weightsToStates(infer, states);
  return success();
}

LogicalResult buildTraining(ModuleOp module, const TrainingOptions &options) {
  return TrainingBuilder(module, options).run();
}

} // namespace dlc
