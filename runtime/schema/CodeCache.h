// What NVRTC made of a kernel, kept on disk for the next time: while compiling a model
// and while loading one on a device that the artifact has no code for.

#ifndef DLC_RUNTIME_SCHEMA_CODECACHE_H
#define DLC_RUNTIME_SCHEMA_CODECACHE_H

#include "runtime/schema/Nvrtc.h"

#include <string>

namespace dlc::schema {

class CodeCache {
public:
  /// Empty: nothing is kept.
  explicit CodeCache(std::string folder) : folder(std::move(folder)) {}

  /// Where the user's caches are ($XDG_CACHE_HOME, $HOME/.cache); empty when nobody says.
  static std::string defaultFolder();

  /// As Nvrtc::compile, from the cache where it has the result.
  std::string compile(const Nvrtc &nvrtc, const NvrtcJob &job, NvrtcResult &result) const;

  /// Everything that the compiler's output depends on, as a file name.
  static std::string keyOf(const NvrtcJob &job, const std::string &compiler);
  /// False where there is no such entry, or a damaged one.
  bool find(const std::string &key, std::string &code) const;
  /// Keeps the code; a failure to do so is none of the caller's business. The oldest
  /// entries go when the folder outgrows its bound.
  void store(const std::string &key, const std::string &code) const;

  static constexpr uint64_t kMostBytes = uint64_t(512) << 20;

private:
  void shrink() const;
  std::string folder;
};

} // namespace dlc::schema

#endif // DLC_RUNTIME_SCHEMA_CODECACHE_H
