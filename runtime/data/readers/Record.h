// Samples made of named parts, each of a kind: what tar shards and TFRecord files share.

#ifndef DLC_RUNTIME_DATA_READERS_RECORD_H
#define DLC_RUNTIME_DATA_READERS_RECORD_H

#include "runtime/data/Failure.h"

namespace dlc::data {

/// What a field of a kind looks like to the transforms.
FieldSpec specOf(const RecordField &field);

/// Replaces encoded bytes by the picture they are. `encoded` may be the value's own.
void decodeImageInto(Value &value, std::span<const uint8_t> encoded, const std::string &field,
                     int smallestSide = 0);

/// Replaces a value's contents by one number.
void setInteger(Value &value, int64_t number);

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_READERS_RECORD_H
