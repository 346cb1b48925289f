// Files mapped into memory: the model and its external data. Mapping costs no copy;
// everything that was read from a file points into it.

#ifndef DLC_FRONTENDS_ONNX_MODELFILE_H
#define DLC_FRONTENDS_ONNX_MODELFILE_H

#include "frontends/onnx/Issues.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <optional>
#include <string>

namespace dlc::onnx {

class MappedFiles {
public:
  ~MappedFiles();
  MappedFiles() = default;
  MappedFiles(const MappedFiles &) = delete;

  /// The bytes of the model; none, with an error, when it is no model file.
  std::optional<llvm::StringRef> openModel(llvm::StringRef path, IssueList &issues);
  /// The bytes of external data at `location`, relative to the model's folder and
  /// confined to it. On failure `problem` says why.
  std::optional<llvm::StringRef> openExternal(llvm::StringRef location,
                                              std::string &problem);

private:
  std::optional<llvm::StringRef> map(llvm::StringRef path, std::string &problem);

  std::string folder; // of the model, symlinks resolved
  llvm::StringMap<llvm::StringRef> mapped;
};

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_MODELFILE_H
