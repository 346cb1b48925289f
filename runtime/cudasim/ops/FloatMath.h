// Lane loops for floats: NaN results are the hardware's one NaN; flushing of
// subnormals and saturation where asked for.

#ifndef DLC_RUNTIME_CUDASIM_OPS_FLOATMATH_H
#define DLC_RUNTIME_CUDASIM_OPS_FLOATMATH_H

#include "runtime/cudasim/ops/Lanes.h"
#include "runtime/cudasim/ops/Narrow.h"

namespace dlc::sim {

inline float canonical(float x) { return x == x ? x : bitsTo<float>(0x7fffffffu); }
inline double canonical(double x) { return x == x ? x : bitsTo<double>(uint64_t(0x7fffffffffffffff)); }

inline float flush(float x) {
  uint32_t bits = bitsTo<uint32_t>(x);
  return bits & 0x7f800000u ? x : bitsTo<float>(bits & 0x80000000u);
}
inline double flush(double x) { return x; } // doubles are never flushed
template <class T> T saturate(T x) { return x != x ? T(0) : x < 0 ? T(0) : x > 1 ? T(1) : x; }

template <bool isSpecial, class T> T input(T x, uint8_t flags) {
  return isSpecial && (flags & 1) ? flush(x) : x;
}
template <bool isSpecial, class T> T output(T x, uint8_t flags) {
  if (isSpecial && (flags & 1))
    x = flush(x);
  if (isSpecial && (flags & 2))
    x = saturate(x);
  return canonical(x);
}

template <class Op, class T, bool isSpecial> void float1(Warp &w, const Inst &i, uint32_t active) {
  const T *a = w.in<T>(i.a);
  uint8_t f = i.flags;
  each(w.out<T>(i.d), active, [=](unsigned l) {
    return output<isSpecial>(T(Op::apply(input<isSpecial>(a[l], f))), f);
  });
}
template <class Op, class T, bool isSpecial> void float2(Warp &w, const Inst &i, uint32_t active) {
  const T *a = w.in<T>(i.a), *b = w.in<T>(i.b);
  uint8_t f = i.flags;
  each(w.out<T>(i.d), active, [=](unsigned l) {
    return output<isSpecial>(Op::apply(input<isSpecial>(a[l], f), input<isSpecial>(b[l], f)), f);
  });
}
template <class Op, class T, bool isSpecial> void float3(Warp &w, const Inst &i, uint32_t active) {
  const T *a = w.in<T>(i.a), *b = w.in<T>(i.b), *c = w.in<T>(i.c);
  uint8_t f = i.flags;
  each(w.out<T>(i.d), active, [=](unsigned l) {
    return output<isSpecial>(
        Op::apply(input<isSpecial>(a[l], f), input<isSpecial>(b[l], f), input<isSpecial>(c[l], f)), f);
  });
}

/// The handler of add, sub, mul, div, fma, rcp or sqrt that rounds down, up or to zero.
Handler directedHandler(const std::string &opcode, bool isDouble, Rounding rounding, Inst &inst);

/// Sets the processor's rounding for a scope. What is computed inside must be opaque to
/// the compiler, which takes rounding to be fixed.
class RoundingScope {
public:
  explicit RoundingScope(Rounding rounding) : saved(read()) {
    static constexpr unsigned bits[] = {0, 3, 1, 2, 0};
    write((saved & ~0x6000u) | bits[unsigned(rounding)] << 13);
  }
  ~RoundingScope() { write(saved); }

private:
  static unsigned read() {
    unsigned value;
    asm volatile("stmxcsr %0" : "=m"(value));
    return value;
  }
  static void write(unsigned value) { asm volatile("ldmxcsr %0" : : "m"(value)); }
  unsigned saved;
};

} // namespace dlc::sim

#endif // DLC_RUNTIME_CUDASIM_OPS_FLOATMATH_H
