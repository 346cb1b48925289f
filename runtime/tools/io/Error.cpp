#include "runtime/tools/io/Error.h"

namespace dlc::cli {

std::string inQuotes(std::string_view text) {
  constexpr size_t longest = 120;
  std::string result = "'";
  for (char c : text.substr(0, longest)) {
    auto byte = static_cast<unsigned char>(c);
    result += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return result + (text.size() > longest ? "...'" : "'");
}

const char *codeWord(dlc_code code) {
  switch (code) {
  case DLC_OK: return "ok";
  case DLC_INTERNAL: return "internal";
  case DLC_USAGE: return "usage";
  case DLC_UNSUPPORTED: return "unsupported";
  case DLC_MISMATCH: return "mismatch";
  case DLC_OUT_OF_MEMORY: return "out-of-memory";
  case DLC_DEVICE: return "device";
  }
  return "internal";
}

void check(dlc_status *status, const std::string &what) {
  if (!status)
    return;
  Error error{dlc_status_code(status), dlc_status_message(status)};
  dlc_status_free(status);
  if (!what.empty())
    error.message = what + ": " + error.message;
  throw error;
}

} // namespace dlc::cli
