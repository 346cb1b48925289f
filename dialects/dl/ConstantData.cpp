#include "dialects/dl/ConstantData.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace dlc::dl {

namespace {

/// Constants up to this size are uniqued in the context; larger ones are not.
constexpr size_t kInlineBytes = 512;

} // namespace

int64_t elementBytes(Type element) {
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

std::optional<int64_t> tensorBytes(RankedTensorType type) {
  int64_t bytes = elementBytes(type.getElementType());
  for (int64_t size : type.getShape())
    if (ShapedType::isDynamic(size) || __builtin_mul_overflow(bytes, size, &bytes))
      return std::nullopt;
  return bytes;
}

ArrayRef<char> constantBytes(ElementsAttr value, std::vector<char> &storage) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return resource.getRawHandle().getBlob()->getData();
  auto dense = cast<DenseElementsAttr>(value);
  int64_t count = dense.getNumElements();
  if (dense.getElementType().isInteger(1)) {
    storage.clear();
    for (bool bit : dense.getValues<bool>())
      storage.push_back(bit);
    return storage;
  }
  ArrayRef<char> raw = dense.getRawData();
  if (!dense.isSplat())
    return raw;
  storage.clear();
  storage.reserve(raw.size() * count);
  for (int64_t i = 0; i < count; ++i)
    storage.insert(storage.end(), raw.begin(), raw.end());
  return storage;
}

ElementsAttr makeConstantAttr(RankedTensorType type, ArrayRef<char> bytes) {
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> bits(bytes.begin(), bytes.end());
    return DenseElementsAttr::get(type, bits);
  }
  if (bytes.size() <= kInlineBytes)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  AsmResourceBlob blob = HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64);
  return DenseResourceElementsAttr::get(type, "dlc", std::move(blob));
}

} // namespace dlc::dl
