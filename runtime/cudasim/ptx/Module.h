// A PTX module as its text says it: variables, functions, instructions whose
// opcodes and operands are still names.

#ifndef DLC_RUNTIME_CUDASIM_PTX_MODULE_H
#define DLC_RUNTIME_CUDASIM_PTX_MODULE_H

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace dlc::sim::ptx {

/// What is wrong with a text, with the line it is on.
struct Error : std::runtime_error {
  Error(int line, const std::string &text)
      : std::runtime_error("PTX line " + std::to_string(line) + ": " + text) {}
};

enum class Space : uint8_t { Generic, Register, Global, Const, Shared, Local, Param };

struct Operand {
  enum Kind : uint8_t { Register, Integer, Float, Double, Symbol, Address, Vector };
  Kind kind = Register;
  bool isNegated = false;     // !%p
  std::string name;           // of a register, variable, label, function; base of an address
  int64_t integer = 0;        // value, bits of a float, or offset of an address
  std::vector<Operand> parts; // of a vector; of a call's parenthesised list
};

struct SourceLine {
  int file = 0, line = 0;
};

struct Instruction {
  int line = 0; // in the PTX text
  SourceLine source;
  std::string guard; // predicate register, empty when always executed
  bool isGuardNegated = false;
  std::string opcode; // "ld"
  std::vector<std::string> modifiers;
  std::vector<Operand> operands;
};

struct Variable {
  int line = 0;
  Space space = Space::Global;
  std::string type; // "f32", "b8"
  std::string name;
  unsigned elementBytes = 0, align = 0;
  uint64_t numElements = 1;
  bool isExtern = false; // `extern .shared x[]`: the launch says how large it is
  struct Reference {
    uint64_t offset;
    std::string symbol;
    int64_t addend;
    bool isGeneric;
  };
  std::vector<uint8_t> bytes; // initial value, empty for zeros
  std::vector<Reference> references;
  uint64_t sizeBytes() const { return elementBytes * numElements; }
};

struct Register {
  std::string type;
  unsigned bits = 0; // 1 for a predicate
};

struct Function {
  int line = 0;
  std::string name;
  bool isEntry = false, hasBody = false;
  std::vector<Variable> results, params;
  std::vector<Variable> variables; // shared, local and param variables of the body
  std::unordered_map<std::string, Register> registers;
  std::vector<Instruction> code;
  std::unordered_map<std::string, size_t> labels;
  std::unordered_map<std::string, std::vector<std::string>> branchTables;
  unsigned maxThreads = 0; // .maxntid, 0 when it says nothing
  unsigned requiredThreads[3] = {0, 0, 0};
};

struct Module {
  int version = 0; // 9.0 is 90
  std::string target;
  std::vector<Variable> variables;
  std::vector<std::unique_ptr<Function>> functions;
  std::unordered_map<int, std::string> files;
};

/// Throws Error.
std::unique_ptr<Module> parse(const std::string &text);

/// Size in bytes of ".f32" and the like; 0 for what is no such type.
unsigned typeBytes(const std::string &type);

} // namespace dlc::sim::ptx

#endif // DLC_RUNTIME_CUDASIM_PTX_MODULE_H
