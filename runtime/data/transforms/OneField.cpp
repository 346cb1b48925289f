#include "runtime/data/transforms/OneField.h"

#include <algorithm>

namespace dlc::data {

namespace {

ImageShape shapeOf(dlc_type type, std::span<const int64_t> dims) {
  bool hasAxis = dims.size() == 3;
  return {dims[0], dims[1], hasAxis ? dims[2] : 1, hasAxis, type};
}

} // namespace

Status OneField::bind(std::vector<FieldSpec> &fields) {
  return guarded([&] {
    auto found = std::ranges::find(fields, field, &FieldSpec::name);
    if (found == fields.end()) {
      std::string known;
      for (const FieldSpec &spec : fields)
        known += (known.empty() ? "" : ", ") + spec.name;
      refuse(DLC_USAGE, "there is no such field; there are ", known);
    }
    index = static_cast<size_t>(found - fields.begin());
    bindField(*found);
  });
}

Status OneField::apply(Sample &sample, Random &random) const {
  return guarded([&] { run(sample.values[index], random); });
}

uint8_t *prepared(Value &value, dlc_type type, std::span<const int64_t> dims) {
  uint8_t *memory = value.prepare(type, dims);
  if (!memory)
    fail(DLC_OUT_OF_MEMORY, "no memory for ", specText(type, dims));
  return memory;
}

void OnImage::bindField(FieldSpec &spec) {
  size_t rank = spec.dims.size();
  bool isImage = (rank == 2 || (rank == 3 && spec.dims[2] > 0)) &&
                 (spec.type == DLC_U8 || spec.type == DLC_F32);
  if (!isImage)
    refuse(DLC_USAGE, specText(spec.type, spec.dims),
           " is no image: u8 or f32 of [height, width, channels] or [height, width] is");
  bindImage(spec, shapeOf(spec.type, spec.dims));
}

void OnImage::run(Value &value, Random &random) const {
  runImage(value, shapeOf(value.type(), value.dims()), random);
}

} // namespace dlc::data
