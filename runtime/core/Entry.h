// One program of a loaded artifact, flattened: what the executor walks.

#ifndef DLC_RUNTIME_CORE_ENTRY_H
#define DLC_RUNTIME_CORE_ENTRY_H

#include "runtime/core/Status.h"

#include "runtime/schema/EntryView.h"

#include <string>
#include <vector>

namespace dlc::rt {

class Program;

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

/// Checked as its Program says.
class Entry {
public:
  Entry(const Program &program, const schema::EntryView &view);

  const schema::EntryView &table() const { return view; }
  const schema::Value &value(uint32_t i) const { return *view.values->Get(i); }
  const schema::Expr &expr(uint32_t i) const { return *view.exprs->Get(i); }
  /// "N*2", for messages and signatures.
  std::string exprText(uint32_t i) const;

  const Program &program;
  std::string name; // file, and entry where it is not the first, for messages
  std::vector<Instruction> instructions;
  std::vector<std::vector<std::string>> dimTexts; // per value
  bool usesStates = false;
  bool updatesStates() const { return view.updates && view.updates->size() > 0; }

private:
  void flattenBlock(const schema::Block *block);
  void flattenIf(const schema::If &choice);
  void flattenLoop(const schema::Loop &loop);
  size_t emitControl(schema::Action kind, Control control, std::vector<uint32_t> operands);
  std::string nodeNames(const flatbuffers::Vector<uint32_t> *nodes) const;

  schema::EntryView view;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_CORE_ENTRY_H
