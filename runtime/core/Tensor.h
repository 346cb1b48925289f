// dlc_tensor: dense memory with a type and a shape.

#ifndef DLC_RUNTIME_CORE_TENSOR_H
#define DLC_RUNTIME_CORE_TENSOR_H

#include "runtime/core/Status.h"

struct dlc_tensor {
  dlc_type type;
  int rank;
  int64_t dims[DLC_MAX_RANK];
  int64_t sizeBytes;
  void *data;
  bool ownsData;
  ~dlc_tensor();
};

namespace dlc::rt {

/// "2x3" for messages.
std::string dimsText(const int64_t *dims, int rank);
Status createTensor(dlc_type type, const int64_t *dims, int rank, dlc_tensor **out);

} // namespace dlc::rt

#endif // DLC_RUNTIME_CORE_TENSOR_H
