// Writes an artifact that copies every input to an output, without a compiler:
// what the tests of the tool run.
//
// usage: dlc-copy-artifact OUT.dlc NAME:TYPE[D,D,...] ...
// Input NAME becomes output NAME_copy; a dim is a number or a symbol.

#include "dlc/dlc.h"
#include "test/runtime/ModelBuilder.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

using namespace dlc::schema;

namespace {

struct Port {
  std::string name;
  ElementType element;
  std::vector<std::string> dims;
};

[[noreturn]] void usage(const std::string &why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(2);
}

ElementType elementOf(const std::string &name) {
  for (int type = DLC_F32; type <= DLC_BOOL; ++type)
    if (name == dlc_type_name(static_cast<dlc_type>(type)))
      return static_cast<ElementType>(type);
  usage("unknown type " + name);
}

/// "x:f32[N,3]".
Port parsePort(const std::string &text) {
  size_t colon = text.rfind(':'), bracket = text.find('[', colon);
  if (colon == std::string::npos || bracket == std::string::npos || text.back() != ']')
    usage("not NAME:TYPE[DIMS]: " + text);
  Port port{text.substr(0, colon), elementOf(text.substr(colon + 1, bracket - colon - 1)), {}};
  std::string dims = text.substr(bracket + 1, text.size() - bracket - 2);
  for (size_t at = 0; at < dims.size();) {
    size_t comma = std::min(dims.find(',', at), dims.size());
    port.dims.push_back(dims.substr(at, comma - at));
    at = comma + 1;
  }
  return port;
}

/// Numbers the distinct sizes and symbols of all ports.
class Builder {
public:
  std::vector<uint32_t> dims(const Port &port) {
    std::vector<uint32_t> result;
    for (const std::string &dim : port.dims) {
      auto [found, isNew] = numbers.try_emplace(dim, static_cast<uint32_t>(exprs.size()));
      if (isNew)
        exprs.push_back(expr(dim));
      result.push_back(found->second);
    }
    return result;
  }

  std::string build(const std::vector<Port> &ports) {
    std::vector<flatbuffers::Offset<Value>> values;
    std::vector<flatbuffers::Offset<Instruction>> instructions;
    std::vector<uint32_t> inputs, outputs;
    for (const Port &port : ports) {
      auto add = [&](const std::string &name, Storage storage) {
        auto shape = dims(port);
        values.push_back(CreateValueDirect(b, name.c_str(), port.element, &shape, storage));
        return static_cast<uint32_t>(values.size() - 1);
      };
      inputs.push_back(add(port.name, Storage::Input));
      outputs.push_back(add(port.name + "_copy", Storage::Output));
      instructions.push_back(CreateInstruction(
          b, Action::Copy, CreateCopy(b, inputs.back(), outputs.back()).Union()));
    }
    std::vector<flatbuffers::Offset<Constraint>> constraints;
    std::vector<flatbuffers::Offset<Kernel>> kernels;
    std::vector<flatbuffers::Offset<Code>> codes;
    std::vector<flatbuffers::Offset<Node>> nodes;
    std::vector<flatbuffers::Offset<Constant>> constants;
    auto body = CreateBlockDirect(b, &instructions);
    b.Finish(CreateArtifactDirect(b, kFormatVersion, "test", "copy", &exprs, &symbols,
                                  &constraints, &values, &inputs, &outputs, &constants,
                                  &kernels, &codes, body, &nodes),
             ArtifactIdentifier());
    return {reinterpret_cast<const char *>(b.GetBufferPointer()), b.GetSize()};
  }

private:
  flatbuffers::Offset<Expr> expr(const std::string &dim) {
    bool number = dim.find_first_not_of("0123456789") == std::string::npos;
    if (!number)
      symbols.push_back(CreateDimSymbolDirect(b, dim.c_str(), 0, 1 << 20));
    std::vector<ExprStep> steps = {
        number ? ExprStep(ExprCode::Const, std::stoll(dim))
               : ExprStep(ExprCode::Symbol, static_cast<int64_t>(symbols.size() - 1))};
    return CreateExprDirect(b, &steps);
  }

  flatbuffers::FlatBufferBuilder b;
  std::map<std::string, uint32_t> numbers;
  std::vector<flatbuffers::Offset<Expr>> exprs;
  std::vector<flatbuffers::Offset<DimSymbol>> symbols;
};

} // namespace

int main(int argc, char **argv) {
  if (argc < 3)
    usage("usage: dlc-copy-artifact OUT.dlc NAME:TYPE[D,D,...] ...");
  std::vector<Port> ports;
  for (int i = 2; i < argc; ++i)
    ports.push_back(parsePort(argv[i]));
  std::ofstream(argv[1], std::ios::binary) << dlc::test::artifactFile(Builder().build(ports));
}
