// The threads between a dataset and its consumer. Work is given out in batch order, in
// runs of neighbouring places of one batch; each place is filled by whoever has it, so
// that only the waiting depends on the threads, never what is in a batch.

#ifndef DLC_RUNTIME_DATA_PIPELINE_H
#define DLC_RUNTIME_DATA_PIPELINE_H

#include "runtime/data/Cache.h"
#include "runtime/data/Order.h"
#include "runtime/data/Queue.h"
#include "runtime/data/Slot.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace dlc::data {

class Pipeline : public std::enable_shared_from_this<Pipeline> {
public:
  Pipeline(DatasetPtr dataset, Transforms transforms, const LoaderOptions &options, Layout layout);
  ~Pipeline();

  void stop(); // joins the threads
  Status next(Batch &batch);
  Status seek(const Position &position);
  void cancel();
  void release(Slot *slot);
  Position position() const;
  Statistics statistics() const;

  const Layout layout;
  const Order order;

private:
  using Clock = std::chrono::steady_clock;
  /// Neighbouring places of one batch.
  struct Run {
    Slot *slot = nullptr;
    uint64_t begin = 0, end = 0;
  };
  /// What one thread has done since it last reported.
  struct Tally {
    std::array<StageStatistics, StageCount> stages = {};
    uint64_t replaced = 0, skipped = 0;
    std::string broken;
    void begin() { last = Clock::now(); }
    void end(Stage stage, uint64_t bytes);
    Clock::time_point last;
  };
  /// A record that was read, on its way from a reader to a worker.
  struct Item {
    Slot *slot = nullptr;
    uint64_t place = 0;
    Sample *sample = nullptr;
    bool cached = false;
    dlc_code code = DLC_OK;
    std::string message;
  };

  // Sample by sample (Work.cpp).
  bool read(uint64_t index, Sample &sample, Tally &tally);
  void prepare(uint64_t epoch, bool cached, Sample &sample, Tally &tally);
  void fill(Slot &slot, uint64_t place, Item *item, Sample &sample, Tally &tally);
  bool mayPassOver(dlc_code code) const;
  void workerLoop();
  void readerLoop();
  void queueLoop();
  void workOn(const Run &run, Sample &sample, Tally &tally);
  Sample newSample() const;

  // Batch by batch (Pipeline.cpp).
  bool takeRun(Run &run, bool wait);
  void beginBatch(Slot &slot);
  void finish(Slot &slot, uint64_t places, Tally &tally);
  void report(Tally &tally);
  void merge(Tally &tally);
  void transferLoop();
  void transfer(Slot &slot);
  void launch();
  Slot *slotIn(Slot::State state) const;
  Slot *pending(uint64_t sequence, Slot::State state) const;
  Slot *waitForBatch();
  Slot *fillBatchHere();
  Slot *nextSlot(bool &mayRetry);
  void checkFailure(const Slot &slot);

  const LoaderOptions options;
  const DatasetPtr dataset;
  const Transforms transforms;
  size_t fixedTransforms; // those before the first random one
  std::optional<Cache> cache;
  uint64_t fingerprint, totalBatches, runLength;

  mutable std::mutex mutex;
  std::condition_variable slotFreed, batchDone;
  mutable std::vector<Slot> slots;
  Slot *current = nullptr; // has places that nobody has taken
  uint64_t nextIssued = 0, nextTransferred = 0, nextGiven = 0;
  uint64_t issueEnd = 0;     // nothing follows a batch that failed
  uint64_t emptyBatches = 0; // in a row
  std::atomic<bool> stopping{false};
  bool cancelled = false;
  Status failed;
  Statistics totals;
  uint64_t skippedGiven = 0;
  std::optional<Clock::time_point> firstCall;

  std::vector<std::thread> threads;
  std::unique_ptr<Queue<Item>> queue;
  std::unique_ptr<Queue<Sample *>> samples;
  std::vector<Sample> samplePool;
  int readersRunning = 0;
  Sample ownSample; // of next(), when there are no workers
  Tally ownTally;
};

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_PIPELINE_H
