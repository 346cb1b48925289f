// The part of an artifact's table that describes kernels of devices.

#include "compiler/artifact/TableBuilder.h"

#include "runtime/schema/ContentHash.h"

namespace dlc {

using flatbuffers::Offset;

namespace {

Offset<schema::Expr> buildSize(flatbuffers::FlatBufferBuilder &b, const SizeExpr &steps) {
  return schema::CreateExpr(b, b.CreateVectorOfStructs(steps));
}

Offset<schema::Launch> buildLaunch(flatbuffers::FlatBufferBuilder &b, const DeviceLaunch &launch) {
  bool hasNarrow = !launch.narrowFunction.empty();
  return schema::CreateLaunchDirect(b, launch.function.c_str(), launch.threads, launch.sharedBytes,
                                    buildSize(b, launch.work), launch.perBlock, launch.maxBlocks,
                                    &launch.args, hasNarrow ? launch.narrowFunction.c_str() : nullptr,
                                    hasNarrow ? buildSize(b, launch.largest) : 0);
}

} // namespace

Offset<schema::DeviceKernel> TableBuilder::buildDeviceKernel(Builder &b, const DeviceKernel &kernel,
                                                             uint64_t &imageAt) {
  std::vector<Offset<schema::DeviceImage>> imageTables;
  for (const DeviceImage &image : kernel.images) {
    images.push_back(&image);
    imageTables.push_back(schema::CreateDeviceImageDirect(
        b, image.kind, image.architecture.c_str(), imageAt, image.bytes.size(),
        schema::contentHash(image.bytes.data(), image.bytes.size()), &image.resources));
    imageAt += image.bytes.size();
  }
  std::vector<Offset<schema::Expr>> temporaries;
  for (const SizeExpr &bytes : kernel.temporaries)
    temporaries.push_back(buildSize(b, bytes));
  std::vector<Offset<schema::Launch>> launches;
  for (const DeviceLaunch &launch : kernel.launches)
    launches.push_back(buildLaunch(b, launch));
  return schema::CreateDeviceKernelDirect(b, &imageTables, &temporaries, &launches);
}

/// Kernels in the order in which dispatches number them.
Offset<schema::DeviceProgram> TableBuilder::buildDevice(Builder &b, const DeviceProgram &device,
                                                        uint64_t &imageAt) {
  llvm::StringMap<const DeviceKernel *> byName;
  for (const DeviceKernel &kernel : device.kernels)
    byName[kernel.name] = &kernel;
  std::vector<Offset<schema::DeviceKernel>> kernels;
  for (auto &[name, index] : shared.kernelNumbers)
    kernels.push_back(buildDeviceKernel(b, *byName.at(name), imageAt));
  std::vector<Offset<flatbuffers::String>> options;
  for (const std::string &option : device.options)
    options.push_back(b.CreateString(option));
  return schema::CreateDeviceProgramDirect(b, device.target.c_str(), device.compiler.c_str(),
                                           device.headers.c_str(), &options, &kernels);
}

} // namespace dlc
