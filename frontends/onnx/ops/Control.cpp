// If, Loop and Scan.

#include "frontends/onnx/ops/Families.h"

#include "dialects/dl/ops/Control.h"
#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Gather.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Slice.h"
#include "dialects/dl/ops/Structure.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

using Values = SmallVector<Value>;

/// A region whose block yields what `fill` makes at its end.
bool fillRegion(NodeContext &c, Region &region, ArrayRef<Value> like,
                llvm::function_ref<std::optional<Values>(ValueRange)> fill) {
  OpBuilder::InsertionGuard guard(c.b);
  Block *block = c.b.createBlock(&region);
  for (Value v : like)
    block->addArgument(v.getType(), c.loc);
  auto values = fill(block->getArguments());
  if (!values)
    return false;
  c.b.setInsertionPointToEnd(block);
  dl::YieldOp::create(c.b, c.loc, *values);
  return true;
}

LogicalResult setOutputs(NodeContext &c, ArrayRef<Value> values) {
  if (values.size() != c.numOutputs())
    return c.invalid("its graph has " + Twine(values.size()) + " outputs, the node " +
                     Twine(c.numOutputs()));
  for (auto [i, value] : llvm::enumerate(values))
    c.setOutput(i, value);
  return success(!c.failed());
}

LogicalResult importIf(NodeContext &c) {
  const Graph *branches[] = {c.graphAttr("then_branch"), c.graphAttr("else_branch")};
  if (!branches[0] || !branches[1])
    return failure();
  // A condition that is known leaves one branch, in place.
  if (auto known = c.constantInts(c.input(0)); known && known->size() == 1) {
    auto values = c.importGraph(*branches[(*known)[0] ? 0 : 1], c.b, {});
    return values ? setOutputs(c, *values) : failure();
  }
  auto op = dl::IfOp::create(c.b, c.loc, SmallVector<Type>(branches[0]->outputs.size(), c.b.getNoneType()),
                             c.input(0));
  for (auto [branch, region] : llvm::zip(branches, op->getRegions()))
    if (!fillRegion(c, region, {}, [&](ValueRange) { return c.importGraph(*branch, c.b, {}); })) {
      op->erase();
      return failure();
    }
  if (branches[0]->outputs.size() != branches[1]->outputs.size()) {
    op->erase();
    return c.invalid("its branches have " + Twine(branches[0]->outputs.size()) + " and " +
                     Twine(branches[1]->outputs.size()) + " outputs");
  }
  return setOutputs(c, c.finish(op));
}

/// What Loop and Scan have in common: a dl.loop around a graph.
struct LoopParts {
  Value trip, condition;
  Values initial;
  size_t numScanned = 0;
};

/// `fill` gives next condition, next carried values and slices. Results as dl.loop's.
std::optional<Values> makeLoop(NodeContext &c, const LoopParts &parts,
                               llvm::function_ref<std::optional<Values>(ValueRange)> fill) {
  size_t numResults = parts.initial.size() + 1 + parts.numScanned;
  auto op = dl::LoopOp::create(c.b, c.loc, SmallVector<Type>(numResults, c.b.getNoneType()),
                               parts.trip, parts.condition, parts.initial);
  Values like = {c.intScalar(c.b.getI64Type(), 0), c.intScalar(c.b.getI1Type(), 1)};
  like.append(parts.initial);
  // The two constants stand after the op; they only lend their types.
  bool ok = fillRegion(c, op.getBody(), like, [&](ValueRange arguments) {
    for (auto [arg, initial] : llvm::zip(arguments.drop_front(2), parts.initial))
      c.declareLike(arg, initial);
    return fill(arguments);
  });
  like[0].getDefiningOp()->erase();
  like[1].getDefiningOp()->erase();
  if (ok && op.yielded().size() != numResults) {
    (void)c.invalid("its body has " + Twine(op.yielded().size()) + " outputs, expects " +
                    Twine(numResults));
    ok = false;
  }
  if (!ok) {
    op->erase();
    return std::nullopt;
  }
  Values results = c.finish(op);
  return c.failed() ? std::nullopt : std::optional(results);
}

/// Entries [0, count) of `v` along its first axis.
Value takeFirst(NodeContext &c, Value v, Value count) {
  Value zero = c.ints({0}), one = c.ints({1});
  Value end = c.reshape(count, {1});
  Value bounds = c.make<dl::SliceBoundsOp>(v, zero, end, zero, one);
  return c.make<dl::SliceOp>(v, bounds);
}

LogicalResult importLoop(NodeContext &c) {
  const Graph *body = c.graphAttr("body");
  if (!body)
    return failure();
  LoopParts parts;
  parts.trip = c.input(0);
  parts.condition = c.input(1);
  size_t numCarried = c.numInputs() < 2 ? 0 : c.numInputs() - 2;
  for (size_t i = 0; i < numCarried; ++i) {
    if (!c.hasInput(i + 2))
      return c.unsupported("a carried value that is omitted");
    parts.initial.push_back(c.input(i + 2));
  }
  if (body->inputs.size() != numCarried + 2 || body->outputs.size() < numCarried + 1)
    return c.invalid("its body has " + Twine(body->inputs.size()) + " inputs and " +
                     Twine(body->outputs.size()) + " outputs for " + Twine(numCarried) +
                     " carried values");
  parts.numScanned = body->outputs.size() - numCarried - 1;
  if (parts.numScanned && !parts.trip)
    return c.unsupported("scan outputs without a trip count");
  bool isAlwaysOn = false;
  auto results = makeLoop(c, parts, [&](ValueRange arguments) {
    auto values = c.importGraph(*body, c.b, arguments);
    if (values) {
      // Without a condition the body's is not looked at.
      if (!parts.condition)
        (*values)[0] = arguments[1];
      auto known = c.constantInts((*values)[0]);
      isAlwaysOn = (*values)[0] == arguments[1] || (known && known->size() == 1 && (*known)[0]);
    }
    return values;
  });
  if (!results)
    return failure();
  auto starts = parts.condition ? c.constantInts(parts.condition) : std::optional(NodeContext::Ints{1});
  bool runsAll = isAlwaysOn && starts && starts->size() == 1 && (*starts)[0];
  Value count = (*results)[numCarried];
  Values outputs(results->begin(), results->begin() + numCarried);
  for (Value scanned : ArrayRef(*results).drop_front(numCarried + 1))
    outputs.push_back(runsAll ? scanned : takeFirst(c, scanned, count));
  return setOutputs(c, outputs);
}

/// Slice `index` of `v` along its first axis.
Value takeSlice(NodeContext &c, Value v, Value index) {
  return c.make<dl::GatherOp>(v, index, c.b.getI64IntegerAttr(0));
}

/// Scan: states are carried, scan inputs are read slice by slice. Other axes and
/// directions than the first, forward, are turned before and after the loop.
class ScanImporter {
public:
  explicit ScanImporter(NodeContext &c) : c(c) {}

  LogicalResult run() {
    if (c.opset < 9)
      return c.unsupported("the batched form of opset 8");
    body = c.graphAttr("body");
    int64_t numScanInputs = c.intAttr("num_scan_inputs", 0);
    if (!body || c.failed())
      return failure();
    if (numScanInputs < 1 || numScanInputs > int64_t(c.numInputs()))
      return c.invalid("num_scan_inputs is " + Twine(numScanInputs) + " of " +
                       Twine(c.numInputs()) + " inputs");
    numStates = c.numInputs() - numScanInputs;
    if (body->outputs.size() < numStates)
      return c.invalid("its body has fewer outputs than states");
    if (!readInputs(numScanInputs))
      return failure();
    LoopParts parts;
    parts.trip = c.extract(c.shapeOf(scanned.front()), 0);
    parts.initial.append(c.allInputs().begin(), c.allInputs().begin() + numStates);
    parts.numScanned = body->outputs.size() - numStates;
    auto results = c.failed() ? std::nullopt
                              : makeLoop(c, parts, [&](ValueRange a) { return fill(a); });
    return results ? finish(*results) : failure();
  }

private:
  SmallVector<int64_t> listAttr(StringRef name, size_t size) {
    auto list = c.intsAttr(name, SmallVector<int64_t>(size, 0));
    if (list.size() != size)
      (void)c.invalid("attribute " + quoted(name) + " has " + Twine(list.size()) +
                      " entries, expects " + Twine(size));
    return list;
  }

  bool readInputs(size_t count) {
    auto axes = listAttr("scan_input_axes", count), backwards = listAttr("scan_input_directions", count);
    for (size_t i = 0; i < count && !c.failed(); ++i) {
      Value v = c.input(numStates + i);
      if (!v)
        return succeeded(c.invalid("scan input " + Twine(i) + " is missing"));
      auto axis = c.normalizeAxis(axes[i], c.rank(v));
      if (failed(axis))
        return false;
      scanned.push_back(reverse(moveAxis(v, *axis, 0), backwards[i]));
    }
    return !c.failed();
  }

  Value moveAxis(Value v, int64_t from, int64_t to) {
    if (!v)
      return v;
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, c.rank(v)));
    order.erase(order.begin() + from);
    order.insert(order.begin() + to, from);
    return c.transpose(v, order);
  }

  Value reverse(Value v, int64_t isBackwards) {
    if (!v || !isBackwards)
      return v;
    Value last = c.ints({-1}), past = c.ints({INT64_MIN}), zero = c.ints({0});
    return c.make<dl::SliceOp>(v, c.make<dl::SliceBoundsOp>(v, last, past, zero, last));
  }

  std::optional<Values> fill(ValueRange arguments) {
    Values inputs(arguments.begin() + 2, arguments.end());
    for (Value v : scanned)
      inputs.push_back(takeSlice(c, v, arguments[0]));
    if (c.failed())
      return std::nullopt;
    auto values = c.importGraph(*body, c.b, inputs);
    if (values)
      values->insert(values->begin(), arguments[1]);
    return values;
  }

  LogicalResult finish(const Values &results) {
    Values outputs(results.begin(), results.begin() + numStates);
    ArrayRef<Value> stacks = ArrayRef(results).drop_front(numStates + 1);
    auto axes = listAttr("scan_output_axes", stacks.size());
    auto backwards = listAttr("scan_output_directions", stacks.size());
    for (size_t i = 0; i < stacks.size() && !c.failed(); ++i) {
      auto axis = c.normalizeAxis(axes[i], c.rank(stacks[i]));
      if (failed(axis))
        return failure();
      outputs.push_back(moveAxis(reverse(stacks[i], backwards[i]), 0, *axis));
    }
    return c.failed() ? failure() : setOutputs(c, outputs);
  }

  NodeContext &c;
  const Graph *body = nullptr;
  size_t numStates = 0;
  Values scanned;
};

LogicalResult importScan(NodeContext &c) { return ScanImporter(c).run(); }

} // namespace

void addControl(Registry &r) {
  r.add("If", 1, 1, importIf);
  r.add("Loop", 0, kAnyNumber, importLoop);
  r.add("Scan", 1, kAnyNumber, importScan, 8);
}

} // namespace dlc::onnx
