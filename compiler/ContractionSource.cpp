#include "compiler/ContractionSource.h"

#include "compiler/EpilogueSource.h"

#include "dialects/dl/ops/Packed.h"

using namespace mlir;

namespace dlc {

namespace {

using cpu::ContractionKernel;
using cpu::EpilogueOperand;

class Recogniser {
public:
  Recogniser(dl::KernelOp kernel, ShapeAnalysis &shapes, const std::string &name)
      : kernel(kernel), shapes(shapes), name(name), b(kernel.getContext()),
        sizes(kernel.getContext()) {}

  std::optional<ContractionSource> run() {
    contraction = findRoot(kernel);
    if (!isa_and_nonnull<dl::PackedConvOp, dl::PackedMatMulOp, dl::DepthwiseConvOp>(contraction) ||
        !describe() || !buildEpilogue())
      return std::nullopt;
    return finish();
  }

private:
  unsigned bufferOf(Value v) { return cast<BlockArgument>(v).getArgNumber(); }
  bool isArgument(Value v) { return isa<BlockArgument>(v); }
  bool isF32(Value v) {
    return cast<RankedTensorType>(v.getType()).getElementType().isF32();
  }

  /// Registers a size over the program's symbols as a kernel size argument.
  AffineExpr local(AffineExpr expr) { return sizes.add(expr); }

  bool describe() {
    Value input = contraction->getOperand(0), filter = contraction->getOperand(1);
    if (!isArgument(input) || !isArgument(filter) || !isF32(input) || !isF32(filter))
      return false;
    spec.inputBuffer = bufferOf(input);
    spec.filterBuffer = bufferOf(filter);
    spec.numBuffers = kernel.getInputs().size() + 1;
    spec.outputBuffer = spec.numBuffers - 1;
    dl::Shape in = shapes.lookup(input).dims;
    dl::Shape out = shapes.lookup(contraction->getResult(0)).dims;
    auto filterType = cast<RankedTensorType>(filter.getType());
    AffineExpr one = b.getAffineConstantExpr(1);
    auto channels = dl::constantSize(in.back());
    if (!channels)
      return false;
    if (auto matmul = dyn_cast<dl::PackedMatMulOp>(contraction)) {
      AffineExpr rows = dl::product(ArrayRef<AffineExpr>(in).drop_back(), b.getContext());
      parts = {one, one, local(rows), one, local(rows)};
      spec.channels = *channels;
      spec.outChannels = matmul.getOutChannels();
      return true;
    }
    auto set = [&](ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations,
                   ArrayRef<int64_t> pads, ArrayRef<int64_t> kernelSizes) {
      size_t spatial = strides.size();
      spec.strideWidth = strides.back();
      spec.dilationWidth = dilations.back();
      spec.padLeft = pads[spatial - 1];
      spec.kernelWidth = kernelSizes.back();
      if (spatial == 2) {
        spec.strideHeight = strides[0];
        spec.dilationHeight = dilations[0];
        spec.padTop = pads[0];
        spec.kernelHeight = kernelSizes[0];
      }
      bool flat = spatial == 1;
      parts = {local(in[0]), flat ? one : local(in[1]), local(in[flat ? 1 : 2]),
               flat ? one : local(out[1]), local(out[flat ? 1 : 2])};
    };
    if (auto conv = dyn_cast<dl::PackedConvOp>(contraction)) {
      int64_t spatial = conv.spatialRank(), groups = conv.getGroups();
      set(conv.getStrides(), conv.getDilations(), conv.getPads(),
          filterType.getShape().slice(1, spatial));
      spec.groups = groups;
      spec.channels = *channels / groups;
      spec.outChannels = conv.getOutChannels() / groups;
      return true;
    }
    auto depthwise = cast<dl::DepthwiseConvOp>(contraction);
    set(depthwise.getStrides(), depthwise.getDilations(), depthwise.getPads(),
        filterType.getShape().take_front(2));
    spec.isDepthwise = true;
    spec.channels = spec.outChannels = *channels;
    return true;
  }

  /// How an operand of the epilogue is indexed; none when it needs more.
  std::optional<EpilogueOperand> access(Value v) {
    dl::Shape dims = shapes.lookup(v).dims, out = shapes.lookup(contraction->getResult(0)).dims;
    if (!isArgument(v) || !isF32(v))
      return std::nullopt;
    if (dims == out)
      return EpilogueOperand{EpilogueOperand::Element, bufferOf(v)};
    for (size_t axis = 0; axis + 1 < dims.size(); ++axis)
      if (dl::constantSize(dims[axis]) != 1)
        return std::nullopt;
    if (dims.empty() || dl::constantSize(dims.back()) == 1)
      return EpilogueOperand{EpilogueOperand::Scalar, bufferOf(v)};
    if (dims.back() == out.back())
      return EpilogueOperand{EpilogueOperand::Channel, bufferOf(v)};
    return std::nullopt;
  }

  bool buildEpilogue() {
    auto source = toEpilogue(kernel, contraction, shapes);
    if (!source)
      return false;
    for (Value operand : source->operands) {
      auto how = access(operand);
      if (!how)
        return false;
      spec.epilogueOperands.push_back(*how);
    }
    epilogue = source->text;
    return true;
  }

  ContractionSource finish() {
    std::string map = sizes.mapText(parts);
    spec.numDims = sizes.sizes.size();
    std::string key = map + epilogue;
    for (int64_t v : {int64_t(spec.isDepthwise), spec.channels, spec.outChannels, spec.groups,
                      spec.kernelHeight, spec.kernelWidth, spec.strideHeight, spec.strideWidth,
                      spec.dilationHeight, spec.dilationWidth, spec.padTop, spec.padLeft,
                      int64_t(spec.inputBuffer), int64_t(spec.filterBuffer),
                      int64_t(spec.numBuffers)})
      key += "," + std::to_string(v);
    for (const EpilogueOperand &operand : spec.epilogueOperands)
      key += ";" + std::to_string(int(operand.access)) + ":" + std::to_string(operand.buffer);
    spec.name = name;
    // Attributes belong to a context: the worker builds its own from text.
    auto emit = [spec = spec, map, text = epilogue](OpBuilder &at, const cpu::CpuInfo &cpu) {
      ContractionKernel kernel = spec;
      SmallVector<AffineExpr> parsed = parseMap(map, at.getContext());
      kernel.batch = parsed[0];
      kernel.inHeight = parsed[1];
      kernel.inWidth = parsed[2];
      kernel.outHeight = parsed[3];
      kernel.outWidth = parsed[4];
      auto module = parseEpilogue(text, at.getContext());
      kernel.epilogue = *module->getOps<func::FuncOp>().begin();
      cpu::emitContraction(at, kernel, cpu.isa);
    };
    return {std::move(key), emit, sizes.sizes};
  }

  dl::KernelOp kernel;
  ShapeAnalysis &shapes;
  std::string name;
  OpBuilder b;
  Operation *contraction = nullptr;
  ContractionKernel spec;
  SmallVector<AffineExpr> parts;
  LocalSizes sizes;
  std::string epilogue;
};

} // namespace

std::optional<ContractionSource> toContraction(dl::KernelOp kernel, ShapeAnalysis &shapes,
                                               const std::string &name) {
  return Recogniser(kernel, shapes, name).run();
}

} // namespace dlc
