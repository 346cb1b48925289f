// `dlc train` has no compiler in it: it runs the one beside it, as `dlc compile` does.

#include "runtime/tools/dlc/Commands.h"
#include "runtime/tools/dlc/train/Trainer.h"
#include "runtime/tools/io/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace dlc::cli {

namespace {

/// The compiler's exit code is ours, its messages went to standard error already.
void runAndWait(const std::string &program, const std::vector<std::string> &arguments) {
  std::vector<char *> argv;
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Its summary is not what `dlc train` was asked for.
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int error = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    fail(DLC_INTERNAL, program, ": cannot start: ", std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      fail(DLC_INTERNAL, program, ": ", std::strerror(errno));
  if (!WIFEXITED(status))
    fail(DLC_INTERNAL, program, " was ended by signal ", WTERMSIG(status));
  if (int code = WEXITSTATUS(status))
    fail(static_cast<dlc_code>(code), "the model cannot be compiled to train; see above");
}

} // namespace

void compileToTrain(const TrainOptions &options, const Source &batches,
                    const Source *validation, const std::string &artifact) {
  std::string compiler = compilerPath();
  if (compiler.empty())
    fail(DLC_UNSUPPORTED, "`dlc train` needs the compiler, dlc-compiler beside dlc, unless it is "
                          "given an artifact made by `dlc compile --train`");
  std::vector<std::string> arguments = {
      compiler, "compile", options.model, "-o", artifact, "--train", "--loss", options.loss,
      "--optimizer", options.optimizer, "--class-axis", std::to_string(options.classAxis),
      "--seed", std::to_string(options.seed)};
  if (batches.hasFloatTargets() && options.loss == "cross-entropy")
    arguments.push_back("--soft-targets");
  if (options.accumulate > 1)
    arguments.push_back("--accumulate");
  if (options.device != "cpu") // made into code for the very device when it is loaded
    arguments.push_back("--target=cuda:source");
  std::vector<std::string> shapes = batches.shapeFlags();
  if (!validation || validation->shapeFlags() == shapes)
    arguments.insert(arguments.end(), shapes.begin(), shapes.end());
  arguments.insert(arguments.end(), options.forwarded.begin(), options.forwarded.end());
  runAndWait(compiler, arguments);
}

} // namespace dlc::cli
