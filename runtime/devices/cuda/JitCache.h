// Machine code that was compiled while loading, kept on disk for the next time.

#ifndef DLC_RUNTIME_DEVICES_CUDA_JITCACHE_H
#define DLC_RUNTIME_DEVICES_CUDA_JITCACHE_H

#include "runtime/schema/Nvrtc.h"

#include <string>

namespace dlc::rt::cuda {

class JitCache {
public:
  /// Empty: nothing is kept.
  explicit JitCache(std::string folder) : folder(std::move(folder)) {}

  /// Everything that the compiler's output depends on, as a file name.
  static std::string keyOf(const schema::NvrtcJob &job, const std::string &compiler);
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

} // namespace dlc::rt::cuda

#endif // DLC_RUNTIME_DEVICES_CUDA_JITCACHE_H
