#include "compiler/LowerToPlan.h"

#include "compiler/NodeNames.h"

#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Control.h"
#include "passes/States.h"
#include "passes/plan/Lifetimes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace dlc {

namespace {

ArrayAttr nodesOf(Location loc) {
  SmallVector<plan::NodeAttr> nodes = collectNodes(loc);
  return ArrayAttr::get(loc.getContext(), SmallVector<Attribute>(nodes.begin(), nodes.end()));
}

class PlanBuilder {
public:
  PlanBuilder(func::FuncOp function, KernelSources &sources, ShapeAnalysis &shapes)
      : function(function), sources(sources), shapes(shapes),
        declare(function.getContext()), run(function.getContext()) {}

  FailureOr<plan::ProgramOp> build() {
    auto module = function->getParentOfType<ModuleOp>();
    declare.setInsertionPointToEnd(module.getBody());
    auto name = function->getAttrOfType<StringAttr>("dl.name");
    program = plan::ProgramOp::create(declare, function.getLoc(),
                                      name ? name : declare.getStringAttr(""),
                                      IntegerAttr(), IntegerAttr(), entryName());
    Block *body = declare.createBlock(&program.getBody());
    // Declarations go before the marker, instructions to the end.
    run.setInsertionPointToEnd(body);
    marker = plan::OutputsOp::create(run, function.getLoc(), ValueRange());
    declare.setInsertionPoint(marker);
    declareSymbols();
    claimOutputs();
    for (BlockArgument arg : function.getArguments()) {
      buffers[arg] = stateOf(arg) ? declareState(arg)
                                  : declareBuffer(arg, plan::Storage::Input, argName(arg));
      bindSymbolsFrom(arg);
    }
    for (Operation &op : function.getBody().front().without_terminator())
      if (failed(lower(&op)))
        return fail();
    finishOutputs();
    if (failed(updateStates()))
      return fail();
    marker->erase();
    if (failed(checkUnknown()))
      return fail();
    return program;
  }

private:
  LogicalResult fail() {
    program->erase();
    return failure();
  }

  AffineMapAttr mapOf(ArrayRef<AffineExpr> exprs) {
    for (AffineExpr expr : exprs)
      noteSymbols(expr);
    return AffineMapAttr::get(AffineMap::get(0, shapes.symbols().size(), exprs,
                                             function.getContext()));
  }

  void noteSymbols(AffineExpr expr) {
    expr.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        used.insert(symbol.getPosition());
    });
  }

  void declareSymbols() {
    for (const DimSymbol &symbol : shapes.symbols())
      plan::SymbolOp::create(declare, function.getLoc(), symbol.name, symbol.lower,
                             symbol.upper);
    for (const DimConstraint &c : shapes.constraints()) {
      ArrayAttr nodes = nodesOf(c.op->getLoc());
      std::string reason = nodes.empty() ? c.op->getName().getStringRef().str()
                                         : cast<plan::NodeAttr>(nodes[0]).getName().str();
      plan::ConstraintOp::create(declare, function.getLoc(),
                                 mapOf({c.left, c.right}),
                                 declare.getStringAttr(reason));
    }
  }

  std::string argName(BlockArgument arg) {
    auto name = function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "dl.name");
    return name ? name.str() : "arg" + std::to_string(arg.getArgNumber());
  }
  /// `main` goes without, so that a model of one program is as it always was.
  StringAttr entryName() {
    return function.getSymName() == "main" ? StringAttr() : function.getSymNameAttr();
  }
  StringAttr stateOf(BlockArgument arg) {
    return function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), kStateAttr);
  }
  StringAttr stateOfResult(unsigned i) {
    return function.getResultAttrOfType<StringAttr>(i, kStateAttr);
  }
  std::string resultName(unsigned i) {
    auto name = function.getResultAttrOfType<StringAttr>(i, "dl.name");
    return name ? name.str() : "result" + std::to_string(i);
  }

  ValueRange returned() {
    return function.getBody().front().getTerminator()->getOperands();
  }

  /// A kernel's result that is returned is computed right into the output.
  void claimOutputs() {
    for (auto [i, value] : llvm::enumerate(returned()))
      if (value.getDefiningOp<dl::KernelOp>() && !stateOfResult(i))
        outputOf.try_emplace(value, i);
  }

  Value declareBuffer(Value like, plan::Storage storage, StringRef name,
                      Value base = {}, ElementsAttr value = {}) {
    dl::TensorInfo info = shapes.lookup(like);
    return plan::BufferOp::create(declare, like.getLoc(), dl::toTensorType(info),
                                  declare.getStringAttr(name),
                                  plan::StorageAttr::get(declare.getContext(), storage),
                                  mapOf(info.dims), base, value, IntegerAttr(), StringAttr());
  }

  Value declareState(BlockArgument arg) {
    unsigned number = arg.getArgNumber();
    Value buffer = declareBuffer(arg, plan::Storage::State, stateOf(arg), {},
                                 function.getArgAttrOfType<ElementsAttr>(number, kInitialAttr));
    if (auto role = function.getArgAttrOfType<StringAttr>(number, kRoleAttr))
      buffer.getDefiningOp<plan::BufferOp>().setRoleAttr(role);
    states[stateOf(arg)] = buffer;
    return buffer;
  }

  void bindSymbolsFrom(Value tensor) {
    for (auto [number, symbol] : llvm::enumerate(shapes.symbols()))
      if (symbol.kind == DimSymbol::Data && symbol.tensor == tensor)
        plan::BindSymbolOp::create(run, tensor.getLoc(), number, buffers.lookup(tensor),
                                   symbol.index);
  }

  LogicalResult lower(Operation *op) {
    if (auto constant = dyn_cast<dl::ConstantOp>(op)) {
      if (!op->use_empty())
        buffers[constant] = declareBuffer(constant, plan::Storage::Constant, "", {},
                                          constant.getValue());
    } else if (auto kernel = dyn_cast<dl::KernelOp>(op)) {
      if (failed(lowerKernel(kernel)))
        return failure();
    } else if (auto choice = dyn_cast<dl::IfOp>(op)) {
      if (failed(lowerIf(choice)))
        return failure();
    } else if (auto loop = dyn_cast<dl::LoopOp>(op)) {
      if (failed(lowerLoop(loop)))
        return failure();
    } else if (auto view = dyn_cast<dl::LowersToLinalg>(op);
               view && view.fusionRole() == dl::FusionRole::View) {
      buffers[op->getResult(0)] =
          declareBuffer(op->getResult(0), plan::Storage::Alias, "",
                        buffers.lookup(op->getOperand(0)));
    } else {
      return op->emitOpError("cannot be planned: it belongs to no kernel");
    }
    for (Value result : op->getResults())
      if (buffers.lookup(result))
        bindSymbolsFrom(result);
    return success();
  }

  Value declareArena(Value like) { return declareBuffer(like, plan::Storage::Arena, ""); }

  void copy(Location loc, Value source, Value target) {
    plan::CopyOp::create(run, loc, source, target);
  }

  LogicalResult lowerBlock(Block &block) {
    for (Operation &op : block.without_terminator())
      if (failed(lower(&op)))
        return failure();
    return success();
  }

  LogicalResult lowerIf(dl::IfOp choice) {
    for (Value result : choice.getOutputs())
      buffers[result] = declareArena(result);
    auto planned = plan::IfOp::create(run, choice.getLoc(), buffers.lookup(choice.getCondition()));
    OpBuilder::InsertionGuard guard(run);
    for (auto [source, target] : llvm::zip(choice->getRegions(), planned->getRegions())) {
      run.createBlock(&target);
      if (failed(lowerBlock(source.front())))
        return failure();
      for (auto [value, result] :
           llvm::zip(source.front().getTerminator()->getOperands(), choice.getOutputs()))
        copy(choice.getLoc(), buffers.lookup(value), buffers.lookup(result));
    }
    return success();
  }

  LogicalResult lowerLoop(dl::LoopOp loop) {
    Location loc = loop.getLoc();
    for (BlockArgument arg : loop.getBody().getArguments())
      buffers[arg] = declareArena(arg);
    Value condition = buffers.lookup(loop.conditionArg());
    copy(loc, loop.getCondition() ? buffers.lookup(loop.getCondition()) : declareTrue(loop), condition);
    for (auto [i, initial] : llvm::enumerate(loop.getInitial())) {
      Value carried = buffers.lookup(loop.carriedArg(i));
      copy(loc, buffers.lookup(initial), carried);
      buffers[loop.getResult(i)] = carried;
    }
    buffers[loop.getResult(loop.numCarried())] = buffers.lookup(loop.counterArg());
    SmallVector<Value> scanTo;
    for (Value stack : loop.getOutputs().take_back(loop.numScanned()))
      scanTo.push_back(buffers[stack] = declareArena(stack));
    // The body comes first, so that what it yields is known when the loop is made.
    Region body;
    SmallVector<Value> from;
    {
      OpBuilder::InsertionGuard guard(run);
      run.createBlock(&body);
      for (BlockArgument arg : loop.getBody().getArguments())
        bindSymbolsFrom(arg);
      if (failed(lowerBlock(loop.getBody().front())))
        return failure();
      from = yieldedBuffers(loop);
    }
    ArrayRef<Value> next(from);
    unsigned carried = loop.numCarried();
    SmallVector<Value> carriedTo;
    for (unsigned i = 0; i < carried; ++i)
      carriedTo.push_back(buffers.lookup(loop.carriedArg(i)));
    auto planned = plan::LoopOp::create(
        run, loc, buffers.lookup(loop.counterArg()),
        loop.getTrip() ? buffers.lookup(loop.getTrip()) : Value(), condition, next[0],
        next.slice(1, carried), carriedTo, next.drop_front(1 + carried), scanTo);
    planned.getBody().takeBody(body);
    return success();
  }

  Value declareTrue(dl::LoopOp loop) {
    auto type = RankedTensorType::get({}, declare.getI1Type());
    return plan::BufferOp::create(declare, loop.getLoc(), type, declare.getStringAttr(""),
                                  plan::StorageAttr::get(declare.getContext(), plan::Storage::Constant),
                                  mapOf({}), Value(), DenseElementsAttr::get(type, true), IntegerAttr(),
                                  StringAttr());
  }

  /// The buffers that a body yields. One that is an argument, which the copies after
  /// the iteration overwrite, is saved first.
  SmallVector<Value> yieldedBuffers(dl::LoopOp loop) {
    llvm::SmallPtrSet<Operation *, 8> overwritten;
    for (BlockArgument arg : loop.getBody().getArguments())
      overwritten.insert(buffers.lookup(arg).getDefiningOp());
    SmallVector<Value> result;
    for (auto [i, value] : llvm::enumerate(loop.yielded())) {
      Value buffer = buffers.lookup(value);
      bool staysInPlace = i <= loop.numCarried() && value == loop.getBody().getArgument(i + 1);
      if (overwritten.contains(plan::rootBuffer(buffer)) && !staysInPlace) {
        Value saved = declareArena(value);
        copy(loop.getLoc(), buffer, saved);
        buffer = saved;
      }
      result.push_back(buffer);
    }
    return result;
  }

  DenseI64ArrayAttr inplaceAttr(ArrayRef<int64_t> pairs) {
    return pairs.empty() ? DenseI64ArrayAttr() : declare.getDenseI64ArrayAttr(pairs);
  }

  AffineMapAttr countFlops(dl::KernelOp kernel) {
    AffineExpr total = getAffineConstantExpr(0, function.getContext());
    for (Operation &op : kernel.getBody().front())
      if (auto cost = dyn_cast<dl::HasCost>(op))
        total = total + cost.countFlops([&](Value v) -> ArrayRef<AffineExpr> {
          scratchDims = shapes.lookup(v).dims;
          return scratchDims;
        });
    return mapOf({total});
  }

  void emitChecks(dl::KernelOp kernel, ArrayAttr nodes) {
    Block &body = kernel.getBody().front();
    for (Operation &op : body)
      if (auto checks = dyn_cast<dl::ChecksIndices>(op)) {
        dl::InferContext c(&op, shapes);
        for (const dl::IndexRange &range : checks.indexRanges(c)) {
          auto arg = dyn_cast<BlockArgument>(range.indices);
          if (!arg) // A constant inside the kernel: checked when it was built.
            continue;
          Value buffer = buffers.lookup(kernel.getInputs()[arg.getArgNumber()]);
          plan::CheckIndicesOp::create(run, op.getLoc(), buffer,
                                       mapOf({range.lower, range.upper}), nodes);
        }
      }
  }

  LogicalResult lowerKernel(dl::KernelOp kernel) {
    auto use = sources.add(kernel, shapes);
    if (failed(use))
      return failure();
    SmallVector<Value> inputs, outputs;
    for (Value input : kernel.getInputs())
      inputs.push_back(buffers.lookup(input));
    for (Value output : kernel.getOutputs()) {
      auto claimed = outputOf.find(output);
      bool isOutput = claimed != outputOf.end();
      buffers[output] = declareBuffer(
          output, isOutput ? plan::Storage::Output : plan::Storage::Arena,
          isOutput ? resultName(claimed->second) : "");
      outputs.push_back(buffers[output]);
    }
    ArrayAttr nodes = nodesOf(kernel.getLoc());
    emitChecks(kernel, nodes);
    plan::DispatchOp::create(run, kernel.getLoc(),
                             run.getStringAttr(sources.sources()[use->source].name),
                             inputs, outputs, mapOf(use->sizes), nodes,
                             inplaceAttr(use->inplace), countFlops(kernel));
    return success();
  }

  /// Inputs, constants, views and values returned twice are copied.
  void finishOutputs() {
    SmallVector<Value> outputs;
    for (auto [i, value] : llvm::enumerate(returned())) {
      if (stateOfResult(i))
        continue;
      auto claimed = outputOf.find(value);
      if (claimed != outputOf.end() && claimed->second == i) {
        outputs.push_back(buffers.lookup(value));
        continue;
      }
      Value output = declareBuffer(value, plan::Storage::Output, resultName(i));
      plan::CopyOp::create(run, function.getLoc(), buffers.lookup(value), output);
      outputs.push_back(output);
    }
    plan::OutputsOp::create(run, function.getLoc(), outputs);
  }

  /// After all reads. A new value that is an old one of some state is saved first: the
  /// other copies may overwrite it.
  LogicalResult updateStates() {
    SmallVector<std::pair<Value, Value>> copies;
    for (auto [i, value] : llvm::enumerate(returned())) {
      StringAttr name = stateOfResult(i);
      if (!name)
        continue;
      Value target = states.lookup(name), source = buffers.lookup(value);
      if (!target || target.getType() != source.getType())
        return function.emitError() << "result " << i << " is a new value of the state " << name
                                    << ", which no argument of its type has";
      if (source == target)
        continue;
      if (plan::rootBuffer(source).getStorage() == plan::Storage::State) {
        Value saved = declareArena(value);
        copy(function.getLoc(), source, saved);
        source = saved;
      }
      copies.push_back({source, target});
    }
    for (auto [source, target] : copies)
      copy(function.getLoc(), source, target);
    return success();
  }

  LogicalResult checkUnknown() {
    for (unsigned position : used) {
      const DimSymbol &symbol = shapes.symbols()[position];
      if (symbol.kind == DimSymbol::Unknown)
        return function.emitError()
               << "a size of this model cannot be derived from its inputs; give "
                  "the inputs static shapes or use --dim";
    }
    return success();
  }

  func::FuncOp function;
  KernelSources &sources;
  ShapeAnalysis &shapes;
  OpBuilder declare, run;
  plan::ProgramOp program;
  plan::OutputsOp marker;
  llvm::DenseMap<Value, Value> buffers;
  llvm::DenseMap<StringAttr, Value> states;
  llvm::DenseMap<Value, size_t> outputOf;
  llvm::SetVector<unsigned> used;
  dl::Shape scratchDims;
};

} // namespace

FailureOr<plan::ProgramOp> lowerToPlan(func::FuncOp function, KernelSources &sources) {
  auto shapes = ShapeAnalysis::run(function);
  if (!shapes)
    return failure();
  return PlanBuilder(function, sources, *shapes).build();
}

} // namespace dlc
