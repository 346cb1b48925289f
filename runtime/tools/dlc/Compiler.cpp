// The commands that need LLVM live in a program of their own, so that `dlc run`
// starts fast and a runtime-only installation is complete.

#include "runtime/tools/dlc/Commands.h"
#include "runtime/tools/io/Error.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <unistd.h>

namespace dlc::cli {

namespace {

struct CompilerCommand {
  const char *name, *summary;
};
constexpr CompilerCommand kCommands[] = {
    {"compile", "compile a model into an artifact"},
    {"check", "list every problem of a model at once"},
};

std::string folderOfThisProgram() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0)
    return ".";
  std::string text(path, static_cast<size_t>(length));
  return text.substr(0, text.rfind('/'));
}

} // namespace

void addCompilerCommands(CLI::App &app) {
  for (const CompilerCommand &command : kCommands)
    app.add_subcommand(command.name, command.summary);
}

bool isCompilerCommand(const char *name) {
  for (const CompilerCommand &command : kCommands)
    if (std::strcmp(name, command.name) == 0)
      return true;
  return false;
}

std::string compilerPath() {
  std::string path = folderOfThisProgram() + "/dlc-compiler";
  return access(path.c_str(), X_OK) == 0 ? path : "";
}

void runCompiler(int argc, char **argv) {
  std::string path = compilerPath();
  if (path.empty())
    fail(DLC_UNSUPPORTED, "`dlc ", argv[1], "` needs the compiler, and ",
         folderOfThisProgram(), "/dlc-compiler is not there; install it beside dlc, or "
         "build it with `ninja -C build dlc-compiler`");
  execv(path.c_str(), argv);
  fail(DLC_INTERNAL, path, ": cannot start: ", std::strerror(errno));
}

} // namespace dlc::cli
