#include "runtime/data/Order.h"

#include "runtime/data/Philox.h"

#include <algorithm>
#include <bit>

namespace dlc::data {

namespace {

/// The finalizer of SplitMix64: every input bit reaches every output bit.
uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

} // namespace

/// A Feistel network permutes the numbers of 2 * `half` bits; a number that falls
/// outside is sent through again until it falls inside, which keeps it a bijection and
/// takes less than four rounds through on average.
uint64_t permute(uint64_t position, uint64_t count, uint64_t key) {
  if (count < 2)
    return position;
  constexpr int rounds = 8;
  unsigned half = (std::bit_width(count - 1) + 1) / 2;
  uint64_t mask = (uint64_t(1) << half) - 1, x = position;
  do {
    uint64_t left = x >> half, right = x & mask;
    for (uint64_t round = 0; round < rounds; ++round) {
      uint64_t next = left ^ (mix(right + key + round * 0x9e3779b97f4a7c15u) >> 20 & mask);
      left = right;
      right = next;
    }
    x = left << half | right;
  } while (x >= count);
  return x;
}

Order::Order(uint64_t datasetSize, const LoaderOptions &options)
    : size(datasetSize), batchSize(std::max<int64_t>(options.batchSize, 1)), seed(options.seed),
      window(options.shuffle == Shuffle::Windowed ? options.window : 0), rank(options.rank), ranks(options.ranks), shuffle(options.shuffle),
      tail(options.shardTail), dropLast(options.dropLast) {
  samples = size / ranks;
  uint64_t rest = size % ranks;
  if ((tail == ShardTail::Wrap && rest) || (tail == ShardTail::Keep && rank < rest))
    ++samples;
  batches = samples / batchSize + (!dropLast && samples % batchSize);
}

uint64_t Order::samplesOf(uint64_t number) const {
  return std::min(batchSize, samples - number * batchSize);
}

uint64_t Order::index(uint64_t epoch, uint64_t position) const {
  return shuffled(epoch, (position * ranks + rank) % size);
}

uint64_t Order::replacement(uint64_t epoch, uint64_t position, uint32_t attempt) const {
  uint64_t number = position * ranks + rank;
  uint64_t word = philoxWord(seed + attempt, epoch, number, Draw::Replacement);
  return static_cast<uint64_t>((static_cast<unsigned __int128>(word) * size) >> 64);
}

uint64_t Order::shuffled(uint64_t epoch, uint64_t position) const {
  if (shuffle == Shuffle::None)
    return position;
  uint64_t key = philoxWord(seed, epoch, 0, Draw::Order);
  if (shuffle == Shuffle::Full || window >= size)
    return permute(position, size, key);
  // Whole blocks change places; the short one stays last. Turning the dataset by less
  // than a block moves the borders from epoch to epoch.
  uint64_t whole = size / window, block = position / window, within = position % window;
  uint64_t length = block < whole ? window : size % window;
  uint64_t source = block < whole ? permute(block, whole, key) : block;
  uint64_t turn = philoxWord(seed, epoch, 1, Draw::Order) % window;
  uint64_t place = source * window + permute(within, length, mix(key + source + 1));
  return (place + turn) % size;
}

uint64_t Order::fingerprint(const std::vector<FieldSpec> &fields) const {
  uint64_t hash = mix(size + 1);
  auto add = [&](uint64_t value) { hash = mix(hash + 0x9e3779b97f4a7c15u + value); };
  for (uint64_t value : {batchSize, seed, window, rank, ranks, uint64_t(shuffle), uint64_t(tail),
                         uint64_t(dropLast), uint64_t(fields.size())})
    add(value);
  for (const FieldSpec &field : fields) {
    for (char c : field.name)
      add(static_cast<unsigned char>(c));
    add(field.type);
    for (int64_t dim : field.dims)
      add(static_cast<uint64_t>(dim));
  }
  return hash | 1; // never 0
}

} // namespace dlc::data
