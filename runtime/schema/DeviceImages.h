// Which devices an image of a kernel's code runs on: for loading, and for tools that
// tell what would be loaded.

#ifndef DLC_RUNTIME_SCHEMA_DEVICEIMAGES_H
#define DLC_RUNTIME_SCHEMA_DEVICEIMAGES_H

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

} // namespace dlc::schema

#endif // DLC_RUNTIME_SCHEMA_DEVICEIMAGES_H
