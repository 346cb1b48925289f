// How the command line tool reports failure. Inside the tool errors are thrown
// and caught once, in main: CLI11 and the JSON library throw anyway, and the
// tool is nobody's API.

#ifndef DLC_RUNTIME_TOOLS_IO_ERROR_H
#define DLC_RUNTIME_TOOLS_IO_ERROR_H

#include "dlc/dlc.h"

#include <sstream>
#include <string>
#include <string_view>

namespace dlc::cli {

/// What ends a command: an exit code and one line that names file and value.
struct Error {
  dlc_code code;
  std::string message;
};

template <typename... Parts>
[[noreturn]] void fail(dlc_code code, const Parts &...parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Error{code, text.str()};
}

/// Text from a file made fit for a terminal: quoted, short, no control characters.
std::string inQuotes(std::string_view text);

/// "usage", "unsupported", ...: the word that goes with an exit code.
const char *codeWord(dlc_code code);

/// Throws what the runtime reports, with `what` before it. Frees the status.
void check(dlc_status *status, const std::string &what = "");

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_IO_ERROR_H
