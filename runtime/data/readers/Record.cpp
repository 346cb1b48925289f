#include "runtime/data/readers/Record.h"

#include "runtime/tools/io/Image.h"

#include <cstring>

namespace dlc::data {

FieldSpec specOf(const RecordField &field) {
  switch (field.kind) {
  case RecordField::Image: return {field.name, DLC_U8, {-1, -1, 3}};
  case RecordField::Integers: return {field.name, DLC_I64, field.dims};
  case RecordField::Floats: return {field.name, DLC_F32, field.dims};
  case RecordField::Array: break; // known when the first sample is read
  }
  return {field.name, DLC_F32, {}};
}

void decodeImageInto(Value &value, std::span<const uint8_t> encoded, const std::string &field,
                     int smallestSide) {
  cli::decodeImage(
      encoded, field,
      [&](int width, int height) {
        const int64_t dims[] = {height, width, 3};
        uint8_t *pixels = value.prepare(DLC_U8, dims);
        if (!pixels)
          fail(DLC_OUT_OF_MEMORY, field, ": no memory for ", width, " x ", height, " pixels");
        return pixels;
      },
      smallestSide);
  value.commit();
}

void setInteger(Value &value, int64_t number) {
  std::memcpy(value.prepare(DLC_I64, {}), &number, sizeof number);
  value.commit();
}

} // namespace dlc::data
