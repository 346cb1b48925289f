// What all transforms of one field have in common: finding it, and turning what they
// throw into statuses.

#ifndef DLC_RUNTIME_DATA_TRANSFORMS_ONEFIELD_H
#define DLC_RUNTIME_DATA_TRANSFORMS_ONEFIELD_H

#include "runtime/data/Failure.h"
#include "runtime/data/Slot.h"

namespace dlc::data {

class OneField : public Transform {
public:
  Status bind(std::vector<FieldSpec> &fields) final;
  Status apply(Sample &sample, Random &random) const final;

protected:
  /// `what` is the transform's name in messages.
  OneField(std::string what, std::string field) : what(std::move(what)), field(std::move(field)) {}
  virtual void bindField(FieldSpec &spec) = 0;
  virtual void run(Value &value, Random &random) const = 0;

  template <typename... Parts>
  [[noreturn]] void refuse(dlc_code code, const Parts &...parts) const {
    fail(code, what, " of field ", inQuotes(field), ": ", parts...);
  }

private:
  std::string what, field;
  size_t index = 0;
};

/// Memory for new contents, or an error.
uint8_t *prepared(Value &value, dlc_type type, std::span<const int64_t> dims);

/// The sizes of an image.
struct ImageShape {
  int64_t height, width, channels;
  bool hasChannelAxis;
  dlc_type type;
  size_t pixelBytes() const { return channels * (type == DLC_F32 ? sizeof(float) : 1); }
};

/// Transforms of images.
class OnImage : public OneField {
protected:
  using OneField::OneField;
  void bindField(FieldSpec &spec) final;
  void run(Value &value, Random &random) const final;
  /// Changes what comes out; sizes may be -1.
  virtual void bindImage(FieldSpec &spec, const ImageShape &shape) = 0;
  virtual void runImage(Value &value, const ImageShape &shape, Random &random) const = 0;
};

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_TRANSFORMS_ONEFIELD_H
