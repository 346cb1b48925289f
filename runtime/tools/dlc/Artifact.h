// A checked artifact as `dlc inspect` looks at it: the table itself, not the
// runtime's flattened form.

#ifndef DLC_RUNTIME_TOOLS_DLC_ARTIFACT_H
#define DLC_RUNTIME_TOOLS_DLC_ARTIFACT_H

#include "dlc/dlc.h"
#include "runtime/schema/artifact_generated.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace dlc::cli {

class Artifact {
public:
  explicit Artifact(const std::string &path);
  ~Artifact() { dlc_artifact_free(handle); }
  Artifact(const Artifact &) = delete;

  const schema::Artifact &table() const {
    return *static_cast<const schema::Artifact *>(dlc_artifact_table(handle));
  }
  std::span<const uint8_t> bytes() const {
    return {static_cast<const uint8_t *>(dlc_artifact_data(handle)),
            dlc_artifact_size_bytes(handle)};
  }
  const schema::Value &value(uint32_t index) const { return *table().values()->Get(index); }

  /// "f32[N,3,224,224]".
  std::string valueType(uint32_t index) const;
  /// The nodes of a dispatch: "Conv_0, Relu_1".
  std::string nodeNames(const schema::Dispatch &dispatch) const;
  /// Bytes of the constants that kernels read; weights that are only kept for
  /// --extract do not count.
  double usedConstantBytes() const;
  /// Every dispatch, also inside branches and loops, with its depth.
  void forEachDispatch(
      const std::function<void(const schema::Dispatch &, int depth)> &visit) const;

  const std::string path;

private:
  dlc_artifact *handle = nullptr;
};

std::string text(const flatbuffers::String *string);

/// Sizes of the symbols: given by name, else 1 or the least allowed. Symbols
/// that only data decide stay unbound.
struct SymbolValues {
  std::vector<int64_t> sizes;
  std::vector<char> isBound;
};
SymbolValues symbolValues(const Artifact &artifact, const std::map<std::string, int64_t> &given);

/// Bytes of a value, or -1 while a size is unknown.
int64_t valueBytes(const Artifact &artifact, uint32_t index, const SymbolValues &symbols);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_ARTIFACT_H
