// Losses of classifiers: the value at the target's class, weighted and summed.

#include "frontends/onnx/ops/Families.h"
#include "frontends/onnx/ops/ShapeTools.h"

#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Gather.h"
#include "dialects/dl/ops/Reduce.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

Value sumAll(NodeContext &c, Value v) {
  if (!v)
    return {};
  NodeContext::Ints axes;
  for (int64_t i = 0; i < c.rank(v); ++i)
    axes.push_back(i);
  return c.make<dl::ReduceOp>(v, dl::ReduceKindAttr::get(c.b.getContext(), dl::ReduceKind::sum),
                              c.array(axes), c.b.getBoolAttr(false));
}

// loss[n, d...] = -weight[target] * logProb[n, target, d...], 0 where ignored
Value negativeLogLikelihood(NodeContext &c, Value logProb, Value target, Value weight) {
  ShapeTools s{c};
  Type element = c.element(logProb);
  std::string reduction = c.stringAttr("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean") {
    (void)c.unsupported("reduction '" + reduction + "'");
    return {};
  }
  if (c.rank(logProb) < 2 || c.rank(target) + 1 != c.rank(logProb)) {
    (void)c.invalid("has a target of rank " + Twine(c.rank(target)) + " for an input of rank " +
                    Twine(c.rank(logProb)));
    return {};
  }
  target = c.cast(target, c.b.getI64Type());
  Value isIgnored, weights;
  if (c.has("ignore_index")) {
    Value ignored = c.intScalar(c.b.getI64Type(), c.intAttr("ignore_index", 0));
    isIgnored = s.compare("eq", target, ignored);
    target = c.make<dl::SelectOp>(isIgnored, c.intScalar(c.b.getI64Type(), 0), target);
  }
  Value picked = c.make<dl::GatherElementsOp>(logProb, s.unsqueeze(target, 1),
                                              c.b.getI64IntegerAttr(1));
  Value loss = c.make<dl::NegOp>(s.dropAxis(picked, 1));
  if (weight)
    weights = s.gather(weight, target, 0);
  else if (isIgnored || reduction == "mean")
    weights = s.expandTo(c.scalar(element, 1), c.shapeOf(target));
  if (isIgnored)
    weights = c.make<dl::SelectOp>(isIgnored, c.scalar(element, 0), weights);
  if (weights)
    loss = c.make<dl::MulOp>(loss, weights);
  // An ignored element counts as 0 even where its log is infinite.
  if (isIgnored)
    loss = c.make<dl::SelectOp>(isIgnored, c.scalar(element, 0), loss);
  if (reduction == "none")
    return loss;
  Value sum = sumAll(c, loss);
  return reduction == "sum" ? sum : c.make<dl::DivOp>(sum, sumAll(c, weights));
}

LogicalResult negativeLogLikelihoodLoss(NodeContext &c) {
  return c.done(negativeLogLikelihood(c, c.input(0), c.input(1), c.input(2)));
}

LogicalResult softmaxCrossEntropyLoss(NodeContext &c) {
  Value logProb = c.make<dl::SoftmaxOp>(c.input(0), c.b.getI64IntegerAttr(1), c.b.getUnitAttr());
  if (!logProb)
    return failure();
  c.setOutput(1, logProb);
  return c.done(negativeLogLikelihood(c, logProb, c.input(1), c.input(2)));
}

} // namespace

void addLosses(Registry &r) {
  r.add("NegativeLogLikelihoodLoss", 2, 3, negativeLogLikelihoodLoss, 12);
  r.add("SoftmaxCrossEntropyLoss", 2, 3, softmaxCrossEntropyLoss, 12);
}

} // namespace dlc::onnx
