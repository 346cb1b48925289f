#include "runtime/core/Tensor.h"

#include <cstdlib>
#include <new>

namespace {

struct TypeInfo {
  const char *name;
  int bits;
};
constexpr TypeInfo kTypes[] = {
    {"f32", 32},        {"f64", 64},          {"f16", 16},     {"bf16", 16},
    {"f8e4m3fn", 8},    {"f8e4m3fnuz", 8},    {"f8e5m2", 8},   {"f8e5m2fnuz", 8},
    {"i4", 4},          {"u4", 4},            {"i8", 8},       {"u8", 8},
    {"i16", 16},        {"u16", 16},          {"i32", 32},     {"u32", 32},
    {"i64", 64},        {"u64", 64},          {"bool", 8}};

bool isKnown(dlc_type type) { return type >= DLC_F32 && type <= DLC_BOOL; }

} // namespace

dlc_tensor::~dlc_tensor() {
  if (ownsData)
    free(data);
}

namespace dlc::rt {

std::string dimsText(const int64_t *dims, int rank) {
  std::string text;
  for (int i = 0; i < rank; ++i)
    text += (i ? "x" : "") + std::to_string(dims[i]);
  return rank ? text : "scalar";
}

Status createTensor(dlc_type type, const int64_t *dims, int rank, dlc_tensor **out) {
  int64_t size = dlc_type_size_bytes(type, dims, rank);
  if (size < 0)
    return fail(DLC_USAGE, "tensor: invalid type, rank or dims %s",
                dimsText(dims, rank < 0 || rank > DLC_MAX_RANK ? 0 : rank).c_str());
  constexpr int64_t alignment = 64;
  int64_t rounded = (size + alignment - 1) / alignment * alignment;
  void *data = aligned_alloc(alignment, rounded ? rounded : alignment);
  if (!data)
    return fail(DLC_OUT_OF_MEMORY, "tensor %s: out of memory (%lld bytes)",
                dimsText(dims, rank).c_str(), (long long)size);
  dlc_tensor *tensor = new dlc_tensor{type, rank, {}, size, data, true};
  for (int i = 0; i < rank; ++i)
    tensor->dims[i] = dims[i];
  *out = tensor;
  return nullptr;
}

} // namespace dlc::rt

extern "C" {

int64_t dlc_type_size_bytes(dlc_type type, const int64_t *dims, int rank) {
  if (!isKnown(type) || rank < 0 || rank > DLC_MAX_RANK)
    return -1;
  int64_t count = 1;
  for (int i = 0; i < rank; ++i)
    if (dims[i] < 0 || __builtin_mul_overflow(count, dims[i], &count))
      return -1;
  int64_t bits;
  if (__builtin_mul_overflow(count, int64_t(kTypes[type].bits), &bits) ||
      bits > INT64_MAX - 512)
    return -1;
  return (bits + 7) / 8;
}

const char *dlc_type_name(dlc_type type) {
  return isKnown(type) ? kTypes[type].name : "unknown";
}

dlc_status *dlc_tensor_create(dlc_type type, const int64_t *dims, int rank,
                              dlc_tensor **tensor) {
  return dlc::rt::createTensor(type, dims, rank, tensor).release();
}

dlc_status *dlc_tensor_wrap(dlc_type type, const int64_t *dims, int rank, void *data,
                            size_t size_bytes, dlc_tensor **tensor) {
  int64_t size = dlc_type_size_bytes(type, dims, rank);
  if (size < 0 || uint64_t(size) != size_bytes)
    return dlc::rt::fail(DLC_USAGE, "tensor: %zu bytes given, shape and type need %lld",
                         size_bytes, (long long)size)
        .release();
  if (!data && size > 0)
    return dlc::rt::fail(DLC_USAGE, "tensor: no memory given").release();
  auto *wrapped = new dlc_tensor{type, rank, {}, size, data, false};
  for (int i = 0; i < rank; ++i)
    wrapped->dims[i] = dims[i];
  *tensor = wrapped;
  return nullptr;
}

void dlc_tensor_free(dlc_tensor *tensor) { delete tensor; }
dlc_type dlc_tensor_type(const dlc_tensor *tensor) { return tensor->type; }
int dlc_tensor_rank(const dlc_tensor *tensor) { return tensor->rank; }
const int64_t *dlc_tensor_dims(const dlc_tensor *tensor) { return tensor->dims; }
void *dlc_tensor_data(const dlc_tensor *tensor) { return tensor->data; }
int64_t dlc_tensor_size_bytes(const dlc_tensor *tensor) { return tensor->sizeBytes; }
}
