// A graph as an ONNX file.

#include "frontends/nn/Graph.h"

#include "frontends/onnx/onnx.pb.h"

#include <fstream>

namespace dlc::nn {

namespace {

constexpr int64_t kOpset = 17, kIrVersion = 8;
constexpr uint64_t kLargestFile = (uint64_t(1) << 31) - 1;

void fill(onnx::ValueInfoProto &proto, const std::string &name, ElementType type, const Shape &shape) {
  proto.set_name(name);
  auto *tensor = proto.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(int32_t(type));
  for (const Dim &dim : shape) {
    auto *size = tensor->mutable_shape()->add_dim();
    if (dim.isFixed())
      size->set_dim_value(dim.size);
    else if (!dim.isUnknown())
      size->set_dim_param(dim.name);
  }
}

void fill(onnx::TensorProto &proto, ElementType type, const std::vector<int64_t> &sizes, std::string bytes) {
  proto.set_data_type(int32_t(type));
  for (int64_t size : sizes)
    proto.add_dims(size);
  proto.set_raw_data(std::move(bytes));
}

struct FillAttribute {
  onnx::AttributeProto &proto;
  void operator()(int64_t value) const {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(value);
  }
  void operator()(float value) const {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(value);
  }
  void operator()(const std::vector<int64_t> &values) const {
    proto.set_type(onnx::AttributeProto::INTS);
    for (int64_t value : values)
      proto.add_ints(value);
  }
  void operator()(const std::string &value) const {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(value);
  }
  void operator()(const Tensor &tensor) const {
    proto.set_type(onnx::AttributeProto::TENSOR);
    fill(*proto.mutable_t(), tensor.type, tensor.sizes, tensor.bytes);
  }
};

} // namespace

std::string Graph::serialize(Form form) const {
  if (outputs.empty())
    throw Error("graph '" + name + "' has no output");
  if (numParameters() * sizeof(float) > kLargestFile)
    throw Error("graph '" + name + "' has " + std::to_string(numParameters()) +
                " parameters, more than one ONNX file can hold (2 GiB)");
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("dlc");
  model.add_opset_import()->set_version(kOpset);
  auto &graph = *model.mutable_graph();
  graph.set_name(name);
  for (const auto &info : inputs)
    fill(*graph.add_input(), info->name, info->type, info->shape);
  for (const auto &info : outputs)
    fill(*graph.add_output(), info->name, info->type, info->shape);
  for (const Parameter &parameter : parameters) {
    auto &tensor = *graph.add_initializer();
    tensor.set_name(parameter.info->name);
    std::vector<int64_t> sizes;
    for (const Dim &dim : parameter.info->shape)
      sizes.push_back(dim.size);
    fill(tensor, ElementType::Float32, sizes,
         std::string(reinterpret_cast<const char *>(parameter.values.data()), parameter.values.size() * sizeof(float)));
  }
  bool trains = form == Form::Training;
  for (const Node &node : graphNodes) {
    auto &proto = *graph.add_node();
    proto.set_name(node.name);
    proto.set_op_type(node.op);
    for (size_t i = 0, n = trains ? node.inputs.size() : node.numInferenceInputs; i < n; ++i)
      proto.add_input(node.inputs[i] ? node.inputs[i]->name : "");
    for (size_t i = 0, n = trains ? node.results.size() : node.numInferenceResults; i < n; ++i)
      proto.add_output(node.results[i]->name);
    for (const Attribute &attribute : node.attributes) {
      if (attribute.isForTraining && !trains)
        continue;
      auto &made = *proto.add_attribute();
      made.set_name(attribute.name);
      std::visit(FillAttribute{made}, attribute.value);
    }
  }
  std::string bytes;
  if (model.ByteSizeLong() > kLargestFile || !model.SerializeToString(&bytes))
    throw Error("graph '" + name + "' is larger than the 2 GiB that one ONNX file can hold");
  return bytes;
}

void Graph::save(const std::filesystem::path &path, Form form) const {
  std::string bytes = serialize(form);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), std::streamsize(bytes.size()));
  file.close();
  if (!file)
    throw Error(path.string() + ": cannot be written");
}

} // namespace dlc::nn
