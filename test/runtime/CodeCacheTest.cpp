// The cache of compiled code: found again, never when damaged, and a key
// that changes with everything that the code depends on.

#include "runtime/schema/CodeCache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using dlc::schema::CodeCache;
using dlc::schema::NvrtcJob;

namespace {

class CodeCacheTest : public ::testing::Test {
protected:
  CodeCacheTest() {
    char name[] = "/tmp/dlc-jit-XXXXXX";
    folder = std::string(mkdtemp(name)) + "/a/b";
  }
  ~CodeCacheTest() override {
    std::filesystem::remove_all(std::filesystem::path(folder).parent_path().parent_path());
  }
  std::string folder;
  const NvrtcJob job{"k.cu", "source", "headers", {"-a"}, "sm_80"};
};

TEST_F(CodeCacheTest, FindsWhatWasStored) {
  CodeCache cache(folder);
  std::string code;
  EXPECT_FALSE(cache.find("k", code));
  cache.store("k", std::string("\0binary\n", 8));
  ASSERT_TRUE(cache.find("k", code));
  EXPECT_EQ(code, std::string("\0binary\n", 8));
}

TEST_F(CodeCacheTest, IgnoresDamage) {
  CodeCache cache(folder);
  std::string code;
  cache.store("k", "0123456789");
  std::string path = folder + "/k";
  auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size - 1);
  EXPECT_FALSE(cache.find("k", code)) << "cut short";
  cache.store("k", "0123456789");
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(std::streamoff(size) - 3);
    file.put('x');
  }
  EXPECT_FALSE(cache.find("k", code)) << "a changed byte";
  cache.store("k", "0123456789");
  { std::ofstream(path, std::ios::app) << "more"; }
  EXPECT_FALSE(cache.find("k", code)) << "too long";
  std::ofstream(path, std::ios::trunc).close();
  EXPECT_FALSE(cache.find("k", code)) << "empty";
}

TEST_F(CodeCacheTest, KeysDependOnEverything) {
  std::string key = CodeCache::keyOf(job, "nvrtc 13.0");
  EXPECT_EQ(key, CodeCache::keyOf(job, "nvrtc 13.0"));
  EXPECT_NE(key, CodeCache::keyOf(job, "nvrtc 13.1"));
  for (int field = 0; field < 4; ++field) {
    NvrtcJob other = job;
    (field == 0 ? other.source : field == 1 ? other.headers : field == 2 ? other.architecture
                                                                         : other.options[0]) += "x";
    EXPECT_NE(key, CodeCache::keyOf(other, "nvrtc 13.0")) << field;
  }
}

TEST_F(CodeCacheTest, KeepsNothingWithoutAFolder) {
  CodeCache cache("");
  std::string code;
  cache.store("k", "code");
  EXPECT_FALSE(cache.find("k", code));
}

} // namespace
