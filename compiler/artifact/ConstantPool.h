// The weights section: every distinct constant once, 64-byte aligned.

#ifndef DLC_COMPILER_ARTIFACT_CONSTANTPOOL_H
#define DLC_COMPILER_ARTIFACT_CONSTANTPOOL_H

#include "mlir/IR/BuiltinAttributes.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <memory>
#include <vector>

namespace dlc {

class ConstantPool {
public:
  struct Entry {
    uint64_t offset; // within the section
    llvm::ArrayRef<char> bytes;
  };

  /// The index of the constant's entry. The attribute must outlive the pool.
  uint32_t add(mlir::ElementsAttr value);
  llvm::ArrayRef<Entry> entries() const { return list; }
  uint64_t sizeBytes() const { return size; }

private:
  std::vector<Entry> list;
  std::vector<std::unique_ptr<std::vector<char>>> storage;
  std::multimap<uint64_t, uint32_t> byHash;
  llvm::DenseMap<mlir::Attribute, uint32_t> byAttribute;
  uint64_t size = 0;
};

} // namespace dlc

#endif // DLC_COMPILER_ARTIFACT_CONSTANTPOOL_H
