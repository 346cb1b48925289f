// The commands of `dlc`. Each adds itself to the command line; its callback sets
// the exit code or throws an Error.

#ifndef DLC_RUNTIME_TOOLS_DLC_COMMANDS_H
#define DLC_RUNTIME_TOOLS_DLC_COMMANDS_H

#include <CLI/App.hpp>

namespace dlc::cli {

void addRunCommand(CLI::App &app, int &exitCode);
void addTrainCommand(CLI::App &app, int &exitCode);
void addBenchCommand(CLI::App &app, int &exitCode);
void addInspectCommand(CLI::App &app, int &exitCode);
void addDoctorCommand(CLI::App &app, int &exitCode);
void addDevicesCommand(CLI::App &app, int &exitCode);

/// `compile`, `check` and whatever else the compiler's program does. They are
/// listed here for --help; runCompiler hands them over before any parsing.
void addCompilerCommands(CLI::App &app);
bool isCompilerCommand(const char *name);
/// Replaces this process by the compiler; throws an Error if it is missing.
[[noreturn]] void runCompiler(int argc, char **argv);
/// Where the compiler lies: beside this program. Empty: it is not there.
std::string compilerPath();

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_COMMANDS_H
