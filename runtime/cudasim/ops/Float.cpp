// Float arithmetic of 32 and 64 bits, and the decoders that floats and integers share.

#include "runtime/cudasim/ops/FloatMath.h"

#include <cmath>

namespace dlc::sim {

bool decodeInteger(Decoder &decoder, Inst &inst, Type type, const std::string &opcode);
bool decodeHalf(Decoder &decoder, Inst &inst, Type type, const std::string &opcode);

namespace {

struct AddF { template <class T> static T apply(T a, T b) { return a + b; } };
struct SubF { template <class T> static T apply(T a, T b) { return a - b; } };
struct MulF { template <class T> static T apply(T a, T b) { return a * b; } };
struct DivF { template <class T> static T apply(T a, T b) { return a / b; } };
struct FmaF { template <class T> static T apply(T a, T b, T c) { return std::fma(a, b, c); } };
struct MinF {
  template <class T> static T apply(T a, T b) { return a != a ? b : b != b ? a : a < b || (a == b && std::signbit(a)) ? a : b; }
};
struct MaxF {
  template <class T> static T apply(T a, T b) { return a != a ? b : b != b ? a : a > b || (a == b && !std::signbit(a)) ? a : b; }
};
struct MinNan { template <class T> static T apply(T a, T b) { return a != a || b != b ? T(NAN) : MinF::apply(a, b); } };
struct MaxNan { template <class T> static T apply(T a, T b) { return a != a || b != b ? T(NAN) : MaxF::apply(a, b); } };
struct Rcp { template <class T> static T apply(T a) { return T(1) / a; } };
struct Sqrt { template <class T> static T apply(T a) { return std::sqrt(a); } };
struct Rsqrt { template <class T> static T apply(T a) { return T(1 / std::sqrt(double(a))); } };
struct Ex2 { static float apply(float a) { return std::exp2(a); } };
struct Lg2 { static float apply(float a) { return std::log2(a); } };
struct Sin { static float apply(float a) { return float(std::sin(double(a))); } };
struct Cos { static float apply(float a) { return float(std::cos(double(a))); } };
struct Tanh { static float apply(float a) { return std::tanh(a); } };

/// Bits, not numbers: NaN keeps its payload.
struct AbsBits {
  static uint32_t apply(uint32_t a) { return a & 0x7fffffffu; }
  static uint64_t apply(uint64_t a) { return a & ~(uint64_t(1) << 63); }
};
struct NegBits {
  static uint32_t apply(uint32_t a) { return a ^ 0x80000000u; }
  static uint64_t apply(uint64_t a) { return a ^ uint64_t(1) << 63; }
};
struct CopySign { // the sign of a, the magnitude of b
  static uint32_t apply(uint32_t a, uint32_t b) { return (a & 0x80000000u) | (b & 0x7fffffffu); }
  static uint64_t apply(uint64_t a, uint64_t b) { return (a & uint64_t(1) << 63) | (b & ~(uint64_t(1) << 63)); }
};

struct Style {
  Rounding rounding = Rounding::Nearest;
  bool isFlushing = false, isSaturating = false;
};
Style takeStyle(Decoder &decoder) {
  Style style;
  int rounding = decoder.takeOne({"rn", "rz", "rm", "rp"}, 0);
  style.rounding = Rounding(rounding);
  style.isFlushing = decoder.take("ftz");
  style.isSaturating = decoder.take("sat");
  return style;
}

/// Picks the plain loop where nothing special is asked for, else one that looks at
/// inst.flags: 1 flush, 2 saturate.
template <class Op, class T> Handler pickOne(Inst &inst, const Style &style) {
  inst.flags = uint8_t(style.isFlushing | style.isSaturating << 1);
  return inst.flags ? float1<Op, T, true> : float1<Op, T, false>;
}
template <class Op, class T> Handler pickTwo(Inst &inst, const Style &style) {
  inst.flags = uint8_t(style.isFlushing | style.isSaturating << 1);
  return inst.flags ? float2<Op, T, true> : float2<Op, T, false>;
}
template <class Op, class T> Handler pickThree(Inst &inst, const Style &style) {
  inst.flags = uint8_t(style.isFlushing | style.isSaturating << 1);
  return inst.flags ? float3<Op, T, true> : float3<Op, T, false>;
}
template <class Op> Handler two(Inst &inst, Type type, const Style &style) {
  return type == Type::F64 ? pickTwo<Op, double>(inst, style) : pickTwo<Op, float>(inst, style);
}

void decodeFloat(Decoder &decoder, Inst &inst, Type type, const std::string &opcode) {
  if (type != Type::F32 && type != Type::F64)
    decoder.fail(decoder.text() + " is not simulated");
  bool isApproximate = decoder.take("approx"), isFull = decoder.take("full");
  bool isNan = decoder.take("NaN");
  Style style = takeStyle(decoder);
  bool isDouble = type == Type::F64;
  if (opcode == "fma" || opcode == "mad") {
    operands(decoder, inst, type, type, 3);
    inst.run = isDouble ? pickThree<FmaF, double>(inst, style) : pickThree<FmaF, float>(inst, style);
  } else if (opcode == "abs" || opcode == "neg") {
    operands(decoder, inst, type, type, 1);
    bool isAbs = opcode == "abs";
    if (!style.isFlushing)
      inst.run = isDouble ? (isAbs ? unary<AbsBits, uint64_t, uint64_t> : unary<NegBits, uint64_t, uint64_t>)
                          : (isAbs ? unary<AbsBits, uint32_t, uint32_t> : unary<NegBits, uint32_t, uint32_t>);
  } else if (opcode == "min" || opcode == "max") {
    operands(decoder, inst, type, type, 2);
    inst.run = opcode == "min" ? (isNan ? two<MinNan>(inst, type, style) : two<MinF>(inst, type, style))
                               : (isNan ? two<MaxNan>(inst, type, style) : two<MaxF>(inst, type, style));
    return;
  } else {
    operands(decoder, inst, type, type, 2);
    inst.run = opcode == "add" ? two<AddF>(inst, type, style) : opcode == "sub" ? two<SubF>(inst, type, style)
             : opcode == "mul" ? two<MulF>(inst, type, style) : opcode == "div" ? two<DivF>(inst, type, style) : nullptr;
  }
  if (isNan || ((isApproximate || isFull) && opcode != "div"))
    decoder.fail(decoder.text() + " is not simulated");
  if (style.rounding != Rounding::Nearest)
    inst.run = directedHandler(opcode, isDouble, style.rounding, inst);
}

/// add, sub, mul, mad, fma, div, rem, min, max, abs, neg, sad
void decodeArithmetic(Decoder &decoder, Inst &inst) {
  const std::string &opcode = decoder.source().opcode;
  Type type = decoder.takeType();
  if (decodeInteger(decoder, inst, type, opcode) || decodeHalf(decoder, inst, type, opcode))
    return;
  decodeFloat(decoder, inst, type, opcode);
}

template <class Op> void decodeApproximate(Decoder &decoder, Inst &inst) {
  bool isApproximate = decoder.take("approx");
  Style style = takeStyle(decoder);
  Type type = decoder.takeType();
  if (decodeHalf(decoder, inst, type, decoder.source().opcode))
    return;
  operands(decoder, inst, type, type, 1);
  if (isApproximate && type == Type::F32)
    inst.run = pickOne<Op, float>(inst, style);
}

/// rcp, sqrt and rsqrt, which have exact forms too.
template <class Op> void decodeRoot(Decoder &decoder, Inst &inst) {
  bool isApproximate = decoder.take("approx");
  Style style = takeStyle(decoder);
  Type type = decoder.takeType();
  operands(decoder, inst, type, type, 1);
  if (type == Type::F32)
    inst.run = pickOne<Op, float>(inst, style);
  else if (type == Type::F64)
    inst.run = pickOne<Op, double>(inst, style);
  if (style.rounding != Rounding::Nearest && !isApproximate)
    inst.run = directedHandler(decoder.source().opcode, type == Type::F64, style.rounding, inst);
}

void decodeCopySign(Decoder &decoder, Inst &inst) {
  Type type = decoder.takeType();
  operands(decoder, inst, type, type, 2);
  inst.run = type == Type::F32 ? binary<CopySign, uint32_t, uint32_t> : type == Type::F64 ? Handler(binary<CopySign, uint64_t, uint64_t>) : nullptr;
}

template <class T> void testProperty(Warp &w, const Inst &i, uint32_t active) {
  const T *a = w.in<T>(i.a);
  setPredicate(w, i.d, active, ballot([=](unsigned l) {
    switch (i.mode) {
    case 0: return std::isfinite(a[l]);
    case 1: return bool(std::isinf(a[l]));
    case 2: return a[l] == a[l];
    case 3: return a[l] != a[l];
    case 4: return bool(std::isnormal(a[l]));
    default: return a[l] == 0 || std::fpclassify(a[l]) == FP_SUBNORMAL;
    }
  }));
}
void decodeTestp(Decoder &decoder, Inst &inst) {
  int property = decoder.takeOne({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Type type = decoder.takeType();
  decoder.expectOperands(2, 2);
  inst.d = decoder.out(0, Type::Pred);
  inst.a = decoder.in(1, type);
  inst.mode = uint8_t(property);
  if (property >= 0)
    inst.run = type == Type::F32 ? testProperty<float> : type == Type::F64 ? Handler(testProperty<double>) : nullptr;
}

constexpr Decoding decodings[] = {
    {"add", decodeArithmetic},  {"sub", decodeArithmetic},   {"mul", decodeArithmetic},
    {"mad", decodeArithmetic},  {"fma", decodeArithmetic},   {"div", decodeArithmetic},
    {"rem", decodeArithmetic},  {"min", decodeArithmetic},   {"max", decodeArithmetic},
    {"abs", decodeArithmetic},  {"neg", decodeArithmetic},   {"mul24", decodeArithmetic},
    {"mad24", decodeArithmetic}, {"sad", decodeArithmetic},
    {"ex2", decodeApproximate<Ex2>}, {"lg2", decodeApproximate<Lg2>},
    {"sin", decodeApproximate<Sin>}, {"cos", decodeApproximate<Cos>}, {"tanh", decodeApproximate<Tanh>},
    {"rcp", decodeRoot<Rcp>},   {"sqrt", decodeRoot<Sqrt>},  {"rsqrt", decodeRoot<Rsqrt>},
    {"copysign", decodeCopySign}, {"testp", decodeTestp}};

} // namespace

DLC_SIM_FAMILY(kFloat);

} // namespace dlc::sim
