// What the decoders of instruction families work with: one instruction's modifiers,
// each of which must be taken by someone, and the places of its operands.

#ifndef DLC_RUNTIME_CUDASIM_PROGRAM_DECODER_H
#define DLC_RUNTIME_CUDASIM_PROGRAM_DECODER_H

#include "runtime/cudasim/program/Program.h"

#include <optional>

namespace dlc::sim {

enum class Type : uint8_t {
  Pred, B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64, F16, F16x2, BF16, BF16x2, TF32,
  F32, F64, E4M3, E5M2, E4M3x2, E5M2x2
};
unsigned bitsOf(Type type);
bool isFloat(Type type);
bool isSigned(Type type);
std::optional<Type> typeNamed(const std::string &name);

/// Addresses of functions that PTX can name but does not contain.
enum Builtin : int { Vprintf, AssertFail, Malloc, Free, NumBuiltins };

struct Symbol {
  enum Kind { Global, Shared, DynamicShared, Local, Param, EntryParam, Function } kind = Global;
  uint64_t address = 0; // or the offset in its space
  uint64_t bytes = 0;
};

/// One function being decoded.
struct FunctionState {
  const ptx::Function *source = nullptr;
  Code *code = nullptr;
  std::unordered_map<std::string, uint32_t> registers; // offsets in the frame
  std::unordered_map<std::string, Symbol> symbols;
};

class Decoder {
public:
  Decoder(Program &program, const std::unordered_map<std::string, Symbol> &globals,
          FunctionState &state)
      : program(program), globals(globals), state(state) {}

  void decode(const ptx::Instruction &source, Inst &inst);

  [[noreturn]] void fail(const std::string &text) const { throw ptx::Error(inst->line, text); }
  std::string text() const; // "ld.global.f32"

  // Modifiers.
  bool take(const char *modifier);
  bool takeAny(std::initializer_list<const char *> modifiers);
  /// The position in the list of the modifier that is there, or `absent`.
  int takeOne(std::initializer_list<const char *> modifiers, int absent = -1);
  Type takeType();
  std::optional<Type> takeTypeIf();
  unsigned modifiersLeft() const;

  // Operands.
  const ptx::Instruction &source() const { return *inst; }
  size_t numOperands() const { return inst->operands.size(); }
  void expectOperands(size_t least, size_t most);
  const ptx::Operand &operand(size_t index) const { return inst->operands[index]; }
  /// The place of a source of this many bits.
  Ref in(size_t index, Type type) { return in(operand(index), type); }
  Ref in(const ptx::Operand &operand, Type type);
  Ref out(size_t index, Type type) { return out(operand(index), type); }
  Ref out(const ptx::Operand &operand, Type type);
  Ref predicate(const ptx::Operand &operand);
  bool isSink(const ptx::Operand &operand) const { return operand.name == "_"; }
  unsigned registerBits(const ptx::Operand &operand) const;
  Ref constant(uint64_t bits, unsigned bytes);
  Ref special(Special special) const { return {Ref::Special, special * kLanes * 4}; }
  /// Base register (or zero) into inst.a, offset into inst.imm.
  void address(const ptx::Operand &operand, ptx::Space space, Inst &inst);
  std::optional<Symbol> symbol(const std::string &name) const;
  const Ref *list(const std::vector<Ref> &refs);
  uint32_t label(const std::string &name) const;

  Program &program;
  FunctionState &function() { return state; }

private:
  Ref scratch(unsigned bytes);
  uint64_t bitsAs(const ptx::Operand &operand, Type type) const;

  const std::unordered_map<std::string, Symbol> &globals;
  FunctionState &state;
  const ptx::Instruction *inst = nullptr;
  std::vector<bool> taken;
  std::optional<uint32_t> sinkOffset;
};

using DecodeFunction = void (*)(Decoder &, Inst &);
struct Decoding {
  const char *opcode;
  DecodeFunction decode;
};
/// The table of one family; each lives beside its handlers.
struct Family {
  const Decoding *begin, *end;
};
const Family *const *familyTable(size_t &count);

#define DLC_SIM_FAMILY(name)                                                                  \
  extern const Family name;                                                                   \
  const Family name = {std::begin(decodings), std::end(decodings)}

} // namespace dlc::sim

#endif // DLC_RUNTIME_CUDASIM_PROGRAM_DECODER_H
