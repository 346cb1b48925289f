#include "test/runtime/ModelBuilder.h"

#include "runtime/schema/ContentHash.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace dlc::test {

using namespace schema;

std::string artifactFile(const std::string &table, size_t sectionsAt, const std::string &sections) {
  FileHeader header = {};
  std::string body = table;
  if (!sections.empty()) {
    body.resize(sectionsAt - sizeof header);
    body += sections;
  }
  std::memcpy(header.magic, kMagic, sizeof header.magic);
  header.formatVersion = kFormatVersion;
  header.headerBytes = sizeof header;
  header.tableOffset = sizeof header;
  header.tableBytes = table.size();
  header.fileBytes = sizeof header + body.size();
  header.contentHash = contentHash(body.data(), body.size());
  return std::string(reinterpret_cast<const char *>(&header), sizeof header) + body;
}

uint32_t ModelBuilder::symbol(const char *name, int64_t lower, int64_t upper) {
  symbols.push_back(CreateDimSymbolDirect(b, name, lower, upper));
  return expr({{ExprCode::Symbol, int64_t(symbols.size() - 1)}});
}

uint32_t ModelBuilder::expr(std::vector<ExprStep> steps) {
  exprs.push_back(CreateExprDirect(b, &steps));
  return exprs.size() - 1;
}

void ModelBuilder::constrain(uint32_t left, uint32_t right, const char *reason) {
  constraints.push_back(CreateConstraintDirect(b, left, right, reason));
}

uint32_t ModelBuilder::value(const char *name, ElementType type, std::vector<uint32_t> dims,
                                Storage storage, int64_t offset, uint32_t which, uint32_t first,
                                uint32_t last) {
  values.push_back(CreateValueDirect(b, name, type, &dims, storage, which, offset, which, first, last));
  return values.size() - 1;
}

uint32_t ModelBuilder::input(const char *name, std::vector<uint32_t> dims, ElementType type) {
  inputs.push_back(value(name, type, std::move(dims), Storage::Input));
  return inputs.back();
}
uint32_t ModelBuilder::output(const char *name, std::vector<uint32_t> dims, ElementType type) {
  outputs.push_back(value(name, type, std::move(dims), Storage::Output));
  return outputs.back();
}
uint32_t ModelBuilder::arena(std::vector<uint32_t> dims, int64_t offset, uint32_t first,
                                uint32_t last, ElementType type) {
  return value("", type, std::move(dims), Storage::Arena, offset, 0, first, last);
}
uint32_t ModelBuilder::alias(uint32_t of, std::vector<uint32_t> dims, ElementType type) {
  return value("", type, std::move(dims), Storage::Alias, -1, of);
}
uint32_t ModelBuilder::constantValue(const std::string &bytes, std::vector<uint32_t> dims,
                                        ElementType type) {
  uint64_t at = section(bytes);
  constants.push_back(CreateConstant(b, at, bytes.size()));
  return value("", type, std::move(dims), Storage::Constant, -1, constants.size() - 1);
}

uint32_t ModelBuilder::state(const char *name, std::vector<int64_t> sizes, int64_t offset,
                             uint32_t constant) {
  states.push_back(CreateStateDirect(b, name, ElementType::F32, &sizes, "parameter", offset, constant));
  std::vector<uint32_t> dims;
  for (int64_t size : sizes)
    dims.push_back(this->constant(size));
  return stateValue(states.size() - 1, std::move(dims));
}
uint32_t ModelBuilder::stateValue(uint32_t state, std::vector<uint32_t> dims) {
  values.push_back(CreateValueDirect(b, "", ElementType::F32, &dims, Storage::State, kNone, -1,
                                     kNone, 0, 0, state));
  return values.size() - 1;
}

void ModelBuilder::endEntry(const char *name, const Instructions &body) {
  auto root = block(body);
  entries.push_back(CreateEntryDirect(b, name, &exprs, &symbols, &constraints, &values, &inputs,
                                      &outputs, root, 0, 0, &updates));
  exprs.clear(), symbols.clear(), constraints.clear(), values.clear();
  inputs.clear(), outputs.clear(), updates.clear();
}

uint32_t ModelBuilder::kernel(const char *name, bool hasWork) {
  kernels.push_back(CreateKernelDirect(b, name, hasWork));
  return kernels.size() - 1;
}
uint32_t ModelBuilder::node(const char *name) {
  nodes.push_back(CreateNodeDirect(b, name, "Test"));
  return nodes.size() - 1;
}

ModelBuilder::Offset ModelBuilder::dispatch(uint32_t kernel, std::vector<uint32_t> operands,
                                                  std::vector<uint32_t> dims,
                                                  std::vector<uint32_t> nodes) {
  return instruction(Action::Dispatch, CreateDispatchDirect(b, kernel, &operands, &dims, &nodes));
}
ModelBuilder::Offset ModelBuilder::copy(uint32_t source, uint32_t target) {
  return instruction(Action::Copy, CreateCopy(b, source, target));
}
ModelBuilder::Offset ModelBuilder::bind(uint32_t symbol, uint32_t value, uint32_t index) {
  return instruction(Action::BindSymbol, CreateBindSymbol(b, symbol, value, index));
}
ModelBuilder::Offset ModelBuilder::checkIndices(uint32_t value, uint32_t lower,
                                                      uint32_t upper) {
  return instruction(Action::CheckIndices, CreateCheckIndices(b, value, lower, upper));
}
ModelBuilder::Offset ModelBuilder::choose(uint32_t condition, Instructions onTrue,
                                                Instructions onFalse) {
  auto first = block(onTrue), second = block(onFalse);
  return instruction(Action::If, CreateIf(b, condition, first, second));
}

uint64_t ModelBuilder::section(const std::string &bytes) {
  sections.resize((sections.size() + kPageBytes - 1) / kPageBytes * kPageBytes);
  uint64_t at = kSectionsAt + sections.size();
  sections += bytes;
  return at;
}

void ModelBuilder::code(const char *path, std::vector<std::string> features) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<flatbuffers::Offset<flatbuffers::String>> names;
  for (const std::string &feature : features)
    names.push_back(b.CreateString(feature));
  uint64_t at = section(bytes);
  codes.push_back(CreateCodeDirect(b, "cpu", "test", &names, at, bytes.size()));
}

std::string ModelBuilder::build(const Instructions &body, int64_t arenaBytes) {
  auto root = block(body);
  b.Finish(CreateArtifactDirect(b, kFormatVersion, "test", "test", &exprs, &symbols, &constraints,
                                &values, &inputs, &outputs, &constants, &kernels, &codes, root,
                                &nodes, arenaBytes, 0, nullptr, nullptr, nullptr, nullptr, nullptr,
                                &updates, &entries, &states),
           ArtifactIdentifier());
  return artifactFile({reinterpret_cast<const char *>(b.GetBufferPointer()), b.GetSize()},
                      kSectionsAt, sections);
}

PageAligned::PageAligned(const std::string &bytes) : length(bytes.size()) {
  size_t pages = (length + kPageBytes - 1) / kPageBytes + 1;
  memory = static_cast<char *>(std::aligned_alloc(kPageBytes, pages * kPageBytes));
  std::memcpy(memory, bytes.data(), length);
}
PageAligned::~PageAligned() { std::free(memory); }

} // namespace dlc::test
