#include "runtime/core/Status.h"

#include <cstdarg>
#include <cstdio>

namespace dlc::rt {

Status fail(dlc_code code, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  return Status(new dlc_status{code, text});
}

} // namespace dlc::rt

extern "C" {
dlc_code dlc_status_code(const dlc_status *status) { return status ? status->code : DLC_OK; }
const char *dlc_status_message(const dlc_status *status) {
  return status ? status->message.c_str() : "ok";
}
void dlc_status_free(dlc_status *status) { delete status; }
}
