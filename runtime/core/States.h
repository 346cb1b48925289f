// The tensors that a model keeps between runs, in one block that all its entries
// share.

#ifndef DLC_RUNTIME_CORE_STATES_H
#define DLC_RUNTIME_CORE_STATES_H

#include "runtime/core/Program.h"

#include <cstdlib>
#include <memory>
#include <shared_mutex>

namespace dlc::rt {

class States {
public:
  /// Allocates the block and sets initial values.
  Status create(const Program &program);
  void reset(const Program &program);
  char *data() const { return memory.get(); }

  /// Held, exclusively by whoever changes states, while they are used.
  std::shared_mutex mutex;

private:
  std::unique_ptr<char, decltype(&std::free)> memory{nullptr, &std::free};
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_CORE_STATES_H
