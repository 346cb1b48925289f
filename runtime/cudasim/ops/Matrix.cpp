// Tensor cores: ldmatrix, stmatrix and mma.sync. Products are exact and sums are of
// doubles, rounded once; the hardware sums in an order and width it does not tell.

#include "runtime/cudasim/ops/Access.h"
#include "runtime/cudasim/ops/Narrow.h"

namespace dlc::sim {

namespace {

using ptx::Space;

/// Lane 8k + r has the address of row r of matrix k; lane l gets two elements of row
/// l / 4, or of column l / 4 when transposed.
template <bool isStore> void moveMatrix(Warp &w, const Inst &i, uint32_t active) {
  if (!w.gather(i, active, kAllLanes))
    return;
  if (active != kAllLanes)
    w.fault(i, kLaunchFailed, __builtin_ctz(active), "ldmatrix needs all 32 lanes");
  uint64_t addresses[kLanes];
  char *rows[kLanes];
  addressesOf(w, i, addresses);
  uint32_t lanes = i.count == 4 ? kAllLanes : (1u << (8 * i.count)) - 1;
  translate(w, i, lanes, {Space(i.space), isStore ? AccessKind::Write : AccessKind::Read, 16, 2}, addresses, rows);
  for (unsigned k = 0; k < i.count; ++k) {
    uint32_t *d = w.out<uint32_t>(i.list[k]);
    for (unsigned l = 0; l < kLanes; ++l)
      for (unsigned h = 0; h < 2; ++h) {
        unsigned row = l / 4, column = l % 4 * 2 + h;
        char *at = i.mode ? rows[8 * k + column] + 2 * row : rows[8 * k + row] + 2 * column;
        uint16_t value = uint16_t(d[l] >> (16 * h));
        if (isStore) {
          memcpy(at, &value, 2);
        } else {
          memcpy(&value, at, 2);
          d[l] = (d[l] & ~(0xffffu << (16 * h))) | uint32_t(value) << (16 * h);
        }
      }
  }
}
void decodeMoveMatrix(Decoder &decoder, Inst &inst) {
  bool isStore = decoder.source().opcode == "stmatrix";
  decoder.takeAny({"sync", "aligned"});
  if (!decoder.take("m8n8"))
    decoder.fail(decoder.text() + " is not simulated");
  int count = decoder.takeOne({"x1", "x2", "x4"});
  inst.mode = decoder.take("trans");
  Space space = takeSpace(decoder);
  Type type = decoder.takeType();
  decoder.expectOperands(2, 2);
  const ptx::Operand &registers = decoder.operand(isStore ? 1 : 0);
  if (count < 0 || type != Type::B16)
    decoder.fail(decoder.text() + " is not simulated");
  inst.count = uint8_t(1 << count);
  std::vector<ptx::Operand> parts = registers.kind == ptx::Operand::Vector ? registers.parts : std::vector<ptx::Operand>{registers};
  if (parts.size() != inst.count)
    decoder.fail(decoder.text() + ": " + std::to_string(parts.size()) + " registers");
  decoder.address(decoder.operand(isStore ? 0 : 1), space, inst);
  std::vector<Ref> refs;
  for (const ptx::Operand &part : parts)
    refs.push_back(isStore ? decoder.in(part, Type::B32) : decoder.out(part, Type::B32));
  inst.list = decoder.list(refs);
  inst.space = uint8_t(space);
  inst.run = isStore ? moveMatrix<true> : moveMatrix<false>;
}

/// One element of a register that holds several.
double element(uint32_t bits, unsigned index, Type type) {
  switch (type) {
  case Type::F16: return halfToFloat(uint16_t(bits >> (16 * index)));
  case Type::BF16: return bfloatToFloat(uint16_t(bits >> (16 * index)));
  case Type::TF32: return bitsTo<float>(bits & ~0x1fffu);
  case Type::S8: return int8_t(bits >> (8 * index));
  case Type::U8: return uint8_t(bits >> (8 * index));
  case Type::E4M3: return fromNarrow(bits >> (8 * index) & 255, kE4M3);
  case Type::E5M2: return fromNarrow(bits >> (8 * index) & 255, kE5M2);
  default: return 0;
  }
}

/// A fragment of m16n8: register r of lane l has row l / 4 + 8 (r & 1); an element e of
/// it is column (r >> 1) * 4 E + (l & 3) * E + e, E elements a register.
void readA(Warp &w, const Ref *registers, unsigned k, Type type, float (*a)[32]) {
  unsigned each = 32 / bitsOf(type);
  for (unsigned r = 0; r < 2 * k / (4 * each); ++r) {
    const uint32_t *bits = w.in<uint32_t>(registers[r]);
    for (unsigned l = 0; l < kLanes; ++l)
      for (unsigned e = 0; e < each; ++e)
        a[l / 4 + 8 * (r & 1)][(r >> 1) * 4 * each + (l & 3) * each + e] = float(element(bits[l], e, type));
  }
}
void readB(Warp &w, const Ref *registers, unsigned k, Type type, float (*b)[8]) {
  unsigned each = 32 / bitsOf(type);
  for (unsigned r = 0; r < k / (4 * each); ++r) {
    const uint32_t *bits = w.in<uint32_t>(registers[r]);
    for (unsigned l = 0; l < kLanes; ++l)
      for (unsigned e = 0; e < each; ++e)
        b[r * 4 * each + (l & 3) * each + e][l / 4] = float(element(bits[l], e, type));
  }
}

/// width, space: types of a and b; count: k; mode: 0 f32, 1 f16, 2 s32 accumulators;
/// flags: 1 saturating. list: d, a, b, c.
void mma(Warp &w, const Inst &i, uint32_t active) {
  if (!w.gather(i, active, kAllLanes))
    return;
  if (active != kAllLanes)
    w.fault(i, kLaunchFailed, __builtin_ctz(active), "mma.sync needs all 32 lanes");
  Type typeA = Type(i.width), typeB = Type(i.space);
  unsigned k = i.count, results = i.mode == 1 ? 2 : 4;
  unsigned perRegister = 32 / bitsOf(typeA), countA = 2 * k / (4 * perRegister), countB = countA / 2;
  const Ref *d = i.list, *c = i.list + results + countA + countB;
  alignas(64) float a[16][32], b[32][8];
  readA(w, i.list + results, k, typeA, a);
  readB(w, i.list + results + countA, k, typeB, b);
  for (unsigned row = 0; row < 16; ++row) {
    alignas(64) double sum[8] = {};
    for (unsigned x = 0; x < k; ++x) {
      double value = a[row][x];
      for (unsigned n = 0; n < 8; ++n)
        sum[n] += value * b[x][n];
    }
    for (unsigned n = 0; n < 8; ++n) {
      unsigned lane = row % 8 * 4 + n / 2, r = row / 8 * 2 + n % 2;
      if (i.mode == 1) {
        uint16_t old = w.in<uint16_t>(c[row / 8])[2 * lane + n % 2];
        w.out<uint16_t>(d[row / 8])[2 * lane + n % 2] = uint16_t(toNarrow(sum[n] + halfToFloat(old), kF16, Rounding::Nearest, false));
      } else if (i.mode == 0) {
        float total = float(sum[n] + w.in<float>(c[r])[lane]);
        w.out<float>(d[r])[lane] = total == total ? total : bitsTo<float>(0x7fffffffu);
      } else {
        int64_t total = int64_t(sum[n]) + w.in<int32_t>(c[r])[lane];
        if (i.flags & 1)
          total = total > INT32_MAX ? INT32_MAX : total < INT32_MIN ? INT32_MIN : total;
        w.out<int32_t>(d[r])[lane] = int32_t(total);
      }
    }
  }
}

void decodeMma(Decoder &decoder, Inst &inst) {
  if (!decoder.take("sync") || !decoder.take("aligned"))
    decoder.fail(decoder.text() + " is not simulated");
  int shape = decoder.takeOne({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  bool isLayout = decoder.take("row") && decoder.take("col");
  inst.flags = decoder.take("satfinite");
  Type d = decoder.takeType(), a = decoder.takeType(), b = decoder.takeType(), c = decoder.takeType();
  unsigned k = shape < 0 ? 0 : 4u << shape;
  bool isByte = bitsOf(a) == 8, isKnown = isByte || a == Type::F16 || a == Type::BF16 || a == Type::TF32;
  unsigned perRegister = 32 / bitsOf(a);
  bool fits = isKnown && k >= 4 * perRegister && k <= 8 * perRegister && bitsOf(a) == bitsOf(b);
  if (!isLayout || !fits || d != c)
    decoder.fail(decoder.text() + " is not simulated");
  inst.mode = d == Type::F32 ? 0 : d == Type::F16 ? 1 : d == Type::S32 ? 2 : 3;
  bool isInteger = isByte && !isFloat(a);
  if (inst.mode == 3 || (inst.mode == 2) != isInteger)
    decoder.fail(decoder.text() + " is not simulated");
  decoder.expectOperands(4, 4);
  size_t results = inst.mode == 1 ? 2 : 4, countA = 2 * k / (4 * perRegister);
  size_t wanted[] = {results, countA, countA / 2, results};
  std::vector<Ref> refs;
  for (size_t group = 0; group < 4; ++group) {
    const ptx::Operand &operand = decoder.operand(group);
    std::vector<ptx::Operand> parts = operand.kind == ptx::Operand::Vector ? operand.parts : std::vector<ptx::Operand>{operand};
    if (parts.size() != wanted[group])
      decoder.fail(decoder.text() + ": operand " + std::to_string(group + 1) + " has " + std::to_string(parts.size()) + " registers");
    for (const ptx::Operand &part : parts)
      refs.push_back(group == 0 ? decoder.out(part, Type::B32) : decoder.in(part, part.kind == ptx::Operand::Float ? Type::F32 : Type::B32));
  }
  inst.list = decoder.list(refs);
  inst.width = uint8_t(a);
  inst.space = uint8_t(b);
  inst.count = uint8_t(k);
  inst.run = mma;
}

constexpr Decoding decodings[] = {{"ldmatrix", decodeMoveMatrix}, {"stmatrix", decodeMoveMatrix}, {"mma", decodeMma}};

} // namespace

DLC_SIM_FAMILY(kMatrix);

} // namespace dlc::sim
