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
  const char *name, *program, *summary;
};
constexpr CompilerCommand kCommands[] = {
    {"compile", "dlc-compiler", "compile a model into an artifact"},
    {"check", "dlc-compiler", "list every problem of a model at once"},
    {"new", "dlc-models", "write a model to train, from its kind and sizes"},
};

const CompilerCommand *commandNamed(const char *name) {
  for (const CompilerCommand &command : kCommands)
    if (std::strcmp(name, command.name) == 0)
      return &command;
  return nullptr;
}

std::string folderOfThisProgram() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0)
    return ".";
  std::string text(path, static_cast<size_t>(length));
  return text.substr(0, text.rfind('/'));
}

/// Empty: it is not there.
std::string pathBeside(const std::string &program) {
  std::string path = folderOfThisProgram() + "/" + program;
  return access(path.c_str(), X_OK) == 0 ? path : "";
}

} // namespace

void addCompilerCommands(CLI::App &app) {
  for (const CompilerCommand &command : kCommands)
    app.add_subcommand(command.name, command.summary);
}

bool isCompilerCommand(const char *name) { return commandNamed(name); }

std::string compilerPath() { return pathBeside("dlc-compiler"); }

void runCompiler(int argc, char **argv) {
  const char *program = commandNamed(argv[1])->program;
  std::string path = pathBeside(program);
  if (path.empty())
    fail(DLC_UNSUPPORTED, "`dlc ", argv[1], "` needs the compiler, and ",
         folderOfThisProgram(), "/", program, " is not there; install it beside dlc, or "
         "build it with `ninja -C build ", program, "`");
  execv(path.c_str(), argv);
  fail(DLC_INTERNAL, path, ": cannot start: ", std::strerror(errno));
}

} // namespace dlc::cli
