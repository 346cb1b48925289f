// Which devices an image of a kernel's code runs on, and which of a launch's functions:
// for loading and running, and for tools that tell what would be.

#ifndef DLC_RUNTIME_SCHEMA_DEVICEIMAGES_H
#define DLC_RUNTIME_SCHEMA_DEVICEIMAGES_H

#include "runtime/schema/Expr.h"
#include "runtime/schema/artifact_generated.h"

#include <cstdlib>
#include <cstring>

namespace dlc::schema {

/// 90 for "sm_90"; 0 for an image without an architecture.
inline int architectureOf(const DeviceImage &image) {
  const char *text = image.architecture() ? image.architecture()->c_str() : "";
  return strncmp(text, "sm_", 3) == 0 ? atoi(text + 3) : 0;
}

/// Machine code runs on its own generation from its own minor version on, PTX on all
/// later ones; source runs nowhere.
inline bool runsOn(const DeviceImage &image, int architecture) {
  int number = architectureOf(image);
  if (number > architecture)
    return false;
  return image.kind() == ImageKind::Cubin ? number / 10 == architecture / 10
                                          : image.kind() == ImageKind::Ptx;
}

/// Loop variables of 32 bits must reach a whole grid past the last point.
inline constexpr int64_t kMostNarrowExtent = int64_t(1) << 30;

/// Whether sizes let a launch run its function with 32-bit indices. `isBound` is as long
/// as `dims` and true.
inline bool isNarrow(const Launch &launch, const int64_t *dims, const char *isBound) {
  int64_t largest = 0;
  bool overflow = false;
  return launch.narrow_function() && evaluateExpr(*launch.largest(), dims, isBound, largest, overflow) &&
         !overflow && largest <= kMostNarrowExtent;
}

/// Where its resources stand among those of a cubin.
inline uint32_t narrowIndex(const DeviceKernel &kernel, uint32_t launch) {
  uint32_t index = kernel.launches()->size();
  for (uint32_t i = 0; i < launch; ++i)
    index += kernel.launches()->Get(i)->narrow_function() != nullptr;
  return index;
}

} // namespace dlc::schema

#endif // DLC_RUNTIME_SCHEMA_DEVICEIMAGES_H
