#include "runtime/cudasim/program/Decoder.h"

#include <cstring>

namespace dlc::sim {

namespace {

struct TypeInfo {
  const char *name;
  Type type;
  unsigned bits;
};
constexpr TypeInfo kTypes[] = {
    {"pred", Type::Pred, 1},     {"b8", Type::B8, 8},         {"b16", Type::B16, 16},
    {"b32", Type::B32, 32},      {"b64", Type::B64, 64},      {"u8", Type::U8, 8},
    {"u16", Type::U16, 16},      {"u32", Type::U32, 32},      {"u64", Type::U64, 64},
    {"s8", Type::S8, 8},         {"s16", Type::S16, 16},      {"s32", Type::S32, 32},
    {"s64", Type::S64, 64},      {"f16", Type::F16, 16},      {"f16x2", Type::F16x2, 32},
    {"bf16", Type::BF16, 16},    {"bf16x2", Type::BF16x2, 32}, {"tf32", Type::TF32, 32},
    {"f32", Type::F32, 32},      {"f64", Type::F64, 64},      {"e4m3", Type::E4M3, 8},
    {"e5m2", Type::E5M2, 8},     {"e4m3x2", Type::E4M3x2, 16}, {"e5m2x2", Type::E5M2x2, 16}};

struct SpecialInfo {
  const char *name;
  Special special;
};
constexpr SpecialInfo kSpecials[] = {
    {"%tid.x", TidX},       {"%tid.y", TidY},       {"%tid.z", TidZ},       {"%ntid.x", NtidX},
    {"%ntid.y", NtidY},     {"%ntid.z", NtidZ},     {"%ctaid.x", CtaidX},   {"%ctaid.y", CtaidY},
    {"%ctaid.z", CtaidZ},   {"%nctaid.x", NctaidX}, {"%nctaid.y", NctaidY}, {"%nctaid.z", NctaidZ},
    {"%laneid", LaneId},    {"%warpid", WarpId},    {"%nwarpid", NwarpId},  {"%smid", SmId},
    {"%nsmid", NsmId},      {"%lanemask_eq", LaneMaskEq}, {"%lanemask_le", LaneMaskLe},
    {"%lanemask_lt", LaneMaskLt}, {"%lanemask_ge", LaneMaskGe}, {"%lanemask_gt", LaneMaskGt},
    {"%dynamic_smem_size", DynamicShared}, {"%total_smem_size", TotalShared}};

} // namespace

unsigned bitsOf(Type type) {
  for (const TypeInfo &info : kTypes)
    if (info.type == type)
      return info.bits;
  return 0;
}

bool isFloat(Type type) { return type >= Type::F16; }
bool isSigned(Type type) { return type >= Type::S8 && type <= Type::S64; }

std::optional<Type> typeNamed(const std::string &name) {
  for (const TypeInfo &info : kTypes)
    if (name == info.name)
      return info.type;
  return std::nullopt;
}

std::string Decoder::text() const {
  std::string result = inst->opcode;
  for (const std::string &modifier : inst->modifiers)
    result += "." + modifier;
  return result;
}

void Decoder::decode(const ptx::Instruction &source, Inst &result) {
  inst = &source;
  taken.assign(source.modifiers.size(), false);
  if (!source.guard.empty()) {
    auto found = state.registers.find(source.guard);
    if (found == state.registers.end() || state.source->registers.at(source.guard).bits != 1)
      fail("'" + source.guard + "' is no predicate");
    result.guard = found->second;
    result.isGuardNegated = source.isGuardNegated;
  }
  size_t numFamilies = 0;
  const Family *const *families = familyTable(numFamilies);
  for (size_t i = 0; i < numFamilies; ++i)
    for (const Decoding *it = families[i]->begin; it != families[i]->end; ++it)
      if (source.opcode == it->opcode) {
        it->decode(*this, result);
        for (size_t m = 0; m < taken.size(); ++m)
          if (!taken[m])
            fail(text() + ": modifier ." + source.modifiers[m] + " is not simulated");
        if (!result.run)
          fail(text() + " is not simulated");
        return;
      }
  fail("instruction " + text() + " is not simulated");
}

bool Decoder::take(const char *modifier) {
  for (size_t i = 0; i < taken.size(); ++i)
    if (!taken[i] && inst->modifiers[i] == modifier) {
      taken[i] = true;
      return true;
    }
  return false;
}

bool Decoder::takeAny(std::initializer_list<const char *> modifiers) {
  bool any = false;
  for (const char *modifier : modifiers)
    any |= take(modifier);
  return any;
}

int Decoder::takeOne(std::initializer_list<const char *> modifiers, int absent) {
  int index = 0;
  for (const char *modifier : modifiers) {
    if (take(modifier))
      return index;
    ++index;
  }
  return absent;
}

std::optional<Type> Decoder::takeTypeIf() {
  for (size_t i = 0; i < taken.size(); ++i)
    if (!taken[i])
      if (auto type = typeNamed(inst->modifiers[i])) {
        taken[i] = true;
        return type;
      }
  return std::nullopt;
}

Type Decoder::takeType() {
  if (auto type = takeTypeIf())
    return *type;
  fail(text() + " has no type that is simulated");
}

unsigned Decoder::modifiersLeft() const {
  unsigned left = 0;
  for (bool isTaken : taken)
    left += !isTaken;
  return left;
}

void Decoder::expectOperands(size_t least, size_t most) {
  if (numOperands() < least || numOperands() > most)
    fail(text() + " has " + std::to_string(numOperands()) + " operands");
}

Ref Decoder::constant(uint64_t bits, unsigned bytes) {
  // Few distinct ones a module: each is spread over the lanes once.
  std::string lanes;
  for (unsigned i = 0; i < (bytes == 0 ? 1 : kLanes); ++i)
    lanes.append(reinterpret_cast<const char *>(&bits), bytes == 0 ? 4 : bytes);
  size_t offset = program.constants.size();
  program.constants.insert(program.constants.end(), lanes.begin(), lanes.end());
  program.constants.resize((program.constants.size() + 63) / 64 * 64);
  return {Ref::Constant, uint32_t(offset)};
}

uint64_t Decoder::bitsAs(const ptx::Operand &operand, Type type) const {
  if (operand.kind == ptx::Operand::Integer) {
    if (type == Type::F32 || type == Type::F64)
      fail(text() + ": an integer where a float is expected");
    return uint64_t(operand.integer);
  }
  if (operand.kind == ptx::Operand::Float) {
    if (bitsOf(type) != 32)
      fail(text() + ": a 32-bit float where the type has " + std::to_string(bitsOf(type)) + " bits");
    return uint64_t(operand.integer);
  }
  if (bitsOf(type) == 64)
    return uint64_t(operand.integer);
  if (type != Type::F32)
    fail(text() + ": a 64-bit float where the type has " + std::to_string(bitsOf(type)) + " bits");
  double wide;
  memcpy(&wide, &operand.integer, sizeof wide);
  float narrow = float(wide);
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return bits;
}

unsigned Decoder::registerBits(const ptx::Operand &operand) const {
  auto found = state.source->registers.find(operand.name);
  if (found != state.source->registers.end())
    return found->second.bits;
  for (const SpecialInfo &info : kSpecials)
    if (operand.name == info.name)
      return 32;
  return 0;
}

Ref Decoder::in(const ptx::Operand &operand, Type type) {
  unsigned bits = bitsOf(type);
  if (type == Type::Pred)
    return predicate(operand);
  switch (operand.kind) {
  case ptx::Operand::Integer:
  case ptx::Operand::Float:
  case ptx::Operand::Double:
    return constant(bitsAs(operand, type), bits < 16 ? 2 : bits / 8);
  case ptx::Operand::Register: {
    for (const SpecialInfo &info : kSpecials)
      if (operand.name == info.name) {
        if (bits != 32)
          fail(text() + ": " + operand.name + " has 32 bits, the type " + std::to_string(bits));
        return special(info.special);
      }
    auto found = state.registers.find(operand.name);
    if (found == state.registers.end())
      fail(text() + ": register '" + operand.name + "' is not known");
    unsigned has = registerBits(operand);
    if (has != bits && !(bits < 16 && has == 16))
      fail(text() + ": register " + operand.name + " has " + std::to_string(has) +
           " bits, the type " + std::to_string(bits));
    return {Ref::Frame, found->second};
  }
  default:
    break;
  }
  if (operand.kind == ptx::Operand::Symbol && (bits == 64 || bits == 32))
    if (auto found = symbol(operand.name); found && found->kind != Symbol::Param)
      return constant(found->address + uint64_t(operand.integer), bits / 8);
  fail(text() + ": operand '" + operand.name + "' is not known");
}

Ref Decoder::scratch(unsigned bytes) {
  // Where results go that nobody wants.
  if (!sinkOffset) {
    sinkOffset = state.code->registerBytes;
    state.code->registerBytes += kLanes * 8;
  }
  return {Ref::Frame, *sinkOffset};
}

Ref Decoder::out(const ptx::Operand &operand, Type type) {
  if (isSink(operand))
    return scratch(8);
  if (operand.kind != ptx::Operand::Register || !state.registers.count(operand.name))
    fail(text() + ": '" + operand.name + "' is no register to write to");
  return in(operand, type);
}

Ref Decoder::predicate(const ptx::Operand &operand) {
  if (operand.kind == ptx::Operand::Integer)
    return constant(operand.integer ? kAllLanes : 0, 0);
  auto found = state.registers.find(operand.name);
  if (found == state.registers.end() || registerBits(operand) != 1)
    fail(text() + ": '" + operand.name + "' is no predicate");
  return {Ref::Frame, found->second};
}

std::optional<Symbol> Decoder::symbol(const std::string &name) const {
  if (auto found = state.symbols.find(name); found != state.symbols.end())
    return found->second;
  // Where dynamic shared memory starts is a kernel's matter.
  if (auto found = globals.find(name); found != globals.end() && found->second.kind != Symbol::DynamicShared)
    return found->second;
  return std::nullopt;
}

void Decoder::address(const ptx::Operand &operand, ptx::Space space, Inst &result) {
  if (operand.kind != ptx::Operand::Address)
    fail(text() + " needs an address in brackets");
  result.imm = uint64_t(operand.integer);
  result.flags = 0;
  if (operand.name.empty()) {
    result.a = special(Zero);
    return;
  }
  if (state.registers.count(operand.name)) {
    unsigned bits = registerBits(operand);
    if (bits != 64 && bits != 32)
      fail(text() + ": an address has 32 or 64 bits");
    result.a = {Ref::Frame, state.registers.at(operand.name)};
    result.flags = bits == 64;
    return;
  }
  auto found = symbol(operand.name);
  if (!found)
    fail(text() + ": '" + operand.name + "' is not known");
  result.a = special(Zero);
  result.imm += found->address;
}

const Ref *Decoder::list(const std::vector<Ref> &refs) {
  program.lists.push_back(std::make_unique<Ref[]>(refs.size()));
  std::copy(refs.begin(), refs.end(), program.lists.back().get());
  return program.lists.back().get();
}

uint32_t Decoder::label(const std::string &name) const {
  auto found = state.source->labels.find(name);
  if (found == state.source->labels.end())
    fail("label " + name + " is not known");
  return uint32_t(found->second);
}

} // namespace dlc::sim
