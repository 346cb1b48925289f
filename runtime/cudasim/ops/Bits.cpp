// Logic, shifts, moves and bit fields.

#include "runtime/cudasim/ops/Lanes.h"

namespace dlc::sim {

namespace {

struct And { template <class T> static T apply(T a, T b) { return a & b; } };
struct Or { template <class T> static T apply(T a, T b) { return a | b; } };
struct Xor { template <class T> static T apply(T a, T b) { return a ^ b; } };
struct Not { template <class T> static T apply(T a) { return T(~a); } };
struct CNot { template <class T> static T apply(T a) { return a == 0; } };
struct Move { template <class T> static T apply(T a) { return a; } };
struct Shl {
  template <class T> static T apply(T a, uint32_t b) { return b < 8 * sizeof(T) ? T(a << (b & (8 * sizeof(T) - 1))) : T(0); }
};
struct Shr {
  template <class T> static T apply(T a, uint32_t b) {
    constexpr uint32_t most = 8 * sizeof(T) - 1;
    if (std::is_signed_v<T>)
      return T(a >> (b < most ? b : most));
    return b <= most ? T(a >> (b & most)) : T(0);
  }
};
struct Popc { template <class T> static uint32_t apply(T a) { return uint32_t(__builtin_popcountll(a)); } };
struct Clz {
  static uint32_t apply(uint32_t a) { return a ? uint32_t(__builtin_clz(a)) : 32; }
  static uint32_t apply(uint64_t a) { return a ? uint32_t(__builtin_clzll(a)) : 64; }
};
struct Brev {
  static uint32_t apply(uint32_t a) {
    uint32_t result = 0;
    for (int i = 0; i < 32; ++i)
      result |= (a >> i & 1) << (31 - i);
    return result;
  }
  static uint64_t apply(uint64_t a) { return uint64_t(apply(uint32_t(a))) << 32 | apply(uint32_t(a >> 32)); }
};
template <bool isShift> struct Bfind {
  template <class T> static uint32_t apply(T a) {
    using U = std::make_unsigned_t<T>;
    U bits = a < 0 ? U(~a) : U(a);
    if (bits == 0)
      return ~0u;
    uint32_t leading = uint32_t(__builtin_clzll(uint64_t(bits)));
    return isShift ? leading - (64 - 8 * sizeof(T)) : 63 - leading;
  }
};

template <class Op> Handler pickBits(Type type) {
  switch (bitsOf(type)) {
  case 16: return binary<Op, uint16_t, uint16_t>;
  case 32: return binary<Op, uint32_t, uint32_t>;
  case 64: return binary<Op, uint64_t, uint64_t>;
  default: return nullptr;
  }
}
template <class Op> Handler pickUnary(Type type) {
  switch (bitsOf(type)) {
  case 16: return unary<Op, uint16_t, uint16_t>;
  case 32: return unary<Op, uint32_t, uint32_t>;
  case 64: return unary<Op, uint64_t, uint64_t>;
  default: return nullptr;
  }
}

template <class Op> void predicates(Warp &w, const Inst &i, uint32_t active) {
  setPredicate(w, i.d, active, Op::apply(*w.in<uint32_t>(i.a), *w.in<uint32_t>(i.b)));
}
void notPredicate(Warp &w, const Inst &i, uint32_t active) {
  setPredicate(w, i.d, active, ~*w.in<uint32_t>(i.a));
}
void movePredicate(Warp &w, const Inst &i, uint32_t active) {
  setPredicate(w, i.d, active, *w.in<uint32_t>(i.a));
}

template <class Op> void logic(Decoder &decoder, Inst &inst) {
  Type type = decoder.takeType();
  inst.run = type == Type::Pred ? Handler(predicates<Op>) : pickBits<Op>(type);
  operands(decoder, inst, type, type, 2);
}
void decodeNot(Decoder &decoder, Inst &inst) {
  Type type = decoder.takeType();
  inst.run = type == Type::Pred ? Handler(notPredicate) : pickUnary<Not>(type);
  operands(decoder, inst, type, type, 1);
}
void decodeCNot(Decoder &decoder, Inst &inst) {
  Type type = decoder.takeType();
  inst.run = pickUnary<CNot>(type);
  operands(decoder, inst, type, type, 1);
}

void decodeShift(Decoder &decoder, Inst &inst) {
  Type type = decoder.takeType();
  decoder.expectOperands(3, 3);
  inst.d = decoder.out(0, type);
  inst.a = decoder.in(1, type);
  inst.b = decoder.in(2, Type::U32);
  bool isLeft = decoder.source().opcode == "shl";
  switch (bitsOf(type)) {
  case 16:
    inst.run = isLeft ? binary<Shl, uint16_t, uint16_t, uint32_t>
               : isSigned(type) ? Handler(binary<Shr, int16_t, int16_t, uint32_t>) : binary<Shr, uint16_t, uint16_t, uint32_t>;
    break;
  case 32:
    inst.run = isLeft ? binary<Shl, uint32_t, uint32_t, uint32_t>
               : isSigned(type) ? Handler(binary<Shr, int32_t, int32_t, uint32_t>) : binary<Shr, uint32_t, uint32_t, uint32_t>;
    break;
  case 64:
    inst.run = isLeft ? binary<Shl, uint64_t, uint64_t, uint32_t>
               : isSigned(type) ? Handler(binary<Shr, int64_t, int64_t, uint32_t>) : binary<Shr, uint64_t, uint64_t, uint32_t>;
    break;
  }
}

/// mode 1: wrap, 0: clamp; flags 1: to the right.
void funnel(Warp &w, const Inst &i, uint32_t active) {
  const uint32_t *a = w.in<uint32_t>(i.a), *b = w.in<uint32_t>(i.b), *c = w.in<uint32_t>(i.c);
  bool isWrap = i.mode, isRight = i.flags;
  each(w.out<uint32_t>(i.d), active, [=](unsigned l) {
    uint32_t n = isWrap ? c[l] & 31 : c[l] < 32 ? c[l] : 32;
    uint64_t both = uint64_t(b[l]) << 32 | a[l];
    return uint32_t(isRight ? both >> n : both << n >> 32);
  });
}
void decodeFunnel(Decoder &decoder, Inst &inst) {
  inst.flags = decoder.takeOne({"l", "r"}) == 1;
  inst.mode = decoder.takeOne({"clamp", "wrap"}) == 1;
  Type type = decoder.takeType();
  operands(decoder, inst, type, type, 3);
  if (type == Type::B32)
    inst.run = funnel;
}

template <class T> void bfi(Warp &w, const Inst &i, uint32_t active) {
  const T *a = w.in<T>(i.a), *b = w.in<T>(i.b);
  const uint32_t *c = w.in<uint32_t>(i.list[0]), *d = w.in<uint32_t>(i.list[1]);
  constexpr uint32_t bits = 8 * sizeof(T);
  each(w.out<T>(i.d), active, [=](unsigned l) {
    uint32_t at = c[l] & 255, length = d[l] & 255;
    if (at >= bits || length == 0)
      return b[l];
    T mask = length >= bits ? T(~T(0)) : T((T(1) << length) - 1);
    mask = T(mask << at);
    return T((b[l] & ~mask) | (T(a[l] << at) & mask));
  });
}
void decodeBfi(Decoder &decoder, Inst &inst) {
  Type type = decoder.takeType();
  decoder.expectOperands(5, 5);
  inst.d = decoder.out(0, type);
  inst.a = decoder.in(1, type);
  inst.b = decoder.in(2, type);
  inst.list = decoder.list({decoder.in(3, Type::U32), decoder.in(4, Type::U32)});
  inst.run = bitsOf(type) == 32 ? bfi<uint32_t> : bitsOf(type) == 64 ? bfi<uint64_t> : nullptr;
}

template <class T> void bfe(Warp &w, const Inst &i, uint32_t active) {
  const T *a = w.in<T>(i.a);
  const uint32_t *b = w.in<uint32_t>(i.b), *c = w.in<uint32_t>(i.c);
  constexpr uint32_t bits = 8 * sizeof(T);
  each(w.out<T>(i.d), active, [=](unsigned l) {
    uint32_t at = b[l] & 255, length = c[l] & 255;
    if (length == 0)
      return T(0);
    uint32_t sign = at + length - 1 < bits - 1 ? at + length - 1 : bits - 1;
    bool fill = std::is_signed_v<T> && (uint64_t(a[l]) >> sign & 1);
    uint64_t value = at >= bits ? 0 : uint64_t(std::make_unsigned_t<T>(a[l])) >> at;
    uint32_t kept = at >= bits ? 0 : length < bits - at ? length : bits - at;
    uint64_t mask = kept >= 64 ? ~uint64_t(0) : (uint64_t(1) << kept) - 1;
    return T((value & mask) | (fill ? ~mask : 0));
  });
}
void decodeBfe(Decoder &decoder, Inst &inst) {
  Type type = decoder.takeType();
  decoder.expectOperands(4, 4);
  inst.d = decoder.out(0, type);
  inst.a = decoder.in(1, type);
  inst.b = decoder.in(2, Type::U32);
  inst.c = decoder.in(3, Type::U32);
  inst.run = type == Type::U32 ? bfe<uint32_t> : type == Type::S32 ? bfe<int32_t>
           : type == Type::U64 ? bfe<uint64_t> : type == Type::S64 ? Handler(bfe<int64_t>) : nullptr;
}

void prmt(Warp &w, const Inst &i, uint32_t active) {
  const uint32_t *a = w.in<uint32_t>(i.a), *b = w.in<uint32_t>(i.b), *c = w.in<uint32_t>(i.c);
  each(w.out<uint32_t>(i.d), active, [=](unsigned l) {
    uint64_t both = uint64_t(b[l]) << 32 | a[l];
    uint32_t result = 0;
    for (int k = 0; k < 4; ++k) {
      uint32_t select = c[l] >> (4 * k) & 15, byte = uint32_t(both >> (8 * (select & 7))) & 255;
      if (select & 8)
        byte = byte & 128 ? 255 : 0;
      result |= byte << (8 * k);
    }
    return result;
  });
}
void decodePrmt(Decoder &decoder, Inst &inst) {
  Type type = decoder.takeType();
  operands(decoder, inst, type, type, 3);
  if (type == Type::B32)
    inst.run = prmt;
}

void lop3(Warp &w, const Inst &i, uint32_t active) {
  const uint32_t *a = w.in<uint32_t>(i.a), *b = w.in<uint32_t>(i.b), *c = w.in<uint32_t>(i.c);
  uint32_t table = uint32_t(i.imm);
  each(w.out<uint32_t>(i.d), active, [=](unsigned l) {
    uint32_t result = 0;
    for (uint32_t k = 0; k < 8; ++k)
      if (table >> k & 1)
        result |= (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) & (k & 1 ? c[l] : ~c[l]);
    return result;
  });
}
void decodeLop3(Decoder &decoder, Inst &inst) {
  Type type = decoder.takeType();
  decoder.expectOperands(5, 5);
  inst.d = decoder.out(0, type);
  inst.a = decoder.in(1, type);
  inst.b = decoder.in(2, type);
  inst.c = decoder.in(3, type);
  if (decoder.operand(4).kind != ptx::Operand::Integer)
    decoder.fail("lop3's table is no number");
  inst.imm = uint64_t(decoder.operand(4).integer);
  if (type == Type::B32)
    inst.run = lop3;
}

template <class Op> void decodeCount(Decoder &decoder, Inst &inst) {
  Type type = decoder.takeType();
  decoder.expectOperands(2, 2);
  inst.d = decoder.out(0, Type::U32);
  inst.a = decoder.in(1, type);
  inst.run = bitsOf(type) == 32 ? unary<Op, uint32_t, uint32_t> : bitsOf(type) == 64 ? Handler(unary<Op, uint32_t, uint64_t>) : nullptr;
}
void decodeBrev(Decoder &decoder, Inst &inst) {
  Type type = decoder.takeType();
  operands(decoder, inst, type, type, 1);
  inst.run = bitsOf(type) == 32 ? unary<Brev, uint32_t, uint32_t> : bitsOf(type) == 64 ? Handler(unary<Brev, uint64_t, uint64_t>) : nullptr;
}
void decodeBfind(Decoder &decoder, Inst &inst) {
  bool isShift = decoder.take("shiftamt");
  Type type = decoder.takeType();
  decoder.expectOperands(2, 2);
  inst.d = decoder.out(0, Type::U32);
  inst.a = decoder.in(1, type);
  switch (type) {
  case Type::U32: inst.run = isShift ? unary<Bfind<true>, uint32_t, uint32_t> : unary<Bfind<false>, uint32_t, uint32_t>; break;
  case Type::S32: inst.run = isShift ? unary<Bfind<true>, uint32_t, int32_t> : unary<Bfind<false>, uint32_t, int32_t>; break;
  case Type::U64: inst.run = isShift ? unary<Bfind<true>, uint32_t, uint64_t> : unary<Bfind<false>, uint32_t, uint64_t>; break;
  case Type::S64: inst.run = isShift ? unary<Bfind<true>, uint32_t, int64_t> : unary<Bfind<false>, uint32_t, int64_t>; break;
  default: break;
  }
}

/// mov.b32 %r, {%rs1, %rs2}: parts side by side, lowest first.
template <class Whole, class Part> void pack(Warp &w, const Inst &i, uint32_t active) {
  constexpr unsigned count = sizeof(Whole) / sizeof(Part);
  Whole *d = w.out<Whole>(i.d);
  forLanes(active, [&](unsigned l) {
    Whole whole = 0;
    for (unsigned k = 0; k < count; ++k)
      whole |= Whole(w.in<Part>(i.list[k])[l]) << (8 * sizeof(Part) * k);
    d[l] = whole;
  });
}
template <class Whole, class Part> void unpack(Warp &w, const Inst &i, uint32_t active) {
  constexpr unsigned count = sizeof(Whole) / sizeof(Part);
  const Whole *a = w.in<Whole>(i.a);
  forLanes(active, [&](unsigned l) {
    Whole whole = a[l];
    for (unsigned k = 0; k < count; ++k)
      w.out<Part>(i.list[k])[l] = Part(whole >> (8 * sizeof(Part) * k));
  });
}
void decodePack(Decoder &decoder, Inst &inst, Type type, bool isPack) {
  const ptx::Operand &parts = decoder.operand(isPack ? 1 : 0);
  size_t count = parts.parts.size();
  unsigned bits = bitsOf(type);
  if (count == 0 || bits % count != 0)
    decoder.fail(decoder.text() + ": " + std::to_string(count) + " parts");
  Type part = bits / count == 16 ? Type::B16 : bits / count == 32 ? Type::B32 : Type::Pred;
  if (part == Type::Pred)
    decoder.fail(decoder.text() + ": parts of " + std::to_string(bits / count) + " bits");
  std::vector<Ref> refs;
  for (const ptx::Operand &operand : parts.parts)
    refs.push_back(isPack ? decoder.in(operand, part) : decoder.out(operand, part));
  inst.list = decoder.list(refs);
  if (isPack)
    inst.d = decoder.out(0, type);
  else
    inst.a = decoder.in(1, type);
  if (bits == 32)
    inst.run = isPack ? pack<uint32_t, uint16_t> : unpack<uint32_t, uint16_t>;
  else if (count == 2)
    inst.run = isPack ? pack<uint64_t, uint32_t> : unpack<uint64_t, uint32_t>;
  else
    inst.run = isPack ? pack<uint64_t, uint16_t> : unpack<uint64_t, uint16_t>;
}

void readClock(Warp &w, const Inst &i, uint32_t active) {
  uint64_t now = w.executed;
  if (i.width == 8)
    each(w.out<uint64_t>(i.d), active, [=](unsigned) { return now; });
  else
    each(w.out<uint32_t>(i.d), active, [=](unsigned) { return uint32_t(now); });
}

void decodeMov(Decoder &decoder, Inst &inst) {
  Type type = decoder.takeType();
  decoder.expectOperands(2, 2);
  const ptx::Operand &from = decoder.operand(1);
  if (from.kind == ptx::Operand::Vector || decoder.operand(0).kind == ptx::Operand::Vector)
    return decodePack(decoder, inst, type, from.kind == ptx::Operand::Vector);
  for (const char *clock : {"%clock", "%clock64", "%globaltimer", "%clock_hi"})
    if (from.name == clock) {
      inst.d = decoder.out(0, type);
      inst.width = uint8_t(bitsOf(type) / 8);
      inst.run = readClock;
      return;
    }
  inst.run = type == Type::Pred ? Handler(movePredicate) : pickUnary<Move>(type);
  operands(decoder, inst, type, type, 1);
}

constexpr Decoding decodings[] = {
    {"and", logic<And>},       {"or", logic<Or>},         {"xor", logic<Xor>},
    {"not", decodeNot},        {"cnot", decodeCNot},      {"shl", decodeShift},
    {"shr", decodeShift},      {"shf", decodeFunnel},     {"bfi", decodeBfi},
    {"bfe", decodeBfe},        {"prmt", decodePrmt},      {"lop3", decodeLop3},
    {"popc", decodeCount<Popc>}, {"clz", decodeCount<Clz>}, {"brev", decodeBrev},
    {"bfind", decodeBfind},    {"mov", decodeMov}};

} // namespace

DLC_SIM_FAMILY(kBits);

} // namespace dlc::sim
