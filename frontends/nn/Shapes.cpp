#include "frontends/nn/Shapes.h"

#include "frontends/nn/Functions.h"

#include <algorithm>
#include <optional>

namespace dlc::nn {

namespace {

std::optional<Dim> broadcast(const Dim &a, const Dim &b) {
  if (a == b || b.size == 1)
    return a;
  if (a.size == 1)
    return b;
  if (a.isFixed() && b.isFixed())
    return std::nullopt;
  if (a.isFixed() || b.isFixed())
    return a.isFixed() ? a : b; // the other is that, or 1
  return Dim::unknown();
}

/// The one size that is left: all of `shape` over the `known` sizes.
Dim remaining(const Shape &shape, const Shape &known, const std::vector<int64_t> &sizes) {
  int64_t whole = 1, part = 1;
  std::vector<Dim> open;
  for (const Dim &dim : shape)
    dim.isFixed() ? void(whole *= dim.size) : open.push_back(dim);
  for (const Dim &dim : known) {
    auto same = std::find(open.begin(), open.end(), dim);
    if (dim.isFixed())
      part *= dim.size;
    else if (dim.isUnknown() || same == open.end())
      return Dim::unknown();
    else
      open.erase(same);
  }
  if (open.empty() && (part == 0 || whole % part != 0))
    throw Error("a tensor of shape " + toString(shape) + " cannot be reshaped to " +
                toString(Shape(sizes.begin(), sizes.end())));
  if (open.empty())
    return Dim(whole / part);
  return open.size() == 1 && whole == part ? open[0] : Dim::unknown();
}

} // namespace

Shape broadcast(const Shape &a, const Shape &b) {
  Shape result(std::max(a.size(), b.size()), Dim(1));
  for (size_t i = 1; i <= result.size(); ++i) {
    Dim left = i <= a.size() ? a[a.size() - i] : Dim(1), right = i <= b.size() ? b[b.size() - i] : Dim(1);
    std::optional<Dim> both = broadcast(left, right);
    if (!both)
      throw Error("shapes " + toString(a) + " and " + toString(b) + " do not broadcast");
    result[result.size() - i] = *both;
  }
  return result;
}

Shape reshaped(const Shape &shape, const std::vector<int64_t> &sizes) {
  Shape result, known;
  std::optional<size_t> rest;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < -1 || (sizes[i] == 0 && i >= shape.size()) || (sizes[i] == -1 && rest))
      throw Error("a tensor of shape " + toString(shape) + " cannot be reshaped by size " +
                  std::to_string(sizes[i]) + " of axis " + std::to_string(i));
    if (sizes[i] == -1)
      rest = i;
    result.push_back(sizes[i] == 0 ? shape[i] : Dim(sizes[i]));
    if (sizes[i] != -1)
      known.push_back(result.back());
  }
  Dim left = remaining(shape, known, sizes);
  if (rest)
    result[*rest] = left;
  else if (left.isFixed() && left.size != 1)
    throw Error("a tensor of shape " + toString(shape) + " has not the elements of " + toString(result));
  return result;
}

Dim product(const Shape &shape, size_t begin, size_t end) {
  Dim result(1);
  for (size_t i = begin; i < end; ++i) {
    const Dim &dim = shape[i];
    if (result.isFixed() && dim.isFixed())
      result.size *= dim.size;
    else if (result.size == 1)
      result = dim;
    else if (dim.size != 1)
      return Dim::unknown();
  }
  return result;
}

int64_t axisOf(const Value &x, int64_t axis) {
  x.dim(axis);
  return axis < 0 ? axis + x.rank() : axis;
}

Dim windowedSize(const Dim &size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  if (kernel < 1 || stride < 1 || padding < 0 || dilation < 1)
    throw Error("a window of size " + std::to_string(kernel) + ", stride " + std::to_string(stride) + ", padding " +
                std::to_string(padding) + ", dilation " + std::to_string(dilation) + " makes no sense");
  int64_t reach = dilation * (kernel - 1) + 1;
  if (!size.isFixed())
    return stride == 1 && reach == 2 * padding + 1 ? size : Dim::unknown();
  if (size.size + 2 * padding < reach)
    throw Error("a window of " + std::to_string(reach) + " does not fit into " + std::to_string(size.size) +
                " with padding " + std::to_string(padding));
  return Dim((size.size + 2 * padding - reach) / stride + 1);
}

} // namespace dlc::nn
