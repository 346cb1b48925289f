// RNN, LSTM and GRU over sequences.

#ifndef DLC_FRONTENDS_NN_LAYERS_RECURRENT_H
#define DLC_FRONTENDS_NN_LAYERS_RECURRENT_H

#include "frontends/nn/Graph.h"

namespace dlc::nn {

struct RecurrentOptions {
  int64_t layers = 1;
  bool bidirectional = false;
  float dropout = 0; // between layers
};

struct RecurrentResult {
  Value sequence; // [n, t, directions * hidden]
  Value last;     // the last layer's final state: [n, directions * hidden]
};

/// The kinds share everything but their gates. Input [n, t, in]; states begin at zero.
/// Parameters of layer i, as ONNX has them, with d directions and g gates:
/// i.W [d, g * hidden, in], i.R [d, g * hidden, hidden], i.B [d, 2 g * hidden].
class Recurrent {
public:
  RecurrentResult operator()(const Value &x) const;

protected:
  struct Kind {
    const char *op;
    int64_t gates;
  };
  Recurrent(Scope scope, Kind kind, int64_t in, int64_t hidden, RecurrentOptions options);

private:
  struct Layer {
    Value w, r, b;
  };
  std::vector<Value> run(const Layer &layer, const Value &x) const;

  Scope scope;
  Kind kind;
  int64_t in, hidden, directions;
  RecurrentOptions options;
  std::vector<Layer> layers;
};

/// h = tanh(W x + R h + b)
struct RNN : Recurrent {
  RNN(Scope scope, int64_t in, int64_t hidden, RecurrentOptions options = {})
      : Recurrent(std::move(scope), {"RNN", 1}, in, hidden, options) {}
};
struct LSTM : Recurrent {
  LSTM(Scope scope, int64_t in, int64_t hidden, RecurrentOptions options = {})
      : Recurrent(std::move(scope), {"LSTM", 4}, in, hidden, options) {}
};
/// The candidate resets after the product, as in PyTorch.
struct GRU : Recurrent {
  GRU(Scope scope, int64_t in, int64_t hidden, RecurrentOptions options = {})
      : Recurrent(std::move(scope), {"GRU", 3}, in, hidden, options) {}
};

} // namespace dlc::nn

#endif // DLC_FRONTENDS_NN_LAYERS_RECURRENT_H
