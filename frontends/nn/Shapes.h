// What becomes of shapes.

#ifndef DLC_FRONTENDS_NN_SHAPES_H
#define DLC_FRONTENDS_NN_SHAPES_H

#include "frontends/nn/Graph.h"

namespace dlc::nn {

Shape broadcast(const Shape &a, const Shape &b);
Shape reshaped(const Shape &shape, const std::vector<int64_t> &sizes);
/// The number of elements of axes [begin, end).
Dim product(const Shape &shape, size_t begin, size_t end);
/// From the end when negative; throws where there is no such axis.
int64_t axisOf(const Value &x, int64_t axis);

} // namespace dlc::nn

#endif // DLC_FRONTENDS_NN_SHAPES_H
