#include "runtime/core/CpuFeatures.h"

#include <cstdio>
#include <cstring>

namespace dlc::rt {

namespace {

/// " fpu vme ... " of the first processor.
std::string readFlags() {
  std::string flags = " ";
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (!file)
    return flags;
  char line[8192];
  while (fgets(line, sizeof(line), file))
    if (strncmp(line, "flags", 5) == 0) {
      if (const char *colon = strchr(line, ':'))
        flags += colon + 1;
      break;
    }
  fclose(file);
  for (char &c : flags)
    if (c == '\n' || c == '\t')
      c = ' ';
  return flags + " ";
}

} // namespace

std::string missingCpuFeatures(const schema::Code &code) {
  static const std::string flags = readFlags();
  std::string missing;
  for (uint32_t i = 0; code.features() && i < code.features()->size(); ++i) {
    std::string feature = code.features()->Get(i)->str();
    if (flags.find(" " + feature + " ") == std::string::npos)
      missing += (missing.empty() ? "" : ", ") + feature;
  }
  return missing;
}

} // namespace dlc::rt
