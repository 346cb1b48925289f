// The table of contents of the frontend.

#include "frontends/onnx/ops/Families.h"

namespace dlc::onnx {

const Registry &opRegistry() {
  static const Registry registry = [] {
    Registry r;
    addActivations(r);
    addBasics(r);
    addConvolutions(r);
    addEinsum(r);
    addElementwise(r);
    addMatMuls(r);
    addNormalizations(r);
    addQuantization(r);
    addReductions(r);
    return r;
  }();
  return registry;
}

} // namespace dlc::onnx
