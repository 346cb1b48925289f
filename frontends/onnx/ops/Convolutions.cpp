// Conv, ConvTranspose and the pooling ops.

#include "frontends/onnx/ops/Families.h"
#include "frontends/onnx/ops/Products.h"
#include "frontends/onnx/ops/Windows.h"

#include "dialects/dl/ops/Conv.h"
#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Pool.h"
#include "dialects/dl/ops/Reduce.h"

using namespace mlir;

namespace dlc::onnx {

FailureOr<Window> readWindow(NodeContext &c, ArrayRef<int64_t> spatial,
                             ArrayRef<int64_t> kernel) {
  size_t rank = spatial.size();
  Window w;
  w.kernel.assign(kernel.begin(), kernel.end());
  w.strides = c.intsAttr("strides", SmallVector<int64_t>(rank, 1));
  w.dilations = c.intsAttr("dilations", SmallVector<int64_t>(rank, 1));
  w.pads = c.intsAttr("pads", SmallVector<int64_t>(2 * rank, 0));
  if (w.kernel.size() != rank || w.strides.size() != rank ||
      w.dilations.size() != rank || w.pads.size() != 2 * rank) {
    (void)c.invalid("has " + Twine(w.kernel.size()) + " kernel sizes, " +
                    Twine(w.strides.size()) + " strides, " + Twine(w.dilations.size()) +
                    " dilations and " + Twine(w.pads.size()) + " pads for " + Twine(rank) +
                    " spatial axes");
    return failure();
  }
  constexpr int64_t most = int64_t(1) << 31;
  for (size_t i = 0; i < rank; ++i)
    if (w.kernel[i] < 1 || w.strides[i] < 1 || w.dilations[i] < 1 || w.kernel[i] >= most ||
        w.strides[i] >= most || w.dilations[i] >= most) {
      (void)c.invalid("kernel size " + Twine(w.kernel[i]) + ", stride " + Twine(w.strides[i]) +
                      " and dilation " + Twine(w.dilations[i]) + " must be positive");
      return failure();
    }
  std::string mode = c.stringAttr("auto_pad", "NOTSET");
  if (mode == "NOTSET")
    return w;
  w.pads.assign(2 * rank, 0);
  if (mode == "VALID")
    return w;
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER") {
    (void)c.invalid("auto_pad '" + Twine(mode) + "' does not exist");
    return failure();
  }
  for (size_t i = 0; i < rank; ++i) {
    int64_t window = (w.kernel[i] - 1) * w.dilations[i] + 1, total;
    if (spatial[i] >= 0) {
      int64_t out = (spatial[i] + w.strides[i] - 1) / w.strides[i];
      total = std::max<int64_t>(0, (out - 1) * w.strides[i] + window - spatial[i]);
    } else if (w.strides[i] == 1) {
      total = window - 1;
    } else {
      (void)c.unsupported("auto_pad " + Twine(mode) + " with a stride on an axis of "
                          "symbolic size; fix it with --dim");
      return failure();
    }
    int64_t less = total / 2, more = total - less;
    w.pads[i] = mode == "SAME_UPPER" ? less : more;
    w.pads[i + rank] = mode == "SAME_UPPER" ? more : less;
  }
  return w;
}

namespace {

SmallVector<int64_t> spatialSizes(NodeContext &c, Value v) {
  SmallVector<int64_t> sizes(c.type(v).getShape().drop_front(2));
  for (int64_t &size : sizes)
    size = ShapedType::isDynamic(size) ? -1 : size;
  return sizes;
}

/// Adds a bias along the channels of an N,C,.. tensor.
Value addBias(NodeContext &c, Value v, Value bias) {
  if (!v || !bias)
    return v;
  SmallVector<int64_t> shape(c.rank(v) - 1, 1);
  shape[0] = -1;
  return c.make<dl::AddOp>(v, c.reshape(bias, shape));
}

LogicalResult checkOperands(NodeContext &c, Value x, Value w) {
  if (!x || !w)
    return c.invalid("needs an input and a filter");
  if (c.rank(x) < 3 || c.rank(x) != c.rank(w))
    return c.invalid("input has rank " + Twine(c.rank(x)) + " and the filter rank " +
                     Twine(c.rank(w)));
  if (c.rank(x) > 5)
    return c.unsupported("more than 3 spatial axes");
  if (!c.type(w).hasStaticShape())
    return c.unsupported("a filter of symbolic shape");
  return success();
}

LogicalResult checkBias(NodeContext &c) {
  if (Value bias = c.input(2); bias && c.rank(bias) != 1)
    return c.invalid("bias has rank " + Twine(c.rank(bias)) + ", expects 1");
  return success();
}

} // namespace

Value convolve(NodeContext &c, Value x, Value w) {
  if (failed(checkOperands(c, x, w)))
    return {};
  SmallVector<int64_t> kernel(c.type(w).getShape().drop_front(2));
  if (c.has("kernel_shape") && c.intsAttr("kernel_shape") != kernel) {
    (void)c.invalid("kernel_shape differs from the filter's shape");
    return {};
  }
  auto window = readWindow(c, spatialSizes(c, x), kernel);
  if (failed(window))
    return {};
  return c.make<dl::ConvOp>(x, w, c.array(window->strides), c.array(window->dilations),
                            c.array(window->pads),
                            c.b.getI64IntegerAttr(c.intAttr("group", 1)), UnitAttr());
}

namespace {

LogicalResult conv(NodeContext &c) {
  Value y = convolve(c, c.input(0), c.input(1));
  if (!y || failed(checkBias(c)))
    return failure();
  return c.done(addBias(c, y, c.input(2)));
}

LogicalResult convTranspose(NodeContext &c) {
  if (failed(checkOperands(c, c.input(0), c.input(1))) || failed(checkBias(c)))
    return failure();
  Value x = c.input(0), w = c.input(1);
  SmallVector<int64_t> sizes = spatialSizes(c, x), kernel(c.type(w).getShape().drop_front(2));
  size_t rank = sizes.size();
  if (c.has("kernel_shape") && c.intsAttr("kernel_shape") != kernel)
    return c.invalid("kernel_shape differs from the filter's shape");
  auto strides = c.intsAttr("strides", SmallVector<int64_t>(rank, 1));
  auto dilations = c.intsAttr("dilations", SmallVector<int64_t>(rank, 1));
  auto pads = c.intsAttr("pads", SmallVector<int64_t>(2 * rank, 0));
  auto extra = c.intsAttr("output_padding", SmallVector<int64_t>(rank, 0));
  auto wanted = c.intsAttr("output_shape");
  if (strides.size() != rank || dilations.size() != rank || pads.size() != 2 * rank ||
      extra.size() != rank)
    return c.invalid("strides, dilations, pads or output_padding have the wrong length");
  std::string mode = c.stringAttr("auto_pad", "NOTSET");
  bool isSame = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!wanted.empty() && wanted.size() > rank) // Some files list N and C too.
    wanted.erase(wanted.begin(), wanted.end() - rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t total;
    if (!wanted.empty() || isSame) {
      if (sizes[i] < 0 && !wanted.empty())
        return c.unsupported("output_shape on an axis of symbolic size");
      int64_t window = (kernel[i] - 1) * dilations[i] + 1;
      total = wanted.empty() ? window + extra[i] - strides[i]
                             : (sizes[i] - 1) * strides[i] + extra[i] + window - wanted[i];
      if (total < 0 && !wanted.empty()) {
        extra[i] -= total;
        total = 0;
      }
      total = std::max<int64_t>(0, total);
      int64_t less = total / 2, more = total - less;
      bool upper = mode == "SAME_UPPER";
      pads[i] = upper ? less : more;
      pads[i + rank] = upper ? more : less;
    } else if (mode == "VALID") {
      pads[i] = pads[i + rank] = 0;
    }
  }
  Value y = c.make<dl::ConvTransposeOp>(x, w, c.array(strides), c.array(dilations),
                                        c.array(pads), c.array(extra),
                                        c.b.getI64IntegerAttr(c.intAttr("group", 1)));
  return c.done(addBias(c, y, c.input(2)));
}

FailureOr<Value> pool(NodeContext &c, Value x, dl::ReduceKind kind, bool countPad) {
  if (!x || c.rank(x) < 3) {
    (void)c.invalid("needs an input of rank 3 or more");
    return failure();
  }
  if (c.rank(x) > 5) {
    (void)c.unsupported("more than 3 spatial axes");
    return failure();
  }
  auto window = readWindow(c, spatialSizes(c, x), c.intsAttr("kernel_shape"));
  if (failed(window))
    return failure();
  Value y = c.make<dl::PoolOp>(
      x, dl::ReduceKindAttr::get(c.b.getContext(), kind), c.array(window->kernel),
      c.array(window->strides), c.array(window->dilations), c.array(window->pads),
      c.b.getBoolAttr(c.intAttr("ceil_mode", 0)), c.b.getBoolAttr(countPad), UnitAttr());
  if (!y)
    return failure();
  return y;
}

LogicalResult maxPool(NodeContext &c) {
  if (c.wants(1))
    return c.unsupported("the output of indices");
  c.ignoreAttr("storage_order"); // of the indices
  auto y = pool(c, c.input(0), dl::ReduceKind::max, false);
  return failed(y) ? failure() : c.done(*y);
}

LogicalResult averagePool(NodeContext &c) {
  auto y = pool(c, c.input(0), dl::ReduceKind::mean, c.intAttr("count_include_pad", 0));
  return failed(y) ? failure() : c.done(*y);
}

/// (sum |x|^p)^(1/p) around any sum over windows. 16-bit floats are widened: powers of
/// them overflow before the root is taken.
struct LpNorm {
  NodeContext &c;
  double p = c.opset < 2 ? c.floatAttr("p", 2) : double(c.intAttr("p", 2));

  LogicalResult check() {
    if (p == 0)
      return c.invalid("p is 0");
    Value x = c.input(0);
    return x && c.isFloat(x) ? success() : LogicalResult(c.invalid("needs an input of floats"));
  }
  Value powers() {
    Value x = c.input(0);
    if (c.element(x).getIntOrFloatBitWidth() < 32)
      x = c.cast(x, c.b.getF32Type());
    if (p == 2)
      return c.make<dl::MulOp>(x, x);
    x = c.make<dl::AbsOp>(x);
    return p == 1 ? x : c.make<dl::PowOp>(x, c.scalar(c.element(x), p));
  }
  Value root(Value sum) {
    if (p == 2)
      sum = c.make<dl::SqrtOp>(sum);
    else if (p != 1)
      sum = c.make<dl::PowOp>(sum, c.scalar(c.element(sum), 1 / p));
    return c.cast(sum, c.element(c.input(0)));
  }
};

LogicalResult lpPool(NodeContext &c) {
  LpNorm norm{c};
  if (failed(norm.check()))
    return failure();
  auto y = pool(c, norm.powers(), dl::ReduceKind::sum, false);
  return failed(y) ? failure() : c.done(norm.root(*y));
}

/// Reduces every axis behind the channels.
Value reduceSpatial(NodeContext &c, Value x, dl::ReduceKind kind) {
  SmallVector<int64_t> axes;
  for (int64_t axis = 2; axis < c.rank(x); ++axis)
    axes.push_back(axis);
  return c.make<dl::ReduceOp>(x, dl::ReduceKindAttr::get(c.b.getContext(), kind),
                              c.array(axes), c.b.getBoolAttr(true));
}

LogicalResult checkSpatial(NodeContext &c) {
  Value x = c.input(0);
  if (!x || c.rank(x) < 3)
    return c.invalid("needs an input of rank 3 or more");
  return success();
}

template <dl::ReduceKind kind> LogicalResult globalPool(NodeContext &c) {
  if (failed(checkSpatial(c)))
    return failure();
  return c.done(reduceSpatial(c, c.input(0), kind));
}

LogicalResult globalLpPool(NodeContext &c) {
  LpNorm norm{c};
  if (failed(checkSpatial(c)) || failed(norm.check()))
    return failure();
  return c.done(norm.root(reduceSpatial(c, norm.powers(), dl::ReduceKind::sum)));
}

} // namespace

void addConvolutions(Registry &r) {
  r["AveragePool"] = averagePool;
  r["Conv"] = conv;
  r["ConvTranspose"] = convTranspose;
  r["GlobalAveragePool"] = globalPool<dl::ReduceKind::mean>;
  r["GlobalLpPool"] = globalLpPool;
  r["GlobalMaxPool"] = globalPool<dl::ReduceKind::max>;
  r["LpPool"] = lpPool;
  r["MaxPool"] = maxPool;
}

} // namespace dlc::onnx
