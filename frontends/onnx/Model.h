// An ONNX model as plain structs: field for field what onnx.proto says, strings
// as views into the file. ONNX's field numbers stand in Parse.cpp.

#ifndef DLC_FRONTENDS_ONNX_MODEL_H
#define DLC_FRONTENDS_ONNX_MODEL_H

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlc::onnx {

/// TensorProto.DataType.
enum DataType : int32_t {
  kUndefined, kFloat, kUint8, kInt8, kUint16, kInt16, kInt32, kInt64, kString,
  kBool, kFloat16, kDouble, kUint32, kUint64, kComplex64, kComplex128,
  kBfloat16, kFloat8E4M3FN, kFloat8E4M3FNUZ, kFloat8E5M2, kFloat8E5M2FNUZ,
  kUint4, kInt4, kFloat4E2M1
};

struct Tensor {
  std::string_view name;
  int32_t dataType = 0;
  std::vector<int64_t> dims;
  bool hasRaw = false;
  std::string_view raw;
  std::vector<float> floats;
  std::vector<int32_t> ints32;
  std::vector<int64_t> ints64;
  std::vector<double> doubles;
  std::vector<uint64_t> uints64;
  bool hasStrings = false;
  bool isExternal = false;
  std::vector<std::pair<std::string_view, std::string_view>> external;
};

struct Graph;

/// AttributeProto.AttributeType.
enum AttributeType : int32_t {
  kAttrUndefined, kAttrFloat, kAttrInt, kAttrString, kAttrTensor, kAttrGraph,
  kAttrFloats, kAttrInts, kAttrStrings, kAttrTensors, kAttrGraphs, kAttrSparse,
  kAttrSparses, kAttrType, kAttrTypes
};

struct Attribute {
  std::string_view name, refName;
  int32_t type = 0;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::shared_ptr<Tensor> tensor;
  std::shared_ptr<Graph> graph;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
};

struct Node {
  std::string_view name, opType, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<Attribute> attributes;

  const Attribute *find(std::string_view attribute) const {
    for (const Attribute &a : attributes)
      if (a.name == attribute)
        return &a;
    return nullptr;
  }
};

struct Dimension {
  int64_t size = -1;       // -1: not static
  std::string_view symbol; // empty: unnamed
};

struct ValueInfo {
  std::string_view name;
  bool isTensor = false;
  std::string_view kind; // "sequence", ... when it is not a tensor
  int32_t dataType = 0;
  bool hasShape = false;
  std::vector<Dimension> dims;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs, outputs, valueInfos;
  bool hasSparse = false;
};

struct OpsetId {
  std::string_view domain;
  int64_t version = 0;
};

struct Function {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributeNames;
  std::vector<Attribute> attributeDefaults;
  std::vector<Node> nodes;
  std::vector<OpsetId> opsets;
};

struct Model {
  int64_t irVersion = 0;
  bool hasGraph = false;
  std::vector<OpsetId> opsets;
  Graph graph;
  std::vector<Function> functions;
};

/// Reads a ModelProto. On failure `error` says what is wrong. The views point
/// into `bytes`.
bool parseModel(std::string_view bytes, Model &model, std::string &error);

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_MODEL_H
