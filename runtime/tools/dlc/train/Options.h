// `dlc train` as the command line gives it.

#ifndef DLC_RUNTIME_TOOLS_DLC_TRAIN_OPTIONS_H
#define DLC_RUNTIME_TOOLS_DLC_TRAIN_OPTIONS_H

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::cli {

enum class ScheduleKind { Constant, Step, Cosine, OneCycle };

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::Constant;
  double learningRate = 1e-3;
  int64_t warmup = 0;       // updates from 0 up to the learning rate
  int64_t every = 0;        // step: updates between two drops
  double gamma = 0.1;       // step: the factor of a drop
  double least = 0;         // cosine: where it ends
  double startDivisor = 25, endDivisor = 1e4, rising = 0.3; // one-cycle, as in PyTorch
};

/// Data that come as single samples.
struct DataOptions {
  std::string path; // empty: none
  int64_t batchSize = 64;
  bool shuffle = true, channelsLast = false;
  std::vector<std::string> transforms;
  std::string onBroken = "fail";
  int workers = 1, readers = 0, prefetch = 2;
  int64_t cacheMegabytes = 0, cacheFileMegabytes = 0;
  std::string cacheFile;
  std::string tokenType = "u8";
  int64_t tokenLength = 0, tokenStride = 0; // length 0: not a file of tokens
};

struct TrainOptions {
  std::string model, batches, validation;
  DataOptions data;
  std::string save, best, exported, resume, start, log, csv, plot, tensorboard, device = "cpu";
  int64_t keep = 1;      // checkpoints: the newest ones
  int64_t patience = 0;  // validations without a better loss that end the run; 0: none
  int64_t steps = 0;     // 0: every batch once
  int64_t epochs = 0;    // in place of steps: how often all batches come
  int64_t accumulate = 1;
  int64_t validateEvery = 0, saveEvery = 0; // steps; 0: at the end
  int threads = 0;
  uint64_t seed = 0;
  bool quiet = false;
  ScheduleOptions schedule;
  std::string loss = "cross-entropy", optimizer = "adam";
  int64_t classAxis = -1;
  /// Further flags of `dlc compile --train`, as they were given.
  std::vector<std::string> forwarded;
};

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TRAIN_OPTIONS_H
