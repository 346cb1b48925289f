// What the handles of the C API hold.

#ifndef DLC_RUNTIME_CORE_MODEL_H
#define DLC_RUNTIME_CORE_MODEL_H

#include "runtime/core/Device.h"
#include "runtime/core/Executor.h"
#include "runtime/core/States.h"

#include <mutex>

namespace dlc::rt {

/// A loaded artifact: what the handles of all its entries share.
struct Instance {
  Program program;
  std::unique_ptr<Device> device; // null: the CPU
  std::unique_ptr<ThreadPool> pool;
  States states;
};

} // namespace dlc::rt

/// One entry of an instance.
struct dlc_model {
  std::shared_ptr<dlc::rt::Instance> instance;
  const dlc::rt::Entry &entry;
  std::mutex mutex;
  std::vector<std::unique_ptr<dlc::rt::RunContext>> idle;

  dlc_model(std::shared_ptr<dlc::rt::Instance> shared, size_t index)
      : instance(std::move(shared)), entry(instance->program.entries()[index]) {}
  std::unique_ptr<dlc::rt::RunContext> take();
  void giveBack(std::unique_ptr<dlc::rt::RunContext> context);
  dlc::rt::Status run(dlc_tensor *const *inputs, dlc_tensor **outputs,
                      const dlc_run_options &options);
};

#endif // DLC_RUNTIME_CORE_MODEL_H
