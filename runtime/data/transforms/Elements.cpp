// Transforms of any field: element types, one-hot codes, lengths, sizes, names.

#include "runtime/data/transforms/OneField.h"
#include "runtime/tools/io/SmallFloat.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace dlc::data {

namespace {

int64_t countOf(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim; // the value exists: it fits
  return count;
}

/// Calls `body` with a zero of the element's C++ type; false for types without one.
template <typename Body> bool withType(dlc_type type, const Body &body) {
  switch (type) {
  case DLC_F32: return body(float()), true;
  case DLC_F64: return body(double()), true;
  case DLC_I8: return body(int8_t()), true;
  case DLC_U8: case DLC_BOOL: return body(uint8_t()), true;
  case DLC_I16: return body(int16_t()), true;
  case DLC_U16: return body(uint16_t()), true;
  case DLC_I32: return body(int32_t()), true;
  case DLC_U32: return body(uint32_t()), true;
  case DLC_I64: return body(int64_t()), true;
  case DLC_U64: return body(uint64_t()), true;
  default: return false;
  }
}

bool isNumber(dlc_type type) {
  return withType(type, [](auto) {});
}

bool isInteger(dlc_type type) { return isNumber(type) && type != DLC_F32 && type != DLC_F64; }

/// Whether `value` is between what To can hold. Floats are compared with powers of two,
/// which they hold exactly.
template <typename To, typename From> bool fits(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    return true;
  } else if constexpr (std::is_floating_point_v<From>) {
    double top = std::ldexp(1.0, std::numeric_limits<To>::digits);
    double cut = std::trunc(static_cast<double>(value));
    return cut < top && cut >= (std::is_signed_v<To> ? -top : 0.0);
  } else {
    return std::in_range<To>(value);
  }
}

class Cast : public OneField {
public:
  Cast(const std::string &field, dlc_type type) : OneField("cast", field), to(type) {}

private:
  void bindField(FieldSpec &spec) override {
    if (!isNumber(spec.type) || !(isNumber(to) || to == DLC_F16 || to == DLC_BF16))
      refuse(DLC_UNSUPPORTED, "from ", dlc_type_name(spec.type), " to ", dlc_type_name(to));
    spec.type = to;
  }
  void run(Value &value, Random &) const override {
    if (value.type() == to)
      return;
    auto count = countOf(value.dims());
    uint8_t *out = prepared(value, to, value.dims());
    withType(value.type(), [&](auto from) {
      using From = decltype(from);
      if (const cli::SmallFloat *format = cli::smallFloat(to))
        return encode(value.as<From>(), count, *format, reinterpret_cast<uint16_t *>(out));
      if (to == DLC_BOOL)
        return toBool(value.as<From>(), count, out);
      withType(to, [&](auto t) { convert(value.as<From>(), count, reinterpret_cast<decltype(t) *>(out)); });
    });
    value.commit();
  }
  template <typename From>
  static void encode(const From *from, int64_t count, const cli::SmallFloat &format, uint16_t *out) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<uint16_t>(cli::encodeSmallFloat(static_cast<double>(from[i]), format));
  }
  template <typename From> static void toBool(const From *from, int64_t count, uint8_t *out) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = from[i] != 0;
  }
  template <typename From, typename To> void convert(const From *from, int64_t count, To *out) const {
    for (int64_t i = 0; i < count; ++i) {
      if (!fits<To>(from[i]))
        refuse(DLC_USAGE, "element ", i, " is ", +from[i], ", which does not fit ", dlc_type_name(to));
      out[i] = static_cast<To>(from[i]);
    }
  }
  dlc_type to;
};

class OneHot : public OneField {
public:
  OneHot(const std::string &field, int64_t classes) : OneField("oneHot", field), classes(classes) {}

private:
  void bindField(FieldSpec &spec) override {
    if (!isInteger(spec.type))
      refuse(DLC_USAGE, dlc_type_name(spec.type), " is no integer type");
    if (classes < 1 || spec.dims.size() == DLC_MAX_RANK)
      refuse(DLC_USAGE, classes, " classes for ", specText(spec.type, spec.dims));
    spec.type = DLC_F32;
    spec.dims.push_back(classes);
  }
  void run(Value &value, Random &) const override {
    std::array<int64_t, DLC_MAX_RANK> dims;
    size_t rank = value.dims().size();
    std::ranges::copy(value.dims(), dims.begin());
    dims[rank] = classes;
    auto *out = reinterpret_cast<float *>(prepared(value, DLC_F32, std::span(dims).first(rank + 1)));
    int64_t count = countOf(value.dims());
    std::fill_n(out, count * classes, 0.0f);
    withType(value.type(), [&](auto type) {
      const auto *labels = value.as<decltype(type)>();
      for (int64_t i = 0; i < count; ++i) {
        if (std::cmp_less(static_cast<int64_t>(labels[i]), 0) || std::cmp_greater_equal(static_cast<uint64_t>(labels[i]), classes))
          refuse(DLC_USAGE, "class ", +labels[i], " of ", classes);
        out[i * classes + static_cast<int64_t>(labels[i])] = 1;
      }
    });
    value.commit();
  }
  int64_t classes;
};

class PadToLength : public OneField {
public:
  PadToLength(const std::string &field, int64_t length, double value)
      : OneField("padToLength", field), length(length), filler(value) {}

private:
  void bindField(FieldSpec &spec) override {
    if (spec.dims.empty() || !isNumber(spec.type) || length < 0)
      refuse(DLC_USAGE, specText(spec.type, spec.dims), " to ", length);
    withType(spec.type, [&](auto type) {
      using T = decltype(type);
      if (!fits<T>(filler))
        refuse(DLC_USAGE, filler, " does not fit ", dlc_type_name(spec.type));
      auto typed = static_cast<T>(filler);
      std::memcpy(bytes, &typed, sizeof typed);
      width = sizeof typed;
    });
    spec.dims[0] = length;
  }
  void run(Value &value, Random &) const override {
    if (value.dims()[0] == length)
      return;
    std::array<int64_t, DLC_MAX_RANK> dims;
    std::ranges::copy(value.dims(), dims.begin());
    dims[0] = length;
    uint8_t *out = prepared(value, value.type(), std::span(dims).first(value.dims().size()));
    auto total = static_cast<size_t>(countOf(std::span(dims).first(value.dims().size()))) * width;
    size_t kept = std::min(value.bytes().size(), total);
    if (kept > 0)
      std::memcpy(out, value.bytes().data(), kept);
    for (size_t at = kept; at < total; at += width)
      std::memcpy(out + at, bytes, width);
    value.commit();
  }
  int64_t length;
  double filler;
  uint8_t bytes[8] = {};
  size_t width = 1;
};

class Reshape : public OneField {
public:
  Reshape(const std::string &field, std::vector<int64_t> dims) : OneField("reshape", field), dims(std::move(dims)) {}

private:
  void bindField(FieldSpec &spec) override {
    auto rank = static_cast<int>(dims.size());
    if (dlc_type_size_bytes(spec.type, dims.data(), rank) < 0)
      refuse(DLC_USAGE, "to ", specText(spec.type, dims));
    bool known = std::ranges::all_of(spec.dims, [](int64_t dim) { return dim >= 0; });
    if (known && countOf(spec.dims) != countOf(dims))
      refuse(DLC_USAGE, specText(spec.type, spec.dims), " to ", specText(spec.type, dims));
    spec.dims = dims;
  }
  void run(Value &value, Random &) const override {
    if (countOf(value.dims()) != countOf(dims))
      refuse(DLC_USAGE, specText(value.type(), value.dims()), " to ", specText(value.type(), dims));
    value.reshape(dims);
  }
  std::vector<int64_t> dims;
};

class Rename : public OneField {
public:
  Rename(const std::string &field, std::string name) : OneField("rename", field), name(std::move(name)) {}

private:
  void bindField(FieldSpec &spec) override { spec.name = name; }
  void run(Value &, Random &) const override {}
  std::string name;
};

} // namespace

TransformPtr cast(const std::string &field, dlc_type type) { return std::make_unique<Cast>(field, type); }
TransformPtr oneHot(const std::string &field, int64_t classes) {
  return std::make_unique<OneHot>(field, classes);
}
TransformPtr padToLength(const std::string &field, int64_t length, double value) {
  return std::make_unique<PadToLength>(field, length, value);
}
TransformPtr reshape(const std::string &field, std::vector<int64_t> dims) {
  return std::make_unique<Reshape>(field, std::move(dims));
}
TransformPtr rename(const std::string &field, const std::string &name) {
  return std::make_unique<Rename>(field, name);
}

} // namespace dlc::data
