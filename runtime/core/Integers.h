// Reading integer tensors of any width: sizes and indices that the data holds.

#ifndef DLC_RUNTIME_CORE_INTEGERS_H
#define DLC_RUNTIME_CORE_INTEGERS_H

#include "dlc/dlc.h"

namespace dlc::rt {

/// Element `i` of an integer tensor, widened.
inline int64_t integerAt(const void *data, dlc_type type, int64_t i) {
  switch (type) {
  case DLC_I32: return static_cast<const int32_t *>(data)[i];
  case DLC_U32: return static_cast<const uint32_t *>(data)[i];
  case DLC_I16: return static_cast<const int16_t *>(data)[i];
  case DLC_U16: return static_cast<const uint16_t *>(data)[i];
  case DLC_I8: return static_cast<const int8_t *>(data)[i];
  case DLC_U8:
  case DLC_BOOL: return static_cast<const uint8_t *>(data)[i];
  default: return static_cast<const int64_t *>(data)[i];
  }
}

inline int64_t elementBytes(dlc_type type) { return dlc_type_size_bytes(type, nullptr, 0); }

inline bool isInteger(dlc_type type) { return type >= DLC_I8; }

} // namespace dlc::rt

#endif // DLC_RUNTIME_CORE_INTEGERS_H
