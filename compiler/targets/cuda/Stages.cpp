// Cuts a kernel into launches. A linalg op is a launch over the grid; loops and
// single stores are a launch of one block. What has to see another launch's
// scalars makes the whole kernel one block, which is always right.

#include "compiler/targets/cuda/NarrowLimit.h"
#include "compiler/targets/cuda/Printer.h"

#include "compiler/artifact/SizeSteps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace dlc::cuda {

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kRowThreads = 128;
constexpr int64_t kMostBlocks = 1 << 15;

/// A buffer that only tells a reshape its sizes: no memory in the kernel.
bool isShapeOnly(Value buffer) {
  bool reshapes = false;
  for (Operation *user : buffer.getUsers()) {
    if (auto reshape = dyn_cast<memref::ReshapeOp>(user)) {
      reshapes |= reshape.getShape() == buffer;
      if (reshape.getSource() == buffer)
        return false;
    } else if (auto store = dyn_cast<memref::StoreOp>(user)) {
      if (store.getMemref() != buffer || !llvm::all_of(store.getIndices(), [](Value i) {
            return getConstantIntValue(i).has_value();
          }))
        return false;
    } else if (!isa<memref::DeallocOp>(user)) {
      return false;
    }
  }
  return reshapes;
}

bool isWrite(Operation *op) {
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return !isShapeOnly(store.getMemref());
  return isa<linalg::LinalgOp, memref::CopyOp>(op);
}

bool writes(Operation *op) {
  return op->walk([](Operation *inner) {
             return isWrite(inner) ? WalkResult::interrupt() : WalkResult::advance();
           }).wasInterrupted();
}

/// The buffers that `op` writes.
void collectWritten(Operation *op, llvm::SmallPtrSetImpl<Value> &written) {
  op->walk([&](Operation *inner) {
    if (auto store = dyn_cast<memref::StoreOp>(inner))
      written.insert(rootOf(store.getMemref()));
    else if (auto copy = dyn_cast<memref::CopyOp>(inner))
      written.insert(rootOf(copy.getTarget()));
    else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(inner))
      for (Value init : linalgOp.getDpsInits())
        written.insert(rootOf(init));
  });
}

class StageBuilder {
public:
  StageBuilder(func::FuncOp function, DeviceKernel &kernel)
      : function(function), entry(function.getBody().front()), kernel(kernel) {}

  LogicalResult run() {
    numberParameters();
    if (failed(describeTemporaries()))
      return failure();
    SmallVector<Operation *> stages;
    for (Operation &op : entry.without_terminator())
      if (writes(&op))
        stages.push_back(&op);
    if (!canSplit(stages))
      return emitWhole();
    std::vector<Stage> groups = joinRows(formGroups(stages));
    for (const Stage &group : groups)
      if (failed(emitStage(group, groups.size() > 1)))
        return failure();
    dropUnusedTemporaries();
    return success();
  }

private:
  void numberParameters() {
    auto add = [&](Value value) { parameters.insert({value, unsigned(parameters.size())}); };
    for (BlockArgument argument : function.getArguments())
      if (isa<MemRefType>(argument.getType()))
        add(argument);
    function.walk([&](memref::AllocOp alloc) {
      if (!isShapeOnly(alloc.getResult())) {
        add(alloc.getResult());
        temporaries.push_back(alloc);
      }
    });
    for (BlockArgument argument : function.getArguments())
      if (!isa<MemRefType>(argument.getType()))
        add(argument);
  }

  LogicalResult describeTemporaries() {
    Printer sizes(function, parameters, kernel.name);
    for (memref::AllocOp alloc : temporaries) {
      AffineExpr bytes = sizes.bytesOf(alloc);
      if (!bytes)
        return alloc.emitError("cannot be planned for a device: a temporary whose size only "
                               "the data decides");
      kernel.temporaries.push_back(toSizeSteps(bytes));
    }
    return success();
  }

  /// The ops of the function's top level that `op` needs, in program order.
  bool collectNeeds(Operation *op, llvm::SetVector<Operation *> &needs) {
    bool ok = true;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (!def || def->getBlock() != &entry || def == op || needs.contains(def))
          continue;
        // Another launch's scalars and loop-carried buffers are not to be had.
        if (writes(def)) {
          ok = false;
          continue;
        }
        ok &= collectNeeds(def, needs);
        needs.insert(def);
      }
      if (auto reshape = dyn_cast<memref::ReshapeOp>(inner))
        for (Operation *user : reshape.getShape().getUsers())
          if (isa<memref::StoreOp>(user) && isShapeOnly(reshape.getShape()))
            ok &= collectNeeds(user, needs);
    });
    return ok;
  }

  /// A scalar that a launch loads at its start must not be overwritten by then.
  bool loadsStay(const llvm::SetVector<Operation *> &needs) {
    for (Operation *need : needs) {
      llvm::SmallPtrSet<Value, 4> loaded, written;
      need->walk([&](memref::LoadOp load) { loaded.insert(rootOf(load.getMemref())); });
      if (loaded.empty())
        continue;
      for (Operation *later = need->getNextNode(); later; later = later->getNextNode())
        collectWritten(later, written);
      for (Value root : loaded)
        if (written.contains(root))
          return false;
    }
    return true;
  }

  bool canSplit(ArrayRef<Operation *> stages) {
    for (Operation *stage : stages) {
      llvm::SetVector<Operation *> needs;
      if (!collectNeeds(stage, needs) || !loadsStay(needs))
        return false;
    }
    return true;
  }

  /// What one launch does: one op, or several over the same points.
  struct Stage {
    SmallVector<Operation *> ops;
    SmallVector<PointOp> points; // empty: `ops` is one op that is not a set of points
    std::optional<unsigned> rowRank; // a block per setting of so many loops
  };

  std::vector<Stage> formGroups(ArrayRef<Operation *> ops) {
    std::vector<Stage> stages;
    for (Operation *op : ops) {
      std::optional<PointOp> points;
      if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        Printer sizes(function, parameters, kernel.name);
        SmallVector<AffineExpr> exprs;
        for (const Extent &size : sizes.loopSizes(generic))
          exprs.push_back(size.expr);
        points = toPoints(generic, exprs);
      }
      bool joins = points && !stages.empty() && !stages.back().points.empty() &&
                   canJoin(stages.back().points, *points);
      if (!joins)
        stages.emplace_back();
      stages.back().ops.push_back(op);
      if (points)
        stages.back().points.push_back(std::move(*points));
    }
    return stages;
  }

  /// Puts stages around a reduction of rows into one launch.
  std::vector<Stage> joinRows(std::vector<Stage> stages) {
    std::vector<Stage> result;
    for (Stage &stage : stages) {
      if (!result.empty() && result.back().rowRank && !stage.points.empty() &&
          !findContraction(stage.points) && tryJoin(result.back(), stage, *result.back().rowRank))
        continue;
      auto reduction = llvm::find_if(stage.points, isRowReduction);
      if (reduction != stage.points.end() && !findContraction(stage.points) &&
          canShareRows(stage.points, reduction->order.size())) {
        stage.rowRank = reduction->order.size();
        // What makes the row comes along, unless there is but one row.
        if (!result.empty() && !result.back().points.empty() && *stage.rowRank > 0 &&
            !findContraction(result.back().points) && tryJoin(result.back(), stage, *stage.rowRank)) {
          result.back().rowRank = stage.rowRank;
          continue;
        }
      }
      result.push_back(std::move(stage));
    }
    return result;
  }

  bool tryJoin(Stage &into, const Stage &next, unsigned rank) {
    SmallVector<PointOp> all = into.points;
    llvm::append_range(all, next.points);
    if (rank == 0 || !canShareRows(all, rank))
      return false;
    into.points = std::move(all);
    llvm::append_range(into.ops, next.ops);
    return true;
  }

  /// The top-level ops that a launch of `ops` computes for itself, in order.
  SmallVector<Operation *> sortedNeeds(ArrayRef<Operation *> ops) {
    llvm::SetVector<Operation *> set;
    for (Operation *op : ops)
      collectNeeds(op, set);
    SmallVector<Operation *> needs(set.begin(), set.end());
    llvm::sort(needs, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    return needs;
  }

  LogicalResult emitStage(const Stage &stage, bool isOneOfMany) {
    std::string name = kernel.name;
    if (isOneOfMany)
      name += "_s" + std::to_string(kernel.launches.size());
    SmallVector<Operation *> ops = sortedNeeds(stage.ops);
    if (stage.points.empty()) {
      Operation *op = stage.ops.front();
      ops.push_back(op);
      return emitOps(ops, isa<memref::CopyOp>(op) ? Scope::Grid : blockScope(ops), name);
    }
    if (auto contraction = findContraction(stage.points))
      return emit(name, kThreads, 1, [&](Printer &printer) {
        return printer.printTiles(ops, stage.points, *contraction);
      });
    if (stage.rowRank)
      return emit(name, kRowThreads, 1, [&](Printer &printer) {
        return printer.printRows(ops, stage.points, *stage.rowRank);
      });
    return emit(name, kThreads, kThreads,
                [&](Printer &printer) { return printer.printPoints(ops, stage.points); });
  }

  /// The group's contraction, unless it has other reductions beside it.
  std::optional<Contraction> findContraction(ArrayRef<PointOp> group) {
    std::optional<Contraction> result;
    for (const PointOp &member : group) {
      linalg::GenericOp op = member.op;
      if (op.getNumReductionLoops() == 0)
        continue;
      if (result || !(result = toContraction(op)))
        return std::nullopt;
    }
    return result;
  }

  /// Buffers that became variables need no memory.
  void dropUnusedTemporaries() {
    llvm::SmallDenseSet<uint32_t> used;
    for (const DeviceLaunch &launch : kernel.launches)
      used.insert(launch.args.begin(), launch.args.end());
    for (auto [i, alloc] : llvm::enumerate(temporaries))
      if (!used.contains(parameters.find(alloc.getResult())->second))
        kernel.temporaries[i] = toSizeSteps(getAffineConstantExpr(0, function.getContext()));
  }

  LogicalResult emitWhole() {
    SmallVector<Operation *> ops;
    for (Operation &op : entry.without_terminator())
      if (!isa<memref::StoreOp>(op) || isWrite(&op))
        ops.push_back(&op);
    return emitOps(ops, blockScope(ops), kernel.name);
  }

  /// Scalar loops run in one thread; with linalg ops in them, in one block.
  Scope blockScope(ArrayRef<Operation *> ops) {
    for (Operation *op : ops)
      if (op->walk([](Operation *inner) {
              return isa<linalg::LinalgOp, memref::CopyOp>(inner) ? WalkResult::interrupt()
                                                                  : WalkResult::advance();
            }).wasInterrupted())
        return Scope::Block;
    return Scope::Thread;
  }

  LogicalResult emitOps(ArrayRef<Operation *> ops, Scope scope, const std::string &name) {
    bool isGrid = scope == Scope::Grid;
    unsigned threads = scope == Scope::Thread ? 1 : kThreads;
    if (failed(emit(name, threads, threads,
                    [&](Printer &printer) { return printer.printBody(ops, scope); })))
      return failure();
    if (!isGrid) {
      kernel.launches.back().work = toSizeSteps(getAffineConstantExpr(1, function.getContext()));
      kernel.launches.back().maxBlocks = 1;
    }
    return success();
  }

  /// Adds a launch over the grid. Its function computes indices in 32 bits where all
  /// sizes allow that; where only a launch knows, there is one of either width.
  LogicalResult emit(const std::string &name, unsigned threads, int64_t perBlock,
                     llvm::function_ref<LogicalResult(Printer &)> print) {
    Printer narrow(function, parameters, name + "_i32"), wide(function, parameters, name);
    wide.narrowIndices = false;
    if (failed(print(narrow)))
      return failure();
    NarrowLimit limit = limitOf(narrow.extents());
    DeviceLaunch launch = describe(narrow, name, threads, perBlock);
    if (limit.isAlways) {
      kernel.source += functionText(narrow, name, threads);
    } else {
      if (failed(print(wide)))
        return failure();
      kernel.source += functionText(wide, name, threads);
      if (!limit.largest.empty()) {
        launch.narrowFunction = name + "_i32";
        launch.largest = std::move(limit.largest);
        kernel.source += functionText(narrow, launch.narrowFunction, threads);
      }
    }
    kernel.launches.push_back(std::move(launch));
    return success();
  }

  DeviceLaunch describe(const Printer &printer, const std::string &name, unsigned threads,
                        int64_t perBlock) {
    DeviceLaunch launch;
    launch.function = name;
    launch.threads = threads;
    launch.perBlock = perBlock;
    launch.maxBlocks = kMostBlocks;
    launch.work = toSizeSteps(printer.work ? printer.work
                                           : getAffineConstantExpr(kMostBlocks, function.getContext()));
    llvm::append_range(launch.args, printer.usedParameters());
    return launch;
  }

  static std::string functionText(const Printer &printer, const std::string &name, unsigned threads) {
    std::string declarations;
    for (unsigned parameter : printer.usedParameters())
      declarations += (declarations.empty() ? "" : ", ") + printer.parameterDeclaration(parameter);
    return printer.globals + "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads) +
           ")\n" + name + "(" + declarations + ") {\n" + printer.body + "}\n\n";
  }

  func::FuncOp function;
  Block &entry;
  DeviceKernel &kernel;
  llvm::MapVector<Value, unsigned> parameters;
  SmallVector<memref::AllocOp> temporaries;
};

} // namespace

LogicalResult printKernel(func::FuncOp function, DeviceKernel &kernel) {
  return StageBuilder(function, kernel).run();
}

} // namespace dlc::cuda
