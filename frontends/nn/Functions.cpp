#include "frontends/nn/Functions.h"

#include "frontends/nn/Shapes.h"

#include <algorithm>
#include <numbers>
#include <numeric>

namespace dlc::nn {

namespace {

Value unary(const char *op, const Value &x) { return x.graph().node(op, {x}, {x.type(), x.shape()}); }

Value binary(const char *op, const Value &a, const Value &b) {
  if (a.type() != b.type())
    throw Error(std::string(op) + " of '" + a.name() + "' and '" + b.name() + "': their element types differ");
  return a.graph().node(op, {a, b}, {a.type(), broadcast(a.shape(), b.shape())});
}

Value compare(const char *op, const Value &a, const Value &b) {
  return a.graph().node(op, {a, b}, {ElementType::Bool, broadcast(a.shape(), b.shape())});
}

void checkImage(const char *what, const Value &x) {
  if (x.rank() != 4)
    throw Error(std::string(what) + ": '" + x.name() + "' has shape " + toString(x.shape()) + ", not [n, c, h, w]");
}

Value pool(const char *op, const Value &x, int64_t kernel, PoolOptions options) {
  checkImage(op, x);
  int64_t stride = options.stride ? options.stride : kernel;
  Shape shape = x.shape();
  for (size_t axis : {2, 3})
    shape[axis] = windowedSize(shape[axis], kernel, stride, options.padding);
  return x.graph().node(op, {x}, {x.type(), shape},
                        {{"kernel_shape", std::vector<int64_t>{kernel, kernel}},
                         {"strides", std::vector<int64_t>{stride, stride}},
                         {"pads", std::vector<int64_t>(4, options.padding)}});
}

} // namespace

Value operator+(const Value &a, const Value &b) { return binary("Add", a, b); }
Value operator-(const Value &a, const Value &b) { return binary("Sub", a, b); }
Value operator*(const Value &a, const Value &b) { return binary("Mul", a, b); }
Value operator/(const Value &a, const Value &b) { return binary("Div", a, b); }
Value operator+(const Value &a, float b) { return a + a.graph().constant(b); }
Value operator*(const Value &a, float b) { return a * a.graph().constant(b); }
Value operator/(const Value &a, float b) { return a / a.graph().constant(b); }
Value equal(const Value &a, const Value &b) { return compare("Equal", a, b); }
Value lessOrEqual(const Value &a, const Value &b) { return compare("LessOrEqual", a, b); }
Value logicalNot(const Value &a) { return unary("Not", a); }
Value logicalAnd(const Value &a, const Value &b) { return compare("And", a, b); }

Value where(const Value &condition, const Value &a, const Value &b) {
  return a.graph().node("Where", {condition, a, b},
                        {a.type(), broadcast(condition.shape(), broadcast(a.shape(), b.shape()))});
}

Value relu(const Value &x) { return unary("Relu", x); }
Value relu6(const Value &x) {
  Graph &g = x.graph();
  return g.node("Clip", {x, g.constant(0.0f), g.constant(6.0f)}, {x.type(), x.shape()});
}
Value gelu(const Value &x) {
  return x * (unary("Erf", x / float(std::numbers::sqrt2)) + 1.0f) * 0.5f;
}
Value sigmoid(const Value &x) { return unary("Sigmoid", x); }
Value tanh(const Value &x) { return unary("Tanh", x); }
Value silu(const Value &x) { return x * sigmoid(x); }

Value softmax(const Value &x, int64_t axis) {
  return x.graph().node("Softmax", {x}, {x.type(), x.shape()}, {{"axis", axisOf(x, axis)}});
}

Value matmul(const Value &a, const Value &b) {
  if (a.rank() < 2 || b.rank() < 2)
    throw Error("matmul of shapes " + toString(a.shape()) + " and " + toString(b.shape()) + ": both need two axes");
  const Dim &left = a.dim(-1), &right = b.dim(-2);
  if (left.isFixed() && right.isFixed() && left != right)
    throw Error("matmul of shapes " + toString(a.shape()) + " and " + toString(b.shape()) + ": inner sizes differ");
  Shape shape = broadcast(Shape(a.shape().begin(), a.shape().end() - 2), Shape(b.shape().begin(), b.shape().end() - 2));
  shape.push_back(a.dim(-2));
  shape.push_back(b.dim(-1));
  return a.graph().node("MatMul", {a, b}, {a.type(), shape});
}

Value gather(const Value &table, const Value &indices) {
  table.dim(0);
  Shape shape = indices.shape();
  shape.insert(shape.end(), table.shape().begin() + 1, table.shape().end());
  return table.graph().node("Gather", {table, indices}, {table.type(), shape}, {{"axis", int64_t(0)}});
}

Value select(const Value &x, int64_t axis, int64_t index) {
  int64_t place = axisOf(x, axis);
  Shape shape = x.shape();
  shape.erase(shape.begin() + place);
  int64_t bytes = index;
  Value scalar = x.graph().constant(
      Tensor{ElementType::Int64, {}, std::string(reinterpret_cast<const char *>(&bytes), sizeof bytes)});
  return x.graph().node("Gather", {x, scalar}, {x.type(), shape}, {{"axis", place}});
}

Value transpose(const Value &x, std::vector<int64_t> permutation) {
  std::vector<int64_t> sorted = permutation, all(x.rank());
  std::iota(all.begin(), all.end(), 0);
  std::sort(sorted.begin(), sorted.end());
  if (sorted != all)
    throw Error("transpose of '" + x.name() + "', " + toString(x.shape()) + ": no permutation of its axes");
  Shape shape;
  for (int64_t axis : permutation)
    shape.push_back(x.shape()[axis]);
  return x.graph().node("Transpose", {x}, {x.type(), shape}, {{"perm", permutation}});
}

Value reshape(const Value &x, std::vector<int64_t> sizes) {
  Shape shape = reshaped(x.shape(), sizes);
  return x.graph().node("Reshape", {x, x.graph().constant(std::move(sizes))}, {x.type(), shape});
}

Value flatten(const Value &x, int64_t axis) {
  int64_t place = axisOf(x, axis);
  std::vector<int64_t> sizes(place, 0);
  Dim rest = product(x.shape(), place, x.rank());
  sizes.push_back(rest.isFixed() ? rest.size : -1);
  return reshape(x, std::move(sizes));
}

Value unsqueeze(const Value &x, std::vector<int64_t> axes) {
  Shape shape = x.shape();
  for (int64_t axis : axes) { // in rising order, places in the result
    if (axis < 0 || axis > int64_t(shape.size()))
      throw Error("unsqueeze of '" + x.name() + "', " + toString(x.shape()) + ", at axis " + std::to_string(axis));
    shape.insert(shape.begin() + axis, Dim(1));
  }
  return x.graph().node("Unsqueeze", {x, x.graph().constant(std::move(axes))}, {x.type(), shape});
}

Value squeeze(const Value &x, int64_t axis) {
  int64_t place = axisOf(x, axis);
  Shape shape = x.shape();
  if (shape[place] != Dim(1))
    throw Error("squeeze of '" + x.name() + "', " + toString(shape) + ": axis " + std::to_string(place) + " is not 1");
  shape.erase(shape.begin() + place);
  return x.graph().node("Squeeze", {x, x.graph().constant(std::vector<int64_t>{place})}, {x.type(), shape});
}

Value concat(const std::vector<Value> &values, int64_t axis) {
  if (values.empty())
    throw Error("concat of no values");
  int64_t place = axisOf(values[0], axis);
  Shape shape = values[0].shape();
  for (size_t i = 1; i < values.size(); ++i) {
    if (values[i].rank() != values[0].rank())
      throw Error("concat of shapes " + toString(shape) + " and " + toString(values[i].shape()));
    const Dim &size = values[i].dim(place);
    shape[place] = shape[place].isFixed() && size.isFixed() ? Dim(shape[place].size + size.size) : Dim::unknown();
  }
  return values[0].graph().node("Concat", values, {values[0].type(), shape}, {{"axis", place}});
}

Value slice(const Value &x, int64_t axis, int64_t begin, int64_t end) {
  int64_t place = axisOf(x, axis);
  Shape shape = x.shape();
  if (begin < 0 || end < begin || (shape[place].isFixed() && end > shape[place].size))
    throw Error("slice " + std::to_string(begin) + " to " + std::to_string(end) + " of axis " + std::to_string(place) +
                " of '" + x.name() + "', " + toString(shape));
  shape[place] = shape[place].isFixed() ? Dim(end - begin) : Dim::unknown();
  Graph &g = x.graph();
  auto one = [&](int64_t value) { return g.constant(std::vector<int64_t>{value}); };
  return g.node("Slice", {x, one(begin), one(end), one(place)}, {x.type(), shape});
}

Value mean(const Value &x, std::vector<int64_t> axes, bool keepAxes) {
  Shape shape = x.shape(), left;
  for (int64_t &axis : axes)
    shape[axis = axisOf(x, axis)] = Dim(1);
  for (size_t i = 0; i < shape.size(); ++i)
    if (keepAxes || std::find(axes.begin(), axes.end(), int64_t(i)) == axes.end())
      left.push_back(shape[i]);
  return x.graph().node("ReduceMean", {x}, {x.type(), left}, {{"axes", axes}, {"keepdims", int64_t(keepAxes)}});
}

Value positions(const Value &x, int64_t axis) {
  int64_t place = axisOf(x, axis);
  Graph &g = x.graph();
  auto scalar = [&](int64_t value) {
    return g.constant(Tensor{ElementType::Int64, {}, std::string(reinterpret_cast<const char *>(&value), sizeof value)});
  };
  Value sizes = g.node("Shape", {x}, {ElementType::Int64, {Dim(x.rank())}});
  Value size = g.node("Gather", {sizes, scalar(place)}, {ElementType::Int64, {}}, {{"axis", int64_t(0)}});
  return g.node("Range", {scalar(0), size, scalar(1)}, {ElementType::Int64, {x.dim(place)}});
}

Value maxPool2d(const Value &x, int64_t kernel, PoolOptions options) { return pool("MaxPool", x, kernel, options); }
Value avgPool2d(const Value &x, int64_t kernel, PoolOptions options) { return pool("AveragePool", x, kernel, options); }

Value globalAvgPool2d(const Value &x) {
  checkImage("globalAvgPool2d", x);
  return mean(x, {2, 3});
}

} // namespace dlc::nn
