// Mapped files: what is refused as a model, and external data that leaves its folder.

#include "frontends/onnx/ModelFile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace dlc::onnx;
namespace fs = std::filesystem;

namespace {

class Files : public ::testing::Test {
protected:
  void SetUp() override {
    root = fs::path(::testing::TempDir()) / ("dlc-onnx-" + std::to_string(getpid()));
    fs::create_directories(root / "model");
    write("model/m.onnx", "bytes");
    write("model/weights.bin", "0123456789abcdef");
    write("secret.bin", "secret");
  }
  void TearDown() override { fs::remove_all(root); }

  void write(const std::string &name, const std::string &text) { std::ofstream(root / name) << text; }
  std::string refusal(const std::string &name) {
    MappedFiles files;
    IssueList issues;
    EXPECT_FALSE(files.openModel((root / name).string(), issues));
    return issues.take().front().message;
  }
  /// Why external data is refused; empty when it is not.
  std::string external(const std::string &location) {
    MappedFiles files;
    IssueList issues;
    EXPECT_TRUE(files.openModel((root / "model/m.onnx").string(), issues));
    std::string problem;
    auto bytes = files.openExternal(location, problem);
    EXPECT_EQ(bytes.has_value(), problem.empty());
    return problem;
  }
  fs::path root;
};

TEST_F(Files, WhatIsNoModel) {
  write("empty.onnx", "");
  write("pointer.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
  EXPECT_NE(refusal("empty.onnx").find("empty"), std::string::npos);
  EXPECT_NE(refusal("pointer.onnx").find("LFS"), std::string::npos);
  EXPECT_NE(refusal("model").find("folder"), std::string::npos);
  EXPECT_NE(refusal("none.onnx").find("cannot be read"), std::string::npos);
}

TEST_F(Files, ExternalDataStaysInTheFolder) {
  EXPECT_EQ(external("weights.bin"), "");
  EXPECT_EQ(external("./weights.bin"), "");
  EXPECT_NE(external("../secret.bin").find("leaves"), std::string::npos);
  EXPECT_NE(external((root / "secret.bin").string()).find("absolute"), std::string::npos);
  EXPECT_NE(external("").find("no file name"), std::string::npos);
}

TEST_F(Files, LinksAreResolvedFirst) {
  fs::create_symlink("../secret.bin", root / "model/link.bin");
  fs::create_symlink("/dev/zero", root / "model/zero.bin");
  fs::create_symlink("weights.bin", root / "model/inside.bin");
  EXPECT_NE(external("link.bin").find("leaves"), std::string::npos);
  EXPECT_NE(external("zero.bin").find("leaves"), std::string::npos);
  EXPECT_EQ(external("inside.bin"), "");
}

} // namespace
