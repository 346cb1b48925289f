// dlc.h for C++: the same calls, with owners that free what they hold. Header only,
// no exceptions: a Status is false on success, and may not be ignored.
#ifndef DLC_DLC_HPP
#define DLC_DLC_HPP

#include "dlc/dlc.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace dlc {

/// Owns a C handle.
template <typename Handle, void (*Free)(Handle *)> class Owner {
public:
  Owner() = default;
  explicit Owner(Handle *owned) : handle(owned) {}
  Owner(Owner &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Owner &operator=(Owner &&other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Owner() {
    if (handle)
      Free(handle);
  }
  Handle *get() const { return handle; }
  Handle *release() { return std::exchange(handle, nullptr); }
  explicit operator bool() const { return handle != nullptr; }

protected:
  Handle *handle = nullptr;
};

class [[nodiscard]] Status : public Owner<dlc_status, dlc_status_free> {
public:
  using Owner::Owner;
  dlc_code code() const { return dlc_status_code(handle); }
  const char *message() const { return dlc_status_message(handle); }
};

class Tensor : public Owner<dlc_tensor, dlc_tensor_free> {
public:
  using Owner::Owner;
  static Status create(dlc_type type, std::initializer_list<int64_t> dims, Tensor &tensor) {
    dlc_tensor *made = nullptr;
    Status status(dlc_tensor_create(type, dims.begin(), static_cast<int>(dims.size()), &made));
    tensor = Tensor(made);
    return status;
  }
  /// `data` must outlive the tensor.
  static Status wrap(dlc_type type, std::initializer_list<int64_t> dims, void *data,
                     size_t sizeBytes, Tensor &tensor) {
    dlc_tensor *made = nullptr;
    Status status(dlc_tensor_wrap(type, dims.begin(), static_cast<int>(dims.size()), data,
                                  sizeBytes, &made));
    tensor = Tensor(made);
    return status;
  }
  dlc_type type() const { return dlc_tensor_type(handle); }
  int rank() const { return dlc_tensor_rank(handle); }
  int64_t dim(int axis) const { return dlc_tensor_dims(handle)[axis]; }
  int64_t sizeBytes() const { return dlc_tensor_size_bytes(handle); }
  template <typename T = void> T *data() const { return static_cast<T *>(dlc_tensor_data(handle)); }
};

class Model : public Owner<dlc_model, dlc_model_free> {
public:
  using Owner::Owner;
  /// `threads` 0: all that the process may use. `device`: as in dlc_load_options.
  static Status load(const char *path, Model &model, int threads = 0,
                     const char *device = nullptr) {
    dlc_load_options options = {sizeof(options), threads, false, device, nullptr};
    dlc_model *loaded = nullptr;
    Status status(dlc_model_load(path, &options, &loaded));
    model = Model(loaded);
    return status;
  }
  size_t inputCount() const { return dlc_model_input_count(handle); }
  size_t outputCount() const { return dlc_model_output_count(handle); }
  const char *inputName(size_t i) const { return dlc_model_input_name(handle, i); }
  const char *outputName(size_t i) const { return dlc_model_output_name(handle, i); }

  /// Another entry, over the same states: "train_step", "eval", ...
  Status entry(const char *name, Model &other) const {
    dlc_model *found = nullptr;
    Status status(dlc_model_entry(handle, name, &found));
    other = Model(found);
    return status;
  }
  /// Copies a state out; a tensor that is empty is created.
  Status readState(const char *name, Tensor &tensor) const {
    dlc_tensor *read = tensor.get();
    Status status(dlc_model_read_state(handle, name, &read));
    if (read != tensor.get())
      tensor = Tensor(read);
    return status;
  }
  Status writeState(const char *name, const Tensor &tensor) const {
    return Status(dlc_model_write_state(handle, name, tensor.get()));
  }

  /// Fills `outputs`; empty ones are created.
  template <size_t Inputs, size_t Outputs>
  Status run(const Tensor (&inputs)[Inputs], Tensor (&outputs)[Outputs]) const {
    dlc_tensor *in[Inputs], *out[Outputs];
    for (size_t i = 0; i < Inputs; ++i)
      in[i] = inputs[i].get();
    for (size_t i = 0; i < Outputs; ++i)
      out[i] = outputs[i].get();
    Status status(dlc_model_run(handle, in, Inputs, out, Outputs, nullptr));
    for (size_t i = 0; i < Outputs; ++i)
      if (out[i] != outputs[i].get())
        outputs[i] = Tensor(out[i]);
    return status;
  }
};

} // namespace dlc

#endif // DLC_DLC_HPP
