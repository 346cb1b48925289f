// An ONNX model as plain structs. Names and tensor contents are views into the
// mapped file (see ModelFile), which must outlive them.

#ifndef DLC_FRONTENDS_ONNX_MODEL_H
#define DLC_FRONTENDS_ONNX_MODEL_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace dlc::onnx {

using llvm::SmallVector;
using llvm::StringRef;

/// TensorProto.DataType.
enum class DataType : int32_t {
  Undefined = 0, Float = 1, UInt8 = 2, Int8 = 3, UInt16 = 4, Int16 = 5, Int32 = 6,
  Int64 = 7, String = 8, Bool = 9, Float16 = 10, Double = 11, UInt32 = 12,
  UInt64 = 13, Complex64 = 14, Complex128 = 15, BFloat16 = 16, Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18, Float8E5M2 = 19, Float8E5M2FNUZ = 20, UInt4 = 21, Int4 = 22,
  Float4E2M1 = 23, Float8E8M0 = 24, UInt2 = 25, Int2 = 26, Float6E2M3 = 27,
  Float6E3M2 = 28
};

/// A repeated number as it lies in the file: pieces of packed values. Values are
/// varints, or 4 or 8 bytes each, as the field says.
struct PackedNumbers {
  SmallVector<StringRef, 1> pieces;
  bool empty() const { return pieces.empty(); }
};

struct Tensor {
  StringRef name;
  std::vector<int64_t> dims;
  int32_t dataType = 0;
  std::optional<StringRef> raw;
  PackedNumbers floats, int32s, int64s, doubles, uint64s;
  std::vector<StringRef> strings;
  std::vector<std::pair<StringRef, StringRef>> externalData;
  bool isExternal = false;
  bool isSegment = false;
};

struct Dim {
  std::optional<int64_t> value;
  StringRef param;
};

struct TypeInfo {
  enum Kind { None, Tensor, SparseTensor, Sequence, Optional, Map };
  Kind kind = None;
  int32_t elementType = 0; // of a tensor
  bool hasShape = false;
  std::vector<Dim> dims;
};

struct ValueInfo {
  StringRef name;
  TypeInfo type;
};

struct Graph;

struct Attr {
  /// AttributeProto.AttributeType.
  enum Type {
    Undefined = 0, Float = 1, Int = 2, String = 3, Tensor = 4, Graph = 5, Floats = 6,
    Ints = 7, Strings = 8, Tensors = 9, Graphs = 10, SparseTensor = 11,
    SparseTensors = 12, TypeProto = 13, TypeProtos = 14
  };
  StringRef name, reference; // reference: the function's attribute it stands for
  int32_t type = Undefined;
  float f = 0;
  int64_t i = 0;
  StringRef s;
  std::shared_ptr<onnx::Tensor> t;
  std::shared_ptr<onnx::Graph> g;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<StringRef> strings;
};

struct Node {
  SmallVector<StringRef, 2> inputs;
  SmallVector<StringRef, 1> outputs;
  StringRef name, opType, domain, overload;
  std::vector<Attr> attrs;
};

struct Graph {
  StringRef name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs, outputs, values;
  size_t numSparseInitializers = 0;
};

struct OpsetImport {
  StringRef domain;
  int64_t version = 0;
};

struct Function {
  StringRef name, domain, overload;
  std::vector<StringRef> inputs, outputs, attributes;
  std::vector<Attr> defaults;
  std::vector<Node> nodes;
  std::vector<OpsetImport> opsets;
};

struct Model {
  int64_t irVersion = 0;
  StringRef producer;
  std::optional<Graph> graph;
  std::vector<OpsetImport> opsets;
  std::vector<Function> functions;
};

/// "ai.onnx" is another spelling of the default domain.
inline StringRef canonicalDomain(StringRef domain) {
  return domain == "ai.onnx" ? StringRef() : domain;
}

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_MODEL_H
