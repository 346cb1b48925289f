// Integer arithmetic: add, sub, mul, mad, div, rem, min, max, abs, neg.

#include "runtime/cudasim/ops/Carry.h"
#include "runtime/cudasim/ops/Lanes.h"

namespace dlc::sim {

namespace {

template <class T> struct WideOf;
template <> struct WideOf<uint16_t> { using type = uint32_t; };
template <> struct WideOf<int16_t> { using type = int32_t; };
template <> struct WideOf<uint32_t> { using type = uint64_t; };
template <> struct WideOf<int32_t> { using type = int64_t; };
template <> struct WideOf<uint64_t> { using type = unsigned __int128; };
template <> struct WideOf<int64_t> { using type = __int128; };
template <class T> using Wide = typename WideOf<T>::type;
template <class T> using Unsigned = std::make_unsigned_t<T>;

struct Add {
  template <class T> static T apply(T a, T b) { return T(Unsigned<T>(a) + Unsigned<T>(b)); }
};
struct Sub {
  template <class T> static T apply(T a, T b) { return T(Unsigned<T>(a) - Unsigned<T>(b)); }
};
struct AddSat {
  static int32_t apply(int32_t a, int32_t b) { return clamp(int64_t(a) + b); }
  static int32_t clamp(int64_t x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : int32_t(x); }
};
struct SubSat {
  static int32_t apply(int32_t a, int32_t b) { return AddSat::clamp(int64_t(a) - b); }
};
struct MulLo {
  template <class T> static T apply(T a, T b) { return T(uint64_t(a) * uint64_t(b)); }
};
struct MulHi {
  template <class T> static T apply(T a, T b) { return T((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T))); }
};
struct MulWide {
  template <class T> static Wide<T> apply(T a, T b) { return Wide<T>(a) * Wide<T>(b); }
};
struct Mul24 {
  template <class T> static T low(T a) { return T(Unsigned<T>(a) << 8) >> 8; }
  template <class T> static T apply(T a, T b) { return T(int64_t(low(a)) * int64_t(low(b))); }
};
// Division by zero gives all ones, as the hardware does.
struct Div {
  template <class T> static T apply(T a, T b) {
    if (b == 0)
      return T(-1);
    if (std::is_signed_v<T> && b == T(-1))
      return T(0 - Unsigned<T>(a));
    return T(a / b);
  }
};
struct Rem {
  template <class T> static T apply(T a, T b) {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == T(-1))
      return 0;
    return T(a % b);
  }
};
struct Min {
  template <class T> static T apply(T a, T b) { return a < b ? a : b; }
};
struct Max {
  template <class T> static T apply(T a, T b) { return a > b ? a : b; }
};
struct Abs {
  template <class T> static T apply(T a) { return a < 0 ? T(0 - Unsigned<T>(a)) : a; }
};
struct Neg {
  template <class T> static T apply(T a) { return T(0 - Unsigned<T>(a)); }
};
struct Sad {
  template <class T> static T apply(T a, T b, T c) { return Add::apply<T>(c, a < b ? Sub::apply<T>(b, a) : Sub::apply<T>(a, b)); }
};
template <class Multiply> struct Mad {
  template <class T, class C> static C apply(T a, T b, C c) { return Add::apply<C>(C(Multiply::apply(a, b)), c); }
};

template <class Op> Handler pickBinary(Type type) {
  switch (type) {
  case Type::U16: return binary<Op, uint16_t, uint16_t>;
  case Type::S16: return binary<Op, int16_t, int16_t>;
  case Type::U32: return binary<Op, uint32_t, uint32_t>;
  case Type::S32: return binary<Op, int32_t, int32_t>;
  case Type::U64: return binary<Op, uint64_t, uint64_t>;
  case Type::S64: return binary<Op, int64_t, int64_t>;
  default: return nullptr;
  }
}
template <class Op> Handler pickSigned(Type type) {
  switch (type) {
  case Type::S16: return unary<Op, int16_t, int16_t>;
  case Type::S32: return unary<Op, int32_t, int32_t>;
  case Type::S64: return unary<Op, int64_t, int64_t>;
  default: return nullptr;
  }
}
template <class Op> Handler pickTernary(Type type) {
  switch (type) {
  case Type::U16: return ternary<Op, uint16_t, uint16_t>;
  case Type::S16: return ternary<Op, int16_t, int16_t>;
  case Type::U32: return ternary<Op, uint32_t, uint32_t>;
  case Type::S32: return ternary<Op, int32_t, int32_t>;
  case Type::U64: return ternary<Op, uint64_t, uint64_t>;
  case Type::S64: return ternary<Op, int64_t, int64_t>;
  default: return nullptr;
  }
}
Type twice(Type type) {
  return type == Type::U16 ? Type::U32 : type == Type::S16 ? Type::S32
       : type == Type::U32 ? Type::U64 : type == Type::S32 ? Type::S64 : Type::Pred;
}

} // namespace

// Called by the decoders of `add` and so on, which look at floats first.
bool decodeInteger(Decoder &decoder, Inst &inst, Type type, const std::string &opcode) {
  if (isFloat(type))
    return false;
  if (decoder.take("cc")) {
    decodeCarry(decoder, inst, type, opcode, kWritesCarry);
  } else if (opcode == "add" || opcode == "sub") {
    bool isAdd = opcode == "add";
    if (decoder.take("sat")) {
      if (type == Type::S32)
        inst.run = isAdd ? binary<AddSat, int32_t, int32_t> : binary<SubSat, int32_t, int32_t>;
    } else {
      inst.run = isAdd ? pickBinary<Add>(type) : pickBinary<Sub>(type);
    }
    operands(decoder, inst, type, type, 2);
  } else if (opcode == "mul" || opcode == "mad") {
    int half = decoder.takeOne({"lo", "hi", "wide"});
    bool isMad = opcode == "mad";
    if (half < 0)
      decoder.fail(decoder.text() + " needs .lo, .hi or .wide");
    if (half == 2) {
      Type wide = twice(type);
      if (wide == Type::Pred)
        decoder.fail(decoder.text() + " has no wider type");
      inst.run = type == Type::U16 ? (isMad ? Handler(ternary<Mad<MulWide>, uint32_t, uint16_t>) : binary<MulWide, uint32_t, uint16_t>)
               : type == Type::S16 ? (isMad ? Handler(ternary<Mad<MulWide>, int32_t, int16_t>) : binary<MulWide, int32_t, int16_t>)
               : type == Type::U32 ? (isMad ? Handler(ternary<Mad<MulWide>, uint64_t, uint32_t>) : binary<MulWide, uint64_t, uint32_t>)
                                   : (isMad ? Handler(ternary<Mad<MulWide>, int64_t, int32_t>) : binary<MulWide, int64_t, int32_t>);
      operands(decoder, inst, wide, type, isMad ? 3 : 2);
    } else {
      inst.run = half == 0 ? (isMad ? pickTernary<Mad<MulLo>>(type) : pickBinary<MulLo>(type))
                           : (isMad ? pickTernary<Mad<MulHi>>(type) : pickBinary<MulHi>(type));
      operands(decoder, inst, type, type, isMad ? 3 : 2);
    }
  } else if (opcode == "mul24" || opcode == "mad24") {
    if (decoder.takeOne({"lo"}) < 0)
      decoder.fail(decoder.text() + " is not simulated");
    bool isSignedType = type == Type::S32, isMad = opcode == "mad24";
    inst.run = isSignedType ? (isMad ? Handler(ternary<Mad<Mul24>, int32_t, int32_t>) : binary<Mul24, int32_t, int32_t>)
                            : (isMad ? Handler(ternary<Mad<Mul24>, uint32_t, uint32_t>) : binary<Mul24, uint32_t, uint32_t>);
    operands(decoder, inst, type, type, isMad ? 3 : 2);
  } else if (opcode == "sad") {
    inst.run = pickTernary<Sad>(type);
    operands(decoder, inst, type, type, 3);
  } else if (opcode == "abs" || opcode == "neg") {
    inst.run = opcode == "abs" ? pickSigned<Abs>(type) : pickSigned<Neg>(type);
    operands(decoder, inst, type, type, 1);
  } else {
    inst.run = opcode == "div"   ? pickBinary<Div>(type)
               : opcode == "rem" ? pickBinary<Rem>(type)
               : opcode == "min" ? pickBinary<Min>(type)
               : opcode == "max" ? pickBinary<Max>(type)
                                 : nullptr;
    operands(decoder, inst, type, type, 2);
  }
  return true;
}

} // namespace dlc::sim
