// Ops on values, with the shapes of their results. Where shapes do not fit, Error says
// which; sizes that only a run knows are taken to fit.

#ifndef DLC_FRONTENDS_NN_FUNCTIONS_H
#define DLC_FRONTENDS_NN_FUNCTIONS_H

#include "frontends/nn/Graph.h"

namespace dlc::nn {

// Elementwise, broadcasting as NumPy does.
Value operator+(const Value &a, const Value &b);
Value operator-(const Value &a, const Value &b);
Value operator*(const Value &a, const Value &b);
Value operator/(const Value &a, const Value &b);
Value operator+(const Value &a, float b);
Value operator*(const Value &a, float b);
Value operator/(const Value &a, float b);
/// Bool, of the broadcast shape.
Value equal(const Value &a, const Value &b);
Value lessOrEqual(const Value &a, const Value &b);
Value logicalNot(const Value &a);
Value logicalAnd(const Value &a, const Value &b);
/// `a` where `condition` holds, else `b`.
Value where(const Value &condition, const Value &a, const Value &b);

Value relu(const Value &x);
Value relu6(const Value &x);
/// x/2 (1 + erf(x / sqrt 2))
Value gelu(const Value &x);
Value sigmoid(const Value &x);
Value tanh(const Value &x);
/// x sigmoid(x)
Value silu(const Value &x);
Value softmax(const Value &x, int64_t axis);

/// [.., m, k] x [.., k, n] -> [.., m, n]
Value matmul(const Value &a, const Value &b);
/// Rows of `table` by integers: [v, ..] and [i..] -> [i.., ..]
Value gather(const Value &table, const Value &indices);
/// One index of an axis, which goes.
Value select(const Value &x, int64_t axis, int64_t index);

Value transpose(const Value &x, std::vector<int64_t> permutation);
/// 0 keeps the size at its place, -1 is what is left.
Value reshape(const Value &x, std::vector<int64_t> sizes);
/// Axes from `axis` on become one.
Value flatten(const Value &x, int64_t axis = 1);
Value unsqueeze(const Value &x, std::vector<int64_t> axes);
Value squeeze(const Value &x, int64_t axis);
Value concat(const std::vector<Value> &values, int64_t axis);
/// Elements `begin` to `end` of an axis; both are not negative.
Value slice(const Value &x, int64_t axis, int64_t begin, int64_t end);
Value mean(const Value &x, std::vector<int64_t> axes, bool keepAxes = false);
/// 0, 1, .. up to the size of an axis of `x`: int64.
Value positions(const Value &x, int64_t axis);

struct PoolOptions {
  int64_t stride = 0; // 0: the kernel's size
  int64_t padding = 0;
};
/// [n, c, h, w] -> [n, c, h', w']
Value maxPool2d(const Value &x, int64_t kernel, PoolOptions options = {});
Value avgPool2d(const Value &x, int64_t kernel, PoolOptions options = {});
/// [n, c, h, w] -> [n, c]
Value globalAvgPool2d(const Value &x);

/// floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1; not fixed where
/// `size` is not. Throws where the window does not fit.
Dim windowedSize(const Dim &size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation = 1);

} // namespace dlc::nn

#endif // DLC_FRONTENDS_NN_FUNCTIONS_H
