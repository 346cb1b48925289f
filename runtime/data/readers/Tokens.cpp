// Token files: windows of numbers, and the same windows one further on, which is what a
// language model is to predict.

#include "runtime/data/Failure.h"
#include "runtime/data/readers/Arrays.h"
#include "runtime/tools/io/File.h"

namespace dlc::data {

Status openTokens(const std::string &path, const TokenOptions &options, DatasetPtr &dataset) {
  return guarded([&] {
    if (options.type != DLC_U8 && options.type != DLC_U16 && options.type != DLC_U32)
      fail(DLC_UNSUPPORTED, path, ": tokens of ", dlc_type_name(options.type), "; u8, u16 and u32 are supported");
    int64_t stride = options.stride == 0 ? options.length : options.stride;
    constexpr int64_t longest = int64_t(1) << 32;
    if (options.length < 1 || options.length > longest || stride < 1 || stride > longest)
      fail(DLC_USAGE, path, ": samples of ", options.length, " tokens, ", stride, " apart");
    auto file = std::make_shared<cli::MappedFile>(path);
    auto width = static_cast<uint64_t>(dlc_type_size_bytes(options.type, nullptr, 0));
    uint64_t bytes = file->bytes().size(), tokens = bytes / width;
    if (bytes % width != 0)
      fail(DLC_USAGE, path, ": ", bytes, " bytes are no whole number of ", dlc_type_name(options.type), " tokens");
    auto window = static_cast<uint64_t>(options.length) + 1;
    uint64_t count = tokens < window ? 0 : (tokens - window) / static_cast<uint64_t>(stride) + 1;
    if (count == 0)
      fail(DLC_USAGE, path, ": ", tokens, " tokens, a sample needs ", window);
    const uint8_t *data = file->bytes().data();
    size_t strideBytes = static_cast<size_t>(stride) * width;
    std::vector<Column> columns = {{{"x", options.type, {options.length}}, data, strideBytes, file},
                                   {{"y", options.type, {options.length}}, data + width, strideBytes, file}};
    dataset = std::make_unique<ArrayDataset>(path, "window", count, std::move(columns));
  });
}

} // namespace dlc::data
