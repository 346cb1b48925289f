// Every family of handlers adds its ops to the registry.

#ifndef DLC_FRONTENDS_ONNX_OPS_FAMILIES_H
#define DLC_FRONTENDS_ONNX_OPS_FAMILIES_H

#include "frontends/onnx/NodeContext.h"

namespace dlc::onnx {

void addActivations(Registry &registry);
void addAttention(Registry &registry);
void addBasics(Registry &registry);
void addControl(Registry &registry);
void addConvolutions(Registry &registry);
void addEinsum(Registry &registry);
void addElementwise(Registry &registry);
void addIndexing(Registry &registry);
void addLosses(Registry &registry);
void addMatMuls(Registry &registry);
void addMovement(Registry &registry);
void addNormalizations(Registry &registry);
void addQuantization(Registry &registry);
void addRecurrents(Registry &registry);
void addRandoms(Registry &registry);
void addReductions(Registry &registry);
void addResize(Registry &registry);
void addShapes(Registry &registry);
void addSignal(Registry &registry);
void addVision(Registry &registry);

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_OPS_FAMILIES_H
