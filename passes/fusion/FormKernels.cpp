// Decides which ops share a kernel, and outlines them into dl.kernel.

#include "dialects/dl/ops/Movement.h"
#include "passes/Counts.h"
#include "passes/Passes.h"
#include "passes/ShapeAnalysis.h"

#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Structure.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace dlc {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/Passes.h.inc"
} // namespace dlc

using namespace mlir;
using namespace dlc;
using dl::FusionRole;

namespace {

/// Ops of one future kernel, in program order; `root` gives its result.
struct Group {
  SmallVector<Operation *> ops;
  Operation *root = nullptr;
  FusionRole role = FusionRole::Opaque;
};

/// A single number is compiled into the kernel.
bool isInlineConstant(Operation *op) {
  auto constant = dyn_cast<dl::ConstantOp>(op);
  return constant && isa<DenseElementsAttr>(constant.getValue()) &&
         constant.getValue().getNumElements() == 1;
}

class Grouping {
public:
  Grouping(Block &block, ShapeAnalysis &shapes, bool fuse) : shapes(shapes), fuse(fuse) {
    for (Operation &op : block) {
      if (auto lowering = dyn_cast<dl::LowersToLinalg>(&op)) {
        if (FusionRole role = lowering.fusionRole(); role != FusionRole::View)
          add(&op, role);
      } else if (isa<dl::Decomposes>(&op)) { // left whole for a kernel of its own
        add(&op, FusionRole::Opaque);
      }
    }
  }

  SmallVector<Group *> inOrder() {
    SmallVector<Group *> result;
    for (auto &group : groups)
      if (!group->ops.empty())
        result.push_back(group.get());
    return result;
  }
  unsigned numFused = 0;

private:
  void add(Operation *op, FusionRole role) {
    groups.push_back(std::make_unique<Group>());
    Group *group = groups.back().get();
    *group = {{op}, op, role};
    groupOf[op] = group;
    if (!fuse || (role != FusionRole::Elementwise && role != FusionRole::Reduction))
      return;
    // Absorb the producers that nobody else reads.
    for (Value operand : op->getOperands())
      if (Group *producer = fusibleProducer(op, group, operand))
        absorb(group, producer);
  }

  bool sameShape(Value a, Value b) {
    return shapes.lookup(a).dims == shapes.lookup(b).dims;
  }

  Group *fusibleProducer(Operation *op, Group *group, Value operand) {
    Operation *producer = operand.getDefiningOp();
    Group *other = producer ? groupOf.lookup(producer) : nullptr;
    if (!other || other == group || other->root != producer)
      return nullptr;
    if (!llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == op; }))
      return nullptr;
    bool hasHeavyOp = group->role != FusionRole::Elementwise;
    switch (other->role) {
    case FusionRole::Elementwise:
      return sameShape(operand, op->getResult(0)) ||
                     group->role == FusionRole::Reduction
                 ? other
                 : nullptr;
    case FusionRole::Reduction:
    case FusionRole::Contraction:
      return !hasHeavyOp && producer->getNumResults() == 1 &&
                     sameShape(operand, op->getResult(0))
                 ? other
                 : nullptr;
    case FusionRole::View:
    case FusionRole::Opaque:
      return nullptr;
    }
    return nullptr;
  }

  void absorb(Group *group, Group *producer) {
    for (Operation *op : producer->ops)
      groupOf[op] = group;
    group->ops.insert(group->ops.begin(), producer->ops.begin(), producer->ops.end());
    if (group->role == FusionRole::Elementwise)
      group->role = producer->role;
    producer->ops.clear();
    ++numFused;
  }

  ShapeAnalysis &shapes;
  const bool fuse;
  std::vector<std::unique_ptr<Group>> groups;
  llvm::DenseMap<Operation *, Group *> groupOf;
};

/// Moves the group's ops into a dl.kernel in front of its root.
void outline(Group &group) {
  llvm::sort(group.ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  llvm::SetVector<Value> inputs;
  llvm::SmallPtrSet<Operation *, 8> members(group.ops.begin(), group.ops.end());
  SmallVector<Operation *> constants;
  bool isComposite = isa<dl::Decomposes>(group.root); // its kernel reads buffers
  for (Operation *op : group.ops)
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def && members.contains(def))
        continue;
      if (def && isInlineConstant(def) && !isComposite)
        constants.push_back(def);
      else
        inputs.insert(operand);
    }
  SmallVector<Location> locations;
  for (Operation *op : group.ops)
    locations.push_back(op->getLoc());
  OpBuilder b(group.root);
  Location loc = b.getFusedLoc(locations);
  auto kernel = dl::KernelOp::create(b, loc, group.root->getResultTypes(),
                                     inputs.getArrayRef());
  Block *body = b.createBlock(&kernel.getBody());
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body->addArgument(input.getType(), loc));
  for (Operation *constant : constants)
    if (!mapping.contains(constant->getResult(0)))
      b.clone(*constant, mapping);
  for (Operation *op : group.ops)
    b.clone(*op, mapping);
  SmallVector<Value> results;
  for (Value result : group.root->getResults())
    results.push_back(mapping.lookup(result));
  dl::YieldOp::create(b, loc, results);
  group.root->replaceAllUsesWith(kernel.getResults());
  for (Operation *op : llvm::reverse(group.ops))
    op->erase();
}

struct FormKernels : dlc::impl::FormKernelsBase<FormKernels> {
  using FormKernelsBase::FormKernelsBase;
  void runOnOperation() override {
    auto shapes = ShapeAnalysis::run(getOperation());
    if (!shapes)
      return signalPassFailure();
    SmallVector<Block *> blocks;
    getOperation()->walk<WalkOrder::PreOrder>([&](Block *block) {
      if (isa<dl::KernelOp>(block->getParentOp()))
        return WalkResult::skip();
      blocks.push_back(block);
      return WalkResult::advance();
    });
    int64_t numKernels = 0, numFused = 0;
    for (Block *block : blocks) {
      Grouping grouping(*block, *shapes, fuse);
      numFused += grouping.numFused;
      for (Group *group : grouping.inOrder()) {
        outline(*group);
        ++numKernels;
      }
    }
    int64_t numTransposes = 0; // that run, those of constants are computed by now
    getOperation()->walk([&](dl::TransposeOp op) {
      numTransposes += isa<dl::KernelOp>(op->getParentOp());
    });
    reportCounts(*this, getOperation(), {{"kernels", numKernels},
                                         {"fused", numFused},
                                         {"transposes", numTransposes}});
  }
};

} // namespace
