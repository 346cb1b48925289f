#include "compiler/targets/cuda/NarrowLimit.h"

#include "runtime/schema/DeviceImages.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

namespace dlc::cuda {
namespace {

using mlir::AffineExpr;

class Limit : public testing::Test {
protected:
  AffineExpr size(unsigned i) { return mlir::getAffineSymbolExpr(i, &context); }
  AffineExpr constant(int64_t value) { return mlir::getAffineConstantExpr(value, &context); }

  /// What a launch decides for these sizes.
  bool isNarrow(const NarrowLimit &limit, std::vector<int64_t> sizes) {
    flatbuffers::FlatBufferBuilder b;
    std::vector<uint32_t> none;
    auto expr = schema::CreateExpr(b, b.CreateVectorOfStructs(limit.largest));
    b.Finish(schema::CreateLaunchDirect(b, "wide", 1, 0, expr, 1, 1, &none, "narrow", expr));
    std::vector<char> isBound(sizes.size(), 1);
    return schema::isNarrow(*flatbuffers::GetRoot<schema::Launch>(b.GetBufferPointer()), sizes.data(), isBound.data());
  }

  mlir::MLIRContext context;
};

TEST_F(Limit, ConstantsDecideWhenCompiling) {
  EXPECT_TRUE(limitOf({}).isAlways);
  llvm::SetVector<AffineExpr> extents;
  extents.insert(constant(1 << 30));
  EXPECT_TRUE(limitOf(extents).isAlways);
  extents.insert(size(0));
  EXPECT_FALSE(limitOf(extents).isAlways);
  extents.insert(constant((1 << 30) + 1));
  EXPECT_FALSE(limitOf(extents).isAlways);
  EXPECT_TRUE(limitOf(extents).largest.empty()) << "never";
}

TEST_F(Limit, WhatNobodyKnowsIsNeverNarrow) {
  llvm::SetVector<AffineExpr> extents;
  extents.insert(AffineExpr());
  EXPECT_FALSE(limitOf(extents).isAlways);
  EXPECT_TRUE(limitOf(extents).largest.empty());
}

TEST_F(Limit, SizesDecideAtTheLaunch) {
  llvm::SetVector<AffineExpr> extents;
  extents.insert(size(0) * 3);
  extents.insert(size(1));
  NarrowLimit limit = limitOf(extents);
  EXPECT_TRUE(isNarrow(limit, {1 << 20, 1 << 30}));
  EXPECT_FALSE(isNarrow(limit, {1 << 29, 1}));
  EXPECT_FALSE(isNarrow(limit, {1, (1 << 30) + 1}));
  EXPECT_FALSE(isNarrow(limit, {INT64_MAX, 1})) << "overflow";
}

/// What is computed on the way counts: (a * b) / 8 fits where a * b does not.
TEST_F(Limit, PartsOfAnExtentCount) {
  llvm::SetVector<AffineExpr> extents;
  extents.insert((size(0) * size(1)).floorDiv(8));
  NarrowLimit limit = limitOf(extents);
  EXPECT_TRUE(isNarrow(limit, {1 << 10, 1 << 10}));
  EXPECT_FALSE(isNarrow(limit, {1 << 16, 1 << 15}));
}

} // namespace
} // namespace dlc::cuda
