// cp.async: copies from global to shared memory that a thread waits for later.

#include "runtime/cudasim/ops/Access.h"

namespace dlc::sim {

namespace {

using ptx::Space;

/// The bytes are read when the copy is asked for and arrive when it is waited for:
/// until then the place in shared memory is nobody's.
void copyAsync(Warp &w, const Inst &i, uint32_t active) {
  uint64_t from[kLanes], to[kLanes];
  char *sources[kLanes];
  addressesOf(w, i, to);
  const uint64_t *b = w.in<uint64_t>(i.b);
  const uint32_t *size = w.in<uint32_t>(i.c);
  for (unsigned l = 0; l < kLanes; ++l)
    from[l] = b[l] + uint64_t(int64_t(int32_t(i.target)));
  uint32_t reading = 0;
  forLanes(active, [&](unsigned l) {
    uint32_t filled = size[l];
    if (filled > i.width)
      w.fault(i, kLaunchFailed, int(l), "cp.async of " + std::to_string(filled) + " bytes to " + std::to_string(i.width));
    reading |= uint32_t(filled == i.width) << l;
    if (to[l] % i.width != 0 || from[l] % i.width != 0)
      w.fault(i, kMisalignedAddress, int(l), "misaligned cp.async of " + std::to_string(i.width) + " bytes");
    if (to[l] > w.block->shared.size() || i.width > w.block->shared.size() - to[l])
      w.fault(i, kIllegalAddress, int(l), "invalid cp.async: shared offset " + std::to_string(to[l]) + " of " + std::to_string(w.block->shared.size()) + " bytes");
  });
  if (reading)
    translate(w, i, reading, {Space::Global, AccessKind::Read, i.width, i.width}, from, sources);
  forLanes(active, [&](unsigned l) {
    AsyncCopy copy;
    copy.shared = uint32_t(to[l]);
    copy.bytes = i.width;
    copy.lane = uint8_t(l);
    memset(copy.data, 0, sizeof copy.data);
    uint32_t filled = size[l];
    if (reading >> l & 1) {
      memcpy(copy.data, sources[l], i.width);
    } else {
      for (uint32_t k = 0; k < filled; ++k) { // partial: byte by byte
        uint64_t at[kLanes];
        at[l] = from[l] + k;
        translate(w, i, uint32_t(1) << l, {Space::Global, AccessKind::Read, 1, 1}, at, sources);
        copy.data[k] = uint8_t(*sources[l]);
      }
    }
    uint16_t other = 0;
    if (w.block->launch.options.checksRaces) {
      Hazard hazard = w.block->shared.write(copy.shared, copy.bytes, w.block->sharedAccess(w, l), &other);
      if (hazard != Hazard::None)
        reportHazard(w, i, l, hazard, copy.shared, other);
      w.block->shared.setPending(copy.shared, copy.bytes, true);
    }
    w.copies.open.push_back(copy);
  });
}

void commit(Warp &w, const Inst &, uint32_t active) {
  AsyncCopies::Group group;
  group.lanes = active;
  std::vector<AsyncCopy> left;
  for (const AsyncCopy &copy : w.copies.open)
    (active >> copy.lane & 1 ? group.copies : left).push_back(copy);
  w.copies.open = std::move(left);
  w.copies.groups.push_back(std::move(group));
}

void land(Warp &w, const AsyncCopy &copy) {
  memcpy(w.block->shared.at(copy.shared), copy.data, copy.bytes);
  if (!w.block->launch.options.checksRaces)
    return;
  w.block->shared.setPending(copy.shared, copy.bytes, false);
  // Only the thread that waits sees it; others after a barrier.
  uint16_t other = 0;
  w.block->shared.write(copy.shared, copy.bytes, w.block->sharedAccess(w, copy.lane), &other);
}

/// Lands the groups of each lane but its newest imm ones.
void waitGroup(Warp &w, const Inst &i, uint32_t active) {
  forLanes(active, [&](unsigned l) {
    uint64_t newer = 0;
    for (size_t g = w.copies.groups.size(); g-- > 0;) {
      AsyncCopies::Group &group = w.copies.groups[g];
      if (!(group.lanes >> l & 1) || newer++ < i.imm)
        continue;
      for (const AsyncCopy &copy : group.copies)
        if (copy.lane == l)
          land(w, copy);
      group.lanes &= ~(uint32_t(1) << l);
    }
    if (i.mode == 1) // wait_all: those not committed too
      for (AsyncCopy &copy : w.copies.open)
        if (copy.lane == l && copy.bytes) {
          land(w, copy);
          copy.bytes = 0;
        }
  });
  while (!w.copies.groups.empty() && w.copies.groups.front().lanes == 0)
    w.copies.groups.pop_front();
  if (i.mode == 1)
    std::erase_if(w.copies.open, [](const AsyncCopy &copy) { return copy.bytes == 0; });
}

void decodeCp(Decoder &decoder, Inst &inst) {
  if (!decoder.take("async"))
    decoder.fail(decoder.text() + " is not simulated");
  if (decoder.take("commit_group")) {
    inst.run = commit;
    return;
  }
  bool isGroup = decoder.take("wait_group");
  if (isGroup || decoder.take("wait_all")) {
    inst.mode = !isGroup;
    if (isGroup) {
      decoder.expectOperands(1, 1);
      inst.imm = uint64_t(decoder.operand(0).integer);
    }
    inst.run = waitGroup;
    return;
  }
  decoder.takeAny({"ca", "cg", "L2::64B", "L2::128B", "L2::256B"});
  bool isShared = decoder.take("shared") || decoder.take("shared::cta");
  if (!decoder.take("global") || !isShared)
    decoder.fail(decoder.text() + " is not simulated");
  decoder.expectOperands(3, 4);
  const ptx::Operand &bytes = decoder.operand(2);
  if (bytes.kind != ptx::Operand::Integer || (bytes.integer != 4 && bytes.integer != 8 && bytes.integer != 16))
    decoder.fail(decoder.text() + " copies 4, 8 or 16 bytes");
  Inst source;
  decoder.address(decoder.operand(1), Space::Global, source);
  if (!(source.flags & 1) || int64_t(source.imm) != int32_t(source.imm))
    decoder.fail(decoder.text() + ": the source's address is no 64-bit register");
  decoder.address(decoder.operand(0), Space::Shared, inst);
  inst.b = source.a;
  inst.target = uint32_t(source.imm);
  inst.width = uint8_t(bytes.integer);
  if (decoder.numOperands() == 4 && decoder.operand(3).kind == ptx::Operand::Register && decoder.registerBits(decoder.operand(3)) == 1)
    decoder.fail(decoder.text() + " with a predicate is not simulated");
  inst.c = decoder.numOperands() == 4 ? decoder.in(3, Type::U32) : decoder.constant(uint64_t(bytes.integer), 4);
  inst.run = copyAsync;
}

constexpr Decoding decodings[] = {{"cp", decodeCp}};

} // namespace

DLC_SIM_FAMILY(kCopyAsync);

} // namespace dlc::sim
