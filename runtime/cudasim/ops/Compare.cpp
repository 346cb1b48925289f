// setp, set, selp, slct.

#include "runtime/cudasim/ops/FloatMath.h"

namespace dlc::sim {

namespace {

enum Comparison : int { Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
constexpr std::initializer_list<const char *> kComparisons = {
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

template <int comparison> struct Compare {
  template <class T> static bool apply(T a, T b) {
    bool isUnordered = a != a || b != b;
    switch (comparison) {
    case Eq: return a == b;
    case Ne: return !isUnordered && a != b;
    case Lt: case Lo: return a < b;
    case Le: case Ls: return a <= b;
    case Gt: case Hi: return a > b;
    case Ge: case Hs: return a >= b;
    case Equ: return isUnordered || a == b;
    case Neu: return isUnordered || a != b;
    case Ltu: return isUnordered || a < b;
    case Leu: return isUnordered || a <= b;
    case Gtu: return isUnordered || a > b;
    case Geu: return isUnordered || a >= b;
    case Num: return !isUnordered;
    default: return isUnordered;
    }
  }
};

struct Same { template <class T> static T convert(T x, bool isFlushing) { return x; } };
struct SameFloat { static float convert(float x, bool isFlushing) { return isFlushing ? flush(x) : x; } };
struct FromHalf { static float convert(uint16_t x, bool) { return halfToFloat(x); } };
struct FromBfloat { static float convert(uint16_t x, bool) { return bfloatToFloat(x); } };

/// mode: how the result joins another predicate, 0 not, 1 and, 2 or, 3 xor;
/// list: predicate to join, second destination.
template <int comparison, class T, class Convert>
void setp(Warp &w, const Inst &i, uint32_t active) {
  const T *a = w.in<T>(i.a), *b = w.in<T>(i.b);
  bool isFlushing = i.flags & 1;
  uint32_t bits = ballot([=](unsigned l) {
    return Compare<comparison>::apply(Convert::convert(a[l], isFlushing), Convert::convert(b[l], isFlushing));
  });
  uint32_t inverse = ~bits;
  if (i.mode) {
    uint32_t other = *w.in<uint32_t>(i.c);
    if (i.flags & 2)
      other = ~other;
    bits = i.mode == 1 ? bits & other : i.mode == 2 ? bits | other : bits ^ other;
    inverse = i.mode == 1 ? inverse & other : i.mode == 2 ? inverse | other : inverse ^ other;
  }
  setPredicate(w, i.d, active, bits);
  if (i.list)
    setPredicate(w, i.list[0], active, inverse);
}

template <class T, class Convert, int... values>
Handler pickComparison(int comparison, std::integer_sequence<int, values...>) {
  static constexpr Handler handlers[] = {setp<values, T, Convert>...};
  return handlers[comparison];
}
template <class T, class Convert = Same> Handler pick(int comparison) {
  return pickComparison<T, Convert>(comparison, std::make_integer_sequence<int, Nan + 1>());
}

Handler compareHandler(int comparison, Type type) {
  switch (type) {
  case Type::B16: case Type::U16: return pick<uint16_t>(comparison);
  case Type::S16: return pick<int16_t>(comparison);
  case Type::B32: case Type::U32: return pick<uint32_t>(comparison);
  case Type::S32: return pick<int32_t>(comparison);
  case Type::B64: case Type::U64: return pick<uint64_t>(comparison);
  case Type::S64: return pick<int64_t>(comparison);
  case Type::F32: return pick<float, SameFloat>(comparison);
  case Type::F64: return pick<double>(comparison);
  case Type::F16: return pick<uint16_t, FromHalf>(comparison);
  case Type::BF16: return pick<uint16_t, FromBfloat>(comparison);
  default: return nullptr;
  }
}

int takeComparison(Decoder &decoder) {
  int comparison = decoder.takeOne(kComparisons);
  if (comparison < 0)
    decoder.fail(decoder.text() + " has no comparison that is simulated");
  return comparison;
}

void decodeSetp(Decoder &decoder, Inst &inst) {
  int comparison = takeComparison(decoder);
  inst.mode = uint8_t(decoder.takeOne({"", "and", "or", "xor"}, 0));
  inst.flags = decoder.take("ftz");
  Type type = decoder.takeType();
  // `setp.lt.f32 %p1|%p2, a, b` has its second destination as an operand of its own.
  size_t wanted = inst.mode ? 4 : 3;
  bool hasInverse = decoder.numOperands() == wanted + 1;
  decoder.expectOperands(wanted, wanted + 1);
  size_t at = hasInverse ? 2 : 1;
  inst.d = decoder.out(0, Type::Pred);
  if (hasInverse)
    inst.list = decoder.list({decoder.out(1, Type::Pred)});
  inst.a = decoder.in(at, type);
  inst.b = decoder.in(at + 1, type);
  if (inst.mode) {
    inst.c = decoder.predicate(decoder.operand(at + 2));
    inst.flags |= decoder.operand(at + 2).isNegated ? 2 : 0;
  }
  inst.run = compareHandler(comparison, type);
}

void setResult(Warp &w, const Inst &i, uint32_t active) {
  uint32_t bits = *w.in<uint32_t>(i.a);
  uint32_t yes = uint32_t(i.imm);
  each(w.out<uint32_t>(i.d), active, [=](unsigned l) { return bits >> l & 1 ? yes : 0; });
}
/// set: a comparison into a scratch predicate, then spread.
void setAndSpread(Warp &w, const Inst &i, uint32_t active) {
  Handler compare = reinterpret_cast<Handler>(i.step[0]);
  Inst part = i;
  part.d = i.list[0];
  part.list = nullptr;
  compare(w, part, active);
  part.a = i.list[0];
  part.d = i.d;
  setResult(w, part, active);
}
void decodeSet(Decoder &decoder, Inst &inst) {
  int comparison = takeComparison(decoder);
  inst.flags = decoder.take("ftz");
  Type result = decoder.takeType(), type = decoder.takeType();
  decoder.expectOperands(3, 3);
  if (bitsOf(result) != 32)
    decoder.fail(decoder.text() + " is not simulated");
  inst.d = decoder.out(0, result);
  inst.a = decoder.in(1, type);
  inst.b = decoder.in(2, type);
  inst.imm = result == Type::F32 ? 0x3f800000u : ~0u;
  inst.step[0] = reinterpret_cast<void *>(compareHandler(comparison, type));
  ptx::Operand sink;
  sink.name = "_";
  inst.list = decoder.list({decoder.out(sink, Type::Pred)});
  inst.run = inst.step[0] ? setAndSpread : nullptr;
}

template <class T> void selp(Warp &w, const Inst &i, uint32_t active) {
  const T *a = w.in<T>(i.a), *b = w.in<T>(i.b);
  uint32_t bits = *w.in<uint32_t>(i.c);
  each(w.out<T>(i.d), active, [=](unsigned l) { return bits >> l & 1 ? a[l] : b[l]; });
}
void decodeSelp(Decoder &decoder, Inst &inst) {
  Type type = decoder.takeType();
  decoder.expectOperands(4, 4);
  inst.d = decoder.out(0, type);
  inst.a = decoder.in(1, type);
  inst.b = decoder.in(2, type);
  inst.c = decoder.predicate(decoder.operand(3));
  inst.run = bitsOf(type) == 16 ? selp<uint16_t> : bitsOf(type) == 32 ? selp<uint32_t>
           : bitsOf(type) == 64 ? Handler(selp<uint64_t>) : nullptr;
}

constexpr Decoding decodings[] = {{"setp", decodeSetp}, {"set", decodeSet}, {"selp", decodeSelp}};

} // namespace

DLC_SIM_FAMILY(kCompare);

} // namespace dlc::sim
