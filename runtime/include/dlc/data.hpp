// Batches for training, read and prepared by worker threads ahead of the step that
// uses them. A Dataset gives records by number, Transforms change samples, a Loader
// makes batches of them. The order and every random draw depend on the seed, the epoch
// and the sample alone: the same batches for any number of threads. docs/data.md is
// the guide.
#ifndef DLC_DATA_HPP
#define DLC_DATA_HPP

#include "dlc/dlc.hpp"

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dlc::data {

/// A failed status with one line of text; the code is not DLC_OK.
Status failure(dlc_code code, const std::string &message);

/// What a field of a sample or, with the batch axis in front, of a batch looks like.
struct FieldSpec {
  std::string name;
  dlc_type type = DLC_U8;
  std::vector<int64_t> dims; // -1: differs from sample to sample
};

/// A field of one sample: dense and row-major, in memory that is kept for the next
/// sample, or borrowed.
class Value {
public:
  dlc_type type() const { return elementType; }
  std::span<const int64_t> dims() const { return {sizes.data(), rank}; }
  std::span<const uint8_t> bytes() const { return {data, sizeBytes}; }
  template <typename T> const T *as() const { return reinterpret_cast<const T *>(data); }

  /// Points at memory that stays as it is for as long as the dataset lives.
  void borrow(dlc_type type, std::span<const int64_t> dims, const void *memory);
  /// Memory for new contents; null if the size overflows or memory is short. The old
  /// contents stay until commit().
  uint8_t *prepare(dlc_type type, std::span<const int64_t> dims);
  void commit();
  /// The same elements under other sizes of the same product.
  void reshape(std::span<const int64_t> dims);

private:
  struct Shape {
    dlc_type type = DLC_U8;
    size_t rank = 0, sizeBytes = 0;
    std::array<int64_t, DLC_MAX_RANK> sizes = {};
  };
  void become(const Shape &shape);
  dlc_type elementType = DLC_U8;
  size_t rank = 0, sizeBytes = 0;
  std::array<int64_t, DLC_MAX_RANK> sizes = {};
  const uint8_t *data = nullptr;
  Shape next;
  std::vector<uint8_t> front, back;
};

/// The values follow the order of the fields.
struct Sample {
  uint64_t index = 0; // in the dataset
  std::vector<Value> values;
};

/// Records that can be read by number, from several threads at once.
class Dataset {
public:
  virtual ~Dataset();
  virtual uint64_t size() const = 0;
  virtual std::vector<FieldSpec> fields() const = 0; // as decode() leaves them
  /// For messages: "train.tar: sample 'n01/7' (record 12)".
  virtual std::string where(uint64_t index) const = 0;
  /// Stage "read": the bytes of a record.
  virtual Status read(uint64_t index, Sample &sample) const = 0;
  /// Stage "decode": from those bytes to values.
  virtual Status decode(Sample &sample) const;
};
using DatasetPtr = std::unique_ptr<Dataset>;

struct NamedFile {
  std::string field, path;
};
/// The arrays of an archive whose first axes agree: sample i has row i of each.
Status openNpz(const std::string &path, DatasetPtr &dataset);
/// Likewise with one array a file.
Status openNpy(const std::vector<NamedFile> &files, DatasetPtr &dataset);
/// Likewise in MNIST's format; also gzipped.
Status openIdx(const std::vector<NamedFile> &files, DatasetPtr &dataset);
/// The binary CIFAR files, one after the other: "image" u8[32,32,3] and "label" u8[], for
/// CIFAR-100 also "coarse" u8[].
Status openCifar(const std::vector<std::string> &files, int classes, DatasetPtr &dataset);

struct ImageFolderOptions {
  /// Sides that need not be kept above this: large JPEGs are decoded at a half, a quarter or
  /// an eighth, which takes much less time. 0: decoded as they are.
  int smallestSide = 0;
};
/// root/class/picture.png or .jpg: "image" u8[h,w,3], and "label" i64[], the number of the
/// class in the order of names, which `classes` gets.
Status openImageFolder(const std::string &root, const ImageFolderOptions &options,
                       DatasetPtr &dataset, std::vector<std::string> *classes = nullptr);

/// A field of a tar or TFRecord sample.
struct RecordField {
  enum Kind {
    Image,    // PNG or JPEG: u8[h,w,3]
    Integers, // i64 of `dims`; in a tar file as text, one number
    Floats,   // f32 of `dims`; TFRecord only
    Array,    // .npy; tar only; sizes and type are those of the first sample
  };
  std::string name;
  std::string key; // tar: endings, as "jpg,jpeg,png"; TFRecord: name of the feature
  Kind kind = Image;
  std::vector<int64_t> dims;
};
/// WebDataset shards: files whose names agree up to the first point are one sample. No
/// fields: "image" from jpg, jpeg or png and "label" from cls.
Status openTar(const std::vector<std::string> &shards, std::vector<RecordField> fields,
               DatasetPtr &dataset);
/// Files of tf.train.Example records; checksums are compared.
Status openTfRecord(const std::vector<std::string> &files, std::vector<RecordField> fields,
                    DatasetPtr &dataset);

struct CsvOptions {
  char separator = ',';
  bool header = true;      // the first line names the columns; else they are "0", "1", ...
  std::string label;       // column of the label; empty: none
  bool classes = true;     // the label is a class: a number from 0, or words, which are
                           // numbered in their order; false: it is a number to predict
};
/// "x" f32[columns], all but the label, and "y" i64[] (f32[] if it is no class).
Status openCsv(const std::string &path, const CsvOptions &options, DatasetPtr &dataset,
               std::vector<std::string> *classes = nullptr);

struct TokenOptions {
  dlc_type type = DLC_U16; // u8 (the bytes of a text), u16 or u32, least significant byte first
  int64_t length = 0;      // of a sample
  int64_t stride = 0;      // from sample to sample; 0: length
};
/// A file of token numbers: "x" [length], and "y" [length], the tokens that follow each.
Status openTokens(const std::string &path, const TokenOptions &options, DatasetPtr &dataset);

enum class Split { Train, Test };
/// Opens what is at `path`, told by its name: .npz, .csv, .tsv (the label is the column
/// "label", "class", "target" or "y"), .tar, and folders of MNIST's or CIFAR's files, of tar
/// shards, or of one folder a class, perhaps within "train" and "test" (or "val"). A split
/// that is not there is an error.
Status openData(const std::string &path, Split split, DatasetPtr &dataset,
                std::vector<std::string> *classes = nullptr);

/// Draws that depend on (seed, epoch, sample) and their order alone: Philox4x32-10.
class Random {
public:
  Random(uint64_t seed, uint64_t epoch, uint64_t sample);
  uint32_t bits();
  double uniform();                       // [0, 1)
  double uniform(double low, double high); // [low, high)
  uint64_t below(uint64_t count);         // [0, count); count > 0

private:
  std::array<uint32_t, 2> key;
  std::array<uint32_t, 4> counter, block;
  unsigned used;
};

/// Stage "augment": changes samples. Its apply() runs on several threads at once.
class Transform {
public:
  virtual ~Transform();
  /// Finds its fields, checks that it can work on them, and changes `fields` to what
  /// comes out; their number and order stay.
  virtual Status bind(std::vector<FieldSpec> &fields) = 0;
  virtual Status apply(Sample &sample, Random &random) const = 0;
  /// Samples are cached as they are before the first transform that says yes.
  virtual bool isRandom() const { return false; }
};
using TransformPtr = std::unique_ptr<Transform>;
using Transforms = std::vector<TransformPtr>;

// Transforms of one field. Images are u8 or f32 of [height, width, channels] or [height,
// width]; f32 levels are taken as they are.
TransformPtr resize(const std::string &field, int height, int width); // bilinear, antialiased
/// The shorter side becomes `side`, the other keeps the proportion.
TransformPtr resizeShorter(const std::string &field, int side);
TransformPtr centerCrop(const std::string &field, int height, int width);
/// From the image with `padding` zeros around it.
TransformPtr randomCrop(const std::string &field, int height, int width, int padding = 0);
/// A part of random area and proportion, resized.
struct CropRange {
  double minArea = 0.08, maxArea = 1, minRatio = 3.0 / 4, maxRatio = 4.0 / 3;
};
TransformPtr randomResizedCrop(const std::string &field, int height, int width, CropRange range = {});
TransformPtr randomFlip(const std::string &field, double probability = 0.5); // left and right
/// Factors from [1 - x, 1 + x]; hue turns by up to x of a full turn around gray.
struct ColorJitter {
  double brightness = 0, contrast = 0, saturation = 0, hue = 0;
};
TransformPtr colorJitter(const std::string &field, ColorJitter ranges);
TransformPtr toGray(const std::string &field); // [h,w,3] to [h,w,1]
/// To f32: (level / 255 - mean) / deviation of u8, (value - mean) / deviation of f32. One
/// value for all channels, or one each.
TransformPtr normalize(const std::string &field, std::vector<double> mean, std::vector<double> deviation);
TransformPtr channelsFirst(const std::string &field); // [h,w,c] to [c,h,w]
/// Fails for a value that the type cannot hold; floats lose their fraction.
TransformPtr cast(const std::string &field, dlc_type type);
TransformPtr oneHot(const std::string &field, int64_t classes); // integers to f32[..., classes]
/// The first axis becomes `length`: cut, or filled up with `value`.
TransformPtr padToLength(const std::string &field, int64_t length, double value = 0);
TransformPtr reshape(const std::string &field, std::vector<int64_t> dims);
TransformPtr rename(const std::string &field, const std::string &name);

enum class Shuffle {
  None,
  Full,     // one permutation of the whole epoch
  Windowed, // blocks of `window` neighbours in random order, and each block within:
            // nearly sequential reading of big files
};
/// What becomes of samples that do not divide by the number of ranks.
enum class ShardTail {
  Drop, // every rank has equally many, some are left out (others in each epoch when shuffled)
  Wrap, // every rank has equally many, some come twice
  Keep, // each sample once, some ranks have one more
};
enum class OnBroken {
  Fail,    // next() reports the first broken sample in batch order
  Skip,    // left out: the batch is smaller
  Replace, // another sample, drawn by (seed, epoch, position), takes its place
};

/// Memory for batches: pinned, for a device that copies from it.
struct Allocator {
  std::function<void *(size_t bytes)> allocate; // at least 64-byte aligned; null: no memory
  std::function<void(void *memory, size_t bytes)> release;
};

class Batch;

struct LoaderOptions {
  int64_t batchSize = 1;  // 0: each record is a batch already
  bool dropLast = false;  // leave out a last batch that is not full
  uint64_t epochs = 1;    // 0: no end
  uint64_t seed = 0;
  Shuffle shuffle = Shuffle::None;
  uint64_t window = 4096;
  uint64_t rank = 0, ranks = 1;
  ShardTail shardTail = ShardTail::Drop;
  OnBroken onBroken = OnBroken::Fail;
  std::vector<std::string> fields; // what batches hold, in this order; empty: all fields

  int workers = 1;  // threads that decode and augment; 0: next() does everything
  int readers = 0;  // threads that only read; 0: the workers do
  int prefetch = 2; // batches ready or in work ahead of the consumer

  size_t cacheBytes = 0;      // decoded samples kept in memory
  std::string cacheFile;      // and, when those are used up, in this file (removed at once,
  size_t cacheFileBytes = 0;  // so that nothing is left behind), up to so many bytes

  Allocator allocator;                     // empty: plain memory
  /// Stage "transfer": on a thread of its own, in order. The batch stays the loader's: it
  /// may be read and changed, not kept.
  std::function<Status(Batch &)> transfer;
};

/// Where a loader stands between two batches; four numbers to keep in a checkpoint.
struct Position {
  uint64_t epoch = 0, batch = 0;
  uint64_t skipped = 0;     // broken samples so far
  uint64_t fingerprint = 0; // of what decides the order; 0 only before the first use
};

enum Stage { Read, Decode, Augment, Collect, Transfer, StageCount };
const char *stageName(Stage stage);

struct StageStatistics {
  uint64_t samples = 0, bytes = 0;
  double seconds = 0; // of all threads together
};
struct Statistics {
  std::array<StageStatistics, StageCount> stages;
  uint64_t batches = 0, samples = 0; // given to the consumer
  uint64_t skipped = 0, replaced = 0;
  std::string lastBroken;            // message of the last one skipped or replaced
  uint64_t cacheHits = 0, cacheMisses = 0, cachedBytes = 0, cachedFileBytes = 0;
  double waitSeconds = 0;            // the consumer spent in next()
  double totalSeconds = 0;           // since its first call
  double waitShare() const { return totalSeconds > 0 ? waitSeconds / totalSeconds : 0; }
};

struct Slot;
class Pipeline;

/// Memory lent by the loader; destroying or overwriting a batch gives it back.
class Batch {
public:
  Batch() = default;
  Batch(Batch &&other) noexcept { swap(other); }
  Batch &operator=(Batch &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Batch();
  explicit operator bool() const { return slot != nullptr; } // false: the data have ended
  size_t fieldCount() const;
  const FieldSpec &field(size_t i) const; // of a sample
  /// [count, dims...] of field `i`; owned by the batch.
  dlc_tensor *tensor(size_t i) const;
  void *data(size_t i) const;
  int64_t count() const;  // samples
  uint64_t epoch() const; // from 0
  uint64_t number() const; // within the epoch
  bool lastOfEpoch() const;
  /// Index in the dataset of each sample.
  std::span<const uint64_t> indices() const;

private:
  friend class Loader;
  friend class Pipeline;
  void swap(Batch &other) {
    std::swap(slot, other.slot);
    std::swap(pipeline, other.pipeline);
  }
  Slot *slot = nullptr;
  std::shared_ptr<Pipeline> pipeline;
};

/// One thread calls next(); any may call cancel() and statistics().
class Loader {
public:
  static Status create(DatasetPtr dataset, Transforms transforms, const LoaderOptions &options,
                       Loader &loader);
  Loader();
  Loader(Loader &&) noexcept;
  Loader &operator=(Loader &&) noexcept;
  ~Loader();

  /// The next batch, or an empty one after the last epoch. A failure stays until seek().
  Status next(Batch &batch);
  /// Of the batch that next() gives next: save it with the weights that have seen the others.
  Position position() const;
  /// Continues at a saved position, with the same bits as if never interrupted. Batches
  /// still held by the caller stay valid.
  Status seek(const Position &position);
  /// Wakes next(), which fails from now on; running threads end.
  void cancel();
  Statistics statistics() const;

  const std::vector<FieldSpec> &fields() const; // after the transforms
  uint64_t batchesPerEpoch() const;
  uint64_t samplesPerEpoch() const; // of this rank

private:
  std::shared_ptr<Pipeline> pipeline;
};

} // namespace dlc::data

#endif // DLC_DATA_HPP
