// Kernels of a device that is not the CPU: what a target hands to the artifact.

#ifndef DLC_COMPILER_DEVICEPROGRAM_H
#define DLC_COMPILER_DEVICEPROGRAM_H

#include "runtime/schema/artifact_generated.h"

#include <string>
#include <vector>

namespace dlc {

/// A size as the artifact spells it; its symbols are the kernel's size arguments.
using SizeExpr = std::vector<schema::ExprStep>;

/// One launch: ceil(work / perBlock) blocks, at least one and at most maxBlocks.
struct DeviceLaunch {
  std::string function;
  unsigned threads = 256;
  int64_t sharedBytes = 0;
  SizeExpr work;
  int64_t perBlock = 256;
  int64_t maxBlocks = 1;
  /// The same with 32-bit indices, for sizes whose `largest` is at most
  /// schema::kMostNarrowExtent; empty: there is none.
  std::string narrowFunction;
  SizeExpr largest;
  /// What it is handed: inputs and outputs, then temporaries, then sizes.
  std::vector<uint32_t> args;
};

/// Code of one kind for one architecture.
struct DeviceImage {
  schema::ImageKind kind;
  std::string architecture; // "sm_80"; of PTX, the least that it runs on
  std::string bytes;
  std::vector<schema::LaunchResources> resources; // of a cubin, one per function
};

struct DeviceKernel {
  std::string name;
  std::vector<SizeExpr> temporaries; // bytes of each
  std::vector<DeviceLaunch> launches;
  std::string source;
  std::vector<DeviceImage> images;
};

struct DeviceProgram {
  std::string target;   // "cuda"
  std::string compiler; // "nvrtc 13.0"
  std::string headers;  // what every source includes
  std::vector<std::string> options;
  std::vector<DeviceKernel> kernels;
};

} // namespace dlc

#endif // DLC_COMPILER_DEVICEPROGRAM_H
