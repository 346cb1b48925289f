// `dlc doctor`: what this machine has, what it lacks, and how to get it.

#include "runtime/tools/dlc/Commands.h"
#include "runtime/tools/dlc/Machine.h"
#include "runtime/tools/dlc/Table.h"

#include "dlc/dlc.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <functional>
#include <iostream>
#include <memory>

namespace dlc::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Finding {
  std::string what;
  bool good;
  std::string detail;
  std::string cure; // for what is not good
};

Finding cpuFinding(const Machine &machine) {
  std::string flags;
  for (const char *flag : {"avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx512_bf16",
                           "avx512_fp16", "avx_vnni", "amx_tile", "amx_bf16", "amx_int8"})
    if (machine.has(flag))
      flags += std::string(" ") + flag;
  std::string level = x86Level(machine);
  return {"CPU", level >= "x86-64-v3", machine.cpuName + ", " + (level.empty() ? "below x86-64-v2" : level) + ":" + flags,
          "kernels are slow without AVX2 and FMA; use a CPU from after 2015, or a VM type that passes them through"};
}

Finding coresFinding(const Machine &machine) {
  std::string detail = std::to_string(machine.affinityCores) + " cores in the affinity mask, " +
                       (machine.quotaCores > 0 ? "cgroup quota of " + general(machine.quotaCores) + " cores"
                                               : "no cgroup quota") +
                       "; runs use " + std::to_string(dlc_available_threads()) + " threads";
  bool whole = machine.quotaCores == 0 || machine.quotaCores >= machine.affinityCores;
  return {"cores", whole, detail, "the quota stops threads for parts of each period; raise cpu.max to lower the latency"};
}

Finding memoryFinding(const Machine &machine) {
  std::string detail = bytesText(static_cast<double>(machine.memoryBytes)) + ", " +
                       (machine.cgroupMemoryBytes > 0
                            ? "cgroup limit " + bytesText(static_cast<double>(machine.cgroupMemoryBytes))
                            : "no cgroup limit");
  return {"memory", true, detail, ""};
}

Finding compilerFinding() {
  std::string path = compilerPath();
  return {"compiler", !path.empty(), path.empty() ? "dlc-compiler is not beside dlc; artifacts run all the same" : path,
          "install the compiler package, or build it: ninja -C build dlc-compiler"};
}

Finding driverFinding(const GpuLibraries &gpu) {
  if (gpu.driver.empty())
    return {"GPU driver", false, "no libcuda.so.1; the CPU is used",
            "with an NVIDIA GPU: apt-get install nvidia-driver (non-free), then reboot"};
  if (!gpu.driverError.empty())
    return {"GPU driver", false, gpu.driver + " does not start: " + gpu.driverError,
            "load the kernel module (modprobe nvidia), or give the container the GPU (--gpus all)"};
  std::string detail = gpu.driver + ", CUDA " + std::to_string(gpu.driverVersion / 1000) + "." +
                       std::to_string(gpu.driverVersion % 1000 / 10);
  for (const GpuLibraries::Device &device : gpu.devices)
    detail += "; " + device.name + " (" + device.architecture() + ", " + bytesText(static_cast<double>(device.memoryBytes)) + ")";
  return {"GPU driver", !gpu.devices.empty(), detail, "the driver sees no device; see nvidia-smi"};
}

Finding nvrtcFinding(const GpuLibraries &gpu) {
  return {"NVRTC", !gpu.compiler.empty(), gpu.compiler.empty() ? "no libnvrtc.so: nothing is compiled for GPUs here" : gpu.compiler,
          "apt-get install libnvrtc-dev, or pip install nvidia-cuda-nvrtc and add it to LD_LIBRARY_PATH"};
}

int doctor(bool asJson) {
  Machine machine = readMachine();
  GpuLibraries gpu = readGpuLibraries();
  std::vector<Finding> findings = {cpuFinding(machine), coresFinding(machine), memoryFinding(machine),
                                   compilerFinding(), driverFinding(gpu), nvrtcFinding(gpu)};
  if (asJson) {
    Json json = {{"version", dlc_version()}, {"findings", Json::array()}, {"cpu_flags", machine.cpuFlags}};
    for (const Finding &finding : findings) {
      json["findings"].push_back({{"what", finding.what}, {"good", finding.good}, {"detail", finding.detail}});
      if (!finding.good)
        json["findings"].back()["cure"] = finding.cure;
    }
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    return DLC_OK;
  }
  std::cout << "dlc " << dlc_version() << "\n";
  Table table({"", "", ""});
  for (const Finding &finding : findings) {
    table.add({finding.good ? "ok" : "--", finding.what, finding.detail});
    if (!finding.good)
      table.add({"", "", "cure: " + finding.cure});
  }
  table.print(std::cout);
  return DLC_OK;
}

/// By the names that --device takes.
void forEachGpu(const GpuLibraries &gpu,
                const std::function<void(const std::string &, const GpuLibraries::Device &)> &visit) {
  for (size_t i = 0; i < gpu.devices.size(); ++i)
    visit("cuda:" + std::to_string(i), gpu.devices[i]);
  for (const GpuLibraries::Device &device : gpu.simulated)
    visit("cuda-sim", device);
}

int devices(bool asJson) {
  Machine machine = readMachine();
  GpuLibraries gpu = readGpuLibraries();
  if (asJson) {
    Json json = Json::array();
    json.push_back({{"device", "cpu"}, {"name", machine.cpuName}, {"level", x86Level(machine)},
                    {"threads", dlc_available_threads()}, {"memory_bytes", machine.memoryBytes}});
    forEachGpu(gpu, [&](const std::string &name, const GpuLibraries::Device &device) {
      json.push_back({{"device", name}, {"name", device.name}, {"architecture", device.architecture()},
                      {"multiprocessors", device.multiprocessors}, {"memory_bytes", device.memoryBytes}});
    });
    if (!gpu.simulatorError.empty())
      json.push_back({{"device", "cuda-sim"}, {"error", gpu.simulatorError}});
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    return DLC_OK;
  }
  Table table({"device", "name", "kind", ">memory"});
  table.add({"cpu", machine.cpuName, x86Level(machine) + ", " + std::to_string(dlc_available_threads()) + " threads",
             bytesText(static_cast<double>(machine.memoryBytes))});
  forEachGpu(gpu, [&](const std::string &name, const GpuLibraries::Device &device) {
    table.add({name, device.name, device.architecture() + ", " + std::to_string(device.multiprocessors) + " multiprocessors",
               bytesText(static_cast<double>(device.memoryBytes))});
  });
  if (!gpu.simulatorError.empty())
    table.add({"cuda-sim", "", "does not start: " + gpu.simulatorError, ""});
  table.print(std::cout);
  return DLC_OK;
}

} // namespace

void addDoctorCommand(CLI::App &app, int &exitCode) {
  auto json = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand("doctor", "what this machine has, lacks, and how to get it");
  command->add_flag("--json", *json, "print JSON");
  command->footer("Example:\n  dlc doctor");
  command->callback([json, &exitCode] { exitCode = doctor(*json); });
}

void addDevicesCommand(CLI::App &app, int &exitCode) {
  auto json = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand("devices", "list what models can run on");
  command->add_flag("--json", *json, "print JSON");
  command->footer("Example:\n  dlc devices --json");
  command->callback([json, &exitCode] { exitCode = devices(*json); });
}

} // namespace dlc::cli
