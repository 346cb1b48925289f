#include "frontends/nn/layers/Transformer.h"

#include "frontends/nn/Functions.h"

#include <limits>

namespace dlc::nn {

namespace {

using Branch = std::function<Value(const Value &)>;

/// Residual connection with dropout, the norm in front of the branch or behind the sum.
Value connect(const Value &x, const Branch &branch, const LayerNorm &norm, const Dropout &drop, bool normFirst) {
  return normFirst ? x + drop(branch(norm(x))) : norm(x + drop(branch(x)));
}

} // namespace

Value causalMask(const Value &query, const Value &key) {
  return lessOrEqual(unsqueeze(positions(key, 1), {0}), unsqueeze(positions(query, 1), {1}));
}

Value paddingMask(const Value &tokens, int64_t padding) {
  Value pad = tokens.graph().constant(std::vector<int64_t>{padding});
  return unsqueeze(logicalNot(equal(tokens, pad)), {1, 2});
}

MultiHeadAttention::MultiHeadAttention(Scope scope, int64_t width, int64_t heads)
    : scope(scope), width(width), heads(heads), q(scope / "q", width, width, {.weight = Init::xavierUniform(width, width)}),
      k(scope / "k", width, width, {.weight = Init::xavierUniform(width, width)}),
      v(scope / "v", width, width, {.weight = Init::xavierUniform(width, width)}), out(scope / "out", width, width) {
  if (heads < 1 || width % heads != 0)
    scope.fail("width " + std::to_string(width) + " cannot be divided into " + std::to_string(heads) + " heads");
}

/// [n, s, width] -> [n, heads, s, width / heads]
Value MultiHeadAttention::split(const Value &x) const {
  return transpose(reshape(x, {0, 0, heads, width / heads}), {0, 2, 1, 3});
}

Value MultiHeadAttention::operator()(const Value &query, const Value &memory, const std::optional<Value> &mask) const {
  NameScope names(scope);
  Value keys = transpose(split(k(memory)), {0, 1, 3, 2});
  Value scores = matmul(split(q(query)), keys) * (1 / std::sqrt(float(width / heads)));
  if (mask)
    scores = where(*mask, scores, scores.graph().constant(std::numeric_limits<float>::lowest()));
  Value heads = matmul(softmax(scores, 3), split(v(memory)));
  return out(reshape(transpose(heads, {0, 2, 1, 3}), {0, 0, width}));
}

FeedForward::FeedForward(Scope scope, const TransformerOptions &options)
    : linear1(scope / "linear1", options.width, options.hiddenWidth()),
      linear2(scope / "linear2", options.hiddenWidth(), options.width), drop(options.dropout), isGelu(options.gelu) {}

Value FeedForward::operator()(const Value &x) const {
  Value hidden = linear1(x);
  return linear2(drop(isGelu ? gelu(hidden) : relu(hidden)));
}

TransformerEncoderLayer::TransformerEncoderLayer(Scope scope, TransformerOptions options)
    : attention(scope / "attention", options.width, options.heads), feedForward(scope, options),
      norm1(scope / "norm1", options.width), norm2(scope / "norm2", options.width), drop(options.dropout),
      normFirst(options.normFirst) {}

Value TransformerEncoderLayer::operator()(const Value &x, const std::optional<Value> &mask) const {
  Value y = connect(x, [&](const Value &z) { return attention(z, z, mask); }, norm1, drop, normFirst);
  return connect(y, feedForward, norm2, drop, normFirst);
}

TransformerDecoderLayer::TransformerDecoderLayer(Scope scope, TransformerOptions options)
    : self(scope / "self", options.width, options.heads), cross(scope / "cross", options.width, options.heads),
      feedForward(scope, options), norm1(scope / "norm1", options.width), norm2(scope / "norm2", options.width),
      norm3(scope / "norm3", options.width), drop(options.dropout), normFirst(options.normFirst) {}

Value TransformerDecoderLayer::operator()(const Value &x, const Value &memory, const std::optional<Value> &mask,
                                          const std::optional<Value> &memoryMask) const {
  Value y = connect(x, [&](const Value &z) { return self(z, z, mask); }, norm1, drop, normFirst);
  y = connect(y, [&](const Value &z) { return cross(z, memory, memoryMask); }, norm2, drop, normFirst);
  return connect(y, feedForward, norm3, drop, normFirst);
}

LearnedPositions::LearnedPositions(Scope scope, int64_t context, int64_t width, Init init)
    : scope(scope), context(context), weight(scope.parameter("weight", {context, width}, init)) {}

Value LearnedPositions::operator()(const Value &x) const {
  NameScope names(scope);
  const Dim &length = x.dim(1);
  if (!length.isFixed())
    return x + gather(weight, positions(x, 1));
  if (length.size > context)
    scope.fail("a sequence of " + std::to_string(length.size) + " does not fit into " + std::to_string(context) + " positions");
  return x + (length.size == context ? weight : slice(weight, 0, 0, length.size));
}

} // namespace dlc::nn
