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

uint32_t inputValue(const dlc_model *m, size_t i) { return m->program.table().inputs()->Get(i); }
uint32_t outputValue(const dlc_model *m, size_t i) { return m->program.table().outputs()->Get(i); }

int dimsOf(const dlc_model *m, uint32_t index, int64_t *dims) {
  const auto *exprs = m->program.value(index).dims();
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
  return m->program.value(inputValue(m, i)).name()->c_str();
}
const char *dlc_model_output_name(const dlc_model *m, size_t i) {
  return m->program.value(outputValue(m, i)).name()->c_str();
}
dlc_type dlc_model_input_type(const dlc_model *m, size_t i) {
  return dlc_type(m->program.value(inputValue(m, i)).element());
}
dlc_type dlc_model_output_type(const dlc_model *m, size_t i) {
  return dlc_type(m->program.value(outputValue(m, i)).element());
}
int dlc_model_input_dims(const dlc_model *m, size_t i, int64_t dims[DLC_MAX_RANK]) {
  return dimsOf(m, inputValue(m, i), dims);
}
int dlc_model_output_dims(const dlc_model *m, size_t i, int64_t dims[DLC_MAX_RANK]) {
  return dimsOf(m, outputValue(m, i), dims);
}
const char *dlc_model_input_dim_name(const dlc_model *m, size_t i, int axis) {
  return m->program.dimTexts[inputValue(m, i)][axis].c_str();
}
const char *dlc_model_output_dim_name(const dlc_model *m, size_t i, int axis) {
  return m->program.dimTexts[outputValue(m, i)][axis].c_str();
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
