// What lanes of a warp tell each other: shfl, vote, match, redux, activemask, elect.

#include "runtime/cudasim/ops/Lanes.h"

namespace dlc::sim {

namespace {

uint32_t maskOf(Warp &w, Ref ref, uint32_t active) { return w.in<uint32_t>(ref)[__builtin_ctz(active)]; }

/// All lanes of the mask are here, and no lane is that the mask does not name.
bool meet(Warp &w, const Inst &i, uint32_t active, Ref mask) {
  uint32_t members = maskOf(w, mask, active);
  if (!w.gather(i, active, members))
    return false;
  if (active & ~members) {
    char text[120];
    snprintf(text, sizeof text, "lanes %08x execute an operation whose mask %08x does not name them", active & ~members, members);
    w.finding(i, __builtin_ctz(active & ~members), text);
  }
  return true;
}

enum Shuffle : uint8_t { Up, Down, Bfly, Idx };

/// list: predicate that says whether the source was in range, membermask.
void shfl(Warp &w, const Inst &i, uint32_t active) {
  if (!meet(w, i, active, i.list[1]))
    return;
  const uint32_t *a = w.in<uint32_t>(i.a), *b = w.in<uint32_t>(i.b), *c = w.in<uint32_t>(i.c);
  uint32_t results[kLanes], inRange = 0;
  forLanes(active, [&](unsigned l) {
    uint32_t distance = b[l] & 31, clamp = c[l] & 31, segment = c[l] >> 8 & 31;
    int32_t most = int32_t((l & segment) | (clamp & ~segment)), least = int32_t(l & segment), from;
    bool isIn;
    switch (i.mode) {
    case Up: from = int32_t(l) - int32_t(distance); isIn = from >= most; break;
    case Down: from = int32_t(l + distance); isIn = from <= most; break;
    case Bfly: from = int32_t(l ^ distance); isIn = from <= most; break;
    default: from = least | int32_t(distance & ~segment); isIn = from <= most; break;
    }
    if (!isIn)
      from = int32_t(l);
    if (isIn && !(active >> from & 1))
      w.finding(i, int(l), "shfl reads lane " + std::to_string(from) + ", which does not take part");
    results[l] = a[from];
    inRange |= uint32_t(isIn) << l;
  });
  uint32_t *d = w.out<uint32_t>(i.d);
  forLanes(active, [&](unsigned l) { d[l] = results[l]; });
  setPredicate(w, i.list[0], active, inRange);
}
void decodeShfl(Decoder &decoder, Inst &inst) {
  if (!decoder.take("sync"))
    decoder.fail(decoder.text() + " is not simulated");
  int kind = decoder.takeOne({"up", "down", "bfly", "idx"});
  Type type = decoder.takeType();
  bool hasPredicate = decoder.numOperands() == 6;
  decoder.expectOperands(5, 6);
  size_t at = hasPredicate ? 2 : 1;
  ptx::Operand sink;
  sink.name = "_";
  inst.d = decoder.out(0, type);
  Ref predicate = hasPredicate ? decoder.out(1, Type::Pred) : decoder.out(sink, Type::Pred);
  inst.a = decoder.in(at, type);
  inst.b = decoder.in(at + 1, Type::B32);
  inst.c = decoder.in(at + 2, Type::B32);
  inst.list = decoder.list({predicate, decoder.in(at + 3, Type::B32)});
  inst.mode = uint8_t(kind);
  if (kind >= 0 && bitsOf(type) == 32)
    inst.run = shfl;
}

enum Vote : uint8_t { All, Any, Uni, Ballot };
void vote(Warp &w, const Inst &i, uint32_t active) {
  if (!meet(w, i, active, i.c))
    return;
  uint32_t holds = *w.in<uint32_t>(i.a);
  holds = (i.flags & 1 ? ~holds : holds) & active;
  if (i.mode == Ballot)
    return each(w.out<uint32_t>(i.d), active, [=](unsigned) { return holds; });
  bool result = i.mode == All ? holds == active : i.mode == Any ? holds != 0 : holds == active || holds == 0;
  setPredicate(w, i.d, active, result ? kAllLanes : 0);
}
void decodeVote(Decoder &decoder, Inst &inst) {
  if (!decoder.take("sync"))
    decoder.fail(decoder.text() + " is not simulated");
  int kind = decoder.takeOne({"all", "any", "uni", "ballot"});
  Type type = decoder.takeType();
  decoder.expectOperands(3, 3);
  inst.d = decoder.out(0, type);
  inst.a = decoder.predicate(decoder.operand(1));
  inst.flags = decoder.operand(1).isNegated;
  inst.c = decoder.in(2, Type::B32);
  inst.mode = uint8_t(kind);
  if (kind >= 0)
    inst.run = vote;
}

template <class T, bool isAll> void match(Warp &w, const Inst &i, uint32_t active) {
  if (!meet(w, i, active, i.c))
    return;
  const T *a = w.in<T>(i.a);
  uint32_t results[kLanes], allSame = 0;
  forLanes(active, [&](unsigned l) {
    uint32_t same = 0;
    forLanes(active, [&](unsigned other) { same |= uint32_t(a[other] == a[l]) << other; });
    results[l] = isAll ? (same == active ? active : 0) : same;
    allSame |= uint32_t(same == active) << l;
  });
  uint32_t *d = w.out<uint32_t>(i.d);
  forLanes(active, [&](unsigned l) { d[l] = results[l]; });
  if (isAll && i.list)
    setPredicate(w, i.list[0], active, allSame);
}
void decodeMatch(Decoder &decoder, Inst &inst) {
  int kind = decoder.takeOne({"any", "all"});
  if (!decoder.take("sync") || kind < 0)
    decoder.fail(decoder.text() + " is not simulated");
  Type type = decoder.takeType();
  bool hasPredicate = decoder.numOperands() == 4;
  decoder.expectOperands(3, 4);
  inst.d = decoder.out(0, Type::B32);
  if (hasPredicate)
    inst.list = decoder.list({decoder.out(1, Type::Pred)});
  inst.a = decoder.in(hasPredicate ? 2 : 1, type);
  inst.c = decoder.in(hasPredicate ? 3 : 2, Type::B32);
  if (bitsOf(type) == 32)
    inst.run = kind ? match<uint32_t, true> : match<uint32_t, false>;
  else
    inst.run = kind ? match<uint64_t, true> : match<uint64_t, false>;
}

enum Reduction : uint8_t { Add, Min, Max, And, Or, Xor };
template <class T> void redux(Warp &w, const Inst &i, uint32_t active) {
  if (!meet(w, i, active, i.c))
    return;
  const T *a = w.in<T>(i.a);
  T total = a[__builtin_ctz(active)];
  forLanes(active & (active - 1), [&](unsigned l) {
    T x = a[l];
    switch (i.mode) {
    case Add: total = T(uint32_t(total) + uint32_t(x)); break;
    case Min: total = x < total ? x : total; break;
    case Max: total = x > total ? x : total; break;
    case And: total &= x; break;
    case Or: total |= x; break;
    default: total ^= x; break;
    }
  });
  each(w.out<T>(i.d), active, [=](unsigned) { return total; });
}
void decodeRedux(Decoder &decoder, Inst &inst) {
  int kind = decoder.takeOne({"add", "min", "max", "and", "or", "xor"});
  if (!decoder.take("sync") || kind < 0)
    decoder.fail(decoder.text() + " is not simulated");
  Type type = decoder.takeType();
  decoder.expectOperands(3, 3);
  inst.d = decoder.out(0, type);
  inst.a = decoder.in(1, type);
  inst.c = decoder.in(2, Type::B32);
  inst.mode = uint8_t(kind);
  if (bitsOf(type) == 32 && !isFloat(type))
    inst.run = isSigned(type) ? redux<int32_t> : Handler(redux<uint32_t>);
}

void activeMask(Warp &w, const Inst &i, uint32_t active) {
  each(w.out<uint32_t>(i.d), active, [=](unsigned) { return active; });
}
void decodeActiveMask(Decoder &decoder, Inst &inst) {
  Type type = decoder.takeType();
  decoder.expectOperands(1, 1);
  inst.d = decoder.out(0, type);
  inst.run = activeMask;
}

void elect(Warp &w, const Inst &i, uint32_t active) {
  if (!meet(w, i, active, i.c))
    return;
  uint32_t leader = uint32_t(__builtin_ctz(active));
  each(w.out<uint32_t>(i.d), active, [=](unsigned) { return leader; });
  setPredicate(w, i.list[0], active, uint32_t(1) << leader);
}
void decodeElect(Decoder &decoder, Inst &inst) {
  decoder.take("sync");
  decoder.expectOperands(3, 3);
  inst.d = decoder.out(0, Type::B32);
  inst.list = decoder.list({decoder.out(1, Type::Pred)});
  inst.c = decoder.in(2, Type::B32);
  inst.run = elect;
}

template <class A, class B> void dot4(Warp &w, const Inst &i, uint32_t active) {
  const uint32_t *a = w.in<uint32_t>(i.a), *b = w.in<uint32_t>(i.b), *c = w.in<uint32_t>(i.c);
  each(w.out<uint32_t>(i.d), active, [=](unsigned l) {
    uint32_t sum = c[l];
    for (int k = 0; k < 4; ++k)
      sum += uint32_t(int32_t(A(a[l] >> (8 * k))) * int32_t(B(b[l] >> (8 * k))));
    return sum;
  });
}
/// Two halves of a, times the low or the high two bytes of b.
template <class A, class B> void dot2(Warp &w, const Inst &i, uint32_t active) {
  const uint32_t *a = w.in<uint32_t>(i.a), *b = w.in<uint32_t>(i.b), *c = w.in<uint32_t>(i.c);
  unsigned shift = i.mode ? 16 : 0;
  each(w.out<uint32_t>(i.d), active, [=](unsigned l) {
    uint32_t sum = c[l];
    for (int k = 0; k < 2; ++k)
      sum += uint32_t(int64_t(A(a[l] >> (16 * k))) * int64_t(B(b[l] >> (8 * k + shift))));
    return sum;
  });
}
void decodeDp2a(Decoder &decoder, Inst &inst) {
  int half = decoder.takeOne({"lo", "hi"});
  if (half < 0)
    decoder.fail(decoder.text() + " needs .lo or .hi");
  bool isA = isSigned(decoder.takeType()), isB = isSigned(decoder.takeType());
  operands(decoder, inst, Type::B32, Type::B32, 3);
  inst.mode = uint8_t(half);
  inst.run = isA ? (isB ? dot2<int16_t, int8_t> : dot2<int16_t, uint8_t>)
                 : (isB ? dot2<uint16_t, int8_t> : dot2<uint16_t, uint8_t>);
}
void decodeDp4a(Decoder &decoder, Inst &inst) {
  Type a = decoder.takeType(), b = decoder.takeType();
  operands(decoder, inst, Type::B32, Type::B32, 3);
  bool isA = isSigned(a), isB = isSigned(b);
  inst.run = isA ? (isB ? dot4<int8_t, int8_t> : dot4<int8_t, uint8_t>) : (isB ? dot4<uint8_t, int8_t> : dot4<uint8_t, uint8_t>);
}

constexpr Decoding decodings[] = {
    {"shfl", decodeShfl},   {"vote", decodeVote}, {"match", decodeMatch}, {"redux", decodeRedux},
    {"activemask", decodeActiveMask}, {"elect", decodeElect}, {"dp4a", decodeDp4a},
    {"dp2a", decodeDp2a}};

} // namespace

DLC_SIM_FAMILY(kExchange);

} // namespace dlc::sim
