// From a lane's address to the host's memory, with every check on the way.

#ifndef DLC_RUNTIME_CUDASIM_OPS_ACCESS_H
#define DLC_RUNTIME_CUDASIM_OPS_ACCESS_H

#include "runtime/cudasim/ops/Lanes.h"

namespace dlc::sim {

enum class AccessKind : uint8_t { Read, Write, Atomic };

struct Access {
  ptx::Space space = ptx::Space::Generic;
  AccessKind kind = AccessKind::Read;
  unsigned bytes = 0;        // of the whole access of a lane
  unsigned elementBytes = 0; // of what is read or written at once
};

/// Host pointers of active lanes, or a fault. Marks and checks what was written.
void translate(Warp &warp, const Inst &inst, uint32_t active, const Access &access,
               const uint64_t *addresses, char **pointers);

/// base register + offset
void addressesOf(Warp &warp, const Inst &inst, uint64_t *addresses);

/// A hazard in shared memory becomes a finding.
void reportHazard(Warp &warp, const Inst &inst, unsigned lane, Hazard hazard, uint32_t offset,
                  uint16_t other);

/// What a decoder's `.global`, `.shared::cta`, ... or none of them says.
ptx::Space takeSpace(Decoder &decoder);

} // namespace dlc::sim

#endif // DLC_RUNTIME_CUDASIM_OPS_ACCESS_H
