#include "runtime/cudasim/ops/Access.h"

namespace dlc::sim {

namespace {

using ptx::Space;

std::string accessText(const Access &access, const char *space) {
  const char *kind = access.kind == AccessKind::Read ? "read" : access.kind == AccessKind::Write ? "write" : "atomic";
  return std::string(space) + " memory " + kind + " of " + std::to_string(access.bytes) + " bytes";
}

void checkAligned(Warp &w, const Inst &i, unsigned lane, const Access &access, uint64_t address, const char *space) {
  if (address % access.bytes == 0)
    return;
  char text[64];
  snprintf(text, sizeof text, ": address 0x%llx", (unsigned long long)address);
  w.fault(i, kMisalignedAddress, int(lane), "misaligned " + accessText(access, space) + text);
}

bool isWritten(const DeviceMemory &memory, uint64_t address, unsigned bytes) {
  return bytes <= 8 ? memory.isWrittenElement(address, bytes)
                    : memory.isWrittenElement(address, 8) && memory.isWrittenElement(address + 8, 8);
}

void global(Warp &w, const Inst &i, uint32_t active, const Access &access, const uint64_t *addresses, char **pointers) {
  Block &block = *w.block;
  DeviceMemory &memory = block.memory();
  const Allocation *last = nullptr;
  const bool checksWritten = block.launch.options.checksUninitialized && access.kind != AccessKind::Write;
  AccessObserver *observer = block.launch.observer;
  forLanes(active, [&](unsigned l) {
    uint64_t address = addresses[l];
    if (!last || address < last->address || address + access.bytes > last->address + last->bytes) {
      const Allocation *found = memory.find(address);
      if (!found || found->state != Allocation::Live || address + access.bytes > found->address + found->bytes)
        w.fault(i, kIllegalAddress, int(l), "invalid " + accessText(access, "global") + ": " + memory.complaint(address, access.bytes));
      last = found;
    }
    checkAligned(w, i, l, access, address, "global");
    if (checksWritten && !isWritten(memory, address, access.bytes))
      w.finding(i, int(l), "uninitialised " + accessText(access, "global") + " at offset " + std::to_string(address - last->address) +
                               " of an allocation of " + std::to_string(last->bytes) + " bytes: nothing was written there");
    if (access.kind == AccessKind::Write)
      for (unsigned at = 0; at < access.bytes; at += 8)
        memory.markWrittenElement(address + at, access.bytes < 8 ? access.bytes : 8);
    if (observer)
      if (std::string race = observer->access(address, access.bytes, access.kind != AccessKind::Read); !race.empty())
        w.finding(i, int(l), accessText(access, "global") + " is not ordered after " + race);
    pointers[l] = reinterpret_cast<char *>(address);
  });
}

void shared(Warp &w, const Inst &i, uint32_t active, const Access &access, const uint64_t *addresses, char **pointers) {
  Block &block = *w.block;
  SharedMemory &memory = block.shared;
  const bool checks = block.launch.options.checksRaces;
  forLanes(active, [&](unsigned l) {
    uint64_t address = addresses[l];
    if (address > memory.size() || access.bytes > memory.size() - address)
      w.fault(i, kIllegalAddress, int(l), "invalid " + accessText(access, "shared") + ": offset " + std::to_string(address) +
                                              " of " + std::to_string(memory.size()) + " bytes");
    checkAligned(w, i, l, access, address, "shared");
    pointers[l] = memory.at(uint32_t(address));
    if (!checks)
      return;
    SharedAccess who = block.sharedAccess(w, l);
    uint16_t other = 0;
    Hazard hazard = access.kind == AccessKind::Read    ? memory.read(uint32_t(address), access.bytes, who, &other)
                    : access.kind == AccessKind::Write ? memory.write(uint32_t(address), access.bytes, who, &other)
                                                       : memory.atomic(uint32_t(address), access.bytes, who, &other);
    if (hazard != Hazard::None)
      reportHazard(w, i, l, hazard, uint32_t(address), other);
  });
}

void local(Warp &w, const Inst &i, uint32_t active, const Access &access, const uint64_t *addresses, char **pointers) {
  forLanes(active, [&](unsigned l) {
    pointers[l] = w.local(l, addresses[l], access.bytes);
    if (!pointers[l])
      w.fault(i, kIllegalAddress, int(l), "invalid " + accessText(access, "local") + ": offset " + std::to_string(int64_t(addresses[l])));
    checkAligned(w, i, l, access, addresses[l], "local");
  });
}

/// A kernel's parameters, the same for all lanes.
void entryParam(Warp &w, const Inst &i, uint32_t active, const Access &access, const uint64_t *addresses, char **pointers) {
  std::vector<char> &params = w.block->launch.params;
  forLanes(active, [&](unsigned l) {
    if (access.kind != AccessKind::Read || addresses[l] > params.size() || access.bytes > params.size() - addresses[l])
      w.fault(i, kIllegalAddress, int(l), "invalid " + accessText(access, "parameter") + ": offset " + std::to_string(addresses[l]));
    pointers[l] = params.data() + addresses[l];
  });
}

void generic(Warp &w, const Inst &i, uint32_t active, const Access &access, const uint64_t *addresses, char **pointers) {
  static constexpr Space spaces[] = {Space::Global, Space::Shared, Space::Local, Space::Param};
  for (uint64_t window = 0; window < 4; ++window) {
    uint32_t lanes = 0;
    uint64_t offsets[kLanes];
    forLanes(active, [&](unsigned l) {
      if (addresses[l] >> kWindowBits == window) {
        lanes |= uint32_t(1) << l;
        offsets[l] = addresses[l] - (window << kWindowBits);
      }
    });
    active &= ~lanes;
    Access part = access;
    part.space = spaces[window];
    if (lanes)
      translate(w, i, lanes, part, offsets, pointers);
  }
  if (active) {
    unsigned lane = unsigned(__builtin_ctz(active));
    w.fault(i, kIllegalAddress, int(lane), "invalid " + accessText(access, "generic") + ": " + w.block->memory().complaint(addresses[lane], access.bytes));
  }
}

} // namespace

void reportHazard(Warp &w, const Inst &i, unsigned lane, Hazard hazard, uint32_t offset, uint16_t other) {
  std::string at = " at shared offset " + std::to_string(offset);
  std::string who = " by thread " + w.block->threadName(other) + " without a barrier between them";
  switch (hazard) {
  case Hazard::ReadAfterWrite: return w.finding(i, int(lane), "shared memory race: read" + at + " after a write" + who);
  case Hazard::WriteAfterWrite: return w.finding(i, int(lane), "shared memory race: write" + at + " after a write" + who);
  case Hazard::WriteAfterRead: return w.finding(i, int(lane), "shared memory race: write" + at + " after a read" + who);
  case Hazard::Pending: return w.finding(i, int(lane), "access" + at + " before an asynchronous copy (cp.async) to it was waited for");
  case Hazard::Uninitialized: return w.finding(i, int(lane), "uninitialised shared memory read" + at + ": nothing was written there");
  case Hazard::None: return;
  }
}

void addressesOf(Warp &w, const Inst &i, uint64_t *addresses) {
  if (i.flags & 1) {
    const uint64_t *a = w.in<uint64_t>(i.a);
    for (unsigned l = 0; l < kLanes; ++l)
      addresses[l] = a[l] + i.imm;
    return;
  }
  const uint32_t *a = w.in<uint32_t>(i.a);
  for (unsigned l = 0; l < kLanes; ++l)
    addresses[l] = a[l] + i.imm;
}

void translate(Warp &w, const Inst &i, uint32_t active, const Access &access, const uint64_t *addresses, char **pointers) {
  switch (access.space) {
  case Space::Global:
  case Space::Const: return global(w, i, active, access, addresses, pointers);
  case Space::Shared: return shared(w, i, active, access, addresses, pointers);
  case Space::Local: return local(w, i, active, access, addresses, pointers);
  case Space::Param: return entryParam(w, i, active, access, addresses, pointers);
  default: return generic(w, i, active, access, addresses, pointers);
  }
}

Space takeSpace(Decoder &decoder) {
  static constexpr Space spaces[] = {Space::Global, Space::Const, Space::Shared, Space::Shared,
                                     Space::Local, Space::Param, Space::Param, Space::Param};
  int which = decoder.takeOne({"global", "const", "shared", "shared::cta", "local", "param", "param::entry", "param::func"});
  return which < 0 ? Space::Generic : spaces[which];
}

} // namespace dlc::sim
