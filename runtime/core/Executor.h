// One run of a program: binds symbols, places buffers, walks instructions.

#ifndef DLC_RUNTIME_CORE_EXECUTOR_H
#define DLC_RUNTIME_CORE_EXECUTOR_H

#include "runtime/core/Device.h"
#include "runtime/core/Program.h"
#include "runtime/core/Tensor.h"
#include "runtime/core/ThreadPool.h"
#include "runtime/schema/ArenaPlanner.h"

namespace dlc::rt {

/// What a run needs and keeps between runs: memory, sizes, pointers. Used by
/// one thread at a time; a model has as many as it has concurrent runs.
class RunContext {
public:
  /// `states` is the model's block of states. Without a device the CPU runs it all.
  RunContext(const Entry &entry, ThreadPool &pool, char *states, Device *device);
  ~RunContext();
  RunContext(const RunContext &) = delete;

  Status run(dlc_tensor *const *inputs, dlc_tensor **outputs,
             const dlc_run_options &options);

private:
  /// A growable block of memory: the host's, or the device's where there is a stream.
  struct Block {
    void *data = nullptr;
    int64_t capacity = 0;
    DeviceStream *stream = nullptr;
    bool isPinned = false; // host memory that the device copies from and to
    ~Block() { release(); }
    void release();
  };
  /// The error says what the memory is for.
  Status grow(Block &block, int64_t bytes, const char *what);

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
  Status endIteration(const Instruction &instruction, int64_t iteration);
  Status setCounter(uint32_t value, int64_t count);
  Status move(void *to, const void *from, int64_t size);
  void openStream();
  Status runInstructions(const dlc_run_options &options);
  Status runOnDevice(const dlc_run_options &options);
  /// Executes the instructions that the host can decide before the device starts.
  Status runHostInstructions();
  Status recordDeviceWork();
  Status queueDeviceWork();
  Status moveInputs(bool isStaged);
  Status moveOutputs();
  Status growWorkspace();
  Status finishOutputs();
  bool isOnHost(uint32_t value) const;
  /// The value's bytes where the host can read them.
  Status hostBytes(uint32_t value, const void **data);
  Status requirePlaced(uint32_t value);
  Status requireKnown(uint32_t expr);
  Status requireOutputs();
  void dropCreatedOutputs();

  /// A run of one set of sizes, recorded.
  struct Recorded {
    std::vector<int64_t> symbols;
    std::unique_ptr<DeviceGraph> graph;
  };

  const Entry &entry;
  ThreadPool &pool;
  char *const states;
  Device *const device;
  std::unique_ptr<DeviceStream> stream; // outlives the memory below
  Status streamError;                   // why there is none
  bool canRecord = false;               // the host decides nothing in the middle
  Block workspace;                      // temporaries of one kernel
  std::vector<Block> staging;           // pinned: inputs, then outputs
  std::vector<Recorded> recorded;       // oldest first; dropped when memory moves
  std::vector<char> hostCopy;
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
