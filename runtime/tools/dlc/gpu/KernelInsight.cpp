#include "runtime/tools/dlc/gpu/KernelInsight.h"

#include "runtime/schema/DeviceImages.h"
#include "runtime/schema/Expr.h"

#include <algorithm>

namespace dlc::cli {

namespace {

using schema::ImageKind;

/// The newest image of that kind that the GPU runs.
const schema::DeviceImage *imageFor(const schema::DeviceKernel &kernel, ImageKind kind, int architecture) {
  const schema::DeviceImage *best = nullptr;
  for (uint32_t i = 0; kernel.images() && i < kernel.images()->size(); ++i) {
    const schema::DeviceImage *image = kernel.images()->Get(i);
    if (image->kind() == kind && schema::runsOn(*image, architecture) &&
        (!best || schema::architectureOf(*image) > schema::architectureOf(*best)))
      best = image;
  }
  return best;
}

class InsightBuilder {
public:
  InsightBuilder(const Artifact &artifact, const SymbolValues &symbols, const GpuModel &gpu)
      : artifact(artifact), symbols(symbols), gpu(gpu) {}

  KernelInsight build(const schema::Dispatch &dispatch, const schema::DeviceKernel &kernel) {
    KernelInsight insight{artifact.nodeNames(dispatch), {}, 0, flopsOf(dispatch), 0};
    std::vector<double> sizes = parameterBytes(dispatch, kernel);
    bool usesTensorCores = false;
    for (uint32_t i = 0; kernel.launches() && i < kernel.launches()->size(); ++i) {
      const schema::Launch &launch = *kernel.launches()->Get(i);
      insight.launches.push_back(launchInsight(launch, i, kernel));
      usesTensorCores |= insight.launches.back().mix.counts[PtxMix::Tensor] > 0;
      addBytes(launch, sizes, insight.bytes);
    }
    double peak = usesTensorCores ? gpu.tensorTflops : gpu.f32Tflops;
    insight.rooflineUs = std::max(insight.bytes / gpu.bandwidthGBs / 1e3, insight.flops / peak / 1e6);
    return insight;
  }

private:
  double evaluate(const schema::Expr &expr, const SymbolValues &values) const {
    int64_t result = 0;
    bool overflow = false;
    bool known = schema::evaluateExpr(expr, values.sizes.data(), values.isBound.data(), result, overflow);
    return known && !overflow ? double(result) : -1;
  }

  double flopsOf(const schema::Dispatch &dispatch) const {
    const auto &exprs = *artifact.table().exprs();
    return dispatch.flops() < exprs.size() ? std::max(0.0, evaluate(*exprs.Get(dispatch.flops()), symbols)) : 0;
  }

  /// Bytes of everything that launches can be handed; sizes are none.
  std::vector<double> parameterBytes(const schema::Dispatch &dispatch, const schema::DeviceKernel &kernel) const {
    std::vector<double> bytes;
    for (uint32_t i = 0; dispatch.operands() && i < dispatch.operands()->size(); ++i)
      bytes.push_back(double(valueBytes(artifact, dispatch.operands()->Get(i), symbols)));
    SymbolValues dims;
    for (uint32_t i = 0; dispatch.dims() && i < dispatch.dims()->size(); ++i) {
      double size = evaluate(*artifact.table().exprs()->Get(dispatch.dims()->Get(i)), symbols);
      dims.sizes.push_back(int64_t(size));
      dims.isBound.push_back(size >= 0);
    }
    for (uint32_t i = 0; kernel.temporaries() && i < kernel.temporaries()->size(); ++i)
      bytes.push_back(evaluate(*kernel.temporaries()->Get(i), dims));
    return bytes;
  }

  static void addBytes(const schema::Launch &launch, const std::vector<double> &sizes, double &total) {
    for (uint32_t i = 0; launch.args() && i < launch.args()->size(); ++i)
      if (uint32_t argument = launch.args()->Get(i); argument < sizes.size() && total >= 0)
        total = sizes[argument] < 0 ? -1 : total + sizes[argument];
  }

  /// Of the function with 32-bit indices where there is one: ordinary sizes run that.
  LaunchInsight launchInsight(const schema::Launch &launch, uint32_t index, const schema::DeviceKernel &kernel) const {
    LaunchInsight insight{text(launch.function()), {}, "", 0, {}};
    if (launch.narrow_function()) {
      insight.function = text(launch.narrow_function());
      index = schema::narrowIndex(kernel, index);
    }
    const schema::DeviceImage *cubin = imageFor(kernel, ImageKind::Cubin, gpu.architecture);
    if (cubin && cubin->resources() && index < cubin->resources()->size()) {
      insight.resources = *cubin->resources()->Get(index);
      insight.architecture = text(cubin->architecture());
      insight.occupancy = occupancy(gpu.architecture, {launch.threads(), insight.resources->registers(),
                                                       uint64_t(insight.resources->shared_bytes()) + launch.shared_bytes()});
    }
    if (const schema::DeviceImage *ptx = imageFor(kernel, ImageKind::Ptx, gpu.architecture)) {
      auto *bytes = reinterpret_cast<const char *>(artifact.bytes().data());
      insight.mix = mixOf({bytes + ptx->offset(), size_t(ptx->size_bytes())}, insight.function);
    }
    return insight;
  }

  const Artifact &artifact;
  const SymbolValues &symbols;
  const GpuModel &gpu;
};

} // namespace

std::vector<KernelInsight> kernelInsights(const Artifact &artifact, const SymbolValues &symbols,
                                          const GpuModel &gpu) {
  std::vector<KernelInsight> insights;
  const auto *devices = artifact.table().devices();
  if (!devices || devices->size() == 0)
    return insights;
  InsightBuilder builder(artifact, symbols, gpu);
  artifact.forEachDispatch([&](const schema::Dispatch &dispatch, int) {
    insights.push_back(builder.build(dispatch, *devices->Get(0)->kernels()->Get(dispatch.kernel())));
  });
  return insights;
}

} // namespace dlc::cli
