// ld, st and prefetches.

#include "runtime/cudasim/ops/Access.h"

namespace dlc::sim {

namespace {

using ptx::Space;

/// Elements of E, sign-extended where E is signed, into registers of R.
template <class R, class E> void load(Warp &w, const Inst &i, uint32_t active) {
  uint64_t addresses[kLanes];
  char *pointers[kLanes];
  addressesOf(w, i, addresses);
  translate(w, i, active, {Space(i.space), AccessKind::Read, unsigned(sizeof(E)) * i.count, unsigned(sizeof(E))}, addresses, pointers);
  for (unsigned k = 0; k < i.count; ++k) {
    R *d = w.out<R>(i.list[k]);
    forLanes(active, [&](unsigned l) {
      E value;
      memcpy(&value, pointers[l] + k * sizeof(E), sizeof(E));
      d[l] = R(value);
    });
  }
}
template <class R, class E> void store(Warp &w, const Inst &i, uint32_t active) {
  uint64_t addresses[kLanes];
  char *pointers[kLanes];
  addressesOf(w, i, addresses);
  translate(w, i, active, {Space(i.space), AccessKind::Write, unsigned(sizeof(E)) * i.count, unsigned(sizeof(E))}, addresses, pointers);
  for (unsigned k = 0; k < i.count; ++k) {
    const R *a = w.in<R>(i.list[k]);
    forLanes(active, [&](unsigned l) {
      E value = E(a[l]);
      memcpy(pointers[l] + k * sizeof(E), &value, sizeof(E));
    });
  }
}

/// A device function's parameters: each lane has its own.
template <class R, class E, bool isStore> void param(Warp &w, const Inst &i, uint32_t active) {
  for (unsigned k = 0; k < i.count; ++k)
    forLanes(active, [&](unsigned l) {
      char *at = w.param(l, i.imm + k * sizeof(E), sizeof(E));
      if (!at)
        w.fault(i, kIllegalAddress, int(l), "a parameter is accessed outside of it");
      R &lane = w.out<R>(i.list[k])[l];
      E value;
      if (isStore) {
        value = E(lane);
        memcpy(at, &value, sizeof(E));
      } else {
        memcpy(&value, at, sizeof(E));
        lane = R(value);
      }
    });
}

template <class R, class E> Handler pickKind(bool isStore, bool isParam) {
  if (isParam)
    return isStore ? param<R, E, true> : param<R, E, false>;
  return isStore ? store<R, E> : load<R, E>;
}
template <class R> Handler pickElement(Type type, bool isStore, bool isParam) {
  bool isSignedType = isSigned(type);
  switch (bitsOf(type)) {
  case 8: return isSignedType ? pickKind<R, int8_t>(isStore, isParam) : pickKind<R, uint8_t>(isStore, isParam);
  case 16: return isSignedType ? pickKind<R, int16_t>(isStore, isParam) : pickKind<R, uint16_t>(isStore, isParam);
  case 32: return isSignedType ? pickKind<R, int32_t>(isStore, isParam) : pickKind<R, uint32_t>(isStore, isParam);
  case 64: return pickKind<R, uint64_t>(isStore, isParam);
  default: return nullptr;
  }
}

void decodeAccess(Decoder &decoder, Inst &inst) {
  bool isStore = decoder.source().opcode == "st";
  // Memory here is as strong as can be; caches and their hints do not exist.
  decoder.takeAny({"nc", "volatile", "relaxed", "acquire", "release", "weak", "cta", "gpu", "sys", "cluster",
                   "ca", "cg", "cs", "cv", "lu", "wb", "wt", "coherent", "mmio",
                   "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L1::evict_normal", "L1::evict_unchanged",
                   "L2::64B", "L2::128B", "L2::256B"});
  Space space = takeSpace(decoder);
  int vector = decoder.takeOne({"v2", "v4", "v8"});
  inst.count = uint8_t(vector < 0 ? 1 : 2 << vector);
  Type type = decoder.takeType();
  decoder.expectOperands(2, 2);
  const ptx::Operand &data = decoder.operand(isStore ? 1 : 0), &where = decoder.operand(isStore ? 0 : 1);
  decoder.address(where, space, inst);
  std::vector<ptx::Operand> parts = vector < 0 ? std::vector<ptx::Operand>{data} : data.parts;
  if (parts.size() != inst.count || inst.count * bitsOf(type) > 128)
    decoder.fail(decoder.text() + ": " + std::to_string(parts.size()) + " elements");
  unsigned bits = bitsOf(type) < 16 ? 16 : bitsOf(type);
  for (const ptx::Operand &part : parts)
    if (unsigned has = part.kind == ptx::Operand::Register ? decoder.registerBits(part) : 0; has > bits)
      bits = has;
  Type carrier = bits == 16 ? Type::B16 : bits == 32 ? Type::B32 : Type::B64;
  std::vector<Ref> refs;
  for (const ptx::Operand &part : parts) {
    bool isNumber = part.kind == ptx::Operand::Integer || part.kind == ptx::Operand::Float || part.kind == ptx::Operand::Double;
    Type partType = isNumber && isFloat(type) ? type : carrier;
    refs.push_back(isStore ? decoder.in(part, partType) : decoder.out(part, carrier));
  }
  inst.list = decoder.list(refs);
  bool isParam = false;
  if (space == Space::Param) {
    auto named = decoder.symbol(where.name);
    isParam = named && named->kind == Symbol::Param;
    if (!named && !where.name.empty() && !decoder.registerBits(where))
      decoder.fail(decoder.text() + ": '" + where.name + "' is not known");
  }
  inst.space = uint8_t(space);
  inst.run = bits == 16 ? pickElement<uint16_t>(type, isStore, isParam)
             : bits == 32 ? pickElement<uint32_t>(type, isStore, isParam)
                          : pickElement<uint64_t>(type, isStore, isParam);
}

void nothing(Warp &, const Inst &, uint32_t) {}

/// Hints: they change no value.
void decodePrefetch(Decoder &decoder, Inst &inst) {
  decoder.takeAny({"global", "local", "L1", "L2", "tensormap", "L2::evict_last", "L2::evict_normal"});
  inst.run = nothing;
}

constexpr Decoding decodings[] = {
    {"ld", decodeAccess}, {"ldu", decodeAccess}, {"st", decodeAccess}, {"prefetch", decodePrefetch}, {"prefetchu", decodePrefetch}};

} // namespace

DLC_SIM_FAMILY(kMemory);

} // namespace dlc::sim
