// Branches, calls, barriers, and the end of threads.

#include "runtime/cudasim/ops/Builtins.h"

namespace dlc::sim {

namespace {

void branch(Warp &w, const Inst &i, uint32_t active) { w.branch(i.target, active); }
void decodeBra(Decoder &decoder, Inst &inst) {
  decoder.take("uni");
  decoder.expectOperands(1, 1);
  inst.target = decoder.label(decoder.operand(0).name);
  inst.run = branch;
}

void branchIndexed(Warp &w, const Inst &i, uint32_t active) {
  w.branchTable(w.function().branchTables[i.index], w.in<uint32_t>(i.a), active);
}
void decodeBrx(Decoder &decoder, Inst &inst) {
  decoder.take("uni");
  if (!decoder.take("idx"))
    decoder.fail(decoder.text() + " is not simulated");
  decoder.expectOperands(2, 2);
  inst.a = decoder.in(0, Type::U32);
  auto &tables = decoder.function().source->branchTables;
  auto found = tables.find(decoder.operand(1).name);
  if (found == tables.end() || found->second.empty())
    decoder.fail("there is no table of branch targets " + decoder.operand(1).name);
  std::vector<uint32_t> targets;
  for (const std::string &label : found->second)
    targets.push_back(decoder.label(label));
  inst.index = uint16_t(decoder.function().code->branchTables.size());
  decoder.function().code->branchTables.push_back(targets);
  inst.run = branchIndexed;
}

void leave(Warp &w, const Inst &i, uint32_t active) { w.leave(active, i.mode); }
void decodeRet(Decoder &decoder, Inst &inst) {
  decoder.take("uni");
  inst.mode = decoder.source().opcode == "exit";
  inst.run = leave;
}

void trap(Warp &w, const Inst &i, uint32_t active) {
  w.fault(i, kLaunchFailed, __builtin_ctz(active), "trap");
}
void decodeTrap(Decoder &, Inst &inst) { inst.run = trap; }

void nothing(Warp &, const Inst &, uint32_t) {}
/// Memory is sequentially consistent here, so that fences have nothing to do.
void decodeFence(Decoder &decoder, Inst &inst) {
  decoder.takeAny({"gl", "cta", "sys", "gpu", "cluster", "sc", "acq_rel", "acquire", "release"});
  inst.run = nothing;
}
void decodeNanosleep(Decoder &decoder, Inst &inst) {
  decoder.takeType();
  inst.run = nothing;
}

// mode: 0 waits, 1 arrives only, 2.. with a reduction; list: predicate, result.
void barrier(Warp &w, const Inst &i, uint32_t active) {
  if (!w.gather(i, active, w.live()))
    return;
  uint32_t id = *w.in<uint32_t>(i.a), expected = *w.in<uint32_t>(i.b);
  if (w.exitedLanes()) {
    char text[100];
    snprintf(text, sizeof text, "divergent barrier: lanes %08x of the warp have exited", w.exitedLanes());
    w.finding(i, __builtin_ctz(active), text);
  }
  if (id > 15 || expected % kLanes != 0 || expected > 1024)
    w.fault(i, kLaunchFailed, __builtin_ctz(active), "barrier " + std::to_string(id) + " for " + std::to_string(expected) + " threads");
  BarrierWait wait;
  wait.id = id;
  wait.expected = expected;
  if (i.mode >= 2) {
    wait.reduction = i.mode - 2;
    uint32_t predicate = *w.in<uint32_t>(i.list[0]);
    wait.predicate = (i.flags & 1 ? ~predicate : predicate) & active;
    wait.result = i.list[1];
  }
  w.wait(i, wait);
}
void warpBarrier(Warp &w, const Inst &i, uint32_t active) {
  uint32_t lanes = w.in<uint32_t>(i.a)[__builtin_ctz(active)];
  if (w.gather(i, active, lanes))
    ++w.syncEpoch;
}

void decodeBarrier(Decoder &decoder, Inst &inst) {
  if (decoder.take("warp")) {
    decoder.take("sync");
    inst.a = decoder.in(0, Type::B32);
    inst.run = warpBarrier;
    return;
  }
  decoder.takeAny({"cta", "aligned"});
  int kind = decoder.takeOne({"sync", "red"});
  if (kind < 0)
    decoder.fail(decoder.text() + " is not simulated");
  size_t first = 0;
  if (kind == 1) {
    inst.mode = uint8_t(2 + decoder.takeOne({"popc", "and", "or"}, 0));
    Type type = decoder.takeType();
    decoder.expectOperands(3, 4);
    const ptx::Operand &predicate = decoder.operand(decoder.numOperands() - 1);
    inst.list = decoder.list({decoder.predicate(predicate), decoder.out(0, type)});
    inst.flags = predicate.isNegated;
    first = 1;
  }
  size_t count = decoder.numOperands() - first - (kind == 1);
  inst.a = decoder.in(first, Type::U32);
  inst.b = count > 1 ? decoder.in(first + 1, Type::U32) : decoder.special(Zero);
  inst.run = barrier;
}

void callFunction(Warp &w, const Inst &i, uint32_t active) {
  const Call &made = w.block->program().calls[i.imm];
  if (made.builtin >= 0)
    return runBuiltin(w, i, made, active);
  w.call(i, *w.block->program().functions[made.callee], made, active);
}

LocalVariable paramNamed(Decoder &decoder, const std::string &name) {
  auto found = decoder.symbol(name);
  if (!found || found->kind != Symbol::Param)
    decoder.fail("call: '" + name + "' is no parameter");
  return {uint32_t(found->address), uint32_t(found->bytes)};
}

/// call (results), function, (arguments);
void decodeCall(Decoder &decoder, Inst &inst) {
  decoder.take("uni");
  decoder.expectOperands(1, 3);
  Call made;
  size_t at = 0;
  if (decoder.operand(0).kind == ptx::Operand::Vector)
    for (const ptx::Operand &part : decoder.operand(at++).parts)
      made.results.push_back(paramNamed(decoder, part.name));
  if (at >= decoder.numOperands())
    decoder.fail("call names no function");
  const ptx::Operand &callee = decoder.operand(at++);
  if (at < decoder.numOperands() && decoder.operand(at).kind == ptx::Operand::Vector)
    for (const ptx::Operand &part : decoder.operand(at++).parts)
      made.arguments.push_back(paramNamed(decoder, part.name));
  if (callee.kind != ptx::Operand::Symbol || at != decoder.numOperands())
    decoder.fail("calls through a pointer are not simulated");
  auto found = decoder.program.functionIndex.find(callee.name);
  if (found != decoder.program.functionIndex.end()) {
    made.callee = found->second;
    decoder.function().code->callees.push_back(found->second);
  } else if ((made.builtin = builtinNamed(callee.name)) < 0) {
    decoder.fail("function " + callee.name + " is called and not defined");
  }
  inst.imm = decoder.program.calls.size();
  decoder.program.calls.push_back(made);
  inst.run = callFunction;
}

constexpr Decoding decodings[] = {
    {"bra", decodeBra},     {"brx", decodeBrx},         {"ret", decodeRet},
    {"exit", decodeRet},    {"trap", decodeTrap},       {"membar", decodeFence},
    {"fence", decodeFence}, {"nanosleep", decodeNanosleep}, {"bar", decodeBarrier},
    {"barrier", decodeBarrier}, {"call", decodeCall}};

} // namespace

DLC_SIM_FAMILY(kControl);

} // namespace dlc::sim
