#include "compiler/KernelSources.h"

#include "compiler/ContractionSource.h"

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

} // namespace

FailureOr<KernelSources::Use> KernelSources::add(dl::KernelOp kernel,
                                                 ShapeAnalysis &shapes) {
  std::string name = describe(kernel) + "_" + std::to_string(list.size());
  auto contraction = toContraction(kernel, shapes, name);
  if (!contraction)
    contraction = toMatMul(kernel, shapes, name);
  if (contraction) {
    auto [it, isNew] = byText.try_emplace(contraction->key, list.size());
    if (isNew)
      list.push_back({name, "", contraction->emit});
    return Use{it->second, contraction->sizes};
  }
  auto lowered = lowerBlock(kernel.getBody().front(), kernel.getLoc(), shapes);
  if (failed(lowered))
    return failure();
  std::string text;
  llvm::raw_string_ostream os(text);
  lowered->function.print(os, OpPrintingFlags().useLocalScope());
  lowered->function.erase();
  auto [it, isNew] = byText.try_emplace(text, list.size());
  if (isNew)
    list.push_back({name, text, {}});
  return Use{it->second, lowered->sizes};
}

} // namespace dlc
