#ifndef DLC_RUNTIME_CUDASIM_OPS_CARRY_H
#define DLC_RUNTIME_CUDASIM_OPS_CARRY_H

#include "runtime/cudasim/program/Decoder.h"

namespace dlc::sim {

inline constexpr int kReadsCarry = 1, kWritesCarry = 2;

/// `opcode` is add, sub or mad; what the carry does is taken off it already.
void decodeCarry(Decoder &decoder, Inst &inst, Type type, const std::string &opcode, int mode);

} // namespace dlc::sim

#endif // DLC_RUNTIME_CUDASIM_OPS_CARRY_H
