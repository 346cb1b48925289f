#include "runtime/cudasim/machine/Warp.h"

#include "runtime/cudasim/machine/Block.h"

#include <algorithm>
#include <cstring>

namespace dlc::sim {

namespace {

constexpr uint32_t kNever = ~uint32_t(0);
constexpr uint64_t kMostLocalBytes = 512 << 10; // of a thread, as the hardware has
constexpr size_t kMostFrames = 4096;

} // namespace

void Warp::start(Block &owner, const Code &entry, uint32_t warpIndex, uint32_t lanes) {
  block = &owner;
  index = warpIndex;
  present = lanes;
  exited = 0;
  state = WarpState::Ready;
  copies.clear();
  syncEpoch = 0;
  executed = 0;
  localBytesPerLane = 0;
  localMemory.clear();
  localValid.clear();
  while (!frames.empty()) {
    spare.push_back(std::move(frames.back()));
    frames.pop_back();
  }
  base[Ref::Constant] = const_cast<char *>(owner.program().constants.data());
  base[Ref::Special] = specials;
  owner.fillSpecials(*this, reinterpret_cast<uint32_t *>(specials));
  enter(entry, lanes);
}

void Warp::enter(const Code &entered, uint32_t lanes) {
  uint64_t localBase = frames.empty() ? 0 : frames.back().localBase + frames.back().code->localBytes;
  localBase = (localBase + 15) / 16 * 16;
  Frame frame;
  if (!spare.empty()) {
    frame = std::move(spare.back());
    spare.pop_back();
  }
  if (frame.capacity < entered.registerBytes) {
    frame.registers.reset(static_cast<char *>(aligned_alloc(64, (entered.registerBytes + 63) / 64 * 64)));
    if (!frame.registers)
      throw Fault{kOutOfMemory, "out of host memory for registers"};
    frame.capacity = entered.registerBytes;
  }
  memset(frame.registers.get(), 0, entered.registerBytes);
  frame.params.assign(size_t(entered.paramBytes) * kLanes, 0);
  frame.groups.clear();
  frame.code = &entered;
  frame.localBase = localBase;
  frame.call = nullptr;
  frames.push_back(std::move(frame));
  growLocal(localBase + entered.localBytes);
  useFrame();
  pc = 0;
  current = lanes;
  next = kNever;
}

void Warp::useFrame() {
  base[Ref::Frame] = frames.back().registers.get();
  code = frames.back().code->code.data();
}

void Warp::run(uint64_t budget) {
  while (budget-- > 0) {
    const Inst &inst = code[pc];
    uint32_t active = current;
    if (inst.guard != kNoGuard) {
      uint32_t predicate = *reinterpret_cast<const uint32_t *>(base[Ref::Frame] + inst.guard);
      active &= inst.isGuardNegated ? ~predicate : predicate;
    }
    ++pc;
    if (active) {
      executed += unsigned(__builtin_popcount(active));
      inst.run(*this, inst, active);
    }
    if (pc >= next || current == 0) {
      reschedule();
      if (state != WarpState::Ready)
        return;
    }
  }
}

/// Adds lanes to the group at a place, or makes one.
void Warp::park(uint32_t atPc, uint32_t lanes, bool isBlocked) {
  if (lanes == 0)
    return;
  for (Group &group : frames.back().groups)
    if (group.pc == atPc) {
      // Who waited there for others looks again.
      group.mask |= lanes;
      group.isBlocked = false;
      return;
    }
  frames.back().groups.push_back({atPc, lanes, isBlocked});
}

void Warp::reschedule() {
  if (state != WarpState::Ready)
    return; // at a barrier: the group stays current
  park(pc, current, isBlocking);
  isBlocking = false;
  current = 0;
  for (;;) {
    std::vector<Group> &groups = frames.back().groups;
    if (groups.empty()) {
      if (frames.size() == 1) {
        state = WarpState::Done;
        return;
      }
      returnToCaller();
      continue;
    }
    size_t best = groups.size();
    for (size_t i = 0; i < groups.size(); ++i)
      if (!groups[i].isBlocked && (best == groups.size() || groups[i].pc < groups[best].pc))
        best = i;
    if (best == groups.size())
      allBlocked();
    pc = groups[best].pc;
    current = groups[best].mask;
    groups.erase(groups.begin() + best);
    next = kNever;
    for (const Group &group : groups)
      next = std::min(next, group.pc);
    // A blocked group behind us must not stop us at every step.
    if (next < pc) {
      next = kNever;
      for (const Group &group : groups)
        if (group.pc > pc)
          next = std::min(next, group.pc);
    }
    return;
  }
}

/// Nobody can go on: lanes wait for lanes that wait elsewhere, or left.
void Warp::allBlocked() {
  std::vector<Group> groups = frames.back().groups;
  const Inst &inst = code[groups[0].pc];
  char text[128];
  snprintf(text, sizeof text, "divergent barrier: lanes %08x wait here", groups[0].mask);
  std::string message = text;
  for (size_t i = 1; i < groups.size(); ++i) {
    snprintf(text, sizeof text, ", lanes %08x ", groups[i].mask);
    message += text + ("at " + block->where(placeOf(code[groups[i].pc])));
  }
  uint32_t gone = present & exited;
  if (gone) {
    snprintf(text, sizeof text, ", lanes %08x have exited", gone);
    message += text;
  }
  fault(inst, kLaunchFailed, __builtin_ctz(groups[0].mask), message);
}

void Warp::branch(uint32_t target, uint32_t taken) {
  uint32_t others = current & ~taken;
  if (others == 0) {
    pc = target;
  } else if (target < pc) {
    park(pc, others, false);
    current = taken;
    pc = target;
  } else {
    park(target, taken, false);
    current = others;
  }
  // `next` is out of date: the slow path looks at all groups.
  if (others)
    next = 0;
}

void Warp::branchTable(const std::vector<uint32_t> &targets, const uint32_t *which, uint32_t active) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (active >> lane & 1)
      park(targets[which[lane] < targets.size() ? which[lane] : targets.size() - 1],
           uint32_t(1) << lane, false);
  current &= ~active;
  next = 0;
}

void Warp::leave(uint32_t lanes, bool isExit) {
  current &= ~lanes;
  if (isExit || frames.size() == 1)
    exited |= lanes;
  // Who waits for these lanes looks again.
  for (Frame &frame : frames)
    for (Group &group : frame.groups)
      group.isBlocked = false;
  next = 0;
}

void Warp::call(const Inst &inst, const Code &callee, const Call &made, uint32_t active) {
  if (frames.size() >= kMostFrames)
    fault(inst, kLaunchFailed, __builtin_ctz(active), "calls are nested too deeply");
  Frame &caller = frames.back();
  // Lanes that do not call, and all when they come back, go on after the call.
  uint32_t others = current & ~active;
  current = active;
  park(pc, others, false);
  caller.returnPc = pc;
  caller.callMask = active;
  caller.call = &made;
  size_t depth = frames.size() - 1;
  enter(callee, active);
  Frame &from = frames[depth], &to = frames.back();
  for (size_t i = 0; i < made.arguments.size() && i < callee.params.size(); ++i)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if (active >> lane & 1)
        memcpy(&to.params[size_t(lane) * callee.paramBytes + callee.params[i].offset],
               &from.params[size_t(lane) * from.code->paramBytes + made.arguments[i].offset],
               callee.params[i].bytes);
}

void Warp::returnToCaller() {
  Frame done = std::move(frames.back());
  frames.pop_back();
  Frame &to = frames.back();
  const Call &made = *to.call;
  for (size_t i = 0; i < made.results.size() && i < done.code->results.size(); ++i)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if (to.callMask >> lane & 1)
        memcpy(&to.params[size_t(lane) * to.code->paramBytes + made.results[i].offset],
               &done.params[size_t(lane) * done.code->paramBytes + done.code->results[i].offset],
               made.results[i].bytes);
  spare.push_back(std::move(done));
  useFrame();
  park(to.returnPc, to.callMask & ~exited, false);
}

bool Warp::gather(const Inst &inst, uint32_t active, uint32_t needed) {
  needed &= live();
  uint32_t here = uint32_t(&inst - code);
  if ((needed & ~active) == 0)
    return true;
  // The others may still come: they run first, and look here again.
  uint32_t others = current & ~active;
  park(here + 1, others, false);
  current = active;
  pc = here;
  isBlocking = true;
  next = 0;
  return false;
}

void Warp::wait(const Inst &inst, const BarrierWait &what) {
  waitingAt = placeOf(inst);
  waiting = what;
  state = WarpState::AtBarrier;
  next = 0;
}

void Warp::release() {
  state = WarpState::Ready;
  ++syncEpoch;
}

void Warp::growLocal(uint64_t bytes) {
  if (bytes <= localBytesPerLane)
    return;
  if (bytes > kMostLocalBytes)
    throw Fault{kLaunchFailed, "a thread needs more than 512 KiB of local memory"};
  uint64_t larger = std::max<uint64_t>((bytes + 255) / 256 * 256, 256);
  std::vector<char> memory(larger * kLanes);
  std::vector<uint8_t> valid(larger * kLanes);
  for (unsigned lane = 0; lane < kLanes && localBytesPerLane; ++lane) {
    memcpy(&memory[lane * larger], &localMemory[lane * localBytesPerLane], localBytesPerLane);
    memcpy(&valid[lane * larger], &localValid[lane * localBytesPerLane], localBytesPerLane);
  }
  localMemory.swap(memory);
  localValid.swap(valid);
  localBytesPerLane = larger;
}

char *Warp::local(unsigned lane, uint64_t offset, unsigned bytes) {
  uint64_t limit = frames.back().localBase + frames.back().code->localBytes;
  if (offset > limit || bytes > limit - offset)
    return nullptr;
  return &localMemory[lane * localBytesPerLane + offset];
}

uint8_t *Warp::localInitialized(unsigned lane, uint64_t offset) {
  return &localValid[lane * localBytesPerLane + offset];
}

char *Warp::param(unsigned lane, uint64_t offset, unsigned bytes) {
  Frame &frame = frames.back();
  if (offset > frame.code->paramBytes || bytes > frame.code->paramBytes - offset)
    return nullptr;
  return &frame.params[size_t(lane) * frame.code->paramBytes + offset];
}

Place Warp::placeOf(const Inst &inst) const {
  const Code &in = function();
  size_t at = size_t(&inst - in.code.data());
  return at < in.places.size() ? in.places[at] : Place();
}

std::string Warp::describe(const Inst &inst, int lane, const std::string &text) const {
  return block->describe(*this, placeOf(inst), lane, text);
}

void Warp::fault(const Inst &inst, int faultCode, int lane, const std::string &text) {
  throw Fault{faultCode, describe(inst, lane, text)};
}

void Warp::finding(const Inst &inst, int lane, const std::string &text) {
  block->finding(describe(inst, lane, text));
}

} // namespace dlc::sim
