// The tensors that a model keeps between runs, in one block that all its entries
// share: on the device where there is one.

#ifndef DLC_RUNTIME_CORE_STATES_H
#define DLC_RUNTIME_CORE_STATES_H

#include "runtime/core/Device.h"
#include "runtime/core/Program.h"

#include <memory>
#include <mutex>
#include <shared_mutex>

namespace dlc::rt {

class States {
public:
  States() = default;
  ~States();
  States(const States &) = delete;

  /// Allocates the block and sets initial values. `device` is null for the CPU, and
  /// outlives the states.
  Status create(const Program &program, Device *device);
  Status reset(const Program &program);
  /// Where a run finds the block: an address of the device's where there is one.
  char *data() const { return memory; }
  /// Copies part of the block out, or in; done when they return.
  Status read(void *to, int64_t offset, int64_t bytes);
  Status write(int64_t offset, const void *from, int64_t bytes);

  /// Held, exclusively by whoever changes states, while they are used.
  std::shared_mutex mutex;

private:
  Status allocate(const Program &program, Device *device);
  Status setInitial(const Program &program, const schema::State &state);
  Status fillZeros(int64_t offset, int64_t bytes);

  std::mutex transfers;                 // the stream serves one thread at a time
  std::unique_ptr<DeviceStream> stream; // null: the CPU
  char *memory = nullptr;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_CORE_STATES_H
