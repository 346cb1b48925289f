// The public face of the pipeline: checks what it is asked for, then makes one.

#include "runtime/data/Failure.h"
#include "runtime/data/Pipeline.h"

#include <algorithm>

namespace dlc::data {

namespace {

constexpr int kMostThreads = 256, kMostPrefetch = 1024;

void checkRange(const char *name, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high)
    fail(DLC_USAGE, "data loader: ", name, " is ", value, ", it may be ", low, " to ", high);
}

void checkOptions(const LoaderOptions &options) {
  checkRange("batchSize", options.batchSize, 0, int64_t(1) << 31);
  checkRange("workers", options.workers, 0, kMostThreads);
  checkRange("readers", options.readers, 0, kMostThreads);
  checkRange("prefetch", options.prefetch, 1, kMostPrefetch);
  if (options.ranks == 0 || options.rank >= options.ranks)
    fail(DLC_USAGE, "data loader: rank ", options.rank, " of ", options.ranks);
  if (options.shuffle == Shuffle::Windowed && options.window == 0)
    fail(DLC_USAGE, "data loader: a shuffle window of 0 samples");
  if (options.readers > 0 && options.workers == 0)
    fail(DLC_USAGE, "data loader: readers feed workers, but workers is 0");
  if (static_cast<bool>(options.allocator.allocate) != static_cast<bool>(options.allocator.release))
    fail(DLC_USAGE, "data loader: an allocator needs both allocate and release");
}

size_t findField(const std::vector<FieldSpec> &fields, const std::string &name) {
  std::string known;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name)
      return i;
    known += (i ? ", " : "") + fields[i].name;
  }
  fail(DLC_USAGE, "no field ", inQuotes(name), "; there are ", known);
}

/// A field of a batch must have one size, and its bytes must be countable.
void checkField(const FieldSpec &field, const LoaderOptions &options) {
  std::string what = "field " + inQuotes(field.name) + " ";
  if (std::ranges::any_of(field.dims, [](int64_t dim) { return dim < 0; }))
    fail(DLC_USAGE, what, specText(field.type, field.dims),
         " differs in size from sample to sample: resize, crop or pad it, or leave it out of the batch");
  if (field.type == DLC_I4 || field.type == DLC_U4)
    fail(DLC_UNSUPPORTED, what, "has elements of 4 bits, which cannot be batched");
  std::vector<int64_t> dims(field.dims);
  if (options.batchSize > 0)
    dims.insert(dims.begin(), options.batchSize);
  if (dlc_type_size_bytes(field.type, dims.data(), static_cast<int>(dims.size())) < 0)
    fail(DLC_USAGE, what, specText(field.type, dims), " is too large or of too many dimensions");
}

Layout makeLayout(const std::vector<FieldSpec> &fields, const LoaderOptions &options) {
  Layout layout;
  layout.addsAxis = options.batchSize > 0;
  if (options.fields.empty())
    for (size_t i = 0; i < fields.size(); ++i)
      layout.valueOf.push_back(i);
  for (const std::string &name : options.fields)
    layout.valueOf.push_back(findField(fields, name));
  for (size_t value : layout.valueOf) {
    checkField(fields[value], options);
    layout.fields.push_back(fields[value]);
  }
  if (layout.fields.empty())
    fail(DLC_USAGE, "the data have no fields");
  return layout;
}

std::shared_ptr<Pipeline> makePipeline(DatasetPtr dataset, Transforms transforms,
                                       const LoaderOptions &options) {
  checkOptions(options);
  std::vector<FieldSpec> fields = dataset->fields();
  for (const TransformPtr &transform : transforms)
    require(transform->bind(fields));
  Layout layout = makeLayout(fields, options);
  uint64_t size = dataset->size();
  if (size == 0)
    fail(DLC_USAGE, "the data have no samples");
  Order order(size, options);
  if (order.batchesPerEpoch() == 0)
    fail(DLC_USAGE, "no batch to give: ", size, " samples for ", options.ranks, " ranks, batches of ",
         options.batchSize);
  return std::make_shared<Pipeline>(std::move(dataset), std::move(transforms), options,
                                    std::move(layout));
}

} // namespace

Loader::Loader() = default;
Loader::Loader(Loader &&) noexcept = default;
Loader::~Loader() {
  if (pipeline)
    pipeline->stop();
}
Loader &Loader::operator=(Loader &&other) noexcept {
  std::swap(pipeline, other.pipeline);
  return *this;
}

Status Loader::create(DatasetPtr dataset, Transforms transforms, const LoaderOptions &options,
                      Loader &loader) {
  if (!dataset)
    return failure(DLC_USAGE, "data loader: no dataset");
  return guarded([&] {
    Loader made;
    made.pipeline = makePipeline(std::move(dataset), std::move(transforms), options);
    loader = std::move(made);
  });
}

Status Loader::next(Batch &batch) { return pipeline->next(batch); }
Position Loader::position() const { return pipeline->position(); }
Status Loader::seek(const Position &position) { return pipeline->seek(position); }
void Loader::cancel() { pipeline->cancel(); }
Statistics Loader::statistics() const { return pipeline->statistics(); }
const std::vector<FieldSpec> &Loader::fields() const { return pipeline->layout.fields; }
uint64_t Loader::batchesPerEpoch() const { return pipeline->order.batchesPerEpoch(); }
uint64_t Loader::samplesPerEpoch() const { return pipeline->order.samplesPerEpoch(); }

Batch::~Batch() {
  if (slot)
    pipeline->release(slot);
}
size_t Batch::fieldCount() const { return slot->layout->fields.size(); }
const FieldSpec &Batch::field(size_t i) const { return slot->layout->fields[i]; }
dlc_tensor *Batch::tensor(size_t i) const { return slot->tensor(i); }
void *Batch::data(size_t i) const { return slot->data(i); }
int64_t Batch::count() const { return static_cast<int64_t>(slot->count); }
uint64_t Batch::epoch() const { return slot->epoch; }
uint64_t Batch::number() const { return slot->number; }
bool Batch::lastOfEpoch() const { return slot->lastOfEpoch; }
std::span<const uint64_t> Batch::indices() const { return {slot->indices.data(), slot->count}; }

} // namespace dlc::data
