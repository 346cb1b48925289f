// Arithmetic on numbers of several words: add.cc, addc, sub.cc, subc, mad.cc, madc. The
// carry is one bit a lane.

#include "runtime/cudasim/ops/Carry.h"
#include "runtime/cudasim/ops/Lanes.h"

namespace dlc::sim {

namespace {

enum class First { Operand, LowProduct, HighProduct };

/// What the carry joins: a, or half of a * b.
template <class T, First first> T firstOf(T a, T b) {
  using Wide = std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                                  std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
  if (first == First::Operand)
    return a;
  Wide product = Wide(a) * Wide(b);
  return first == First::LowProduct ? T(product) : T(product >> (8 * sizeof(T)));
}

/// first + last + carry, or first - last - borrow.
template <class T, First first, bool isSub> void withCarry(Warp &w, const Inst &i, uint32_t active) {
  using Word = std::make_unsigned_t<T>;
  const T *a = w.in<T>(i.a), *b = w.in<T>(i.b);
  const T *last = first == First::Operand ? b : w.in<T>(i.c);
  T *d = w.out<T>(i.d);
  bool isRead = i.mode & kReadsCarry, isWritten = i.mode & kWritesCarry;
  forLanes(active, [&](unsigned lane) {
    Word carry = isRead ? w.carries >> lane & 1 : 0;
    Word x = Word(firstOf<T, first>(a[lane], b[lane])), y = Word(last[lane]), part;
    bool out = isSub ? __builtin_sub_overflow(x, y, &part) : __builtin_add_overflow(x, y, &part);
    out |= isSub ? __builtin_sub_overflow(part, carry, &part) : __builtin_add_overflow(part, carry, &part);
    d[lane] = T(part);
    if (isWritten)
      w.carries = (w.carries & ~(1u << lane)) | uint32_t(out) << lane;
  });
}

template <First first, bool isSub> Handler pick(Type type) {
  switch (type) {
  case Type::U32: return withCarry<uint32_t, first, isSub>;
  case Type::S32: return withCarry<int32_t, first, isSub>;
  case Type::U64: return withCarry<uint64_t, first, isSub>;
  case Type::S64: return withCarry<int64_t, first, isSub>;
  default: return nullptr;
  }
}

/// addc, subc, madc
void decodeWithCarry(Decoder &decoder, Inst &inst) {
  std::string opcode = decoder.source().opcode;
  opcode.pop_back();
  bool isWritten = decoder.take("cc");
  decodeCarry(decoder, inst, decoder.takeType(), opcode, kReadsCarry | (isWritten ? kWritesCarry : 0));
}

constexpr Decoding decodings[] = {
    {"addc", decodeWithCarry}, {"subc", decodeWithCarry}, {"madc", decodeWithCarry}};

} // namespace

void decodeCarry(Decoder &decoder, Inst &inst, Type type, const std::string &opcode, int mode) {
  inst.mode = uint8_t(mode);
  if (opcode == "mad") {
    int half = decoder.takeOne({"lo", "hi"});
    if (half < 0)
      decoder.fail(decoder.text() + " needs .lo or .hi");
    inst.run = half == 0 ? pick<First::LowProduct, false>(type) : pick<First::HighProduct, false>(type);
    return operands(decoder, inst, type, type, 3);
  }
  inst.run = opcode == "sub" ? pick<First::Operand, true>(type) : pick<First::Operand, false>(type);
  operands(decoder, inst, type, type, 2);
}

DLC_SIM_FAMILY(kCarry);

} // namespace dlc::sim
