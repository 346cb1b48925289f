// dlc::nn: models in C++, saved as ONNX. See docs/nn.md.

#ifndef DLC_FRONTENDS_NN_NN_H
#define DLC_FRONTENDS_NN_NN_H

#include "frontends/nn/Functions.h"
#include "frontends/nn/Graph.h"
#include "frontends/nn/layers/Basic.h"
#include "frontends/nn/layers/Recurrent.h"
#include "frontends/nn/layers/Transformer.h"

#endif // DLC_FRONTENDS_NN_NN_H
