// Builds small artifacts by hand, so that the runtime is tested without the compiler.

#ifndef DLC_TEST_RUNTIME_MODELBUILDER_H
#define DLC_TEST_RUNTIME_MODELBUILDER_H

#include "dlc/dlc.h"
#include "runtime/schema/Format.h"
#include "runtime/schema/artifact_generated.h"

#include <memory>
#include <string>
#include <vector>

namespace dlc::test {

/// The file: header, table, then `sections` from offset `sectionsAt` of the file.
std::string artifactFile(const std::string &table, size_t sectionsAt = 0,
                         const std::string &sections = {});

class ModelBuilder {
public:
  using Offset = flatbuffers::Offset<schema::Instruction>;
  using Instructions = std::vector<Offset>;

  // Expressions.
  uint32_t constant(int64_t value) { return expr({{schema::ExprCode::Const, value}}); }
  uint32_t symbol(const char *name, int64_t lower, int64_t upper);
  uint32_t expr(std::vector<schema::ExprStep> steps);
  void constrain(uint32_t left, uint32_t right, const char *reason);

  // Values; `dims` are expressions.
  uint32_t input(const char *name, std::vector<uint32_t> dims, schema::ElementType type = schema::ElementType::F32);
  uint32_t output(const char *name, std::vector<uint32_t> dims, schema::ElementType type = schema::ElementType::F32);
  uint32_t arena(std::vector<uint32_t> dims, int64_t offset, uint32_t first = 0, uint32_t last = 0,
                 schema::ElementType type = schema::ElementType::F32);
  uint32_t alias(uint32_t of, std::vector<uint32_t> dims, schema::ElementType type = schema::ElementType::F32);
  uint32_t constantValue(const std::string &bytes, std::vector<uint32_t> dims, schema::ElementType type);

  /// A new state and a value that is it; `constant` is the number of its initial value.
  uint32_t state(const char *name, std::vector<int64_t> sizes, int64_t offset,
                 uint32_t constant = schema::kNone);
  /// A value that is an existing state.
  uint32_t stateValue(uint32_t state, std::vector<uint32_t> dims);
  std::vector<uint32_t> updates;

  // Instructions.
  uint32_t kernel(const char *name, bool hasWork);
  uint32_t node(const char *name);
  Offset dispatch(uint32_t kernel, std::vector<uint32_t> operands, std::vector<uint32_t> dims,
                  std::vector<uint32_t> nodes = {});
  Offset copy(uint32_t source, uint32_t target);
  Offset bind(uint32_t symbol, uint32_t value, uint32_t index);
  Offset checkIndices(uint32_t value, uint32_t lower, uint32_t upper);
  Offset choose(uint32_t condition, Instructions onTrue, Instructions onFalse);
  template <typename Table> Offset instruction(schema::Action kind, flatbuffers::Offset<Table> table) {
    return schema::CreateInstruction(b, kind, table.Union());
  }
  flatbuffers::Offset<schema::Block> block(const Instructions &list) {
    return schema::CreateBlockDirect(b, &list);
  }

  /// Takes the machine code from a file.
  void code(const char *path, std::vector<std::string> features = {});
  /// The bytes of the file.
  std::string build(const Instructions &body, int64_t arenaBytes = 0);
  /// Puts what was added since the last call into an entry of its own; states,
  /// constants and kernels stay.
  void endEntry(const char *name, const Instructions &body);

  flatbuffers::FlatBufferBuilder b;

private:
  uint32_t value(const char *name, schema::ElementType type, std::vector<uint32_t> dims,
                 schema::Storage storage, int64_t offset = -1, uint32_t which = 0,
                 uint32_t first = 0, uint32_t last = 0);
  uint64_t section(const std::string &bytes);

  static constexpr size_t kSectionsAt = 16 * schema::kPageBytes;
  std::vector<flatbuffers::Offset<schema::Expr>> exprs;
  std::vector<flatbuffers::Offset<schema::DimSymbol>> symbols;
  std::vector<flatbuffers::Offset<schema::Constraint>> constraints;
  std::vector<flatbuffers::Offset<schema::Value>> values;
  std::vector<flatbuffers::Offset<schema::Constant>> constants;
  std::vector<flatbuffers::Offset<schema::Kernel>> kernels;
  std::vector<flatbuffers::Offset<schema::Code>> codes;
  std::vector<flatbuffers::Offset<schema::Node>> nodes;
  std::vector<flatbuffers::Offset<schema::State>> states;
  std::vector<flatbuffers::Offset<schema::Entry>> entries;
  std::vector<uint32_t> inputs, outputs;
  std::string sections;
};

/// An artifact's bytes at a page boundary, as dlc_model_load_memory wants them.
class PageAligned {
public:
  explicit PageAligned(const std::string &bytes);
  ~PageAligned();
  char *data() const { return memory; }
  size_t size() const { return length; }

private:
  char *memory;
  size_t length;
};

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_MODELBUILDER_H
