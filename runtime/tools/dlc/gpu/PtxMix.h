// What kinds of instructions a kernel's PTX consists of.

#ifndef DLC_RUNTIME_TOOLS_DLC_GPU_PTXMIX_H
#define DLC_RUNTIME_TOOLS_DLC_GPU_PTXMIX_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace dlc::cli {

/// Counted as they stand in the text, not as often as they run.
struct PtxMix {
  enum Kind { Global, Shared, Float, Tensor, Special, Integer, Control, numKinds };
  static constexpr const char *kNames[numKinds] = {"global", "shared", "float", "tensor",
                                                   "special", "integer", "control"};
  std::array<uint32_t, numKinds> counts{};

  uint32_t total() const;
  /// "integer 52%, float 21%, ...": the largest shares.
  std::string text() const;
};

/// Of the entry function `name`; all zero where the PTX has no such function.
PtxMix mixOf(std::string_view ptx, const std::string &name);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_GPU_PTXMIX_H
