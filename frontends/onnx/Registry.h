// The ONNX ops that dlc imports, by domain and name. Every family adds its own; see
// Registry.cpp for the list.

#ifndef DLC_FRONTENDS_ONNX_REGISTRY_H
#define DLC_FRONTENDS_ONNX_REGISTRY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

#include <cstdint>
#include <map>

namespace dlc::onnx {

class NodeContext;

/// Emits one node. Failure means that a problem was reported.
using Handler = llvm::LogicalResult (*)(NodeContext &);

inline constexpr unsigned kAnyNumber = ~0u;

struct OpEntry {
  Handler handler = nullptr;
  unsigned minInputs = 0, maxInputs = kAnyNumber; // omitted trailing inputs do not count
  int64_t since = 1;                              // the opset that brought the op

  OpEntry &operator=(Handler h) {
    handler = h;
    return *this;
  }
};

class Registry {
public:
  /// An op of the default domain whose handler counts its inputs itself.
  OpEntry &operator[](llvm::StringRef name) { return entries[{"", name}]; }
  void add(llvm::StringRef name, unsigned minInputs, unsigned maxInputs, Handler handler,
           int64_t since = 1, llvm::StringRef domain = "") {
    OpEntry &entry = entries[{domain, name}];
    entry = handler;
    entry.minInputs = minInputs;
    entry.maxInputs = maxInputs;
    entry.since = since;
  }
  /// Null when there is none.
  const OpEntry *find(llvm::StringRef domain, llvm::StringRef name) const {
    auto it = entries.find({domain, name});
    return it == entries.end() ? nullptr : &it->second;
  }

private:
  std::map<std::pair<llvm::StringRef, llvm::StringRef>, OpEntry> entries;
};

const Registry &opRegistry();

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_REGISTRY_H
