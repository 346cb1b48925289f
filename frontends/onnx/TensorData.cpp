#include "frontends/onnx/TensorData.h"

#include "dialects/dl/ConstantData.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::Twine;

namespace dlc::onnx {

namespace {

enum class Storage { Float32, Int32, Int64, Double, UInt64, String };

struct TypeFacts {
  const char *name;
  unsigned bits;    // of one element in raw_data
  Storage storage;  // the typed field that may hold it
};

/// Indexed by DataType.
constexpr TypeFacts kTypes[] = {
    {"undefined", 0, Storage::String},   {"float", 32, Storage::Float32},
    {"uint8", 8, Storage::Int32},        {"int8", 8, Storage::Int32},
    {"uint16", 16, Storage::Int32},      {"int16", 16, Storage::Int32},
    {"int32", 32, Storage::Int32},       {"int64", 64, Storage::Int64},
    {"string", 0, Storage::String},      {"bool", 8, Storage::Int32},
    {"float16", 16, Storage::Int32},     {"double", 64, Storage::Double},
    {"uint32", 32, Storage::UInt64},     {"uint64", 64, Storage::UInt64},
    {"complex64", 64, Storage::Float32}, {"complex128", 128, Storage::Double},
    {"bfloat16", 16, Storage::Int32},    {"float8e4m3fn", 8, Storage::Int32},
    {"float8e4m3fnuz", 8, Storage::Int32}, {"float8e5m2", 8, Storage::Int32},
    {"float8e5m2fnuz", 8, Storage::Int32}, {"uint4", 4, Storage::Int32},
    {"int4", 4, Storage::Int32},         {"float4e2m1", 4, Storage::Int32},
    {"float8e8m0", 8, Storage::Int32},   {"uint2", 2, Storage::Int32},
    {"int2", 2, Storage::Int32},         {"float6e2m3", 6, Storage::Int32},
    {"float6e3m2", 6, Storage::Int32}};

const TypeFacts *factsOf(int32_t dataType) {
  if (dataType <= 0 || size_t(dataType) >= std::size(kTypes))
    return nullptr;
  return &kTypes[dataType];
}

struct TypedField {
  Storage storage;
  const char *name;
  const PackedNumbers *numbers;
};

std::array<TypedField, 5> typedFields(const Tensor &t) {
  return {{{Storage::Float32, "float_data", &t.floats},
           {Storage::Int32, "int32_data", &t.int32s},
           {Storage::Int64, "int64_data", &t.int64s},
           {Storage::Double, "double_data", &t.doubles},
           {Storage::UInt64, "uint64_data", &t.uint64s}}};
}

bool isVarint(Storage storage) {
  return storage != Storage::Float32 && storage != Storage::Double;
}

/// Number of values; a varint ends at each byte without the top bit.
uint64_t countValues(const TypedField &field) {
  uint64_t count = 0;
  for (StringRef piece : field.numbers->pieces) {
    if (isVarint(field.storage))
      count += llvm::count_if(piece, [](char c) { return !(c & 0x80); });
    else
      count += piece.size() / (field.storage == Storage::Float32 ? 4 : 8);
  }
  return count;
}

/// Calls `handle` with every varint of the pieces.
void forEachVarint(const PackedNumbers &numbers, llvm::function_ref<void(uint64_t)> handle) {
  for (StringRef piece : numbers.pieces) {
    uint64_t value = 0;
    unsigned shift = 0;
    for (unsigned char c : piece) {
      if (shift < 64)
        value |= uint64_t(c & 0x7f) << shift;
      shift += 7;
      if (c & 0x80)
        continue;
      handle(value);
      value = shift = 0;
    }
  }
}

/// Elements of the tensor, or nullopt after an error about its dims.
std::optional<int64_t> countElements(const Tensor &t, unsigned bits, StringRef what,
                                     IssueList &issues) {
  int64_t count = 1, totalBits;
  bool overflows = false, isEmpty = false;
  for (int64_t dim : t.dims) {
    if (dim < 0) {
      issues.error(t.name, Twine(what) + " has the dimension " + Twine(dim));
      return std::nullopt;
    }
    isEmpty |= dim == 0;
    overflows |= __builtin_mul_overflow(count, dim, &count);
  }
  if (isEmpty)
    return 0;
  overflows |= __builtin_mul_overflow(count, int64_t(std::max(bits, 8u)), &totalBits);
  if (!overflows)
    return count;
  issues.error(t.name, Twine(what) + " has dims whose product overflows: [" +
                           llvm::join(llvm::map_range(t.dims,
                                                      [](int64_t d) { return std::to_string(d); }),
                                      ", ") +
                           "]");
  return std::nullopt;
}

struct ExternalPlace {
  StringRef location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

std::optional<ExternalPlace> readPlace(const Tensor &t, StringRef what, IssueList &issues) {
  ExternalPlace place;
  for (auto [key, value] : t.externalData) {
    if (key == "location") {
      place.location = value;
      continue;
    }
    uint64_t number;
    if (key != "offset" && key != "length")
      continue;
    if (value.getAsInteger(10, number)) {
      issues.error(t.name, Twine(what) + ": external data has the " + key + " " +
                               quoted(value) + ", which is not a number");
      return std::nullopt;
    }
    if (key == "offset")
      place.offset = number;
    else
      place.length = number;
  }
  return place;
}

/// The bytes of external data, or nullopt after an error.
std::optional<StringRef> externalBytes(const Tensor &t, uint64_t bytes, StringRef what,
                                       MappedFiles &files, IssueList &issues) {
  auto place = readPlace(t, what, issues);
  if (!place)
    return std::nullopt;
  auto fail = [&](const Twine &message) {
    issues.error(t.name, Twine(what) + ": external data " + quoted(place->location) +
                             " " + message);
    return std::nullopt;
  };
  std::string problem;
  auto file = files.openExternal(place->location, problem);
  if (!file)
    return fail(problem);
  uint64_t length = place->length.value_or(bytes);
  if (length != bytes)
    return fail("has the length " + Twine(length) + " but the shape needs " +
                Twine(bytes) + " bytes");
  if (place->offset > file->size() || length > file->size() - place->offset)
    return fail("ends at byte " + Twine(file->size()) + "; offset " +
                Twine(place->offset) + " with length " + Twine(length) +
                " lies beyond");
  return file->substr(place->offset, length);
}

/// Checks that exactly the field that suits the type holds the values.
bool checkTyped(const Tensor &t, const TypeFacts &facts, int64_t count, StringRef what,
                IssueList &issues) {
  int64_t expected = count;
  if (facts.bits < 8 && facts.bits)
    expected = (count * facts.bits + 7) / 8;
  if (t.dataType == int32_t(DataType::Complex64) || t.dataType == int32_t(DataType::Complex128))
    expected = count * 2;
  int64_t found = 0;
  for (const TypedField &field : typedFields(t)) {
    if (field.numbers->empty())
      continue;
    if (field.storage != facts.storage) {
      issues.error(t.name, Twine(what) + " is of type " + facts.name +
                               " but its values are in " + field.name);
      return false;
    }
    found = int64_t(countValues(field));
  }
  if (found == expected)
    return true;
  issues.error(t.name, Twine(what) + " needs " + Twine(expected) + " values but has " +
                           Twine(found));
  return false;
}

bool hasTyped(const Tensor &t) {
  return llvm::any_of(typedFields(t), [](const TypedField &f) { return !f.numbers->empty(); });
}

template <typename T>
std::vector<char> narrow(const PackedNumbers &numbers) {
  std::vector<char> bytes;
  forEachVarint(numbers, [&](uint64_t value) {
    T element = T(value);
    const char *raw = reinterpret_cast<const char *>(&element);
    bytes.insert(bytes.end(), raw, raw + sizeof(T));
  });
  return bytes;
}

/// Varint values in the width of the element type.
std::vector<char> decodeVarints(const PackedNumbers &numbers, unsigned bits) {
  switch (bits) {
  case 64: return narrow<uint64_t>(numbers);
  case 32: return narrow<uint32_t>(numbers);
  case 16: return narrow<uint16_t>(numbers);
  default: return narrow<uint8_t>(numbers);
  }
}


} // namespace

std::string dataTypeName(int32_t dataType) {
  const TypeFacts *facts = factsOf(dataType);
  return facts ? facts->name : "type " + std::to_string(dataType);
}

Type elementType(int32_t dataType, MLIRContext *context) {
  auto integer = [&](unsigned bits) { return IntegerType::get(context, bits); };
  auto uinteger = [&](unsigned bits) {
    return IntegerType::get(context, bits, IntegerType::Unsigned);
  };
  switch (DataType(dataType)) {
  case DataType::Float: return Float32Type::get(context);
  case DataType::Double: return Float64Type::get(context);
  case DataType::Float16: return Float16Type::get(context);
  case DataType::BFloat16: return BFloat16Type::get(context);
  case DataType::Bool: return integer(1);
  case DataType::Int8: return integer(8);
  case DataType::Int16: return integer(16);
  case DataType::Int32: return integer(32);
  case DataType::Int64: return integer(64);
  case DataType::UInt8: return uinteger(8);
  case DataType::UInt16: return uinteger(16);
  case DataType::UInt32: return uinteger(32);
  case DataType::UInt64: return uinteger(64);
  default: return {};
  }
}

DataType dataTypeOf(Type element) {
  for (size_t i = 1; i < std::size(kTypes); ++i)
    if (elementType(int32_t(i), element.getContext()) == element)
      return DataType(i);
  return DataType::Undefined;
}

bool checkTensor(const Tensor &t, StringRef what, MappedFiles &files, IssueList &issues) {
  const TypeFacts *facts = factsOf(t.dataType);
  auto fail = [&](const Twine &message) {
    issues.error(t.name, Twine(what) + message);
    return false;
  };
  if (!facts)
    return fail(" has no known element type (" + dataTypeName(t.dataType) + ")");
  if (t.isSegment)
    return fail(" is stored in segments, which ONNX no longer defines");
  auto count = countElements(t, facts->bits, what, issues);
  if (!count)
    return false;
  if (t.dataType == int32_t(DataType::String))
    return int64_t(t.strings.size()) == *count ||
           fail(" needs " + Twine(*count) + " strings but has " + Twine(t.strings.size()));
  if (int(t.raw.has_value()) + hasTyped(t) + t.isExternal > 1)
    return fail(" has its values in more than one place");
  uint64_t bytes = (uint64_t(*count) * facts->bits + 7) / 8;
  if (t.isExternal)
    return externalBytes(t, bytes, what, files, issues).has_value();
  if (!t.raw)
    return checkTyped(t, *facts, *count, what, issues);
  return t.raw->size() == bytes ||
         fail(" needs " + Twine(bytes) + " bytes but has " + Twine(t.raw->size()));
}

ElementsAttr tensorAttr(const Tensor &t, StringRef what, MappedFiles &files,
                        MLIRContext *context, IssueList &issues) {
  Type element = elementType(t.dataType, context);
  if (!element) {
    issues.unsupported(t.name, Twine(what) + " has the element type " +
                                   dataTypeName(t.dataType));
    return {};
  }
  auto type = RankedTensorType::get(t.dims, element);
  const TypeFacts &facts = *factsOf(t.dataType);
  uint64_t bytes = uint64_t(*dl::tensorBytes(type));
  std::vector<char> decoded;
  StringRef data;
  if (t.isExternal) {
    auto external = externalBytes(t, bytes, what, files, issues);
    if (!external)
      return {};
    data = *external;
  } else if (t.raw) {
    data = *t.raw;
  } else {
    for (const TypedField &field : typedFields(t)) {
      const auto &pieces = field.numbers->pieces;
      if (pieces.empty())
        continue;
      if (isVarint(field.storage)) {
        decoded = decodeVarints(*field.numbers, facts.bits);
      } else if (pieces.size() == 1) {
        data = pieces.front();
        continue;
      } else {
        for (StringRef piece : pieces)
          decoded.insert(decoded.end(), piece.begin(), piece.end());
      }
      data = StringRef(decoded.data(), decoded.size());
    }
  }
  ArrayRef<char> view(data.data(), data.size());
  // Bools go through DenseElementsAttr, small tensors are worth uniquing, and what
  // was decoded has no home of its own.
  constexpr size_t kSmall = 512;
  if (element.isInteger(1) || data.size() <= kSmall || !decoded.empty())
    return dl::makeConstantAttr(type, view);
  return DenseResourceElementsAttr::get(
      type, "onnx", UnmanagedAsmResourceBlob::allocateWithAlign(view, alignof(char)));
}

} // namespace dlc::onnx
