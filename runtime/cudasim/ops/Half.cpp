// Arithmetic of 16-bit floats, single and in pairs. Computed wider and rounded once.

#include "runtime/cudasim/ops/FloatMath.h"

#include <cmath>

namespace dlc::sim {

bool decodeHalf(Decoder &decoder, Inst &inst, Type type, const std::string &opcode);

namespace {

struct F16Math {
  static float widen(uint16_t x) { return halfToFloat(x); }
  static uint16_t narrow(float x) { return floatToHalf(x); }
  static constexpr NarrowFormat format = kF16;
};
struct BF16Math {
  static float widen(uint16_t x) { return bfloatToFloat(x); }
  static uint16_t narrow(float x) { return floatToBfloat(x); }
  static constexpr NarrowFormat format = kBF16;
};

enum HalfOp : uint8_t { Add, Sub, Mul, Fma, Min, Max, MinNan, MaxNan, Abs, Neg, Ex2, TanhOp };
enum Flags : uint8_t { Saturate = 1, Relu = 2 };

// float has more than twice the digits of either, so add, sub and mul rounded twice are
// as if rounded once; fma goes through a double whose last bit is sticky.
template <class M> uint16_t compute(HalfOp op, uint8_t flags, uint16_t x, uint16_t y, uint16_t z) {
  if (op == Abs)
    return x & 0x7fff;
  if (op == Neg)
    return x ^ 0x8000;
  float a = M::widen(x), b = M::widen(y), result = 0;
  uint16_t bits;
  switch (op) {
  case Add: result = a + b; break;
  case Sub: result = a - b; break;
  case Mul: result = a * b; break;
  case MinNan:
  case Min: result = (op == MinNan && (a != a || b != b)) ? NAN : a != a ? b : b != b ? a : a < b || (a == b && std::signbit(a)) ? a : b; break;
  case MaxNan:
  case Max: result = (op == MaxNan && (a != a || b != b)) ? NAN : a != a ? b : b != b ? a : a > b || (a == b && !std::signbit(a)) ? a : b; break;
  case Ex2: result = std::exp2(a); break;
  case TanhOp: result = std::tanh(a); break;
  default: break;
  }
  if (op == Fma)
    bits = uint16_t(toNarrow(fusedToOdd(a, b, M::widen(z)), M::format, Rounding::Nearest, false));
  else
    bits = M::narrow(result);
  float rounded = M::widen(bits);
  if ((flags & Relu) && rounded < 0)
    return 0;
  if (flags & Saturate)
    return rounded != rounded || rounded < 0 ? 0 : rounded > 1 ? M::narrow(1.0f) : bits;
  return bits;
}

template <class M, unsigned halves, int sources> void half(Warp &w, const Inst &i, uint32_t active) {
  const uint16_t *a = w.in<uint16_t>(i.a), *b = sources > 1 ? w.in<uint16_t>(i.b) : a,
                 *c = sources > 2 ? w.in<uint16_t>(i.c) : a;
  uint16_t *d = w.out<uint16_t>(i.d);
  forLanes(active, [&](unsigned l) {
    for (unsigned k = l * halves; k < (l + 1) * halves; ++k)
      d[k] = compute<M>(HalfOp(i.mode), i.flags, a[k], b[k], c[k]);
  });
}

template <int sources> Handler pick(Type type) {
  switch (type) {
  case Type::F16: return half<F16Math, 1, sources>;
  case Type::F16x2: return half<F16Math, 2, sources>;
  case Type::BF16: return half<BF16Math, 1, sources>;
  case Type::BF16x2: return half<BF16Math, 2, sources>;
  default: return nullptr;
  }
}

} // namespace

bool decodeHalf(Decoder &decoder, Inst &inst, Type type, const std::string &opcode) {
  if (type != Type::F16 && type != Type::F16x2 && type != Type::BF16 && type != Type::BF16x2)
    return false;
  decoder.takeAny({"rn", "noftz", "approx"});
  if (decoder.take("ftz") && opcode != "ex2")
    decoder.fail(decoder.text() + " is not simulated");
  bool isNan = decoder.take("NaN");
  inst.flags = uint8_t((decoder.take("sat") ? Saturate : 0) | (decoder.take("relu") ? Relu : 0));
  struct Entry {
    const char *opcode;
    HalfOp op;
    unsigned sources;
  };
  static constexpr Entry entries[] = {{"add", Add, 2}, {"sub", Sub, 2}, {"mul", Mul, 2},
                                      {"fma", Fma, 3}, {"min", Min, 2}, {"max", Max, 2},
                                      {"abs", Abs, 1}, {"neg", Neg, 1}, {"ex2", Ex2, 1},
                                      {"tanh", TanhOp, 1}};
  for (const Entry &entry : entries) {
    if (opcode != entry.opcode)
      continue;
    inst.mode = uint8_t(isNan ? (entry.op == Min ? MinNan : MaxNan) : entry.op);
    if (isNan && entry.op != Min && entry.op != Max)
      break;
    operands(decoder, inst, type, type, entry.sources);
    inst.run = entry.sources == 1 ? pick<1>(type) : entry.sources == 2 ? pick<2>(type) : pick<3>(type);
    return true;
  }
  decoder.fail(decoder.text() + " is not simulated");
}

} // namespace dlc::sim
