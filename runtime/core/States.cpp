#include "runtime/core/States.h"

#include "runtime/core/Model.h"
#include "runtime/core/Tensor.h"
#include "runtime/schema/Format.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace dlc::rt {

States::~States() {
  if (stream)
    stream->release(memory);
  else
    free(memory);
}

Status States::create(const Program &program, Device *device) {
  if (program.stateBytes == 0)
    return nullptr;
  RETURN_IF_ERROR(allocate(program, device));
  return reset(program);
}

Status States::allocate(const Program &program, Device *device) {
  constexpr int64_t alignment = 64;
  int64_t size = (program.stateBytes + alignment - 1) / alignment * alignment;
  void *block = nullptr;
  if (device) {
    RETURN_IF_ERROR(device->createStream(&stream));
    if (Status status = stream->allocate(size, &block))
      return fail(status->code, "%s (its states)", status->message.c_str());
  } else if (!(block = aligned_alloc(alignment, size))) {
    return fail(DLC_OUT_OF_MEMORY, "%s: out of memory: its states need %lld bytes",
                program.name.c_str(), (long long)size);
  }
  memory = static_cast<char *>(block);
  return nullptr;
}

Status States::reset(const Program &program) {
  for (uint32_t i = 0; memory && i < program.table().states()->size(); ++i)
    RETURN_IF_ERROR(setInitial(program, *program.table().states()->Get(i)));
  return nullptr;
}

Status States::setInitial(const Program &program, const schema::State &state) {
  int64_t size = stateSizeBytes(state);
  return state.constant() == schema::kNone
             ? fillZeros(state.offset(), size)
             : write(state.offset(), program.constantData(state.constant()), size);
}

Status States::fillZeros(int64_t offset, int64_t bytes) {
  static const char zeros[1 << 16] = {};
  for (int64_t done = 0; done < bytes; done += sizeof(zeros))
    RETURN_IF_ERROR(write(offset + done, zeros, std::min<int64_t>(bytes - done, sizeof(zeros))));
  return nullptr;
}

Status States::read(void *to, int64_t offset, int64_t bytes) {
  if (bytes == 0)
    return nullptr;
  if (!stream) {
    memcpy(to, memory + offset, bytes);
    return nullptr;
  }
  std::lock_guard guard(transfers);
  RETURN_IF_ERROR(stream->download(to, memory + offset, bytes));
  return stream->synchronize();
}

Status States::write(int64_t offset, const void *from, int64_t bytes) {
  if (bytes == 0)
    return nullptr;
  if (!stream) {
    memcpy(memory + offset, from, bytes);
    return nullptr;
  }
  std::lock_guard guard(transfers);
  RETURN_IF_ERROR(stream->upload(memory + offset, from, bytes));
  return stream->synchronize();
}

namespace {

const schema::State *stateAt(const dlc_model *model, size_t i) {
  const auto *states = model->instance->program.table().states();
  return states && i < states->size() ? states->Get(i) : nullptr;
}

Status findState(const dlc_model *model, const char *name, const schema::State *&state) {
  for (size_t i = 0; name && (state = stateAt(model, i)); ++i)
    if (strcmp(state->name()->c_str(), name) == 0)
      return nullptr;
  return fail(DLC_USAGE, "%s: there is no state called %s",
              model->instance->program.name.c_str(), name ? name : "(null)");
}

Status checkFits(const dlc_model *model, const schema::State &state, const dlc_tensor &tensor) {
  const auto *dims = state.dims();
  int rank = dims ? int(dims->size()) : 0;
  if (tensor.type == dlc_type(state.element()) && tensor.rank == rank &&
      std::equal(tensor.dims, tensor.dims + rank, dims ? dims->data() : nullptr))
    return nullptr;
  return fail(DLC_USAGE, "%s: state %s is %s %s, the tensor given is %s %s",
              model->instance->program.name.c_str(), state.name()->c_str(),
              dlc_type_name(dlc_type(state.element())),
              dimsText(dims ? dims->data() : nullptr, rank).c_str(), dlc_type_name(tensor.type),
              dimsText(tensor.dims, tensor.rank).c_str());
}

Status readState(dlc_model *model, const char *name, dlc_tensor **tensor) {
  const schema::State *state;
  RETURN_IF_ERROR(findState(model, name, state));
  std::unique_ptr<dlc_tensor> made;
  if (*tensor) {
    RETURN_IF_ERROR(checkFits(model, *state, **tensor));
  } else {
    dlc_tensor *created = nullptr;
    RETURN_IF_ERROR(createTensor(dlc_type(state->element()),
                                 state->dims() ? state->dims()->data() : nullptr,
                                 state->dims() ? int(state->dims()->size()) : 0, &created));
    made.reset(created);
  }
  const dlc_tensor &target = made ? *made : **tensor;
  std::shared_lock lock(model->instance->states.mutex);
  RETURN_IF_ERROR(model->instance->states.read(target.data, state->offset(), target.sizeBytes));
  if (made)
    *tensor = made.release();
  return nullptr;
}

Status writeState(dlc_model *model, const char *name, const dlc_tensor &tensor) {
  const schema::State *state;
  RETURN_IF_ERROR(findState(model, name, state));
  RETURN_IF_ERROR(checkFits(model, *state, tensor));
  std::unique_lock lock(model->instance->states.mutex);
  return model->instance->states.write(state->offset(), tensor.data, tensor.sizeBytes);
}

} // namespace

} // namespace dlc::rt

extern "C" {

using namespace dlc::rt;

size_t dlc_model_state_count(const dlc_model *model) {
  const auto *states = model->instance->program.table().states();
  return states ? states->size() : 0;
}
const char *dlc_model_state_name(const dlc_model *model, size_t i) {
  const auto *state = stateAt(model, i);
  return state ? state->name()->c_str() : nullptr;
}
const char *dlc_model_state_role(const dlc_model *model, size_t i) {
  const auto *state = stateAt(model, i);
  return state ? state->role()->c_str() : nullptr;
}
dlc_type dlc_model_state_type(const dlc_model *model, size_t i) {
  const auto *state = stateAt(model, i);
  return state ? dlc_type(state->element()) : dlc_type(DLC_BOOL + 1);
}
int dlc_model_state_dims(const dlc_model *model, size_t i, int64_t dims[DLC_MAX_RANK]) {
  const auto *state = stateAt(model, i);
  if (!state)
    return -1;
  int rank = state->dims() ? int(state->dims()->size()) : 0;
  for (int axis = 0; axis < rank; ++axis)
    dims[axis] = state->dims()->Get(axis);
  return rank;
}

dlc_status *dlc_model_read_state(dlc_model *model, const char *name, dlc_tensor **tensor) {
  if (!tensor)
    return fail(DLC_USAGE, "dlc_model_read_state: no place for the tensor").release();
  return readState(model, name, tensor).release();
}

dlc_status *dlc_model_write_state(dlc_model *model, const char *name, const dlc_tensor *tensor) {
  if (!tensor)
    return fail(DLC_USAGE, "dlc_model_write_state: no tensor given").release();
  return writeState(model, name, *tensor).release();
}

dlc_status *dlc_model_reset_states(dlc_model *model) {
  std::unique_lock lock(model->instance->states.mutex);
  return model->instance->states.reset(model->instance->program).release();
}
}
