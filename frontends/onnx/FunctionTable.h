// The functions that a model brings along, by what calls them.

#ifndef DLC_FRONTENDS_ONNX_FUNCTIONTABLE_H
#define DLC_FRONTENDS_ONNX_FUNCTIONTABLE_H

#include "frontends/onnx/Model.h"

#include <map>
#include <tuple>

namespace dlc::onnx {

class FunctionTable {
public:
  explicit FunctionTable(const Model &model) {
    for (const Function &f : model.functions)
      functions.try_emplace({f.domain, f.name, f.overload}, &f);
  }
  /// The function that `node` calls; null for an op.
  const Function *find(const Node &node) const {
    auto it = functions.find({node.domain, node.opType, node.overload});
    return it == functions.end() ? nullptr : it->second;
  }

private:
  std::map<std::tuple<StringRef, StringRef, StringRef>, const Function *> functions;
};

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_FUNCTIONTABLE_H
