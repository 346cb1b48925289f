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
  llvm::SetVector<StringAttr> names;
  collectNodes(loc, names);
  std::string text;
  for (StringAttr name : names)
    text += (text.empty() ? "" : ", ") + name.str();
  return text;
}

} // namespace

FailureOr<KernelSources::Use> KernelSources::add(dl::KernelOp kernel,
                                                 ShapeAnalysis &shapes) {
  Source source;
  source.name = describe(kernel) + "_" + std::to_string(list.size());
  source.nodes = nodeNames(kernel.getLoc());
  std::string key;
  SmallVector<AffineExpr> sizes;
  auto contraction = toContraction(kernel, shapes, source.name);
  if (!contraction)
    contraction = toMatMul(kernel, shapes, source.name);
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
    llvm::raw_string_ostream os(source.ir);
    lowered->function.print(os, OpPrintingFlags().useLocalScope());
    lowered->function.erase();
    key += source.ir;
    llvm::append_range(sizes, lowered->sizes);
  }
  auto [it, isNew] = byText.try_emplace(key, list.size());
  if (isNew)
    list.push_back(std::move(source));
  return Use{it->second, sizes};
}

} // namespace dlc
