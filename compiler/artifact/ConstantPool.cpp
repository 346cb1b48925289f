#include "compiler/artifact/ConstantPool.h"

#include "dialects/dl/ConstantData.h"

#include "runtime/schema/ContentHash.h"

namespace dlc {

uint32_t ConstantPool::add(mlir::ElementsAttr value) {
  if (auto known = byAttribute.find(value); known != byAttribute.end())
    return known->second;
  auto buffer = std::make_unique<std::vector<char>>();
  llvm::ArrayRef<char> bytes = dl::constantBytes(value, *buffer);
  uint64_t hash = schema::contentHash(bytes.data(), bytes.size());
  for (auto [it, end] = byHash.equal_range(hash); it != end; ++it)
    if (list[it->second].bytes == bytes)
      return byAttribute[value] = it->second;
  constexpr uint64_t alignment = 64;
  uint32_t index = list.size();
  list.push_back({size, bytes});
  size += (bytes.size() + alignment - 1) / alignment * alignment;
  byHash.emplace(hash, index);
  storage.push_back(std::move(buffer));
  return byAttribute[value] = index;
}

} // namespace dlc
