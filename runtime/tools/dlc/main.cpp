// The `dlc` command. It runs, times and shows artifacts without LLVM; what needs
// the compiler is handed to the program beside this one.

#include "runtime/tools/dlc/Commands.h"
#include "runtime/tools/dlc/train/Config.h"
#include "runtime/tools/io/Error.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <new>

using namespace dlc::cli;

namespace {

/// Names and defaults, not CLI11's every constraint: help must fit a screen.
class ShortFormatter : public CLI::Formatter {
public:
  ShortFormatter() { column_width(26); }
  std::string make_option_opts(const CLI::Option *option) const override {
    std::string type = option->get_type_name();
    type = type.substr(0, type.find(':'));
    std::string text = type.empty() ? "" : " " + type;
    if (!option->get_default_str().empty())
      text += "=" + option->get_default_str();
    return text;
  }
};

int report(dlc_code code, const std::string &message) {
  std::cout.flush();
  std::cerr << "error: " << codeWord(code) << ": " << message << "\n";
  return code;
}

/// CLI11 knows the command line's structure best; only the way it is said is ours.
int reportParseError(const CLI::App &app, const CLI::ParseError &error) {
  if (error.get_exit_code() == 0)
    return app.exit(error); // --help, --version
  std::vector<CLI::App *> chosen = app.get_subcommands();
  std::string command = chosen.empty() ? "dlc" : "dlc " + chosen[0]->get_name();
  return report(DLC_USAGE, std::string(error.what()) + "; see `" + command + " --help`");
}

void checkCommandName(const CLI::App &app, const char *name) {
  std::string names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; })) {
    if (command->get_name() == name)
      return;
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  fail(DLC_USAGE, "no command ", inQuotes(name), "; there are ", names);
}

int run(int argc, char **argv) {
  CLI::App app{"dlc: compiles deep-learning models and runs them", "dlc"};
  app.formatter(std::make_shared<ShortFormatter>()); // commands inherit it
  app.set_version_flag("--version", dlc_version());
  app.require_subcommand(1);
  app.footer("Example:\n"
             "  dlc compile resnet50.onnx -o resnet50.dlc\n"
             "  dlc run resnet50.dlc --image cat.png\n"
             "Every command has --help. Exit codes: 0 ok, 1 internal, 2 usage or broken\n"
             "file, 3 unsupported, 4 mismatch, 5 out of memory, 6 device.");
  int exitCode = DLC_OK;
  addCompilerCommands(app);
  addRunCommand(app, exitCode);
  addTrainCommand(app, exitCode);
  addBenchCommand(app, exitCode);
  addInspectCommand(app, exitCode);
  addDoctorCommand(app, exitCode);
  addDevicesCommand(app, exitCode);
  try {
    if (argc > 1 && isCompilerCommand(argv[1]))
      runCompiler(argc, argv);
    if (argc > 1 && argv[1][0] != '-')
      checkCommandName(app, argv[1]);
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    if (!arguments.empty() && arguments[0] == "train")
      arguments = withConfig(*app.get_subcommand("train"), std::move(arguments));
    std::ranges::reverse(arguments); // as CLI11 takes them
    app.parse(std::move(arguments));
    return exitCode;
  } catch (const CLI::ParseError &error) {
    return reportParseError(app, error);
  }
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const Error &error) {
    return report(error.code, error.message);
  } catch (const std::bad_alloc &) {
    return report(DLC_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return report(DLC_INTERNAL, error.what());
  }
}
