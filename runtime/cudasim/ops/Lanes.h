// Loops over the 32 lanes, written so that compilers turn them into vectors.

#ifndef DLC_RUNTIME_CUDASIM_OPS_LANES_H
#define DLC_RUNTIME_CUDASIM_OPS_LANES_H

#include "runtime/cudasim/machine/Block.h"
#include "runtime/cudasim/program/Decoder.h"

#include <cstring>
#include <limits>

#ifdef __clang__
#define DLC_SIM_VECTOR _Pragma("clang loop vectorize(assume_safety)")
#else
#define DLC_SIM_VECTOR _Pragma("GCC ivdep")
#endif

namespace dlc::sim {

template <class To, class From> To bitsTo(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

/// d[lane] = f(lane) in active lanes; `f` has no side effects and may run in others.
template <class D, class F> inline void each(D *d, uint32_t active, F f) {
  if (active == kAllLanes) {
    DLC_SIM_VECTOR
    for (unsigned lane = 0; lane < kLanes; ++lane)
      d[lane] = f(lane);
    return;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (active >> lane & 1)
      d[lane] = f(lane);
}

template <class F> inline void forLanes(uint32_t active, F f) {
  for (uint32_t left = active; left; left &= left - 1)
    f(unsigned(__builtin_ctz(left)));
}

inline void setPredicate(Warp &warp, Ref ref, uint32_t active, uint32_t bits) {
  uint32_t &word = *warp.out<uint32_t>(ref);
  word = (word & ~active) | (bits & active);
}

/// One bit a lane for which `f` holds.
template <class F> inline uint32_t ballot(F f) {
  uint8_t holds[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    holds[lane] = f(lane);
  uint32_t bits = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    bits |= uint32_t(holds[lane]) << lane;
  return bits;
}

template <class Op, class D, class A> void unary(Warp &w, const Inst &i, uint32_t active) {
  const A *a = w.in<A>(i.a);
  each(w.out<D>(i.d), active, [=](unsigned l) { return D(Op::apply(a[l])); });
}
template <class Op, class D, class A, class B = A> void binary(Warp &w, const Inst &i, uint32_t active) {
  const A *a = w.in<A>(i.a);
  const B *b = w.in<B>(i.b);
  each(w.out<D>(i.d), active, [=](unsigned l) { return D(Op::apply(a[l], b[l])); });
}
template <class Op, class D, class A, class C = D> void ternary(Warp &w, const Inst &i, uint32_t active) {
  const A *a = w.in<A>(i.a), *b = w.in<A>(i.b);
  const C *c = w.in<C>(i.c);
  each(w.out<D>(i.d), active, [=](unsigned l) { return D(Op::apply(a[l], b[l], c[l])); });
}

/// d, a, b, c in this order, as many as the instruction has.
inline void operands(Decoder &decoder, Inst &inst, Type d, Type a, unsigned sources) {
  decoder.expectOperands(sources + 1, sources + 1);
  inst.d = decoder.out(0, d);
  inst.a = decoder.in(1, a);
  if (sources > 1)
    inst.b = decoder.in(2, a);
  if (sources > 2)
    inst.c = decoder.in(3, d);
}

} // namespace dlc::sim

#endif // DLC_RUNTIME_CUDASIM_OPS_LANES_H
