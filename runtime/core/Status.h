// The runtime's error type. Success is null, so that it costs nothing.

#ifndef DLC_RUNTIME_CORE_STATUS_H
#define DLC_RUNTIME_CORE_STATUS_H

#include "dlc/dlc.h"

#include <memory>
#include <string>

struct dlc_status {
  dlc_code code;
  std::string message;
};

namespace dlc::rt {

using Status = std::unique_ptr<dlc_status>;

/// printf-style. The message names what and which.
[[nodiscard]] __attribute__((format(printf, 2, 3))) Status
fail(dlc_code code, const char *format, ...);

} // namespace dlc::rt

#define RETURN_IF_ERROR(expr)                                                   \
  do {                                                                          \
    if (::dlc::rt::Status status_ = (expr))                                     \
      return status_;                                                           \
  } while (false)

#endif // DLC_RUNTIME_CORE_STATUS_H
