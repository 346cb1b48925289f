#include "compiler/artifact/Writer.h"

#include "compiler/artifact/ConstantPool.h"
#include "compiler/artifact/TableBuilder.h"

#include "runtime/schema/ContentHash.h"
#include "runtime/schema/Format.h"

using namespace mlir;

namespace dlc {

namespace {

uint64_t toPage(uint64_t offset) {
  return (offset + schema::kPageBytes - 1) / schema::kPageBytes * schema::kPageBytes;
}

} // namespace

FailureOr<ArtifactSummary> writeArtifact(ArrayRef<plan::ProgramOp> programs,
                                         const CompiledCode &compiled,
                                         ArrayRef<NamedWeight> weights,
                                         llvm::raw_ostream &os) {
  ConstantPool pool;
  TableBuilder table(programs, pool);
  if (failed(table.collect(weights)))
    return failure();
  // Section offsets are fixed-size fields: the table's length does not depend
  // on their values, so it is built once to learn it and once for real.
  uint64_t tableOffset = sizeof(schema::FileHeader);
  std::string bytes = table.build(compiled, weights, 0, {}, 0);
  uint64_t constantsAt = toPage(tableOffset + bytes.size());
  uint64_t at = toPage(constantsAt + pool.sizeBytes());
  SmallVector<uint64_t> codeOffsets;
  for (const TargetCode &code : compiled.codes) {
    codeOffsets.push_back(at);
    at = toPage(at + code.image.size());
  }
  uint64_t imagesAt = at;
  for (const DeviceImage *image : table.deviceImages())
    at += image->bytes.size();
  at = toPage(at);
  size_t length = bytes.size();
  bytes = table.build(compiled, weights, constantsAt, codeOffsets, imagesAt);
  if (bytes.size() != length)
    return plan::ProgramOp(programs.front()).emitError("artifact table changed its size");

  std::string file(at, '\0');
  std::copy(bytes.begin(), bytes.end(), file.begin() + tableOffset);
  for (const ConstantPool::Entry &entry : pool.entries())
    llvm::copy(entry.bytes, file.begin() + constantsAt + entry.offset);
  ArtifactSummary summary;
  summary.fileBytes = at;
  summary.constantBytes = pool.sizeBytes();
  for (auto [code, offset] : llvm::zip(compiled.codes, codeOffsets)) {
    llvm::copy(code.image, file.begin() + offset);
    summary.codeBytes += code.image.size();
  }
  for (const DeviceImage *image : table.deviceImages()) {
    llvm::copy(image->bytes, file.begin() + imagesAt);
    imagesAt += image->bytes.size();
    summary.codeBytes += image->bytes.size();
  }
  schema::FileHeader header = {};
  std::copy(std::begin(schema::kMagic), std::end(schema::kMagic), header.magic);
  header.formatVersion = table.formatVersion();
  header.headerBytes = sizeof(header);
  header.tableOffset = tableOffset;
  header.tableBytes = bytes.size();
  header.fileBytes = file.size();
  header.tableHash = schema::contentHash(bytes.data(), bytes.size());
  header.contentHash = schema::contentHash(file.data() + sizeof(header),
                                           file.size() - sizeof(header));
  std::memcpy(file.data(), &header, sizeof(header));
  os.write(file.data(), file.size());
  return summary;
}

} // namespace dlc
