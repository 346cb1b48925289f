// Which sample comes when: a function of seed, epoch and position, without a table, so
// that an epoch of any length costs no memory and resuming costs no time.

#ifndef DLC_RUNTIME_DATA_ORDER_H
#define DLC_RUNTIME_DATA_ORDER_H

#include "dlc/data.hpp"

namespace dlc::data {

/// A bijection of [0, count) onto itself, chosen by `key`.
uint64_t permute(uint64_t position, uint64_t count, uint64_t key);

class Order {
public:
  Order(uint64_t datasetSize, const LoaderOptions &options);

  uint64_t samplesPerEpoch() const { return samples; }
  uint64_t batchesPerEpoch() const { return batches; }
  uint64_t samplesPerBatch() const { return batchSize; }
  /// Samples in batch `number` of an epoch.
  uint64_t samplesOf(uint64_t number) const;
  /// Dataset index of this rank's `position`-th sample of `epoch`.
  uint64_t index(uint64_t epoch, uint64_t position) const;
  /// Another sample for a broken one; the attempts at a position differ.
  uint64_t replacement(uint64_t epoch, uint64_t position, uint32_t attempt) const;
  /// Two loaders with the same have the same order.
  uint64_t fingerprint(const std::vector<FieldSpec> &fields) const;

private:
  uint64_t shuffled(uint64_t epoch, uint64_t position) const;
  uint64_t size, batchSize, seed, window, rank, ranks;
  Shuffle shuffle;
  ShardTail tail;
  bool dropLast;
  uint64_t samples, batches;
};

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_ORDER_H
