// A model and vectors as tensors, for tests that run artifacts.

#ifndef DLC_TEST_RUNTIME_RUNTEST_H
#define DLC_TEST_RUNTIME_RUNTEST_H

#include "dlc/dlc.hpp"
#include "test/runtime/ModelBuilder.h"

#include <gtest/gtest.h>

namespace dlc::test {

template <typename T> constexpr dlc_type typeOf() {
  if (std::is_same_v<T, float>)
    return DLC_F32;
  return std::is_same_v<T, int64_t> ? DLC_I64 : DLC_U8;
}

class RunTest {
public:
  explicit RunTest(const std::string &artifact, int threads = 1) : memory(artifact) {
    dlc_load_options options = {sizeof options, threads, true, nullptr, nullptr};
    dlc_model *loaded = nullptr;
    Status status(dlc_model_load_memory(memory.data(), memory.size(), &options, &loaded));
    EXPECT_EQ(status.code(), DLC_OK) << status.message();
    model = Model(loaded);
  }

  template <typename T> static Tensor tensor(std::vector<T> &data) {
    Tensor result;
    Status status = Tensor::wrap(typeOf<T>(), {int64_t(data.size())}, data.data(),
                                 data.size() * sizeof(T), result);
    EXPECT_EQ(status.code(), DLC_OK) << status.message();
    return result;
  }

  /// One input, one output of any size: its elements.
  template <typename T, typename In> std::vector<T> run(std::vector<In> data) {
    Tensor inputs[1] = {tensor(data)}, outputs[1];
    Status status = model.run(inputs, outputs);
    EXPECT_EQ(status.code(), DLC_OK) << status.message();
    if (status)
      return {};
    const T *begin = outputs[0].data<T>();
    return {begin, begin + outputs[0].sizeBytes() / int64_t(sizeof(T))};
  }

  template <typename In> std::string failure(std::vector<In> data, dlc_code code = DLC_USAGE) {
    Tensor inputs[1] = {tensor(data)}, outputs[1];
    Status status = model.run(inputs, outputs);
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_FALSE(outputs[0]);
    return status.message();
  }

private:
  PageAligned memory; // outlives the model

public:
  Model model;
};

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_RUNTEST_H
