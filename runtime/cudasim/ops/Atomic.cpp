// atom and red. Lanes of a warp go one after the other; other cores may be at the same
// address, so that each is a loop around a compare-and-swap.

#include "runtime/cudasim/ops/Access.h"
#include "runtime/cudasim/ops/FloatMath.h"

#include <cmath>

namespace dlc::sim {

namespace {

using ptx::Space;

enum Op : uint8_t { Add, Exch, Cas, Min, Max, And, Or, Xor, Inc, Dec };

/// What the bits of T mean.
template <class T> struct Plain {
  using Bits = T;
  static T apply(Op op, T old, T b, T c) {
    switch (op) {
    case Add: return T(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(b));
    case Exch: return b;
    case Cas: return old == b ? c : old;
    case Min: return b < old ? b : old;
    case Max: return b > old ? b : old;
    case And: return old & b;
    case Or: return old | b;
    case Xor: return old ^ b;
    case Inc: return old >= b ? T(0) : T(old + 1);
    default: return old == 0 || old > b ? b : T(old - 1);
    }
  }
};
template <class F, class B> struct Real {
  using Bits = B;
  static B apply(Op, B old, B b, B) { return bitsTo<B>(canonical(bitsTo<F>(old) + bitsTo<F>(b))); }
};
template <bool isBfloat, class B> struct Halves {
  using Bits = B;
  static B apply(Op, B old, B b, B) {
    B result = 0;
    for (unsigned k = 0; k < sizeof(B) / 2; ++k) {
      uint16_t x = uint16_t(old >> (16 * k)), y = uint16_t(b >> (16 * k));
      uint16_t sum = isBfloat ? floatToBfloat(bfloatToFloat(x) + bfloatToFloat(y)) : floatToHalf(halfToFloat(x) + halfToFloat(y));
      result = B(result | B(sum) << (16 * k));
    }
    return result;
  }
};

template <class Meaning> void atomic(Warp &w, const Inst &i, uint32_t active) {
  using T = typename Meaning::Bits;
  uint64_t addresses[kLanes];
  char *pointers[kLanes];
  addressesOf(w, i, addresses);
  translate(w, i, active, {Space(i.space), AccessKind::Atomic, sizeof(T), sizeof(T)}, addresses, pointers);
  const T *b = w.in<T>(i.b), *c = w.in<T>(i.c);
  T results[kLanes];
  forLanes(active, [&](unsigned l) {
    T *at = reinterpret_cast<T *>(pointers[l]);
    T old = __atomic_load_n(at, __ATOMIC_RELAXED), value;
    do
      value = Meaning::apply(Op(i.mode), old, b[l], c[l]);
    while (!__atomic_compare_exchange_n(at, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    results[l] = old;
  });
  if (i.count) {
    T *d = w.out<T>(i.d);
    forLanes(active, [&](unsigned l) { d[l] = results[l]; });
  }
}

Handler pick(Type type) {
  switch (type) {
  case Type::B16: case Type::U16: return atomic<Plain<uint16_t>>;
  case Type::B32: case Type::U32: return atomic<Plain<uint32_t>>;
  case Type::S32: return atomic<Plain<int32_t>>;
  case Type::B64: case Type::U64: return atomic<Plain<uint64_t>>;
  case Type::S64: return atomic<Plain<int64_t>>;
  case Type::F32: return atomic<Real<float, uint32_t>>;
  case Type::F64: return atomic<Real<double, uint64_t>>;
  case Type::F16: return atomic<Halves<false, uint16_t>>;
  case Type::F16x2: return atomic<Halves<false, uint32_t>>;
  case Type::BF16: return atomic<Halves<true, uint16_t>>;
  case Type::BF16x2: return atomic<Halves<true, uint32_t>>;
  default: return nullptr;
  }
}

void decodeAtomic(Decoder &decoder, Inst &inst) {
  bool isReduction = decoder.source().opcode == "red";
  decoder.takeAny({"sync", "relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys", "noftz"});
  Space space = takeSpace(decoder);
  int op = decoder.takeOne({"add", "exch", "cas", "min", "max", "and", "or", "xor", "inc", "dec"});
  Type type = decoder.takeType();
  if (op < 0 || (isFloat(type) && op != Add))
    decoder.fail(decoder.text() + " is not simulated");
  size_t first = isReduction ? 0 : 1, wanted = first + (op == Cas ? 3 : 2);
  decoder.expectOperands(wanted, wanted);
  decoder.address(decoder.operand(first), space, inst);
  inst.b = decoder.in(first + 1, type);
  inst.c = op == Cas ? decoder.in(first + 2, type) : inst.b;
  bool isUsed = !isReduction && !decoder.isSink(decoder.operand(0));
  if (isUsed)
    inst.d = decoder.out(0, type);
  inst.count = isUsed;
  inst.mode = uint8_t(op);
  inst.space = uint8_t(space);
  // What comes back, sums of floats and exchanges depend on who comes first.
  if (space != Space::Shared && (isFloat(type) || op == Exch || op == Cas || isUsed))
    decoder.function().code->isOrderSensitive = true;
  inst.run = pick(type);
}

constexpr Decoding decodings[] = {{"atom", decodeAtomic}, {"red", decodeAtomic}};

} // namespace

DLC_SIM_FAMILY(kAtomic);

} // namespace dlc::sim
