// A loaded model and its signature, as the commands use them.

#ifndef DLC_RUNTIME_TOOLS_DLC_MODEL_H
#define DLC_RUNTIME_TOOLS_DLC_MODEL_H

#include "runtime/tools/io/Tensor.h"

namespace dlc::cli {

/// An input or an output.
struct Port {
  std::string name;
  dlc_type type;
  Dims dims;                         // -1: symbolic
  std::vector<std::string> dimNames; // "N", "64", "N*2"
};
/// "f32[N,3,224,224]".
std::string portText(const Port &port);
/// The port of that name, or null.
const Port *findPort(const std::vector<Port> &ports, const std::string &name);
/// "'x' f32[N,3], 'y' i64[N]", for messages.
std::string portList(const std::vector<Port> &ports);

/// One dispatch of a profiled run.
struct KernelTime {
  std::string kernel, nodes;
  double startUs, durationUs, flops;
};

class Model {
public:
  Model(const std::string &path, int threads, const std::string &device = "cpu");
  /// Another entry of the same artifact.
  Model(const Model &model, const char *entry);
  ~Model() { dlc_model_free(handle); }
  Model(const Model &) = delete;

  /// Runs; `profile` may be null. `outputs` that hold tensors are reused.
  void run(const std::vector<Tensor> &inputs, std::vector<Tensor> &outputs,
           std::vector<KernelTime> *profile = nullptr);

  const std::string path;
  dlc_model *handle = nullptr;
  std::vector<Port> inputs, outputs;

private:
  void readPorts();
};

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_MODEL_H
