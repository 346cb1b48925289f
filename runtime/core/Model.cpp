// The C API of models: dlc.h says what each call promises.

#include "runtime/core/Model.h"

#include <cstring>

using namespace dlc::rt;

std::unique_ptr<RunContext> dlc_model::take() {
  std::lock_guard<std::mutex> lock(mutex);
  if (idle.empty())
    return std::make_unique<RunContext>(entry, *instance->pool, instance->states.data(),
                                        instance->device.get());
  auto context = std::move(idle.back());
  idle.pop_back();
  return context;
}

void dlc_model::giveBack(std::unique_ptr<RunContext> context) {
  std::lock_guard<std::mutex> lock(mutex);
  idle.push_back(std::move(context));
}

Status dlc_model::run(dlc_tensor *const *inputs, dlc_tensor **outputs,
                      const dlc_run_options &options) {
  auto context = take();
  std::unique_lock<std::shared_mutex> exclusive(instance->states.mutex, std::defer_lock);
  std::shared_lock<std::shared_mutex> shared(instance->states.mutex, std::defer_lock);
  if (entry.updatesStates())
    exclusive.lock();
  else if (entry.usesStates)
    shared.lock();
  Status status = context->run(inputs, outputs, options);
  giveBack(std::move(context));
  return status;
}

namespace {

/// Options of an older, smaller struct get today's defaults for the rest.
template <typename Options> Options complete(const Options *given) {
  Options options = {};
  if (given)
    __builtin_memcpy(&options, given, std::min(given->struct_bytes, sizeof(options)));
  return options;
}

template <typename Load>
dlc_status *load(const dlc_load_options *given, dlc_model **model, Load load) {
  if (!model)
    return fail(DLC_USAGE, "dlc_model_load: no place for the model").release();
  dlc_load_options options = complete(given);
  auto instance = std::make_shared<Instance>();
  if (Status status = load(instance->program, options))
    return status.release();
  if (!isCpu(options.device))
    if (Status status = openDevice(options.device, instance->program, options.cache_dir,
                                   &instance->device))
      return status.release();
  if (Status status = instance->states.create(instance->program, instance->device.get()))
    return status.release();
  instance->pool = std::make_unique<ThreadPool>(options.threads > 0 ? options.threads
                                                                    : availableThreads());
  *model = new dlc_model(std::move(instance), 0);
  return nullptr;
}

/// The value of a port; null when there is none of that number.
const dlc::schema::Value *port(const dlc_model *m, const flatbuffers::Vector<uint32_t> *ports, size_t i) {
  return i < ports->size() ? &m->entry.value(ports->Get(i)) : nullptr;
}
const dlc::schema::Value *inputOf(const dlc_model *m, size_t i) {
  return port(m, m->entry.table().inputs, i);
}
const dlc::schema::Value *outputOf(const dlc_model *m, size_t i) {
  return port(m, m->entry.table().outputs, i);
}

const char *nameOf(const dlc::schema::Value *value) {
  return value ? value->name()->c_str() : nullptr;
}
dlc_type typeOf(const dlc::schema::Value *value) {
  return value ? dlc_type(value->element()) : dlc_type(DLC_BOOL + 1);
}

const char *dimName(const dlc_model *m, const flatbuffers::Vector<uint32_t> *ports, size_t i, int axis) {
  if (i >= ports->size())
    return nullptr;
  const auto &texts = m->entry.dimTexts[ports->Get(i)];
  return axis >= 0 && size_t(axis) < texts.size() ? texts[axis].c_str() : nullptr;
}

int dimsOf(const dlc_model *m, const dlc::schema::Value *value, int64_t *dims) {
  if (!value)
    return -1;
  const auto *exprs = value->dims();
  int rank = exprs ? int(exprs->size()) : 0;
  for (int axis = 0; axis < rank; ++axis) {
    const auto &steps = *m->entry.expr(exprs->Get(axis)).steps();
    bool isStatic = steps.size() == 1 && steps.Get(0)->code() == dlc::schema::ExprCode::Const;
    dims[axis] = isStatic ? steps.Get(0)->value() : -1;
  }
  return rank;
}

} // namespace

extern "C" {

dlc_status *dlc_model_load(const char *path, const dlc_load_options *options,
                           dlc_model **model) {
  if (!path)
    return fail(DLC_USAGE, "dlc_model_load: no path").release();
  return load(options, model, [&](Program &program, const dlc_load_options &o) {
    return program.load(path, o);
  });
}

dlc_status *dlc_model_load_memory(const void *data, size_t size_bytes,
                                  const dlc_load_options *options, dlc_model **model) {
  return load(options, model, [&](Program &program, const dlc_load_options &o) {
    return program.loadMemory(data, size_bytes, o);
  });
}

void dlc_model_free(dlc_model *model) { delete model; }

size_t dlc_model_input_count(const dlc_model *m) { return m->entry.table().inputs->size(); }
size_t dlc_model_output_count(const dlc_model *m) { return m->entry.table().outputs->size(); }
const char *dlc_model_input_name(const dlc_model *m, size_t i) {
  return nameOf(inputOf(m, i));
}
const char *dlc_model_output_name(const dlc_model *m, size_t i) {
  return nameOf(outputOf(m, i));
}
dlc_type dlc_model_input_type(const dlc_model *m, size_t i) {
  return typeOf(inputOf(m, i));
}
dlc_type dlc_model_output_type(const dlc_model *m, size_t i) {
  return typeOf(outputOf(m, i));
}
int dlc_model_input_dims(const dlc_model *m, size_t i, int64_t dims[DLC_MAX_RANK]) {
  return dimsOf(m, inputOf(m, i), dims);
}
int dlc_model_output_dims(const dlc_model *m, size_t i, int64_t dims[DLC_MAX_RANK]) {
  return dimsOf(m, outputOf(m, i), dims);
}
const char *dlc_model_input_dim_name(const dlc_model *m, size_t i, int axis) {
  return dimName(m, m->entry.table().inputs, i, axis);
}
const char *dlc_model_output_dim_name(const dlc_model *m, size_t i, int axis) {
  return dimName(m, m->entry.table().outputs, i, axis);
}
int dlc_model_threads(const dlc_model *m) { return m->instance->pool->threads(); }
int64_t dlc_model_arena_bytes(const dlc_model *m) { return m->entry.table().arenaBytes; }
int64_t dlc_model_weight_bytes(const dlc_model *m) { return m->instance->program.constantBytes; }

dlc_status *dlc_model_run(dlc_model *model, dlc_tensor *const *inputs, size_t input_count,
                          dlc_tensor **outputs, size_t output_count,
                          const dlc_run_options *options) {
  if (input_count != dlc_model_input_count(model))
    return fail(DLC_USAGE, "%s: %zu inputs given, expects %zu", model->entry.name.c_str(),
                input_count, dlc_model_input_count(model))
        .release();
  if (output_count != dlc_model_output_count(model))
    return fail(DLC_USAGE, "%s: %zu outputs given, expects %zu",
                model->entry.name.c_str(), output_count, dlc_model_output_count(model))
        .release();
  if ((input_count && !inputs) || (output_count && !outputs))
    return fail(DLC_USAGE, "%s: no array of tensors given", model->entry.name.c_str())
        .release();
  return model->run(inputs, outputs, complete(options)).release();
}

size_t dlc_model_entry_count(const dlc_model *model) {
  return model->instance->program.entries().size();
}
const char *dlc_model_entry_name(const dlc_model *model, size_t i) {
  const auto &entries = model->instance->program.entries();
  return i < entries.size() ? entries[i].table().name : nullptr;
}
dlc_status *dlc_model_entry(const dlc_model *model, const char *name, dlc_model **entry) {
  const auto &entries = model->instance->program.entries();
  std::string names;
  for (size_t i = 0; name && entry && i < entries.size(); ++i) {
    if (strcmp(entries[i].table().name, name) == 0) {
      *entry = new dlc_model(model->instance, i);
      return nullptr;
    }
    names += (i ? ", " : "") + std::string(entries[i].table().name);
  }
  return fail(DLC_USAGE, "%s: there is no entry %s; it has: %s",
              model->instance->program.name.c_str(), name ? name : "(null)", names.c_str())
      .release();
}

const char *dlc_version(void) { return DLC_VERSION; }
}
