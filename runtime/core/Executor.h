// One run of a program: binds symbols, places buffers, walks instructions.

#ifndef DLC_RUNTIME_CORE_EXECUTOR_H
#define DLC_RUNTIME_CORE_EXECUTOR_H

#include "runtime/core/Program.h"
#include "runtime/core/Tensor.h"
#include "runtime/core/ThreadPool.h"
#include "runtime/schema/ArenaPlanner.h"

namespace dlc::rt {

/// What a run needs and keeps between runs: memory, sizes, pointers. Used by
/// one thread at a time; a model has as many as it has concurrent runs.
class RunContext {
public:
  /// `states` is the model's block of states.
  RunContext(const Entry &entry, ThreadPool &pool, char *states);
  ~RunContext();
  RunContext(const RunContext &) = delete;

  Status run(dlc_tensor *const *inputs, dlc_tensor **outputs,
             const dlc_run_options &options);

private:
  /// A growable block of memory.
  struct Block {
    void *data = nullptr;
    int64_t capacity = 0;
    ~Block();
    bool grow(int64_t bytes);
  };

  /// Where the values of symbolic size lie for one binding of the symbols.
  struct Placement {
    std::vector<int64_t> symbols;
    std::vector<int64_t> offsets; // per value; -1: none
    int64_t peakBytes;
  };
  static constexpr size_t kKeptPlacements = 16;

  Status bindInputs(dlc_tensor *const *inputs);
  Status bindSymbol(uint32_t symbol, int64_t value, int axis, const char *input);
  Status checkInputs(dlc_tensor *const *inputs);
  Status checkConstraints();
  Status evaluate();
  Status planSymbolicArena();
  Status collectSymbolic(std::vector<schema::ArenaInterval> &intervals,
                         std::vector<uint32_t> &which);
  Status placeValues();
  Status placeValue(uint32_t index);
  Status placeOutput(uint32_t index, uint32_t output);
  Status step(const Instruction &instruction, const dlc_run_options &options);
  Status dispatch(const Instruction &instruction);
  Status copy(const Instruction &instruction);
  Status bindFromData(const Instruction &instruction);
  Status checkIndices(const Instruction &instruction);
  Status follow(const Instruction &instruction, size_t &next);
  Status endIteration(const Instruction &instruction);
  Status requirePlaced(uint32_t value);
  Status requireKnown(uint32_t expr);
  Status requireOutputs();
  void dropCreatedOutputs();

  const Entry &entry;
  ThreadPool &pool;
  char *const states;
  Block arena, symbolicArena;
  std::vector<Block> blocks;          // per value, for sizes known during the run
  std::vector<int64_t> symbols;
  std::vector<char> isBound;          // per symbol
  std::vector<int64_t> sizes;         // per expression
  std::vector<char> isKnown;          // per expression
  std::vector<void *> pointers;       // per value; null: not placed
  std::vector<int64_t> bytes;         // per value
  std::vector<Placement> placements;  // oldest first
  const Placement *current = nullptr; // of this run
  std::vector<void *> callBuffers;
  std::vector<int64_t> callDims;
  dlc_tensor *const *inputTensors = nullptr;
  dlc_tensor **outputTensors = nullptr;
  std::vector<char> isCreated;        // per output
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_CORE_EXECUTOR_H
