// Attention and the layers of transformers (Vaswani et al., 2017), batch first.

#ifndef DLC_FRONTENDS_NN_LAYERS_TRANSFORMER_H
#define DLC_FRONTENDS_NN_LAYERS_TRANSFORMER_H

#include "frontends/nn/layers/Basic.h"

namespace dlc::nn {

/// Bool [s, t]: position s of the query sees position t of the key when t <= s.
Value causalMask(const Value &query, const Value &key);
/// Bool [n, 1, 1, t]: false where `tokens` [n, t] are `padding`.
Value paddingMask(const Value &tokens, int64_t padding);

/// Parameters: q, k, v, out, each a Linear of [width, width]. What the compiler fuses.
class MultiHeadAttention {
public:
  MultiHeadAttention(Scope scope, int64_t width, int64_t heads);

  /// query [n, s, width], memory (keys and values) [n, t, width] -> [n, s, width]. A mask is
  /// bool and broadcasts to [n, heads, s, t]; false hides a key. A query that sees no key
  /// takes the mean of all.
  Value operator()(const Value &query, const Value &memory, const std::optional<Value> &mask = {}) const;

private:
  Value split(const Value &x) const;

  Scope scope;
  int64_t width, heads;
  Linear q, k, v, out;
};

struct TransformerOptions {
  int64_t width = 256, heads = 4;
  int64_t hidden = 0; // of the feed-forward part; 0: 4 * width
  float dropout = 0.1f;
  bool normFirst = false; // pre-norm (Xiong et al., 2020)
  bool gelu = false;      // ReLU otherwise

  int64_t hiddenWidth() const { return hidden ? hidden : 4 * width; }
};

/// Parameters: linear1, linear2, in the layer's own scope.
class FeedForward {
public:
  FeedForward(Scope scope, const TransformerOptions &options);
  Value operator()(const Value &x) const;

private:
  Linear linear1, linear2;
  Dropout drop;
  bool isGelu;
};

/// Parameters: attention, linear1, linear2, norm1, norm2.
class TransformerEncoderLayer {
public:
  TransformerEncoderLayer(Scope scope, TransformerOptions options);
  Value operator()(const Value &x, const std::optional<Value> &mask = {}) const;

private:
  MultiHeadAttention attention;
  FeedForward feedForward;
  LayerNorm norm1, norm2;
  Dropout drop;
  bool normFirst;
};

/// Parameters: self, cross, linear1, linear2, norm1, norm2, norm3.
class TransformerDecoderLayer {
public:
  TransformerDecoderLayer(Scope scope, TransformerOptions options);
  Value operator()(const Value &x, const Value &memory, const std::optional<Value> &mask,
                   const std::optional<Value> &memoryMask = {}) const;

private:
  MultiHeadAttention self, cross;
  FeedForward feedForward;
  LayerNorm norm1, norm2, norm3;
  Dropout drop;
  bool normFirst;
};

/// A learned vector per position: [n, t, width] -> the same. Parameter: weight [context, width].
class LearnedPositions {
public:
  LearnedPositions(Scope scope, int64_t context, int64_t width, Init init = Init::normal(0.02));
  Value operator()(const Value &x) const;

private:
  Scope scope;
  int64_t context;
  Value weight;
};

} // namespace dlc::nn

#endif // DLC_FRONTENDS_NN_LAYERS_TRANSFORMER_H
