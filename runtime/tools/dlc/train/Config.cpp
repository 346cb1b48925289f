#include "runtime/tools/dlc/train/Config.h"

#include "runtime/tools/io/Error.h"

#include <algorithm>

namespace dlc::cli {

namespace {

constexpr std::string_view kFlag = "--config";

/// "lr" for --lr 1e-3 and --lr=1e-3.
bool gives(const std::string &argument, const std::string &name) {
  return argument == "--" + name || argument.starts_with("--" + name + "=");
}

void append(const CLI::App &command, const CLI::ConfigItem &item, const std::string &file,
            std::vector<std::string> &arguments) {
  const CLI::Option *option = command.get_option_no_throw("--" + item.name);
  const CLI::Option *positional = option ? nullptr : command.get_option_no_throw(item.name);
  if (!item.parents.empty() || (!option && !positional))
    fail(DLC_USAGE, file, ": `", command.get_name(), "` has no flag ", inQuotes(item.fullname()));
  for (const std::string &value : item.inputs) {
    bool isFlag = option && option->get_items_expected_max() == 0;
    if (isFlag && value != "true" && value != "false")
      fail(DLC_USAGE, file, ": ", item.name, " is true or false, not ", inQuotes(value));
    if (isFlag && value == "true")
      arguments.push_back("--" + item.name);
    else if (!isFlag)
      arguments.push_back(positional ? value : "--" + item.name + "=" + value);
  }
}

std::vector<CLI::ConfigItem> readConfig(const std::string &file) {
  try {
    return CLI::ConfigTOML().from_file(file);
  } catch (const CLI::Error &error) {
    fail(DLC_USAGE, file, ": cannot be read as a list of flags: ", error.what());
  }
}

} // namespace

std::vector<std::string> withConfig(const CLI::App &command, std::vector<std::string> arguments) {
  std::vector<std::string> files;
  for (size_t i = 0; i < arguments.size();) {
    bool isSplit = arguments[i] == kFlag;
    if (!isSplit && !gives(arguments[i], std::string(kFlag.substr(2)))) {
      ++i;
      continue;
    }
    if (isSplit && i + 1 == arguments.size())
      fail(DLC_USAGE, kFlag, " needs a file");
    files.push_back(isSplit ? arguments[i + 1] : arguments[i].substr(kFlag.size() + 1));
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i),
                    arguments.begin() + static_cast<std::ptrdiff_t>(i + (isSplit ? 2 : 1)));
  }
  const std::vector<std::string> given = arguments;
  for (const std::string &file : files)
    for (const CLI::ConfigItem &item : readConfig(file))
      if (std::ranges::none_of(given, [&](const std::string &argument) { return gives(argument, item.name); }))
        append(command, item, file, arguments);
  return arguments;
}

} // namespace dlc::cli
