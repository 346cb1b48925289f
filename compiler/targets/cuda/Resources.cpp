#include "compiler/targets/cuda/Resources.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

using llvm::StringRef;

namespace dlc::cuda {

namespace {

/// The number right before `what`: of "12 bytes smem" before " bytes smem", 12.
unsigned numberBefore(StringRef line, StringRef what) {
  size_t end = line.find(what);
  if (end == StringRef::npos)
    return 0;
  StringRef digits = line.take_front(end);
  digits = digits.drop_front(digits.find_last_not_of("0123456789") + 1);
  unsigned number = 0;
  digits.getAsInteger(10, number);
  return number;
}

/// Counts of one function, which its lines tell one after the other.
struct Counts {
  unsigned registers = 0, stack = 0, spills = 0, shared = 0;

  void read(StringRef line) {
    registers += numberBefore(line, " registers");
    stack += numberBefore(line, " bytes stack frame");
    spills += numberBefore(line, " bytes spill stores") + numberBefore(line, " bytes spill loads");
    shared += numberBefore(line, " bytes smem");
  }
};

} // namespace

std::vector<schema::LaunchResources> readResources(const std::string &log,
                                                   const std::vector<DeviceLaunch> &launches) {
  llvm::StringMap<Counts> functions;
  Counts *current = nullptr;
  llvm::SmallVector<StringRef> lines;
  StringRef(log).split(lines, '\n');
  for (StringRef line : lines) {
    auto [before, name] = line.split("Compiling entry function '");
    if (!name.empty())
      current = &functions[name.split('\'').first];
    else if (current)
      current->read(line);
  }
  std::vector<std::string> names;
  for (const DeviceLaunch &launch : launches)
    names.push_back(launch.function);
  for (const DeviceLaunch &launch : launches)
    if (!launch.narrowFunction.empty())
      names.push_back(launch.narrowFunction);
  std::vector<schema::LaunchResources> result;
  for (const std::string &name : names) {
    auto found = functions.find(name);
    if (found == functions.end())
      return {};
    const Counts &counts = found->second;
    result.emplace_back(counts.registers, counts.stack, counts.spills, counts.shared);
  }
  return result;
}

} // namespace dlc::cuda
