#include "runtime/tools/dlc/gpu/KernelReport.h"

#include "runtime/tools/dlc/Table.h"

#include <iostream>

namespace dlc::cli {

namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> row(const KernelInsight &kernel, size_t index) {
  const LaunchInsight &launch = kernel.launches[index];
  auto number = [&](auto read) { return launch.resources ? std::to_string(read(*launch.resources)) : "-"; };
  bool isFirst = index == 0;
  return {launch.function,
          number([](const auto &r) { return r.registers(); }),
          number([](const auto &r) { return r.spill_bytes(); }),
          number([](const auto &r) { return r.shared_bytes(); }),
          launch.resources ? fixed(100 * launch.occupancy, 0) + "%" : "-",
          launch.mix.text(),
          !isFirst ? "" : kernel.bytes < 0 ? "?" : bytesText(kernel.bytes),
          !isFirst ? "" : fixed(kernel.flops / 1e6, 1),
          !isFirst ? "" : kernel.bytes < 0 ? "?" : fixed(kernel.rooflineUs, 2)};
}

Json launchJson(const LaunchInsight &launch) {
  Json json = {{"function", launch.function}, {"instructions", Json::object()}};
  for (int kind = 0; kind < PtxMix::numKinds; ++kind)
    json["instructions"][PtxMix::kNames[kind]] = launch.mix.counts[kind];
  if (const auto &r = launch.resources)
    json.update({{"architecture", launch.architecture}, {"registers", r->registers()},
                 {"stack_bytes", r->stack_bytes()}, {"spill_bytes", r->spill_bytes()},
                 {"shared_bytes", r->shared_bytes()}, {"occupancy", launch.occupancy}});
  return json;
}

} // namespace

void printGpuKernels(const std::vector<KernelInsight> &kernels, const GpuModel &gpu) {
  if (kernels.empty())
    return;
  Table rows({"on " + std::string(gpu.name), ">registers", ">spilled", ">shared", ">occupancy", "instructions",
              ">memory", ">MFLOP", ">roofline us"});
  double us = 0;
  for (const KernelInsight &kernel : kernels) {
    us += kernel.rooflineUs;
    for (size_t i = 0; i < kernel.launches.size(); ++i)
      rows.add(row(kernel, i));
  }
  rows.print(std::cout);
  std::cout << "at the roofline of " << gpu.name << " (sm_" << gpu.architecture << ", " << gpu.bandwidthGBs
            << " GB/s, f32 " << gpu.f32Tflops << ", tensor cores " << gpu.tensorTflops << " TFLOP/s) all of it takes "
            << fixed(us, 1) << " us\n";
}

Json gpuKernelsJson(const std::vector<KernelInsight> &kernels, const GpuModel &gpu) {
  Json list = Json::array();
  for (const KernelInsight &kernel : kernels) {
    Json launches = Json::array();
    for (const LaunchInsight &launch : kernel.launches)
      launches.push_back(launchJson(launch));
    list.push_back({{"nodes", kernel.nodes}, {"gpu", gpu.name}, {"bytes", kernel.bytes}, {"flops", kernel.flops},
                    {"roofline_us", kernel.rooflineUs}, {"launches", launches}});
  }
  return list;
}

} // namespace dlc::cli
