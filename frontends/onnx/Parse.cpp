// Protobuf messages to structs. The field numbers are ONNX's.

#include "frontends/onnx/Model.h"

#include "frontends/onnx/Wire.h"

namespace dlc::onnx {

namespace {

/// Subgraphs nest messages; deeper than this is refused, not recursed into.
constexpr int kMaxDepth = 256;

class Parser {
public:
  bool tooDeep = false;

  template <typename T>
  bool message(std::string_view bytes, T &out, void (Parser::*field)(WireReader &, T &)) {
    if (++depth > kMaxDepth) {
      tooDeep = true;
      --depth;
      return false;
    }
    WireReader reader(bytes);
    while (failed == 0 && reader.next())
      (this->*field)(reader, out);
    --depth;
    if (!reader.ok())
      ++failed;
    return failed == 0 && !tooDeep;
  }

  void model(WireReader &r, Model &m) {
    switch (r.field) {
    case 1: m.irVersion = r.integer(); break;
    case 7:
      m.hasGraph = true;
      nested(r, m.graph, &Parser::graph);
      break;
    case 8: append(r, m.opsets, &Parser::opset); break;
    case 25: append(r, m.functions, &Parser::function); break;
    default: r.skip();
    }
  }

private:
  template <typename T>
  void nested(WireReader &r, T &out, void (Parser::*field)(WireReader &, T &)) {
    std::string_view bytes = r.text();
    if (r.ok() && !message(bytes, out, field))
      r.fail();
  }
  template <typename T>
  void append(WireReader &r, std::vector<T> &list, void (Parser::*field)(WireReader &, T &)) {
    list.emplace_back();
    nested(r, list.back(), field);
  }

  void opset(WireReader &r, OpsetId &o) {
    switch (r.field) {
    case 1: o.domain = r.text(); break;
    case 2: o.version = r.integer(); break;
    default: r.skip();
    }
  }

  void graph(WireReader &r, Graph &g) {
    switch (r.field) {
    case 1: append(r, g.nodes, &Parser::node); break;
    case 2: g.name = r.text(); break;
    case 5: append(r, g.initializers, &Parser::tensor); break;
    case 11: append(r, g.inputs, &Parser::valueInfo); break;
    case 12: append(r, g.outputs, &Parser::valueInfo); break;
    case 13: append(r, g.valueInfos, &Parser::valueInfo); break;
    case 15: g.hasSparse = true; r.skip(); break;
    default: r.skip();
    }
  }

  void node(WireReader &r, Node &n) {
    switch (r.field) {
    case 1: n.inputs.push_back(r.text()); break;
    case 2: n.outputs.push_back(r.text()); break;
    case 3: n.name = r.text(); break;
    case 4: n.opType = r.text(); break;
    case 5: append(r, n.attributes, &Parser::attribute); break;
    case 7: n.domain = r.text(); break;
    case 8: n.overload = r.text(); break;
    default: r.skip();
    }
  }

  void attribute(WireReader &r, Attribute &a) {
    switch (r.field) {
    case 1: a.name = r.text(); break;
    case 2: a.f = r.real(); break;
    case 3: a.i = r.integer(); break;
    case 4: a.s = r.text(); break;
    case 5:
      a.tensor = std::make_shared<Tensor>();
      nested(r, *a.tensor, &Parser::tensor);
      break;
    case 6:
      a.graph = std::make_shared<Graph>();
      nested(r, *a.graph, &Parser::graph);
      break;
    case 7: r.scalars<float>(a.floats); break;
    case 8: r.scalars<int64_t>(a.ints); break;
    case 9: a.strings.push_back(r.text()); break;
    case 20: a.type = int32_t(r.integer()); break;
    case 21: a.refName = r.text(); break;
    default: r.skip();
    }
  }

  void tensor(WireReader &r, Tensor &t) {
    switch (r.field) {
    case 1: r.scalars<int64_t>(t.dims); break;
    case 2: t.dataType = int32_t(r.integer()); break;
    case 4: r.scalars<float>(t.floats); break;
    case 5: r.scalars<int32_t>(t.ints32); break;
    case 6: t.hasStrings = true; r.skip(); break;
    case 7: r.scalars<int64_t>(t.ints64); break;
    case 8: t.name = r.text(); break;
    case 9: t.hasRaw = true; t.raw = r.text(); break;
    case 10: r.scalars<double>(t.doubles); break;
    case 11: r.scalars<uint64_t>(t.uints64); break;
    case 13: append(r, t.external, &Parser::entry); break;
    case 14: t.isExternal = r.integer() == 1; break;
    default: r.skip();
    }
  }

  void entry(WireReader &r, std::pair<std::string_view, std::string_view> &e) {
    switch (r.field) {
    case 1: e.first = r.text(); break;
    case 2: e.second = r.text(); break;
    default: r.skip();
    }
  }

  void valueInfo(WireReader &r, ValueInfo &v) {
    switch (r.field) {
    case 1: v.name = r.text(); break;
    case 2: nested(r, v, &Parser::type); break;
    default: r.skip();
    }
  }

  void type(WireReader &r, ValueInfo &v) {
    switch (r.field) {
    case 1: v.isTensor = true; nested(r, v, &Parser::tensorType); break;
    case 4: v.kind = "sequence"; r.skip(); break;
    case 5: v.kind = "map"; r.skip(); break;
    case 8: v.kind = "sparse tensor"; r.skip(); break;
    case 9: v.kind = "optional"; r.skip(); break;
    default: r.skip();
    }
  }

  void tensorType(WireReader &r, ValueInfo &v) {
    switch (r.field) {
    case 1: v.dataType = int32_t(r.integer()); break;
    case 2: v.hasShape = true; nested(r, v, &Parser::shape); break;
    default: r.skip();
    }
  }

  void shape(WireReader &r, ValueInfo &v) {
    if (r.field == 1)
      append(r, v.dims, &Parser::dimension);
    else
      r.skip();
  }

  void dimension(WireReader &r, Dimension &d) {
    switch (r.field) {
    case 1: d.size = r.integer(); break;
    case 2: d.symbol = r.text(); break;
    default: r.skip();
    }
  }

  void function(WireReader &r, Function &f) {
    switch (r.field) {
    case 1: f.name = r.text(); break;
    case 4: f.inputs.push_back(r.text()); break;
    case 5: f.outputs.push_back(r.text()); break;
    case 6: f.attributeNames.push_back(r.text()); break;
    case 7: append(r, f.nodes, &Parser::node); break;
    case 9: append(r, f.opsets, &Parser::opset); break;
    case 10: f.domain = r.text(); break;
    case 11: append(r, f.attributeDefaults, &Parser::attribute); break;
    case 13: f.overload = r.text(); break;
    default: r.skip();
    }
  }

  int depth = 0, failed = 0;
};

} // namespace

bool parseModel(std::string_view bytes, Model &model, std::string &error) {
  if (bytes.empty()) {
    error = "the file is empty";
    return false;
  }
  if (bytes.starts_with("version https://git-lfs")) {
    error = "a Git LFS pointer, not the model itself; run git lfs pull";
    return false;
  }
  Parser parser;
  if (!parser.message(bytes, model, &Parser::model)) {
    error = parser.tooDeep ? "messages or subgraphs are nested too deeply (limit 256)"
                           : "truncated, or not an ONNX model: the protobuf does not parse";
    return false;
  }
  if (!model.hasGraph) {
    error = "not an ONNX model: it has no graph";
    return false;
  }
  return true;
}

} // namespace dlc::onnx
