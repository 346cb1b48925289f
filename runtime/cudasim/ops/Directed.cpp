// Arithmetic that rounds down, up or to zero: the processor's rounding is changed, and
// the operations are assembly, so that no compiler moves or folds them.

#include "runtime/cudasim/ops/FloatMath.h"

namespace dlc::sim {

namespace {

#define DLC_SIM_OPAQUE(Name, single, twice)                                                   \
  struct Name {                                                                               \
    static float apply(float a, float b, float) {                                             \
      asm volatile(single " %1, %0, %0" : "+x"(a) : "x"(b));                                  \
      return a;                                                                               \
    }                                                                                         \
    static double apply(double a, double b, double) {                                         \
      asm volatile(twice " %1, %0, %0" : "+x"(a) : "x"(b));                                   \
      return a;                                                                               \
    }                                                                                         \
  };
DLC_SIM_OPAQUE(AddD, "vaddss", "vaddsd")
DLC_SIM_OPAQUE(SubD, "vsubss", "vsubsd")
DLC_SIM_OPAQUE(MulD, "vmulss", "vmulsd")
DLC_SIM_OPAQUE(DivD, "vdivss", "vdivsd")
#undef DLC_SIM_OPAQUE

struct FmaD {
  static float apply(float a, float b, float c) {
    asm volatile("vfmadd213ss %2, %1, %0" : "+x"(a) : "x"(b), "x"(c)); // a = b * a + c
    return a;
  }
  static double apply(double a, double b, double c) {
    asm volatile("vfmadd213sd %2, %1, %0" : "+x"(a) : "x"(b), "x"(c));
    return a;
  }
};
struct RcpD {
  template <class T> static T apply(T a, T, T) { return DivD::apply(T(1), a, a); }
};
struct SqrtD {
  static float apply(float a, float, float) {
    asm volatile("vsqrtss %0, %0, %0" : "+x"(a));
    return a;
  }
  static double apply(double a, double, double) {
    asm volatile("vsqrtsd %0, %0, %0" : "+x"(a));
    return a;
  }
};

template <class Op, class T, int sources> void directed(Warp &w, const Inst &i, uint32_t active) {
  const T *a = w.in<T>(i.a), *b = sources > 1 ? w.in<T>(i.b) : a, *c = sources > 2 ? w.in<T>(i.c) : a;
  T *d = w.out<T>(i.d);
  T results[kLanes];
  uint8_t f = i.flags;
  {
    RoundingScope scope(Rounding(i.mode));
    for (unsigned l = 0; l < kLanes; ++l)
      results[l] = Op::apply(input<true>(a[l], f), input<true>(b[l], f), input<true>(c[l], f));
  }
  forLanes(active, [&](unsigned l) { d[l] = output<true>(results[l], f); });
}

template <class Op, int sources> Handler pick(bool isDouble) {
  return isDouble ? directed<Op, double, sources> : directed<Op, float, sources>;
}

} // namespace

Handler directedHandler(const std::string &opcode, bool isDouble, Rounding rounding, Inst &inst) {
  inst.mode = uint8_t(rounding);
  return opcode == "add"    ? pick<AddD, 2>(isDouble)
         : opcode == "sub"  ? pick<SubD, 2>(isDouble)
         : opcode == "mul"  ? pick<MulD, 2>(isDouble)
         : opcode == "div"  ? pick<DivD, 2>(isDouble)
         : opcode == "fma"  ? pick<FmaD, 3>(isDouble)
         : opcode == "mad"  ? pick<FmaD, 3>(isDouble)
         : opcode == "rcp"  ? pick<RcpD, 1>(isDouble)
         : opcode == "sqrt" ? pick<SqrtD, 1>(isDouble)
                            : nullptr;
}

} // namespace dlc::sim
