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

/// The parts of a file in the order of their offsets, with zeros between them.
/// They are hashed and written from where they lie: weights are never copied.
class Sections {
public:
  void add(uint64_t offset, ArrayRef<char> bytes) { list.emplace_back(offset, bytes); }

  void visit(uint64_t begin, uint64_t end, llvm::function_ref<void(ArrayRef<char>)> piece) const {
    for (auto [offset, bytes] : list) {
      zeros(begin, offset, piece);
      piece(bytes);
      begin = offset + bytes.size();
    }
    zeros(begin, end, piece);
  }

private:
  static void zeros(uint64_t begin, uint64_t end, llvm::function_ref<void(ArrayRef<char>)> piece) {
    static const char page[schema::kPageBytes] = {};
    while (begin < end) {
      uint64_t size = std::min<uint64_t>(end - begin, sizeof(page));
      piece(ArrayRef<char>(page, size));
      begin += size;
    }
  }

  std::vector<std::pair<uint64_t, ArrayRef<char>>> list;
};

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

  Sections sections;
  sections.add(tableOffset, bytes);
  for (const ConstantPool::Entry &entry : pool.entries())
    sections.add(constantsAt + entry.offset, entry.bytes);
  ArtifactSummary summary;
  summary.fileBytes = at;
  summary.constantBytes = pool.sizeBytes();
  for (auto [code, offset] : llvm::zip(compiled.codes, codeOffsets)) {
    sections.add(offset, code.image);
    summary.codeBytes += code.image.size();
  }
  for (const DeviceImage *image : table.deviceImages()) {
    sections.add(imagesAt, image->bytes);
    imagesAt += image->bytes.size();
    summary.codeBytes += image->bytes.size();
  }
  schema::FileHeader header = {};
  std::copy(std::begin(schema::kMagic), std::end(schema::kMagic), header.magic);
  header.formatVersion = table.formatVersion();
  header.headerBytes = sizeof(header);
  header.tableOffset = tableOffset;
  header.tableBytes = bytes.size();
  header.fileBytes = at;
  header.tableHash = schema::contentHash(bytes.data(), bytes.size());
  schema::ContentHasher hasher;
  sections.visit(sizeof(header), at, [&](ArrayRef<char> piece) {
    hasher.update(piece.data(), piece.size());
  });
  header.contentHash = hasher.finish();
  os.write(reinterpret_cast<const char *>(&header), sizeof(header));
  sections.visit(sizeof(header), at, [&](ArrayRef<char> piece) {
    os.write(piece.data(), piece.size());
  });
  return summary;
}

} // namespace dlc
