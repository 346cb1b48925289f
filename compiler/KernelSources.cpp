#include "compiler/KernelSources.h"

#include "compiler/ContractionSource.h"
#include "compiler/NodeNames.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace dlc {

namespace {

/// The ops of a kernel, in order, as a C identifier: "conv_add_relu".
std::string describe(dl::KernelOp kernel) {
  constexpr size_t maxLength = 40;
  std::string name;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    StringRef op_name = op.getName().stripDialect();
    if (name.size() + op_name.size() > maxLength)
      return name + "_etc";
    name += (name.empty() ? "" : "_") + op_name.str();
  }
  return name.empty() ? "copy" : name;
}

std::string nodeNames(Location loc) {
  std::string text;
  for (plan::NodeAttr node : collectNodes(loc))
    text += (text.empty() ? "" : ", ") + node.getName().str();
  return text;
}

/// Pairs of input and output that an elementwise kernel may keep in one place: it
/// reads each element before it writes it.
SmallVector<int64_t> inplacePairs(dl::KernelOp kernel, ShapeAnalysis &shapes) {
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (!op.hasTrait<OpTrait::ConstantLike>() && !isa<dl::Elementwise>(op))
      return {};
  SmallVector<int64_t> pairs;
  for (auto [o, output] : llvm::enumerate(kernel.getOutputs()))
    for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
      dl::TensorInfo from = shapes.lookup(input), to = shapes.lookup(output);
      if (from.dims == to.dims &&
          dl::toTensorType(from).getElementTypeBitWidth() ==
              dl::toTensorType(to).getElementTypeBitWidth())
        pairs.append({int64_t(i), int64_t(o)});
    }
  return pairs;
}

/// Tells the code generator which pointers may be equal.
void markShared(func::FuncOp function, ArrayRef<int64_t> pairs) {
  auto unit = UnitAttr::get(function.getContext());
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    function.setArgAttr(pairs[i], cpu::kSharedAttr, unit);
    function.setResultAttr(pairs[i + 1], cpu::kSharedAttr, unit);
  }
}

} // namespace

FailureOr<KernelSources::Use> KernelSources::add(dl::KernelOp kernel,
                                                 ShapeAnalysis &shapes) {
  Source source;
  source.name = describe(kernel) + "_" + std::to_string(list.size());
  source.nodes = nodeNames(kernel.getLoc());
  std::string key;
  SmallVector<AffineExpr> sizes;
  SmallVector<int64_t> inplace;
  auto contraction = toContraction(kernel, shapes, source.name);
  if (!contraction)
    contraction = toMatMul(kernel, shapes, source.name);
  if (!contraction)
    contraction = toAttention(kernel, shapes, source.name);
  if (contraction) {
    key = contraction->key;
    sizes = contraction->sizes;
    source.emit = contraction->emit;
    source.firstSize = sizes.size();
  }
  if (!contraction || keepLinalg) {
    auto lowered = lowerBlock(kernel.getBody().front(), kernel.getLoc(), shapes);
    if (failed(lowered))
      return failure();
    inplace = inplacePairs(kernel, shapes);
    markShared(lowered->function, inplace);
    llvm::raw_string_ostream os(source.ir);
    lowered->function.print(os, OpPrintingFlags().useLocalScope());
    lowered->function.erase();
    key += source.ir;
    llvm::append_range(sizes, lowered->sizes);
  }
  auto [it, isNew] = byText.try_emplace(key, list.size());
  if (isNew)
    list.push_back(std::move(source));
  return Use{it->second, sizes, inplace};
}

} // namespace dlc
