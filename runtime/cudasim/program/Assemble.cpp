// A module to a program: places for registers and variables, then each instruction.

#include "runtime/cudasim/program/Decoder.h"

#include <algorithm>
#include <cstring>

namespace dlc::sim {

extern const Family kBits, kFloat, kCompare, kConvert, kMemory, kControl, kExchange, kCarry, kAtomic, kMatrix,
    kWmma, kCopyAsync;
namespace {
// Pointers, since the families' tables are filled in by other files.
const Family *const families[] = {&kMemory, &kFloat, &kBits, &kCompare, &kConvert, &kControl,
                                  &kExchange, &kCarry, &kAtomic, &kMatrix, &kWmma, &kCopyAsync};

uint32_t roundUp(uint32_t value, uint32_t to) { return (value + to - 1) / to * to; }

class Assembler {
public:
  Assembler(const ptx::Module &module, GlobalAllocator &memory) : module(module), memory(memory) {}

  std::unique_ptr<Program> run() {
    program = std::make_unique<Program>();
    program->files = module.files;
    for (const ptx::Variable &variable : module.variables)
      declare(variable);
    for (const auto &function : module.functions)
      if (function->hasBody) {
        program->functionIndex[function->name] = uint32_t(program->functions.size());
        program->functions.push_back(std::make_unique<Code>());
      }
    for (const ptx::Variable &variable : module.variables)
      initialize(variable);
    for (const auto &function : module.functions)
      if (function->hasBody)
        assemble(*function, *program->functions[program->functionIndex[function->name]]);
    finish();
    return std::move(program);
  }

private:
  void declare(const ptx::Variable &variable);
  void initialize(const ptx::Variable &variable);
  void assemble(const ptx::Function &function, Code &code);
  void placeRegisters(const ptx::Function &function, FunctionState &state);
  void placeVariables(const ptx::Function &function, FunctionState &state);
  void placeShared(const ptx::Variable &variable, Code &code, std::unordered_map<std::string, Symbol> &symbols);
  void finish();
  void reach(uint32_t index, std::vector<bool> &seen) const;

  const ptx::Module &module;
  GlobalAllocator &memory;
  std::unique_ptr<Program> program;
  std::unordered_map<std::string, Symbol> globals;
  uint32_t sharedBytes = 0; // variables of the module
};

void Assembler::declare(const ptx::Variable &variable) {
  Symbol symbol;
  symbol.bytes = variable.sizeBytes();
  if (variable.space == ptx::Space::Shared) {
    if (variable.isExtern || variable.numElements == 0) {
      // All of them start where static shared memory ends; known when a function is.
      symbol.kind = Symbol::DynamicShared;
    } else {
      symbol.kind = Symbol::Shared;
      sharedBytes = roundUp(sharedBytes, std::max(variable.align, 1u));
      symbol.address = sharedBytes;
      sharedBytes += uint32_t(symbol.bytes);
    }
  } else {
    if (variable.isExtern)
      throw ptx::Error(variable.line, "variable " + variable.name + " is defined in another module");
    symbol.address = memory.allocate(variable);
    program->globals[variable.name] = {symbol.address, symbol.bytes};
  }
  globals[variable.name] = symbol;
}

void Assembler::initialize(const ptx::Variable &variable) {
  if (variable.space == ptx::Space::Shared)
    return;
  std::vector<uint8_t> bytes = variable.bytes;
  bytes.resize(variable.sizeBytes());
  for (const auto &reference : variable.references) {
    auto found = globals.find(reference.symbol);
    if (found == globals.end() || found->second.kind != Symbol::Global)
      throw ptx::Error(variable.line, "variable " + variable.name + " starts with the address of " + reference.symbol + ", which is not simulated");
    uint64_t address = found->second.address + uint64_t(reference.addend);
    memcpy(&bytes[reference.offset], &address, sizeof address);
  }
  if (!bytes.empty())
    memory.write(globals[variable.name].address, bytes.data(), bytes.size());
}

void Assembler::placeRegisters(const ptx::Function &function, FunctionState &state) {
  // By name, so that the same module is laid out the same every time.
  std::map<std::string, unsigned> ordered;
  for (const auto &[name, info] : function.registers)
    ordered[name] = info.bits;
  for (const auto &[name, bits] : ordered) {
    state.registers[name] = state.code->registerBytes;
    state.code->registerBytes += bits == 1 ? 4 : 0;
  }
  state.code->registerBytes = roundUp(state.code->registerBytes, 64);
  for (const auto &[name, bits] : ordered)
    if (bits > 1) {
      state.registers[name] = state.code->registerBytes;
      state.code->registerBytes += kLanes * std::max(bits, 16u) / 8;
    }
  if (state.code->registerBytes >= 1u << 29)
    throw ptx::Error(function.line, "function " + function.name + " has too many registers");
}

void Assembler::placeShared(const ptx::Variable &variable, Code &code, std::unordered_map<std::string, Symbol> &symbols) {
  code.sharedBytes = roundUp(code.sharedBytes, std::max(variable.align, 1u));
  symbols[variable.name] = {Symbol::Shared, code.sharedBytes, variable.sizeBytes()};
  if (variable.sizeBytes() > (1u << 20))
    throw ptx::Error(variable.line, "shared variable " + variable.name + " is too large");
  code.sharedBytes += uint32_t(variable.sizeBytes());
}

void Assembler::placeVariables(const ptx::Function &function, FunctionState &state) {
  Code &code = *state.code;
  auto param = [&](const ptx::Variable &variable, Symbol::Kind kind, uint32_t &size) {
    if (variable.sizeBytes() > 1u << 16)
      throw ptx::Error(variable.line, "parameter " + variable.name + " is too large");
    size = roundUp(size, std::max(variable.align, 1u));
    LocalVariable place{size, uint32_t(variable.sizeBytes())};
    state.symbols[variable.name] = {kind, place.offset, place.bytes};
    size += place.bytes;
    return place;
  };
  uint32_t entryBytes = 0;
  for (const ptx::Variable &variable : function.params)
    code.params.push_back(function.isEntry ? param(variable, Symbol::EntryParam, entryBytes)
                                           : param(variable, Symbol::Param, code.paramBytes));
  for (const ptx::Variable &variable : function.results)
    code.results.push_back(param(variable, Symbol::Param, code.paramBytes));
  code.sharedBytes = sharedBytes;
  for (const ptx::Variable &variable : function.variables) {
    if (variable.space == ptx::Space::Shared) {
      placeShared(variable, code, state.symbols);
    } else if (variable.space == ptx::Space::Local) {
      code.localBytes = roundUp(code.localBytes, std::max(variable.align, 1u));
      if (variable.sizeBytes() > 1u << 20)
        throw ptx::Error(variable.line, "local variable " + variable.name + " is too large");
      state.symbols[variable.name] = {Symbol::Local, code.localBytes, variable.sizeBytes()};
      code.localBytes += uint32_t(variable.sizeBytes());
    } else {
      param(variable, Symbol::Param, code.paramBytes);
    }
  }
  code.paramBytes = roundUp(code.paramBytes, 16);
  // Dynamic shared memory comes after all static one.
  for (auto &[name, symbol] : globals)
    if (symbol.kind == Symbol::DynamicShared) {
      code.sharedBytes = roundUp(code.sharedBytes, 16);
      state.symbols[name] = {Symbol::DynamicShared, code.sharedBytes, 0};
    }
}

void Assembler::assemble(const ptx::Function &function, Code &code) {
  code.name = function.name;
  code.isEntry = function.isEntry;
  code.maxThreads = function.maxThreads;
  std::copy_n(function.requiredThreads, 3, code.requiredThreads);
  FunctionState state;
  state.source = &function;
  state.code = &code;
  placeRegisters(function, state);
  placeVariables(function, state);
  if (!function.isEntry && code.sharedBytes != sharedBytes)
    throw ptx::Error(function.line, "function " + function.name + " has shared variables of its own, which is not simulated");
  Decoder decoder(*program, globals, state);
  for (const ptx::Instruction &source : function.code) {
    Inst inst;
    decoder.decode(source, inst);
    code.code.push_back(inst);
    code.places.push_back({source.line, source.source});
  }
  // Whoever runs over the end returns.
  ptx::Instruction last;
  last.line = function.line;
  last.opcode = function.isEntry ? "exit" : "ret";
  Inst inst;
  decoder.decode(last, inst);
  code.code.push_back(inst);
  code.places.push_back({function.line, {}});
}

void Assembler::reach(uint32_t index, std::vector<bool> &seen) const {
  if (seen[index])
    return;
  seen[index] = true;
  for (uint32_t callee : program->functions[index]->callees)
    reach(callee, seen);
}

/// What a function's callees need or do counts for it too.
void Assembler::finish() {
  size_t count = program->functions.size();
  std::vector<char> sensitive(count);
  for (uint32_t i = 0; i < count; ++i) {
    std::vector<bool> seen(count);
    reach(i, seen);
    for (uint32_t k = 0; k < count; ++k)
      if (seen[k] && program->functions[k]->isOrderSensitive)
        sensitive[i] = 1;
  }
  for (uint32_t i = 0; i < count; ++i) {
    Code &code = *program->functions[i];
    code.isOrderSensitive = sensitive[i];
  }
}

} // namespace

const Family *const *familyTable(size_t &count) {
  count = std::size(families);
  return families;
}

std::unique_ptr<Program> decode(const ptx::Module &module, GlobalAllocator &memory) {
  return Assembler(module, memory).run();
}

} // namespace dlc::sim
