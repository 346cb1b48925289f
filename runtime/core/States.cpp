#include "runtime/core/States.h"

#include "runtime/core/Model.h"
#include "runtime/core/Tensor.h"
#include "runtime/schema/Format.h"

#include <cstring>

namespace dlc::rt {

Status States::create(const Program &program) {
  constexpr int64_t alignment = 64;
  if (program.stateBytes == 0)
    return nullptr;
  int64_t size = (program.stateBytes + alignment - 1) / alignment * alignment;
  memory.reset(static_cast<char *>(aligned_alloc(alignment, size)));
  if (!memory)
    return fail(DLC_OUT_OF_MEMORY, "%s: out of memory: its states need %lld bytes",
                program.name.c_str(), (long long)size);
  reset(program);
  return nullptr;
}

void States::reset(const Program &program) {
  for (uint32_t i = 0; memory && i < program.table().states()->size(); ++i) {
    const schema::State &state = *program.table().states()->Get(i);
    char *at = memory.get() + state.offset();
    if (state.constant() == schema::kNone)
      memset(at, 0, stateSizeBytes(state));
    else
      memcpy(at, program.constantData(state.constant()), stateSizeBytes(state));
  }
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
  if (*tensor)
    RETURN_IF_ERROR(checkFits(model, *state, **tensor));
  else
    RETURN_IF_ERROR(createTensor(dlc_type(state->element()),
                                 state->dims() ? state->dims()->data() : nullptr,
                                 state->dims() ? int(state->dims()->size()) : 0, tensor));
  std::shared_lock lock(model->instance->states.mutex);
  if ((*tensor)->sizeBytes > 0)
    memcpy((*tensor)->data, model->instance->states.data() + state->offset(),
           (*tensor)->sizeBytes);
  return nullptr;
}

Status writeState(dlc_model *model, const char *name, const dlc_tensor &tensor) {
  const schema::State *state;
  RETURN_IF_ERROR(findState(model, name, state));
  RETURN_IF_ERROR(checkFits(model, *state, tensor));
  std::unique_lock lock(model->instance->states.mutex);
  if (tensor.sizeBytes > 0)
    memcpy(model->instance->states.data() + state->offset(), tensor.data, tensor.sizeBytes);
  return nullptr;
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

void dlc_model_reset_states(dlc_model *model) {
  std::unique_lock lock(model->instance->states.mutex);
  model->instance->states.reset(model->instance->program);
}
}
