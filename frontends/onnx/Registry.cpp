// The table of contents of the frontend.

#include "frontends/onnx/ops/Families.h"

namespace dlc::onnx {

const Registry &opRegistry() {
  static const Registry registry = [] {
    Registry r;
    addActivations(r);
    addAttention(r);
    addBasics(r);
    addControl(r);
    addConvolutions(r);
    addEinsum(r);
    addElementwise(r);
    addIndexing(r);
    addLosses(r);
    addMatMuls(r);
    addMovement(r);
    addNormalizations(r);
    addQuantization(r);
    addRecurrents(r);
    addRandoms(r);
    addReductions(r);
    addResize(r);
    addShapes(r);
    addSignal(r);
    addVision(r);
    return r;
  }();
  return registry;
}

} // namespace dlc::onnx
