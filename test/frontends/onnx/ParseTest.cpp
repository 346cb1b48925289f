// The wire reader: what it reads, and that broken bytes are errors.

#include "frontends/onnx/Parse.h"

#include "Wire.h"

#include <gtest/gtest.h>

using namespace dlc::onnx;
using namespace dlc::onnx::test;

namespace {

std::string smallModel() {
  std::string tensor = number(1, 2) + number(2, 1) + bytes(8, "w") + bytes(9, std::string(8, 'x'));
  std::string attr = bytes(1, "axis") + number(3, uint64_t(-1)) + number(20, 2);
  std::string relu = node("Relu", "x", "y") + bytes(5, attr);
  std::string graph = bytes(1, relu) + bytes(2, "g") + bytes(5, tensor) +
                      bytes(11, bytes(1, "x")) + bytes(12, bytes(1, "y"));
  return number(1, 8) + bytes(7, graph) + opset(17);
}

TEST(Parse, ReadsAModelWithoutCopying) {
  std::string file = smallModel();
  Model model;
  IssueList issues;
  ASSERT_TRUE(parseModel(file, model, issues));
  EXPECT_EQ(model.irVersion, 8);
  ASSERT_EQ(model.opsets.size(), 1u);
  EXPECT_EQ(model.opsets[0].version, 17);
  const Graph &graph = *model.graph;
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].opType, "Relu");
  ASSERT_EQ(graph.nodes[0].attrs.size(), 1u);
  EXPECT_EQ(graph.nodes[0].attrs[0].i, -1);
  ASSERT_EQ(graph.initializers.size(), 1u);
  StringRef raw = *graph.initializers[0].raw;
  EXPECT_EQ(raw.size(), 8u);
  EXPECT_TRUE(raw.data() > file.data() && raw.data() < file.data() + file.size());
}

TEST(Parse, PackedAndUnpackedNumbersAreTheSame) {
  IssueList issues;
  Tensor packed, unpacked;
  ASSERT_TRUE(parseTensor(bytes(1, varint(2) + varint(300)), packed, issues));
  ASSERT_TRUE(parseTensor(number(1, 2) + number(1, 300), unpacked, issues));
  EXPECT_EQ(packed.dims, (std::vector<int64_t>{2, 300}));
  EXPECT_EQ(packed.dims, unpacked.dims);
}

TEST(Parse, EveryTruncationIsReadOrRefused) {
  std::string file = smallModel();
  for (size_t length = 0; length < file.size(); ++length) {
    Model model;
    IssueList issues;
    bool isRead = parseModel(StringRef(file).take_front(length), model, issues);
    EXPECT_EQ(isRead, !issues.hasErrors()) << length;
  }
}

TEST(Parse, EveryFlippedByteIsReadOrRefused) {
  std::string file = smallModel();
  for (size_t at = 0; at < file.size(); ++at)
    for (int value : {0x00, 0x7f, 0x80, 0xff}) {
      std::string broken = file;
      broken[at] = char(value);
      Model model;
      IssueList issues;
      EXPECT_EQ(parseModel(broken, model, issues), !issues.hasErrors()) << at;
    }
}

TEST(Parse, GraphsNestToALimit) {
  auto nested = [](unsigned depth) {
    std::string graph;
    for (unsigned i = 1; i < depth; ++i)
      graph = bytes(1, bytes(4, "If") + bytes(5, bytes(1, "then_branch") + bytes(6, graph)));
    return bytes(7, graph);
  };
  Model model;
  IssueList issues;
  EXPECT_TRUE(parseModel(nested(kDeepestGraph), model, issues));
  EXPECT_FALSE(parseModel(nested(kDeepestGraph + 1), model, issues));
  EXPECT_NE(issues.take().front().message.find("nested deeper"), std::string::npos);
}

TEST(Issues, NamesAreSafeToPrint) {
  EXPECT_EQ(printable("a\nb\x01"), "a\\x0ab\\x01");
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_LT(printable(std::string(1000000, 'q')).size(), 100u);
}

} // namespace
