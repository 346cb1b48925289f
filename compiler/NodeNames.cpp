#include "compiler/NodeNames.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dlc {

static void collect(Location loc, llvm::SetVector<plan::NodeAttr> &nodes) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    auto op = dyn_cast<NameLoc>(name.getChildLoc());
    nodes.insert(plan::NodeAttr::get(loc.getContext(), name.getName(),
                                     op ? op.getName().getValue() : StringRef()));
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      collect(part, nodes);
  }
}

SmallVector<plan::NodeAttr> collectNodes(Location loc) {
  llvm::SetVector<plan::NodeAttr> nodes;
  collect(loc, nodes);
  return nodes.takeVector();
}

} // namespace dlc
