// What this machine's processor has, by the names of /proc/cpuinfo.

#ifndef DLC_RUNTIME_CORE_CPUFEATURES_H
#define DLC_RUNTIME_CORE_CPUFEATURES_H

#include "runtime/schema/artifact_generated.h"

#include <string>

namespace dlc::rt {

/// The features that `code` needs and this machine lacks; empty: it runs.
std::string missingCpuFeatures(const schema::Code &code);

} // namespace dlc::rt

#endif // DLC_RUNTIME_CORE_CPUFEATURES_H
