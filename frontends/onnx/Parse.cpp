#include "frontends/onnx/Parse.h"

#include "llvm/Support/Endian.h"

using namespace llvm;

namespace dlc::onnx {

namespace {

enum WireType : uint32_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct Field {
  uint32_t number = 0;
  uint32_t wire = 0;
  uint64_t value = 0; // of numbers
  StringRef bytes;    // of strings, messages and packed numbers
  StringRef payload;  // the value as it lies in the file

  bool is(uint32_t n, WireType w) const { return number == n && wire == w; }
};

bool readVarint(StringRef &bytes, uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    auto byte = static_cast<unsigned char>(bytes.front());
    bytes = bytes.drop_front();
    value |= uint64_t(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return true;
  }
  return false;
}

float toFloat(uint64_t bits) {
  uint32_t low = uint32_t(bits);
  float value;
  memcpy(&value, &low, sizeof value);
  return value;
}

class Parser {
public:
  Parser(StringRef file, IssueList &issues) : file(file), issues(issues) {}

  bool model(StringRef bytes, Model &m) {
    return fields(bytes, [&](const Field &f) {
      if (f.is(1, Varint))
        m.irVersion = int64_t(f.value);
      else if (f.is(2, Bytes))
        m.producer = f.bytes;
      else if (f.is(7, Bytes))
        return graph(f.bytes, m.graph ? *m.graph : m.graph.emplace());
      else if (f.is(8, Bytes))
        return opset(f.bytes, m.opsets.emplace_back());
      else if (f.is(25, Bytes))
        return function(f.bytes, m.functions.emplace_back());
      return true;
    });
  }

  bool tensor(StringRef bytes, Tensor &t) {
    return fields(bytes, [&](const Field &f) {
      switch (f.number) {
      case 1: return integers(f, t.dims);
      case 3: t.isSegment = true; return true;
      case 4: return packed(f, Fixed32, t.floats);
      case 5: return packed(f, Varint, t.int32s);
      case 7: return packed(f, Varint, t.int64s);
      case 10: return packed(f, Fixed64, t.doubles);
      case 11: return packed(f, Varint, t.uint64s);
      }
      if (f.is(2, Varint))
        t.dataType = int32_t(f.value);
      else if (f.is(6, Bytes))
        t.strings.push_back(f.bytes);
      else if (f.is(8, Bytes))
        t.name = f.bytes;
      else if (f.is(9, Bytes))
        t.raw = f.bytes;
      else if (f.is(13, Bytes))
        return entry(f.bytes, t.externalData.emplace_back());
      else if (f.is(14, Varint))
        t.isExternal = f.value == 1;
      return true;
    });
  }

private:
  bool fail(const Twine &message, const char *at) {
    if (!failed)
      issues.error("", "not a valid ONNX model: " + message + " at byte " +
                           Twine(at - file.data()) + " of " + Twine(file.size()));
    failed = true;
    return false;
  }

  bool fields(StringRef bytes, function_ref<bool(const Field &)> handle) {
    while (!bytes.empty()) {
      const char *start = bytes.data();
      uint64_t key;
      if (!readVarint(bytes, key) || key >> 32 || key >> 3 == 0)
        return fail("broken field", start);
      Field field;
      field.number = uint32_t(key >> 3);
      field.wire = uint32_t(key & 7);
      const char *valueStart = bytes.data();
      if (!value(bytes, field))
        return fail(field.wire == Bytes ? "a field runs past the end (truncated?)"
                                        : "broken field",
                    start);
      field.payload = StringRef(valueStart, bytes.data() - valueStart);
      if (!handle(field))
        return false;
    }
    return true;
  }

  static bool value(StringRef &bytes, Field &field) {
    switch (field.wire) {
    case Varint:
      return readVarint(bytes, field.value);
    case Fixed64:
    case Fixed32: {
      size_t size = field.wire == Fixed64 ? 8 : 4;
      if (bytes.size() < size)
        return false;
      field.value = size == 8 ? support::endian::read64le(bytes.data())
                              : support::endian::read32le(bytes.data());
      bytes = bytes.drop_front(size);
      return true;
    }
    case Bytes: {
      uint64_t length;
      if (!readVarint(bytes, length) || length > bytes.size())
        return false;
      field.bytes = bytes.take_front(length);
      bytes = bytes.drop_front(length);
      return true;
    }
    }
    return false; // groups are long out of use, 6 and 7 mean nothing
  }

  bool integers(const Field &f, std::vector<int64_t> &values) {
    if (f.wire == Varint)
      values.push_back(int64_t(f.value));
    StringRef rest = f.wire == Bytes ? f.bytes : StringRef();
    while (!rest.empty()) {
      uint64_t value;
      const char *at = rest.data();
      if (!readVarint(rest, value))
        return fail("broken number", at);
      values.push_back(int64_t(value));
    }
    return true;
  }

  bool floats(const Field &f, std::vector<float> &values) {
    if (f.wire == Fixed32)
      values.push_back(toFloat(f.value));
    if (f.wire != Bytes)
      return true;
    if (f.bytes.size() % 4)
      return fail("broken numbers", f.bytes.data());
    for (size_t i = 0; i < f.bytes.size(); i += 4)
      values.push_back(toFloat(support::endian::read32le(f.bytes.data() + i)));
    return true;
  }

  bool packed(const Field &f, WireType element, PackedNumbers &numbers) {
    if (f.wire == element)
      numbers.pieces.push_back(f.payload);
    else if (f.wire == Bytes)
      numbers.pieces.push_back(f.bytes);
    return true;
  }

  bool entry(StringRef bytes, std::pair<StringRef, StringRef> &e) {
    return fields(bytes, [&](const Field &f) {
      if (f.is(1, Bytes))
        e.first = f.bytes;
      else if (f.is(2, Bytes))
        e.second = f.bytes;
      return true;
    });
  }

  bool opset(StringRef bytes, OpsetImport &o) {
    return fields(bytes, [&](const Field &f) {
      if (f.is(1, Bytes))
        o.domain = canonicalDomain(f.bytes);
      else if (f.is(2, Varint))
        o.version = int64_t(f.value);
      return true;
    });
  }

  bool graph(StringRef bytes, Graph &g) {
    if (depth == kDeepestGraph)
      return fail("graphs are nested deeper than " + Twine(kDeepestGraph), bytes.data());
    ++depth;
    bool ok = fields(bytes, [&](const Field &f) {
      if (f.wire != Bytes)
        return true;
      switch (f.number) {
      case 1: return node(f.bytes, g.nodes.emplace_back());
      case 2: g.name = f.bytes; return true;
      case 5: return tensor(f.bytes, g.initializers.emplace_back());
      case 11: return valueInfo(f.bytes, g.inputs.emplace_back());
      case 12: return valueInfo(f.bytes, g.outputs.emplace_back());
      case 13: return valueInfo(f.bytes, g.values.emplace_back());
      case 15: ++g.numSparseInitializers; return true;
      }
      return true;
    });
    --depth;
    return ok;
  }

  bool node(StringRef bytes, Node &n) {
    return fields(bytes, [&](const Field &f) {
      if (f.wire != Bytes)
        return true;
      switch (f.number) {
      case 1: n.inputs.push_back(f.bytes); return true;
      case 2: n.outputs.push_back(f.bytes); return true;
      case 3: n.name = f.bytes; return true;
      case 4: n.opType = f.bytes; return true;
      case 5: return attr(f.bytes, n.attrs.emplace_back());
      case 7: n.domain = canonicalDomain(f.bytes); return true;
      case 8: n.overload = f.bytes; return true;
      }
      return true;
    });
  }

  bool attr(StringRef bytes, Attr &a) {
    int32_t seen = Attr::Undefined; // old files leave the type out
    bool ok = fields(bytes, [&](const Field &f) {
      if (f.is(1, Bytes))
        a.name = f.bytes;
      else if (f.is(20, Varint))
        a.type = int32_t(f.value);
      else if (f.is(21, Bytes))
        a.reference = f.bytes;
      else
        return attrValue(f, a, seen);
      return true;
    });
    if (a.type == Attr::Undefined)
      a.type = seen;
    return ok;
  }

  bool attrValue(const Field &f, Attr &a, int32_t &seen) {
    if (f.is(2, Fixed32)) {
      seen = Attr::Float;
      a.f = toFloat(f.value);
    } else if (f.is(3, Varint)) {
      seen = Attr::Int;
      a.i = int64_t(f.value);
    } else if (f.is(4, Bytes)) {
      seen = Attr::String;
      a.s = f.bytes;
    } else if (f.is(5, Bytes)) {
      seen = Attr::Tensor;
      a.t = std::make_shared<Tensor>();
      return tensor(f.bytes, *a.t);
    } else if (f.is(6, Bytes)) {
      seen = Attr::Graph;
      a.g = std::make_shared<Graph>();
      return graph(f.bytes, *a.g);
    } else if (f.number == 7) {
      seen = Attr::Floats;
      return floats(f, a.floats);
    } else if (f.number == 8) {
      seen = Attr::Ints;
      return integers(f, a.ints);
    } else if (f.is(9, Bytes)) {
      seen = Attr::Strings;
      a.strings.push_back(f.bytes);
    }
    return true;
  }

  bool valueInfo(StringRef bytes, ValueInfo &v) {
    return fields(bytes, [&](const Field &f) {
      if (f.is(1, Bytes))
        v.name = f.bytes;
      else if (f.is(2, Bytes))
        return type(f.bytes, v.type);
      return true;
    });
  }

  // Only tensors are looked into; other kinds are named in a refusal.
  bool type(StringRef bytes, TypeInfo &t) {
    return fields(bytes, [&](const Field &f) {
      if (f.wire != Bytes)
        return true;
      switch (f.number) {
      case 1: t.kind = TypeInfo::Tensor; return tensorType(f.bytes, t);
      case 4: t.kind = TypeInfo::Sequence; return true;
      case 5: t.kind = TypeInfo::Map; return true;
      case 8: t.kind = TypeInfo::SparseTensor; return true;
      case 9: t.kind = TypeInfo::Optional; return true;
      }
      return true;
    });
  }

  bool tensorType(StringRef bytes, TypeInfo &t) {
    return fields(bytes, [&](const Field &f) {
      if (f.is(1, Varint))
        t.elementType = int32_t(f.value);
      if (!f.is(2, Bytes))
        return true;
      t.hasShape = true;
      return fields(f.bytes, [&](const Field &d) {
        return !d.is(1, Bytes) || dim(d.bytes, t.dims.emplace_back());
      });
    });
  }

  bool dim(StringRef bytes, Dim &d) {
    return fields(bytes, [&](const Field &f) {
      if (f.is(1, Varint))
        d.value = int64_t(f.value);
      else if (f.is(2, Bytes))
        d.param = f.bytes;
      return true;
    });
  }

  bool function(StringRef bytes, Function &fn) {
    return fields(bytes, [&](const Field &f) {
      if (f.wire != Bytes)
        return true;
      switch (f.number) {
      case 1: fn.name = f.bytes; return true;
      case 4: fn.inputs.push_back(f.bytes); return true;
      case 5: fn.outputs.push_back(f.bytes); return true;
      case 6: fn.attributes.push_back(f.bytes); return true;
      case 7: return node(f.bytes, fn.nodes.emplace_back());
      case 9: return opset(f.bytes, fn.opsets.emplace_back());
      case 10: fn.domain = canonicalDomain(f.bytes); return true;
      case 11: return attr(f.bytes, fn.defaults.emplace_back());
      case 13: fn.overload = f.bytes; return true;
      }
      return true;
    });
  }

  StringRef file;
  IssueList &issues;
  unsigned depth = 0;
  bool failed = false;
};

} // namespace

bool parseModel(StringRef bytes, Model &model, IssueList &issues) {
  return Parser(bytes, issues).model(bytes, model);
}

bool parseTensor(StringRef bytes, Tensor &tensor, IssueList &issues) {
  return Parser(bytes, issues).tensor(bytes, tensor);
}

} // namespace dlc::onnx
