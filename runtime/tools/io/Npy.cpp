#include "runtime/tools/io/Npy.h"

#include "runtime/tools/io/Error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace dlc::cli {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kLongestHeader = 1 << 16;

struct NumpyType {
  std::string_view code; // without the byte order
  dlc_type type;
  size_t bytes;
};
// V1 and V2 are what ml_dtypes writes for f8 and bf16: bits without a type.
constexpr NumpyType kTypes[] = {
    {"f4", DLC_F32, 4}, {"f8", DLC_F64, 8}, {"f2", DLC_F16, 2}, {"i1", DLC_I8, 1},
    {"u1", DLC_U8, 1},  {"i2", DLC_I16, 2}, {"u2", DLC_U16, 2}, {"i4", DLC_I32, 4},
    {"u4", DLC_U32, 4}, {"i8", DLC_I64, 8}, {"u8", DLC_U64, 8}, {"b1", DLC_BOOL, 1},
    {"V1", DLC_U8, 1},  {"V2", DLC_U16, 2}};

/// The header is a Python dictionary with three known keys; this reads exactly
/// what NumPy writes, in any order and spacing.
class HeaderParser {
public:
  HeaderParser(std::string_view text, const std::string &file)
      : text(text), file(file) {}

  NpyHeader parse() {
    NpyHeader header;
    bool seen[3] = {};
    expect('{');
    while (!accept('}')) {
      std::string_view key = string();
      expect(':');
      if (key == "descr")
        seen[0] = true, parseType(header);
      else if (key == "fortran_order")
        seen[1] = true, header.fortranOrder = boolean();
      else if (key == "shape")
        seen[2] = true, header.dims = shape();
      else
        broken("unknown key " + inQuotes(key));
      if (!accept(',') && peek() != '}')
        broken("',' or '}' is due");
    }
    if (!seen[0] || !seen[1] || !seen[2])
      broken("descr, fortran_order or shape is missing");
    return header;
  }

private:
  [[noreturn]] void broken(const std::string &why) {
    fail(DLC_USAGE, file, ": broken .npy header: ", why);
  }
  void skipSpace() {
    while (!text.empty() && (text[0] == ' ' || text[0] == '\n'))
      text.remove_prefix(1);
  }
  char peek() {
    skipSpace();
    return text.empty() ? '\0' : text[0];
  }
  bool accept(char c) {
    if (peek() != c)
      return false;
    text.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      broken(std::string("'") + c + "' is due before " + inQuotes(text.substr(0, 20)));
  }
  std::string_view string() {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      broken("a string is due before " + inQuotes(text.substr(0, 20)));
    size_t end = text.find(quote, 1);
    if (end == std::string_view::npos)
      broken("a string does not end");
    std::string_view result = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return result;
  }
  bool boolean() {
    for (std::string_view word : {"True", "False"})
      if (peek() == word[0] && text.starts_with(word)) {
        text.remove_prefix(word.size());
        return word == "True";
      }
    broken("fortran_order is neither True nor False");
  }
  Dims shape() {
    Dims dims;
    expect('(');
    while (!accept(')')) {
      skipSpace();
      int64_t dim;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
      if (error != std::errc() || dim < 0)
        broken("a size is due before " + inQuotes(text.substr(0, 24)));
      text.remove_prefix(end - text.data());
      dims.push_back(dim);
      if (!accept(',') && peek() != ')')
        broken("',' or ')' is due in shape");
    }
    if (dims.size() > DLC_MAX_RANK)
      fail(DLC_UNSUPPORTED, file, ": rank ", dims.size(), ", at most ", DLC_MAX_RANK,
           " is supported");
    return dims;
  }
  void parseType(NpyHeader &header) {
    if (peek() == '[')
      fail(DLC_UNSUPPORTED, file, ": structured arrays are not supported");
    std::string_view code = string();
    if (code.size() < 2)
      broken("unknown type " + inQuotes(code));
    for (const NumpyType &type : kTypes)
      if (type.code == code.substr(1) && std::strchr("<>|=", code[0])) {
        header.type = type.type;
        header.elementBytes = type.bytes;
        header.bigEndian = code[0] == '>';
        return;
      }
    fail(DLC_UNSUPPORTED, file, ": arrays of type ", inQuotes(code), " are not supported");
  }

  std::string_view text;
  const std::string &file;
};

NpyHeader parseHeader(ByteSource &source) {
  char start[8];
  source.read(start, sizeof start);
  if (std::string_view(start, kMagic.size()) != kMagic)
    fail(DLC_USAGE, source.name, ": not a .npy array");
  int version = start[6];
  if (version < 1 || version > 3)
    fail(DLC_UNSUPPORTED, source.name, ": .npy version ", version, ", 1 to 3 are supported");
  uint8_t length[4] = {};
  source.read(length, version == 1 ? 2 : 4);
  size_t headerBytes = length[0] | length[1] << 8 | length[2] << 16 | size_t(length[3]) << 24;
  if (headerBytes > kLongestHeader)
    fail(DLC_USAGE, source.name, ": the .npy header claims ", headerBytes, " bytes");
  std::string text(headerBytes, '\0');
  source.read(text.data(), text.size());
  return HeaderParser(text, source.name).parse();
}

void swapBytes(std::span<uint8_t> bytes, size_t width) {
  for (size_t at = 0; at + width <= bytes.size(); at += width)
    std::reverse(bytes.begin() + at, bytes.begin() + at + width);
}

/// Column-major data into row-major order.
Tensor fromFortranOrder(const dlc_tensor &tensor, size_t width, const std::string &what) {
  std::span<const int64_t> dims = dimsOf(tensor);
  Tensor result = makeTensor(dlc_tensor_type(&tensor), Dims(dims.begin(), dims.end()), what);
  Dims position(dims.size(), 0);
  const uint8_t *from = bytesOf(tensor).data();
  for (int64_t i = 0, e = elementCount(tensor); i < e; ++i) {
    int64_t target = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis)
      target = target * dims[axis] + position[axis];
    std::memcpy(bytesOf(*result).data() + target * width, from + i * width, width);
    for (size_t axis = 0; axis < dims.size() && ++position[axis] == dims[axis]; ++axis)
      position[axis] = 0;
  }
  return result;
}

} // namespace

NpyHeader readNpyHeader(ByteSource &source) {
  NpyHeader header = parseHeader(source);
  int64_t size = dlc_type_size_bytes(header.type, header.dims.data(),
                                     static_cast<int>(header.dims.size()));
  std::string type = typeText(header.type, header.dims);
  if (size < 0)
    fail(DLC_USAGE, source.name, ": the size of ", type, " overflows");
  if (static_cast<uint64_t>(size) != source.remaining())
    fail(DLC_USAGE, source.name, ": ", type, " needs ", size, " bytes, ",
         source.remaining(), " are there");
  return header;
}

Tensor readNpy(ByteSource &source) {
  NpyHeader header = readNpyHeader(source);
  Tensor tensor = makeTensor(header.type, header.dims, source.name);
  source.read(bytesOf(*tensor).data(), bytesOf(*tensor).size());
  if (header.bigEndian)
    swapBytes(bytesOf(*tensor), header.elementBytes);
  normalizeBools(*tensor);
  if (header.fortranOrder && header.dims.size() > 1)
    tensor = fromFortranOrder(*tensor, header.elementBytes, source.name);
  return tensor;
}

std::string npyHeader(const dlc_tensor &tensor) {
  std::string code;
  for (const NumpyType &type : kTypes)
    if (type.type == dlc_tensor_type(&tensor) && code.empty())
      code = (type.bytes == 1 ? "|" : "<") + std::string(type.code);
  std::string text = "{'descr': '" + code + "', 'fortran_order': False, 'shape': (";
  for (int64_t dim : dimsOf(tensor))
    text += std::to_string(dim) + ", ";
  if (dimsOf(tensor).size() > 1)
    text.resize(text.size() - 2);
  else if (dimsOf(tensor).size() == 1)
    text.pop_back(); // "(3,)"
  text += "), }";
  // The data begin at a multiple of 64, as NumPy has them.
  constexpr size_t fixed = 10, alignment = 64;
  text.append(alignment - (fixed + text.size() + 1) % alignment, ' ');
  text += '\n';
  std::string header(kMagic);
  header += '\1';
  header += '\0';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

void writeNpy(const std::string &path, const dlc_tensor &tensor) {
  Tensor carrier = toNumpyCarrier(tensor, path);
  const dlc_tensor &written = *(carrier ? carrier.get() : &tensor);
  std::string header = npyHeader(written);
  std::span<const uint8_t> data = bytesOf(written);
  std::array<std::string_view, 2> parts = {
      header, {reinterpret_cast<const char *>(data.data()), data.size()}};
  writeFile(path, parts);
}

} // namespace dlc::cli
