// What the threads do with one sample: read, decode, augment, put into the batch.

#include "runtime/data/Failure.h"
#include "runtime/data/Pipeline.h"

#include <algorithm>

namespace dlc::data {

namespace {

constexpr uint32_t kMostReplacements = 100;

uint64_t bytesOf(const Sample &sample) {
  uint64_t total = 0;
  for (const Value &value : sample.values)
    total += value.bytes().size();
  return total;
}

} // namespace

void Pipeline::Tally::end(Stage stage, uint64_t bytes) {
  Clock::time_point now = Clock::now();
  StageStatistics &entry = stages[stage];
  ++entry.samples;
  entry.bytes += bytes;
  entry.seconds += std::chrono::duration<double>(now - last).count();
  last = now;
}

Sample Pipeline::newSample() const {
  Sample sample;
  sample.values.resize(dataset->fields().size());
  return sample;
}

/// Whether the sample came from the cache, decoded.
bool Pipeline::read(uint64_t index, Sample &sample, Tally &tally) {
  tally.begin();
  sample.index = index;
  bool cached = cache && cache->fetch(index, sample);
  if (!cached)
    require(dataset->read(index, sample));
  tally.end(Read, bytesOf(sample));
  return cached;
}

void Pipeline::prepare(uint64_t epoch, bool cached, Sample &sample, Tally &tally) {
  tally.begin();
  Random random(options.seed, epoch, sample.index);
  size_t next = fixedTransforms;
  if (!cached) {
    require(dataset->decode(sample));
    tally.end(Decode, bytesOf(sample));
    for (size_t i = 0; i < fixedTransforms; ++i)
      require(transforms[i]->apply(sample, random));
    if (cache)
      cache->store(sample);
  }
  for (; next < transforms.size(); ++next)
    require(transforms[next]->apply(sample, random));
  tally.end(Augment, bytesOf(sample));
}

/// Faults of the data may be passed over; lack of memory or a bug may not.
bool Pipeline::mayPassOver(dlc_code code) const {
  return options.onBroken != OnBroken::Fail && (code == DLC_USAGE || code == DLC_UNSUPPORTED);
}

/// Fills one place. `item` is what a reader has read for it, if one did.
void Pipeline::fill(Slot &slot, uint64_t place, Item *item, Sample &sample, Tally &tally) {
  uint64_t position = slot.firstPosition + place;
  uint64_t index = order.index(slot.epoch, position);
  for (uint32_t attempt = 0;; ++attempt) {
    Status status;
    if (item && item->code != DLC_OK)
      status = failure(item->code, item->message);
    else
      status = guarded([&] {
        bool cached = item ? item->cached : read(index, sample, tally);
        prepare(slot.epoch, cached, sample, tally);
        slot.put(place, sample);
        tally.end(Collect, 0);
      });
    item = nullptr;
    if (!status)
      return;
    std::string message = dataset->where(index) + ": " + status.message();
    if (!mayPassOver(status.code()) ||
        (options.onBroken == OnBroken::Replace && attempt == kMostReplacements)) {
      std::lock_guard lock(mutex);
      slot.markBroken(place);
      slot.recordFailure(place, status.code(), message);
      issueEnd = std::min(issueEnd, slot.sequence + 1);
      return;
    }
    tally.broken = std::move(message);
    if (options.onBroken == OnBroken::Skip) {
      ++tally.skipped;
      slot.markBroken(place);
      return;
    }
    ++tally.replaced;
    index = order.replacement(slot.epoch, position, attempt);
  }
}

void Pipeline::workOn(const Run &run, Sample &sample, Tally &tally) {
  for (uint64_t place = run.begin; place < run.end && !stopping; ++place)
    fill(*run.slot, place, nullptr, sample, tally);
  finish(*run.slot, run.end - run.begin, tally);
}

void Pipeline::workerLoop() {
  Sample sample = newSample();
  Tally tally;
  for (Run run; takeRun(run, true);)
    workOn(run, sample, tally);
}

/// Reads ahead of the workers; as many samples are on their way as the pool has.
void Pipeline::readerLoop() {
  Tally tally;
  bool open = true;
  for (Run run; open && takeRun(run, true);) {
    for (uint64_t place = run.begin; open && place < run.end; ++place) {
      Item item;
      item.slot = run.slot;
      item.place = place;
      open = samples->pop(item.sample);
      if (!open)
        break;
      Status status = guarded([&] {
        item.cached = read(order.index(run.slot->epoch, run.slot->firstPosition + place),
                           *item.sample, tally);
      });
      if (status) {
        item.code = status.code();
        item.message = status.message();
      }
      open = queue->push(std::move(item));
    }
    report(tally);
  }
  std::lock_guard lock(mutex);
  if (--readersRunning == 0)
    queue->close();
}

void Pipeline::queueLoop() {
  Tally tally;
  for (Item item; queue->pop(item) && !stopping;) {
    fill(*item.slot, item.place, &item, *item.sample, tally);
    samples->push(item.sample);
    finish(*item.slot, 1, tally);
  }
}

} // namespace dlc::data
