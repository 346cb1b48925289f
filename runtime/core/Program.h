// A loaded artifact, checked and flattened: what the executor walks.

#ifndef DLC_RUNTIME_CORE_PROGRAM_H
#define DLC_RUNTIME_CORE_PROGRAM_H

#include "runtime/core/Status.h"

#include "runtime/schema/KernelAbi.h"
#include "runtime/schema/artifact_generated.h"

#include <string>
#include <vector>

namespace dlc::rt {

/// A file mapped into memory, or the caller's bytes.
class Mapping {
public:
  ~Mapping();
  Status open(const char *path);
  Status wrap(const void *bytes, size_t size);
  const char *data = nullptr;
  size_t size = 0;

private:
  bool owned = false;
};

struct Kernel {
  std::string name;
  DlcKernelFn run = nullptr;
  DlcKernelWorkFn work = nullptr;
};

/// Blocks become jumps. Operands: JumpUnless: the condition; LoopBegin: the counter;
/// LoopHead: counter, condition, trip count or kNone; LoopEnd: counter, condition, next
/// condition, then `index` pairs of carried values (from, to), then pairs of scans.
enum class Control : uint8_t { None, JumpUnless, Jump, LoopBegin, LoopHead, LoopEnd };

struct Instruction {
  schema::Action kind;
  Control control = Control::None;
  uint32_t target = 0;            // of a jump
  uint32_t kernel = 0;
  std::vector<uint32_t> operands; // values
  std::vector<uint32_t> dims;     // expressions
  uint32_t symbol = 0, index = 0; // BindSymbol
  uint32_t flops = 0xffffffffu;
  std::string nodes;
};

/// Everything here was checked against the file: indices are in range, slices
/// inside it, aliases refer to earlier values.
class Program {
public:
  ~Program();
  Status load(const char *path, const dlc_load_options &options);
  Status loadMemory(const void *bytes, size_t size, const dlc_load_options &options);
  /// Maps and checks only: enough to look at the table, on any machine.
  Status open(const char *path, const dlc_load_options &options);

  const schema::Artifact &table() const { return *artifact; }
  const Mapping &mapping() const { return file; }
  const schema::Value &value(uint32_t i) const { return *artifact->values()->Get(i); }
  const schema::Expr &expr(uint32_t i) const { return *artifact->exprs()->Get(i); }
  const void *constantData(uint32_t constant) const {
    return file.data + artifact->constants()->Get(constant)->offset();
  }
  /// "N*2", for messages and signatures.
  std::string exprText(uint32_t i) const;

  std::string name; // the file, for messages
  std::vector<Kernel> kernels;
  std::vector<Instruction> instructions;
  std::vector<std::vector<std::string>> dimTexts; // per value
  int64_t constantBytes = 0;

private:
  Status check(const dlc_load_options &options);
  Status finish();
  Status checkHeader(const dlc_load_options &options);
  Status checkTables();
  Status flatten();
  void flattenBlock(const schema::Block *block);
  void flattenIf(const schema::If &choice);
  void flattenLoop(const schema::Loop &loop);
  size_t emitControl(schema::Action kind, Control control, std::vector<uint32_t> operands);
  std::string nodeNames(const flatbuffers::Vector<uint32_t> *nodes) const;
  Status loadCode();

  Mapping file;
  const schema::Artifact *artifact = nullptr;
  void *library = nullptr;
  /// Stays open as long as the library: the dynamic linker knows libraries by path,
  /// and a second model that got this number would be handed the first one's code.
  int codeFile = -1;
};

/// Control flow may be nested this deep.
inline constexpr uint32_t kDeepestBlock = 300;

/// Checks every index, offset and enumerator of a verified table.
Status validate(const schema::Artifact &artifact, size_t fileBytes,
                const std::string &file);

} // namespace dlc::rt

#endif // DLC_RUNTIME_CORE_PROGRAM_H
