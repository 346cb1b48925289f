// Batches: giving out their places, collecting them, handing them over in order.

#include "runtime/data/Pipeline.h"

#include "runtime/data/Failure.h"

#include <algorithm>
#include <limits>
#include <system_error>

namespace dlc::data {

Pipeline::Pipeline(DatasetPtr owned, Transforms chain, const LoaderOptions &given, Layout batch)
    : layout(std::move(batch)), order(owned->size(), given), options(given),
      dataset(std::move(owned)), transforms(std::move(chain)),
      fingerprint(order.fingerprint(layout.fields)),
      runLength(std::clamp<uint64_t>(order.samplesPerBatch() / (4 * std::max(given.workers, 1)), 1, 64)),
      slots(given.prefetch + 1), ownSample(newSample()) {
  auto random = std::ranges::find_if(transforms, [](const TransformPtr &t) { return t->isRandom(); });
  fixedTransforms = static_cast<size_t>(random - transforms.begin());
  uint64_t most = std::numeric_limits<uint64_t>::max();
  if (options.epochs == 0 || __builtin_mul_overflow(order.batchesPerEpoch(), options.epochs, &totalBatches))
    totalBatches = most;
  issueEnd = totalBatches;
  if (options.cacheBytes > 0 || !options.cacheFile.empty())
    cache.emplace(options);
  for (Slot &slot : slots)
    slot.reserve(layout, order.samplesPerBatch(), options.allocator);
  launch();
}

Pipeline::~Pipeline() { stop(); }

void Pipeline::launch() {
  stopping = false;
  if (options.readers > 0) {
    size_t onTheWay = 2 * size_t(options.readers + options.workers);
    queue = std::make_unique<Queue<Item>>(onTheWay);
    samples = std::make_unique<Queue<Sample *>>(onTheWay);
    samplePool.resize(onTheWay);
    for (Sample &sample : samplePool) {
      sample.values.resize(ownSample.values.size());
      samples->push(&sample);
    }
  }
  readersRunning = options.readers;
  try {
    for (int i = 0; i < options.readers; ++i)
      threads.emplace_back(&Pipeline::readerLoop, this);
    for (int i = 0; i < options.workers; ++i)
      threads.emplace_back(options.readers > 0 ? &Pipeline::queueLoop : &Pipeline::workerLoop, this);
    if (options.transfer && options.workers > 0)
      threads.emplace_back(&Pipeline::transferLoop, this);
  } catch (const std::system_error &error) {
    stop();
    fail(DLC_OUT_OF_MEMORY, "cannot start a thread of the data pipeline: ", error.what());
  }
}

void Pipeline::stop() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  slotFreed.notify_all();
  batchDone.notify_all();
  if (queue) {
    queue->close();
    samples->close();
  }
  for (std::thread &thread : threads)
    thread.join();
  threads.clear();
}

Slot *Pipeline::slotIn(Slot::State state) const {
  auto found = std::ranges::find(slots, state, &Slot::state);
  return found == slots.end() ? nullptr : &*found;
}

Slot *Pipeline::pending(uint64_t sequence, Slot::State state) const {
  auto found = std::ranges::find_if(
      slots, [&](const Slot &slot) { return slot.state == state && slot.sequence == sequence; });
  return found == slots.end() ? nullptr : &*found;
}

void Pipeline::beginBatch(Slot &slot) {
  uint64_t perEpoch = order.batchesPerEpoch();
  slot.state = Slot::Filling;
  slot.sequence = nextIssued++;
  slot.epoch = slot.sequence / perEpoch;
  slot.number = slot.sequence % perEpoch;
  slot.lastOfEpoch = slot.number + 1 == perEpoch;
  slot.firstPosition = slot.number * order.samplesPerBatch();
  slot.size = slot.unfinished = order.samplesOf(slot.number);
  slot.issued = 0;
  slot.code = DLC_OK;
}

/// False when there is nothing more to do, or nothing now and `wait` is false.
bool Pipeline::takeRun(Run &run, bool wait) {
  std::unique_lock lock(mutex);
  while (!stopping) {
    if (current) {
      run = {current, current->issued, std::min(current->issued + runLength, current->size)};
      current->issued = run.end;
      if (current->issued == current->size)
        current = nullptr;
      return true;
    }
    if (nextIssued >= issueEnd)
      return false;
    if (Slot *slot = slotIn(Slot::Free)) {
      beginBatch(*slot);
      current = slot;
      slotFreed.notify_all(); // there is work for others too
    } else if (wait) {
      slotFreed.wait(lock);
    } else {
      return false;
    }
  }
  return false;
}

void Pipeline::merge(Tally &tally) {
  for (size_t i = 0; i < StageCount; ++i) {
    totals.stages[i].samples += tally.stages[i].samples;
    totals.stages[i].bytes += tally.stages[i].bytes;
    totals.stages[i].seconds += tally.stages[i].seconds;
  }
  totals.replaced += tally.replaced;
  totals.skipped += tally.skipped;
  if (!tally.broken.empty())
    totals.lastBroken = std::move(tally.broken);
  tally = {};
}

void Pipeline::report(Tally &tally) {
  std::lock_guard lock(mutex);
  merge(tally);
}

/// Counts filled places; whoever fills the last one closes the batch.
void Pipeline::finish(Slot &slot, uint64_t places, Tally &tally) {
  std::unique_lock lock(mutex);
  merge(tally);
  slot.unfinished -= places;
  if (slot.unfinished > 0)
    return;
  lock.unlock(); // nobody else touches the slot now
  slot.closeGaps();
  lock.lock();
  slot.state = options.transfer ? Slot::Filled : Slot::Ready;
  batchDone.notify_all();
}

void Pipeline::transferLoop() {
  std::unique_lock lock(mutex);
  while (!stopping && nextTransferred < issueEnd) {
    Slot *slot = pending(nextTransferred, Slot::Filled);
    if (!slot) {
      batchDone.wait(lock);
      continue;
    }
    lock.unlock();
    transfer(*slot);
    lock.lock();
  }
}

void Pipeline::transfer(Slot &slot) {
  Tally tally;
  tally.begin();
  Status status;
  uint64_t bytes = 0;
  if (slot.code == DLC_OK && slot.count > 0) {
    Batch batch;
    batch.slot = &slot;
    status = guarded([&] { require(options.transfer(batch)); });
    for (size_t i = 0; i < batch.fieldCount(); ++i)
      bytes += static_cast<uint64_t>(dlc_tensor_size_bytes(batch.tensor(i)));
    batch.slot = nullptr; // the slot stays with the pipeline
    tally.end(Transfer, bytes);
    tally.stages[Transfer].samples = slot.count;
  }
  std::lock_guard lock(mutex);
  merge(tally);
  if (status) {
    slot.recordFailure(0, status.code(), status.message());
    issueEnd = std::min(issueEnd, slot.sequence + 1);
  }
  slot.state = Slot::Ready;
  ++nextTransferred;
  batchDone.notify_all();
}

/// The next batch when workers fill it; null if the consumer holds all there are.
Slot *Pipeline::waitForBatch() {
  std::unique_lock lock(mutex);
  while (!cancelled) {
    if (Slot *slot = pending(nextGiven, Slot::Ready))
      return slot;
    if (std::ranges::all_of(slots, [](const Slot &slot) { return slot.state == Slot::Held; }))
      return nullptr;
    batchDone.wait(lock);
  }
  fail(DLC_USAGE, "the data loader was cancelled");
}

/// The next batch without workers: the caller does the work.
Slot *Pipeline::fillBatchHere() {
  for (;;) {
    {
      std::lock_guard lock(mutex);
      if (cancelled)
        fail(DLC_USAGE, "the data loader was cancelled");
      if (Slot *slot = pending(nextGiven, Slot::Ready))
        return slot;
    }
    Slot *filled = nullptr;
    {
      std::lock_guard lock(mutex);
      filled = pending(nextGiven, Slot::Filled);
    }
    Run run;
    if (filled)
      transfer(*filled);
    else if (takeRun(run, false))
      workOn(run, ownSample, ownTally);
    else
      return nullptr;
  }
}

void Pipeline::checkFailure(const Slot &slot) {
  if (slot.code != DLC_OK)
    fail(slot.code, slot.message);
  emptyBatches = slot.count == 0 ? emptyBatches + 1 : 0;
  if (emptyBatches >= order.batchesPerEpoch())
    fail(DLC_USAGE, "every sample of an epoch is broken; the last: ", totals.lastBroken);
}

/// Null after the last batch. `mayRetry`: the failure is the caller's, and passes.
Slot *Pipeline::nextSlot(bool &mayRetry) {
  for (;;) {
    {
      std::lock_guard lock(mutex);
      if (nextGiven >= totalBatches)
        return nullptr;
    }
    Slot *slot = options.workers > 0 ? waitForBatch() : fillBatchHere();
    mayRetry = !slot;
    if (!slot)
      fail(DLC_USAGE, "the caller holds all ", slots.size(),
           " batches; give one back or raise prefetch");
    {
      std::lock_guard lock(mutex);
      checkFailure(*slot);
      ++nextGiven;
      skippedGiven += slot->size - slot->count;
      slot->state = Slot::Held;
      if (slot->count > 0) {
        ++totals.batches;
        totals.samples += slot->count;
        return slot;
      }
    }
    release(slot); // all its samples were skipped
  }
}

Status Pipeline::next(Batch &batch) {
  batch = Batch();
  Clock::time_point start = Clock::now();
  if (!firstCall) {
    std::lock_guard lock(mutex);
    firstCall = start;
  }
  if (failed)
    return failure(failed.code(), failed.message());
  Slot *slot = nullptr;
  bool mayRetry = false;
  Status status = guarded([&] { slot = nextSlot(mayRetry); });
  std::lock_guard lock(mutex);
  totals.waitSeconds += std::chrono::duration<double>(Clock::now() - start).count();
  if (status) {
    if (!mayRetry)
      failed = failure(status.code(), status.message());
    return status;
  }
  if (slot) {
    batch.slot = slot;
    batch.pipeline = shared_from_this();
  }
  return Status();
}

void Pipeline::release(Slot *slot) {
  {
    std::lock_guard lock(mutex);
    slot->state = Slot::Free;
  }
  slotFreed.notify_one();
}

void Pipeline::cancel() {
  {
    std::lock_guard lock(mutex);
    cancelled = true;
    stopping = true;
  }
  slotFreed.notify_all();
  batchDone.notify_all();
  if (queue) {
    queue->close();
    samples->close();
  }
}

Status Pipeline::seek(const Position &position) {
  uint64_t perEpoch = order.batchesPerEpoch(), sequence;
  if (position.fingerprint != 0 && position.fingerprint != fingerprint)
    return failure(DLC_USAGE, "the saved position belongs to other data or another order: size, seed, "
                              "shuffling, batch size, ranks or fields differ");
  if (position.batch >= perEpoch || __builtin_mul_overflow(position.epoch, perEpoch, &sequence) ||
      __builtin_add_overflow(sequence, position.batch, &sequence) || sequence > totalBatches)
    return failure(DLC_USAGE, "the saved position, batch " + std::to_string(position.batch) + " of epoch " +
                                  std::to_string(position.epoch) + ", is beyond the data: " +
                                  std::to_string(perEpoch) + " batches an epoch");
  stop();
  for (Slot &slot : slots) {
    std::lock_guard lock(mutex);
    if (slot.state != Slot::Held)
      slot.state = Slot::Free;
  }
  current = nullptr;
  nextIssued = nextTransferred = nextGiven = sequence;
  issueEnd = totalBatches;
  emptyBatches = 0;
  skippedGiven = position.skipped;
  cancelled = false;
  failed = Status();
  return guarded([&] { launch(); });
}

Position Pipeline::position() const {
  std::lock_guard lock(mutex);
  uint64_t perEpoch = order.batchesPerEpoch();
  return {nextGiven / perEpoch, nextGiven % perEpoch, skippedGiven, fingerprint};
}

Statistics Pipeline::statistics() const {
  std::lock_guard lock(mutex);
  Statistics result = totals;
  if (cache)
    cache->count(result);
  if (firstCall)
    result.totalSeconds = std::chrono::duration<double>(Clock::now() - *firstCall).count();
  return result;
}

} // namespace dlc::data
