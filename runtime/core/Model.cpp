// The C API of models: dlc.h says what each call promises.

#include "runtime/core/Executor.h"

#include <mutex>

using namespace dlc::rt;

struct dlc_model {
  Program program;
  std::unique_ptr<ThreadPool> pool;
  std::mutex mutex;
  std::vector<std::unique_ptr<RunContext>> idle;

  std::unique_ptr<RunContext> take() {
    std::lock_guard<std::mutex> lock(mutex);
    if (idle.empty())
      return std::make_unique<RunContext>(program, *pool);
    auto context = std::move(idle.back());
    idle.pop_back();
    return context;
  }
  void giveBack(std::unique_ptr<RunContext> context) {
    std::lock_guard<std::mutex> lock(mutex);
    idle.push_back(std::move(context));
  }
};

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
  auto loaded = std::make_unique<dlc_model>();
  if (Status status = load(loaded->program, options))
    return status.release();
  loaded->pool = std::make_unique<ThreadPool>(options.threads > 0 ? options.threads
                                                                  : availableThreads());
  *model = loaded.release();
  return nullptr;
}

/// The value of a port; null when there is none of that number.
const dlc::schema::Value *port(const dlc_model *m, const flatbuffers::Vector<uint32_t> *ports, size_t i) {
  return i < ports->size() ? &m->program.value(ports->Get(i)) : nullptr;
}
const dlc::schema::Value *inputOf(const dlc_model *m, size_t i) {
  return port(m, m->program.table().inputs(), i);
}
const dlc::schema::Value *outputOf(const dlc_model *m, size_t i) {
  return port(m, m->program.table().outputs(), i);
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
  const auto &texts = m->program.dimTexts[ports->Get(i)];
  return axis >= 0 && size_t(axis) < texts.size() ? texts[axis].c_str() : nullptr;
}

int dimsOf(const dlc_model *m, const dlc::schema::Value *value, int64_t *dims) {
  if (!value)
    return -1;
  const auto *exprs = value->dims();
  int rank = exprs ? int(exprs->size()) : 0;
  for (int axis = 0; axis < rank; ++axis) {
    const auto &steps = *m->program.expr(exprs->Get(axis)).steps();
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

size_t dlc_model_input_count(const dlc_model *m) { return m->program.table().inputs()->size(); }
size_t dlc_model_output_count(const dlc_model *m) { return m->program.table().outputs()->size(); }
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
  return dimName(m, m->program.table().inputs(), i, axis);
}
const char *dlc_model_output_dim_name(const dlc_model *m, size_t i, int axis) {
  return dimName(m, m->program.table().outputs(), i, axis);
}
int dlc_model_threads(const dlc_model *m) { return m->pool->threads(); }
int64_t dlc_model_arena_bytes(const dlc_model *m) { return m->program.table().arena_bytes(); }
int64_t dlc_model_weight_bytes(const dlc_model *m) { return m->program.constantBytes; }

dlc_status *dlc_model_run(dlc_model *model, dlc_tensor *const *inputs, size_t input_count,
                          dlc_tensor **outputs, size_t output_count,
                          const dlc_run_options *options) {
  if (input_count != dlc_model_input_count(model))
    return fail(DLC_USAGE, "%s: %zu inputs given, expects %zu", model->program.name.c_str(),
                input_count, dlc_model_input_count(model))
        .release();
  if (output_count != dlc_model_output_count(model))
    return fail(DLC_USAGE, "%s: %zu outputs given, expects %zu",
                model->program.name.c_str(), output_count, dlc_model_output_count(model))
        .release();
  if ((input_count && !inputs) || (output_count && !outputs))
    return fail(DLC_USAGE, "%s: no array of tensors given", model->program.name.c_str())
        .release();
  auto context = model->take();
  Status status = context->run(inputs, outputs, complete(options));
  model->giveBack(std::move(context));
  return status.release();
}

const char *dlc_version(void) { return DLC_VERSION; }
}
