// cvt between integers and floats of all sizes, and cvta.

#include "runtime/cudasim/ops/FloatMath.h"

#include <cmath>

namespace dlc::sim {

namespace {

// A conversion reads its lanes as integers or doubles, both exact, and writes them.
struct Lane {
  int64_t integer[kLanes];
  double real[kLanes];
};
using Read = void (*)(Warp &, Ref, Lane &);
using Write = void (*)(Warp &, const Inst &, uint32_t, Lane &);

enum Flags : uint8_t { Flush = 1, Saturate = 2, FromUnsigned64 = 4, ToInteger = 8, Finite = 16, Relu = 32 };

/// The register is as wide as R, the value in its low bits is a T.
template <class R, class T> void readInteger(Warp &w, Ref ref, Lane &lane) {
  const R *a = w.in<R>(ref);
  DLC_SIM_VECTOR
  for (unsigned l = 0; l < kLanes; ++l)
    lane.integer[l] = int64_t(T(a[l]));
}
template <class T> Read integerReader(unsigned registerBits) {
  if (registerBits == 16)
    return sizeof(T) <= 2 ? readInteger<uint16_t, T> : nullptr;
  if (registerBits == 32)
    return sizeof(T) <= 4 ? readInteger<uint32_t, T> : nullptr;
  return readInteger<uint64_t, T>;
}
template <class T> void readReal(Warp &w, Ref ref, Lane &lane) {
  const T *a = w.in<T>(ref);
  for (unsigned l = 0; l < kLanes; ++l)
    lane.real[l] = double(a[l]);
}
void readHalf(Warp &w, Ref ref, Lane &lane) {
  for (unsigned l = 0; l < kLanes; ++l)
    lane.real[l] = halfToFloat(w.in<uint16_t>(ref)[l]);
}
void readBfloat(Warp &w, Ref ref, Lane &lane) {
  for (unsigned l = 0; l < kLanes; ++l)
    lane.real[l] = bfloatToFloat(w.in<uint16_t>(ref)[l]);
}

Read reader(Type type, unsigned registerBits) {
  switch (type) {
  case Type::U8: return integerReader<uint8_t>(registerBits);
  case Type::S8: return integerReader<int8_t>(registerBits);
  case Type::U16: return integerReader<uint16_t>(registerBits);
  case Type::S16: return integerReader<int16_t>(registerBits);
  case Type::U32: return integerReader<uint32_t>(registerBits);
  case Type::S32: return integerReader<int32_t>(registerBits);
  case Type::U64: return integerReader<uint64_t>(registerBits);
  case Type::S64: return integerReader<int64_t>(registerBits);
  case Type::F32: return readReal<float>;
  case Type::F64: return readReal<double>;
  case Type::F16: return readHalf;
  case Type::BF16: return readBfloat;
  default: return nullptr;
  }
}

template <class R, class T> void writeInteger(Warp &w, const Inst &i, uint32_t active, Lane &lane) {
  each(w.out<R>(i.d), active, [&](unsigned l) { return R(std::make_unsigned_t<R>(std::make_signed_t<R>(T(lane.integer[l])))); });
}
template <class T> Write integerWriter(unsigned registerBits) {
  return registerBits == 16 ? writeInteger<uint16_t, T> : registerBits == 32 ? writeInteger<uint32_t, T> : writeInteger<uint64_t, T>;
}
void writeFloat(Warp &w, const Inst &i, uint32_t active, Lane &lane) {
  each(w.out<float>(i.d), active, [&](unsigned l) {
    float x = float(lane.real[l]);
    if (Rounding(i.mode) != Rounding::Nearest && double(x) != lane.real[l])
      x = bitsTo<float>(toNarrow(lane.real[l], {8, 23, true}, Rounding(i.mode), false));
    return output<true>(x, i.flags & 3);
  });
}
void writeDouble(Warp &w, const Inst &i, uint32_t active, Lane &lane) {
  each(w.out<double>(i.d), active, [&](unsigned l) { return output<true>(lane.real[l], i.flags & 2); });
}
template <bool isBfloat> void writeHalf(Warp &w, const Inst &i, uint32_t active, Lane &lane) {
  each(w.out<uint16_t>(i.d), active, [&](unsigned l) {
    double x = i.flags & Saturate ? saturate(lane.real[l]) : lane.real[l];
    if ((i.flags & Relu) && x < 0)
      x = 0;
    return uint16_t(toNarrow(x, isBfloat ? kBF16 : kF16, Rounding(i.mode), i.flags & Finite));
  });
}

Write writer(Type type, unsigned registerBits) {
  switch (type) {
  case Type::U8: return integerWriter<uint8_t>(registerBits);
  case Type::S8: return integerWriter<int8_t>(registerBits);
  case Type::U16: return integerWriter<uint16_t>(registerBits);
  case Type::S16: return integerWriter<int16_t>(registerBits);
  case Type::U32: return integerWriter<uint32_t>(registerBits);
  case Type::S32: return integerWriter<int32_t>(registerBits);
  case Type::U64: return integerWriter<uint64_t>(registerBits);
  case Type::S64: return integerWriter<int64_t>(registerBits);
  case Type::F32: return writeFloat;
  case Type::F64: return writeDouble;
  case Type::F16: return writeHalf<false>;
  case Type::BF16: return writeHalf<true>;
  default: return nullptr;
  }
}

double roundWhole(double x, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero: return std::trunc(x);
  case Rounding::Down: return std::floor(x);
  case Rounding::Up: return std::ceil(x);
  default: return std::nearbyint(x);
  }
}

/// width: bits of the destination; count: whether it is signed.
int64_t toInteger(double x, const Inst &i, bool isWideSource) {
  unsigned bits = i.width;
  bool isSignedType = i.count;
  if (x != x)
    return isWideSource || bits == 64 ? int64_t(uint64_t(1) << (bits - 1)) : 0;
  x = roundWhole(x, Rounding(i.mode));
  double limit = std::ldexp(1.0, int(bits - isSignedType));
  if (x >= limit)
    return isSignedType ? int64_t((uint64_t(1) << (bits - 1)) - 1) : int64_t(bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1);
  if (x < (isSignedType ? -limit : 0))
    return isSignedType ? int64_t(~uint64_t(0) << (bits - 1)) : 0;
  return isSignedType ? int64_t(x) : int64_t(uint64_t(x));
}

void fromInteger(Warp &w, const Inst &i, uint32_t active) {
  Lane lane;
  reinterpret_cast<Read>(i.step[0])(w, i.a, lane);
  if (i.flags & Saturate) {
    int64_t least = i.count ? -(int64_t(1) << (i.width - 1)) : 0;
    int64_t most = i.width == 64 ? INT64_MAX : (int64_t(1) << (i.width - i.count)) - 1;
    for (int64_t &x : lane.integer)
      x = (i.flags & FromUnsigned64) && x < 0 ? most : x < least ? least : x > most ? most : x;
  }
  reinterpret_cast<Write>(i.step[1])(w, i, active, lane);
}
void integerToReal(Warp &w, const Inst &i, uint32_t active) {
  Lane lane;
  reinterpret_cast<Read>(i.step[0])(w, i.a, lane);
  bool isUnsigned64 = i.flags & FromUnsigned64;
  // To float at once: through double it would be rounded twice.
  bool isFloat = i.width == 32 && Rounding(i.mode) == Rounding::Nearest;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (isFloat)
      lane.real[l] = isUnsigned64 ? float(uint64_t(lane.integer[l])) : float(lane.integer[l]);
    else
      lane.real[l] = isUnsigned64 ? double(uint64_t(lane.integer[l])) : double(lane.integer[l]);
  }
  reinterpret_cast<Write>(i.step[1])(w, i, active, lane);
}
void realToReal(Warp &w, const Inst &i, uint32_t active) {
  Lane lane;
  reinterpret_cast<Read>(i.step[0])(w, i.a, lane);
  if (i.flags & ToInteger)
    for (double &x : lane.real)
      x = roundWhole(x, Rounding(i.mode));
  if (i.flags & Flush)
    for (double &x : lane.real)
      x = std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x;
  reinterpret_cast<Write>(i.step[1])(w, i, active, lane);
}
template <bool isWideSource> void realToInteger(Warp &w, const Inst &i, uint32_t active) {
  Lane lane;
  reinterpret_cast<Read>(i.step[0])(w, i.a, lane);
  for (unsigned l = 0; l < kLanes; ++l)
    lane.integer[l] = toInteger(lane.real[l], i, isWideSource);
  reinterpret_cast<Write>(i.step[1])(w, i, active, lane);
}

NarrowFormat formatOf(Type type) {
  switch (type) {
  case Type::F16x2: return kF16;
  case Type::BF16x2: return kBF16;
  case Type::E4M3x2: return kE4M3;
  case Type::E5M2x2: return kE5M2;
  default: return kTF32;
  }
}

/// Two floats to one register, the first in the upper half.
template <class D> void packPair(Warp &w, const Inst &i, uint32_t active) {
  const float *a = w.in<float>(i.a), *b = w.in<float>(i.b);
  NarrowFormat format = formatOf(Type(i.count));
  each(w.out<D>(i.d), active, [&](unsigned l) {
    auto convert = [&](float x) {
      if ((i.flags & Relu) && x < 0)
        x = 0;
      return toNarrow(x, format, Rounding(i.mode), i.flags & Finite);
    };
    return D(convert(a[l]) << (4 * sizeof(D)) | convert(b[l]));
  });
}
/// Fast path of what kernels do most.
void packHalves(Warp &w, const Inst &i, uint32_t active) {
  const float *a = w.in<float>(i.a), *b = w.in<float>(i.b);
  each(w.out<uint32_t>(i.d), active,
       [=](unsigned l) { return uint32_t(floatToHalf(a[l])) << 16 | floatToHalf(b[l]); });
}
/// A pair of 8-bit floats to or from a pair of 16-bit ones.
template <class D, class A> void convertPair(Warp &w, const Inst &i, uint32_t active) {
  const A *a = w.in<A>(i.a);
  NarrowFormat from = formatOf(Type(i.width)), to = formatOf(Type(i.count));
  each(w.out<D>(i.d), active, [&](unsigned l) {
    constexpr unsigned fromBits = 4 * sizeof(A), toBits = 4 * sizeof(D);
    auto convert = [&](uint32_t bits) {
      double x = fromNarrow(bits, from);
      return toNarrow((i.flags & Relu) && x < 0 ? 0 : x, to, Rounding(i.mode), i.flags & Finite);
    };
    uint32_t low = a[l] & ((1u << fromBits) - 1), high = uint32_t(a[l]) >> fromBits;
    return D(convert(high) << toBits | convert(low));
  });
}
void toTf32(Warp &w, const Inst &i, uint32_t active) {
  const float *a = w.in<float>(i.a);
  each(w.out<uint32_t>(i.d), active, [&](unsigned l) {
    return a[l] != a[l] ? 0x7fffffffu : toNarrow(a[l], kTF32, Rounding(i.mode), i.flags & Finite) << 13;
  });
}

bool isPair(Type type) {
  return type == Type::F16x2 || type == Type::BF16x2 || type == Type::E4M3x2 || type == Type::E5M2x2;
}

void decodePair(Decoder &decoder, Inst &inst, Type to, Type from) {
  inst.count = uint8_t(to);
  inst.width = uint8_t(from);
  inst.d = decoder.out(0, to);
  if (from == Type::F32 && isPair(to)) {
    decoder.expectOperands(3, 3);
    inst.a = decoder.in(1, from);
    inst.b = decoder.in(2, from);
    inst.run = bitsOf(to) == 16 ? Handler(packPair<uint16_t>) : packPair<uint32_t>;
    if (to == Type::F16x2 && inst.mode == 0 && inst.flags == 0)
      inst.run = packHalves;
    return;
  }
  decoder.expectOperands(2, 2);
  inst.a = decoder.in(1, from);
  if (to == Type::TF32 && from == Type::F32)
    inst.run = toTf32;
  else if (isPair(to) && isPair(from))
    inst.run = bitsOf(to) == 16 ? Handler(convertPair<uint16_t, uint32_t>) : convertPair<uint32_t, uint16_t>;
}

void decodeCvt(Decoder &decoder, Inst &inst) {
  int rounding = decoder.takeOne({"rn", "rz", "rm", "rp", "rna"});
  int whole = decoder.takeOne({"rni", "rzi", "rmi", "rpi"});
  inst.flags = uint8_t((decoder.take("ftz") ? Flush : 0) | (decoder.take("sat") ? Saturate : 0) |
                       (decoder.take("satfinite") ? Finite : 0) | (decoder.take("relu") ? Relu : 0));
  inst.mode = uint8_t(whole >= 0 ? whole : rounding >= 0 ? rounding : 0);
  Type to = decoder.takeType(), from = decoder.takeType();
  if (isPair(to) || to == Type::TF32)
    return decodePair(decoder, inst, to, from);
  decoder.expectOperands(2, 2);
  auto width = [&](size_t index, Type type) {
    unsigned bits = decoder.operand(index).kind == ptx::Operand::Register ? decoder.registerBits(decoder.operand(index)) : 0;
    return bits >= 16 ? bits : bitsOf(type) < 16 ? 16 : bitsOf(type);
  };
  unsigned fromBits = width(1, from), toBits = width(0, to);
  if ((isFloat(from) && fromBits != bitsOf(from)) || (isFloat(to) && toBits != bitsOf(to)))
    decoder.fail(decoder.text() + ": a register is not as wide as the float");
  auto carrier = [](unsigned bits) { return bits == 16 ? Type::B16 : bits == 32 ? Type::B32 : Type::B64; };
  inst.a = decoder.in(1, carrier(fromBits));
  inst.d = decoder.out(0, carrier(toBits));
  inst.step[0] = reinterpret_cast<void *>(reader(from, fromBits));
  inst.step[1] = reinterpret_cast<void *>(writer(to, toBits));
  inst.width = uint8_t(bitsOf(to));
  inst.count = isSigned(to);
  if (from == Type::U64)
    inst.flags |= FromUnsigned64;
  if (whole >= 0)
    inst.flags |= ToInteger;
  if (!inst.step[0] || !inst.step[1])
    return;
  if (isFloat(from))
    inst.run = isFloat(to) ? Handler(realToReal) : from == Type::F64 ? realToInteger<true> : realToInteger<false>;
  else
    inst.run = isFloat(to) ? integerToReal : fromInteger;
  if (isFloat(from) && !isFloat(to) && whole < 0)
    decoder.fail(decoder.text() + " needs .rni, .rzi, .rmi or .rpi");
  bool isInexact64 = (from == Type::U64 || from == Type::S64) && isFloat(to) && inst.mode != 0;
  if (isInexact64)
    decoder.fail(decoder.text() + " is not simulated");
  // A whole number is exact in the destination already.
  if (whole >= 0 && isFloat(to) && bitsOf(to) < bitsOf(from))
    decoder.fail(decoder.text() + " is not simulated");
}

/// Between an address in a space and a generic one: the space's window is added.
template <bool isToSpace, class T> void convertAddress(Warp &w, const Inst &i, uint32_t active) {
  const T *a = w.in<T>(i.a);
  uint64_t window = i.imm;
  each(w.out<T>(i.d), active, [=](unsigned l) { return T(isToSpace ? uint64_t(a[l]) - window : uint64_t(a[l]) + window); });
}
void decodeCvta(Decoder &decoder, Inst &inst) {
  bool isToSpace = decoder.take("to");
  int space = decoder.takeOne({"global", "const", "shared", "shared::cta", "local", "param"});
  Type type = decoder.takeType();
  if (space < 0 || bitsOf(type) != 64)
    decoder.fail(decoder.text() + " is not simulated");
  static constexpr uint64_t windows[] = {0, 0, kSharedWindow, kSharedWindow, kLocalWindow, kParamWindow};
  inst.imm = windows[space];
  operands(decoder, inst, type, type, 1);
  inst.run = isToSpace ? convertAddress<true, uint64_t> : convertAddress<false, uint64_t>;
}

void isInSpace(Warp &w, const Inst &i, uint32_t active) {
  const uint64_t *a = w.in<uint64_t>(i.a);
  uint64_t window = i.imm >> kWindowBits;
  setPredicate(w, i.d, active, ballot([=](unsigned l) { return a[l] >> kWindowBits == window; }));
}
void decodeIsspacep(Decoder &decoder, Inst &inst) {
  int space = decoder.takeOne({"global", "shared", "shared::cta", "local", "param"});
  decoder.expectOperands(2, 2);
  static constexpr uint64_t windows[] = {0, kSharedWindow, kSharedWindow, kLocalWindow, kParamWindow};
  if (space < 0)
    decoder.fail(decoder.text() + " is not simulated");
  inst.imm = windows[space];
  inst.d = decoder.out(0, Type::Pred);
  inst.a = decoder.in(1, Type::U64);
  inst.run = isInSpace;
}

constexpr Decoding decodings[] = {{"cvt", decodeCvt}, {"cvta", decodeCvta}, {"isspacep", decodeIsspacep}};

} // namespace

DLC_SIM_FAMILY(kConvert);

} // namespace dlc::sim
