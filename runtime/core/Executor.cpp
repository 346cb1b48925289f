#include "runtime/core/Executor.h"

#include "runtime/core/Integers.h"

#include "runtime/core/Scratch.h"
#include "runtime/schema/Expr.h"
#include "runtime/schema/Format.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace dlc::rt {

using schema::Action;
using schema::ExprCode;
using schema::Storage;

void RunContext::Block::release() {
  if (!stream)
    free(data);
  else if (isPinned)
    stream->releaseHost(data);
  else
    stream->release(data);
  data = nullptr;
  capacity = 0;
}

Status RunContext::grow(Block &block, int64_t size, const char *what) {
  constexpr int64_t alignment = 64;
  size = std::max<int64_t>(alignment, (size + alignment - 1) / alignment * alignment);
  if (size <= block.capacity)
    return nullptr;
  block.release();
  recorded.clear(); // graphs hold addresses
  if (block.stream) {
    Status status = block.isPinned ? block.stream->allocateHost(size, &block.data)
                                   : block.stream->allocate(size, &block.data);
    if (status)
      return fail(status->code, "%s (%s %lld bytes)", status->message.c_str(), what, (long long)size);
  } else {
    block.data = aligned_alloc(alignment, size);
  }
  if (!block.data)
    return fail(DLC_OUT_OF_MEMORY, "%s: out of memory: %s %lld bytes", entry.name.c_str(), what,
                (long long)size);
  block.capacity = size;
  return nullptr;
}

RunContext::RunContext(const Entry &e, ThreadPool &pool, char *states, Device *device)
    : entry(e), pool(pool), states(states), device(device), blocks(e.table().values->size()),
      symbols(e.table().symbols->size()), isBound(symbols.size()), sizes(e.table().exprs->size()),
      isKnown(sizes.size()), pointers(blocks.size()), bytes(blocks.size()),
      isCreated(e.table().outputs->size()) {
  size_t operands = 0, dims = 0;
  for (const Instruction &instruction : e.instructions) {
    operands = std::max(operands, instruction.operands.size());
    dims = std::max(dims, instruction.dims.size());
  }
  callBuffers.resize(operands);
  callDims.resize(dims);
  if (device)
    openStream();
}

RunContext::~RunContext() = default;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Status RunContext::evaluate() {
  for (size_t i = 0; i < sizes.size(); ++i) {
    bool overflow = false;
    isKnown[i] = schema::evaluateExpr(entry.expr(i), symbols.data(), isBound.data(),
                                        sizes[i], overflow);
    if (isKnown[i] && overflow)
      return fail(DLC_USAGE, "%s: the size %s overflows", entry.name.c_str(),
                  entry.exprText(i).c_str());
  }
  return nullptr;
}

Status RunContext::bindSymbol(uint32_t symbol, int64_t value, int axis, const char *input) {
  const schema::DimSymbol &table = *entry.table().symbols->Get(symbol);
  // Made for messages only: binding allocates nothing.
  auto where = [&] {
    return input ? "axis " + std::to_string(axis) + " of input " + input
                 : std::string("a size that the data decides");
  };
  if (isBound[symbol] && symbols[symbol] != value)
    return fail(DLC_USAGE, "%s: %s is %lld, but %s is %lld elsewhere",
                entry.name.c_str(), where().c_str(), (long long)value,
                table.name()->c_str(), (long long)symbols[symbol]);
  if (value < table.lower() || value > table.upper())
    return fail(DLC_USAGE, "%s: %s is %lld, outside the range [%lld, %lld] of %s",
                entry.name.c_str(), where().c_str(), (long long)value,
                (long long)table.lower(), (long long)table.upper(),
                table.name()->c_str());
  symbols[symbol] = value;
  isBound[symbol] = 1;
  return nullptr;
}

Status RunContext::bindInputs(dlc_tensor *const *inputs) {
  std::fill(isBound.begin(), isBound.end(), 0);
  // What the last run's data decided must not make this shape look new.
  std::fill(symbols.begin(), symbols.end(), 0);
  const auto &list = *entry.table().inputs;
  for (uint32_t i = 0; i < list.size(); ++i) {
    const schema::Value &value = entry.value(list.Get(i));
    const char *name = value.name()->c_str();
    if (!inputs[i])
      return fail(DLC_USAGE, "%s: input %s is missing", entry.name.c_str(), name);
    const dlc_tensor &tensor = *inputs[i];
    int rank = value.dims() ? int(value.dims()->size()) : 0;
    if (tensor.type != dlc_type(value.element()))
      return fail(DLC_USAGE, "%s: input %s has the type %s, expects %s",
                  entry.name.c_str(), name, dlc_type_name(tensor.type),
                  dlc_type_name(dlc_type(value.element())));
    if (tensor.rank != rank)
      return fail(DLC_USAGE, "%s: input %s has the rank %d, expects %d",
                  entry.name.c_str(), name, tensor.rank, rank);
    for (int axis = 0; axis < rank; ++axis) {
      const auto &steps = *entry.expr(value.dims()->Get(axis)).steps();
      if (steps.size() == 1 && steps.Get(0)->code() == ExprCode::Symbol)
        RETURN_IF_ERROR(bindSymbol(steps.Get(0)->value(), tensor.dims[axis], axis, name));
    }
  }
  return nullptr;
}

Status RunContext::checkInputs(dlc_tensor *const *inputs) {
  const auto &list = *entry.table().inputs;
  for (uint32_t i = 0; i < list.size(); ++i) {
    const schema::Value &value = entry.value(list.Get(i));
    for (int axis = 0; axis < inputs[i]->rank; ++axis) {
      uint32_t expr = value.dims()->Get(axis);
      if (!isKnown[expr] || sizes[expr] != inputs[i]->dims[axis])
        return fail(DLC_USAGE, "%s: axis %d of input %s is %lld, expects %s",
                    entry.name.c_str(), axis, value.name()->c_str(),
                    (long long)inputs[i]->dims[axis],
                    entry.dimTexts[list.Get(i)][axis].c_str());
    }
  }
  return nullptr;
}

Status RunContext::checkConstraints() {
  for (const schema::Constraint *c : *entry.table().constraints)
    if (isKnown[c->left()] && isKnown[c->right()] && sizes[c->left()] != sizes[c->right()])
      return fail(DLC_USAGE, "%s: %s needs %s (%lld) and %s (%lld) to be equal",
                  entry.name.c_str(), c->reason() ? c->reason()->c_str() : "the model",
                  entry.exprText(c->left()).c_str(), (long long)sizes[c->left()],
                  entry.exprText(c->right()).c_str(), (long long)sizes[c->right()]);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

namespace {

struct ParallelCall {
  const Kernel *kernel;
  const DlcKernelCall *call;
  std::atomic<int32_t> error{0};
};

void runUnit(void *argument, int64_t unit) {
  auto &parallel = *static_cast<ParallelCall *>(argument);
  Scratch::ofThread().reset();
  if (int32_t error = parallel.kernel->run(parallel.call, unit, unit + 1))
    parallel.error.store(error, std::memory_order_relaxed);
}

const char *kernelErrorText(int32_t error) {
  switch (error) {
  case kDlcKernelOutOfMemory: return "out of memory";
  case kDlcKernelIndexOutOfRange: return "an index is out of range";
  case kDlcKernelDivisionByZero: return "division by zero";
  default: return "failed";
  }
}

} // namespace

Status RunContext::dispatch(const Instruction &instruction) {
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    RETURN_IF_ERROR(requirePlaced(instruction.operands[i]));
    callBuffers[i] = pointers[instruction.operands[i]];
  }
  for (size_t i = 0; i < instruction.dims.size(); ++i) {
    RETURN_IF_ERROR(requireKnown(instruction.dims[i]));
    callDims[i] = sizes[instruction.dims[i]];
  }
  if (stream) {
    RETURN_IF_ERROR(grow(workspace,
                         stream->workspaceBytes(instruction.kernel, callDims.data(),
                                                instruction.dims.size()),
                         "temporaries of a kernel need"));
    return stream->launch(instruction.kernel, callBuffers.data(), instruction.operands.size(),
                          callDims.data(), instruction.dims.size(), workspace.data);
  }
  const Kernel &kernel = entry.program.kernels[instruction.kernel];
  DlcKernelCall call = {callBuffers.data(), callDims.data(), Scratch::callback, nullptr};
  ParallelCall parallel{&kernel, &call, {0}};
  int64_t work = kernel.work ? kernel.work(callDims.data()) : 1;
  if (pool.threads() == 1 || work == 1) {
    Scratch::ofThread().reset();
    if (work > 0)
      parallel.error = kernel.run(&call, 0, work);
  } else {
    pool.parallelFor(work, runUnit, &parallel);
  }
  if (int32_t error = parallel.error.load())
    return fail(error == kDlcKernelOutOfMemory ? DLC_OUT_OF_MEMORY : DLC_USAGE,
                "%s: kernel %s (%s): %s", entry.name.c_str(), kernel.name.c_str(),
                instruction.nodes.c_str(), kernelErrorText(error));
  return nullptr;
}

Status RunContext::copy(const Instruction &instruction) {
  uint32_t source = instruction.operands[0], target = instruction.operands[1];
  RETURN_IF_ERROR(requirePlaced(source));
  RETURN_IF_ERROR(requirePlaced(target));
  if (bytes[source] != bytes[target])
    return fail(DLC_USAGE, "%s: copies %lld bytes into %lld", entry.name.c_str(),
                (long long)bytes[source], (long long)bytes[target]);
  return move(pointers[target], pointers[source], bytes[source]);
}

Status RunContext::bindFromData(const Instruction &instruction) {
  uint32_t index = instruction.operands[0];
  RETURN_IF_ERROR(requirePlaced(index));
  auto type = dlc_type(entry.value(index).element());
  if (!isInteger(type) || (int64_t(instruction.index) + 1) * elementBytes(type) > bytes[index])
    return fail(DLC_USAGE, "%s: broken artifact: size read outside a tensor",
                entry.name.c_str());
  const void *data;
  RETURN_IF_ERROR(hostBytes(index, &data));
  int64_t value = integerAt(data, type, instruction.index);
  RETURN_IF_ERROR(bindSymbol(instruction.symbol, value, 0, nullptr));
  RETURN_IF_ERROR(evaluate());
  RETURN_IF_ERROR(checkConstraints());
  return placeValues();
}

Status RunContext::checkIndices(const Instruction &instruction) {
  uint32_t index = instruction.operands[0];
  RETURN_IF_ERROR(requirePlaced(index));
  auto type = dlc_type(entry.value(index).element());
  for (uint32_t bound : instruction.dims)
    RETURN_IF_ERROR(requireKnown(bound));
  int64_t lower = sizes[instruction.dims[0]], upper = sizes[instruction.dims[1]];
  if (!isInteger(type))
    return fail(DLC_USAGE, "%s: broken artifact: indices of type %s",
                entry.name.c_str(), dlc_type_name(type));
  const void *data;
  RETURN_IF_ERROR(hostBytes(index, &data));
  int64_t count = bytes[index] / elementBytes(type);
  for (int64_t i = 0; i < count; ++i) {
    int64_t value = integerAt(data, type, i);
    if (value < lower || value >= upper)
      return fail(DLC_USAGE, "%s: %s: index %lld is out of range [%lld, %lld]",
                  entry.name.c_str(), instruction.nodes.c_str(), (long long)value,
                  (long long)lower, (long long)upper - 1);
  }
  return nullptr;
}

/// Jumps: sets `next` to the instruction that follows.
Status RunContext::follow(const Instruction &instruction, size_t &next) {
  for (uint32_t operand : instruction.operands)
    if (operand != schema::kNone)
      RETURN_IF_ERROR(requirePlaced(operand));
  // Read when asked: a value that decides nothing need not come to the host.
  auto flag = [&](size_t i, bool &result) -> Status {
    const void *data;
    RETURN_IF_ERROR(hostBytes(instruction.operands[i], &data));
    result = bytes[instruction.operands[i]] > 0 && *static_cast<const uint8_t *>(data) != 0;
    return nullptr;
  };
  auto number = [&](size_t i, int64_t &result) -> Status {
    const void *data;
    RETURN_IF_ERROR(hostBytes(instruction.operands[i], &data));
    memcpy(&result, data, sizeof(result));
    return nullptr;
  };
  switch (instruction.control) {
  case Control::JumpUnless: {
    bool holds;
    RETURN_IF_ERROR(flag(0, holds));
    next = holds ? next : instruction.target;
    return nullptr;
  }
  case Control::LoopBegin:
    if (bytes[instruction.operands[0]] < int64_t(sizeof(int64_t)))
      return fail(DLC_USAGE, "%s: broken artifact: a loop counts in an empty value",
                  entry.name.c_str());
    return setCounter(instruction.operands[0], 0);
  case Control::LoopHead: {
    uint32_t trip = instruction.operands[2];
    int64_t count, most = 0;
    RETURN_IF_ERROR(number(0, count));
    bool isDone = false, goesOn = false;
    if (trip != schema::kNone) {
      isDone = bytes[trip] < int64_t(sizeof(int64_t));
      if (!isDone)
        RETURN_IF_ERROR(number(2, most));
      isDone = isDone || count >= most;
    }
    if (!isDone)
      RETURN_IF_ERROR(flag(1, goesOn));
    next = goesOn ? next : instruction.target;
    return nullptr;
  }
  case Control::LoopEnd: {
    int64_t count;
    RETURN_IF_ERROR(number(0, count));
    RETURN_IF_ERROR(endIteration(instruction, count));
    next = instruction.target;
    return setCounter(instruction.operands[0], count + 1);
  }
  default:
    next = instruction.target;
    return nullptr;
  }
}

Status RunContext::setCounter(uint32_t value, int64_t count) {
  if (!stream) {
    memcpy(pointers[value], &count, sizeof(count));
    return nullptr;
  }
  RETURN_IF_ERROR(stream->upload(pointers[value], &count, sizeof(count)));
  return stream->synchronize();
}

Status RunContext::move(void *to, const void *from, int64_t size) {
  if (stream)
    return stream->copy(to, from, size);
  memmove(to, from, size);
  return nullptr;
}

/// Scans first: they may read what carrying overwrites.
Status RunContext::endIteration(const Instruction &instruction, int64_t iteration) {
  const auto &operands = instruction.operands;
  for (size_t i = 3 + 2 * size_t(instruction.index); i < operands.size(); i += 2) {
    uint32_t from = operands[i], to = operands[i + 1];
    if (iteration < 0 || (bytes[from] > 0 && iteration >= bytes[to] / bytes[from]))
      return fail(DLC_USAGE, "%s: broken artifact: a loop writes past its result",
                  entry.name.c_str());
    RETURN_IF_ERROR(move(static_cast<char *>(pointers[to]) + iteration * bytes[from], pointers[from],
                         bytes[from]));
  }
  for (size_t i = 1; i < 3 + 2 * size_t(instruction.index); i += 2) {
    // The condition (operand 1) comes from operand 2, carried values follow in pairs.
    uint32_t from = i == 1 ? operands[2] : operands[i], to = i == 1 ? operands[1] : operands[i + 1];
    if (bytes[from] != bytes[to])
      return fail(DLC_USAGE, "%s: a loop carries %lld bytes in a value of %lld",
                  entry.name.c_str(), (long long)bytes[from], (long long)bytes[to]);
    RETURN_IF_ERROR(move(pointers[to], pointers[from], bytes[from]));
  }
  return nullptr;
}

Status RunContext::step(const Instruction &instruction, const dlc_run_options &options) {
  switch (instruction.kind) {
  case Action::Dispatch: return dispatch(instruction);
  case Action::Copy: return copy(instruction);
  case Action::BindSymbol: return bindFromData(instruction);
  default: return checkIndices(instruction);
  }
}

void RunContext::dropCreatedOutputs() {
  for (size_t i = 0; i < isCreated.size(); ++i)
    if (isCreated[i]) {
      delete outputTensors[i];
      outputTensors[i] = nullptr;
    }
}

Status RunContext::runInstructions(const dlc_run_options &options) {
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  for (size_t at = 0; at < entry.instructions.size();) {
    const Instruction &instruction = entry.instructions[at++];
    if (instruction.control != Control::None) {
      RETURN_IF_ERROR(follow(instruction, at));
      continue;
    }
    auto before = options.profile ? Clock::now() : start;
    RETURN_IF_ERROR(step(instruction, options));
    if (options.profile && stream)
      RETURN_IF_ERROR(stream->synchronize());
    if (!options.profile || instruction.kind != Action::Dispatch)
      continue;
    std::chrono::duration<double, std::micro> since = before - start,
                                              took = Clock::now() - before;
    bool hasFlops = instruction.flops != 0xffffffffu && isKnown[instruction.flops];
    dlc_profile_entry profiled = {entry.program.kernels[instruction.kernel].name.c_str(),
                               instruction.nodes.c_str(), since.count(), took.count(),
                               hasFlops ? double(sizes[instruction.flops]) : 0};
    options.profile(options.profile_user, &profiled);
  }
  return nullptr;
}

Status RunContext::run(dlc_tensor *const *inputs, dlc_tensor **outputs,
                       const dlc_run_options &options) {
  inputTensors = inputs;
  outputTensors = outputs;
  std::fill(isCreated.begin(), isCreated.end(), 0);
  auto body = [&]() -> Status {
    RETURN_IF_ERROR(bindInputs(inputs));
    RETURN_IF_ERROR(evaluate());
    RETURN_IF_ERROR(checkInputs(inputs));
    RETURN_IF_ERROR(checkConstraints());
    if (device && !stream)
      return fail(streamError->code, "%s", streamError->message.c_str());
    RETURN_IF_ERROR(grow(arena, entry.table().arenaBytes, "the plan needs"));
    RETURN_IF_ERROR(planSymbolicArena());
    std::fill(pointers.begin(), pointers.end(), nullptr);
    RETURN_IF_ERROR(placeValues());
    RETURN_IF_ERROR(stream ? runOnDevice(options) : runInstructions(options));
    return requireOutputs();
  };
  Status status = body();
  if (status)
    dropCreatedOutputs();
  return status;
}

} // namespace dlc::rt
