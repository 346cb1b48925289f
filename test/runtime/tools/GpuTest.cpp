// What is told of kernels without a GPU: occupancy as NVIDIA's calculator has it, kinds
// of instructions, names that are not known.

#include "runtime/tools/dlc/gpu/GpuTable.h"
#include "runtime/tools/dlc/gpu/PtxMix.h"
#include "runtime/tools/io/Error.h"

#include <gtest/gtest.h>

using namespace dlc::cli;

namespace {

// Figures of the CUDA Occupancy Calculator.
TEST(Occupancy, WhatLimitsIt) {
  EXPECT_DOUBLE_EQ(occupancy(90, {256, 32, 0}), 1) << "nothing: 8 blocks of 8 warps";
  EXPECT_DOUBLE_EQ(occupancy(90, {256, 64, 0}), 0.5) << "registers: 4 blocks";
  EXPECT_DOUBLE_EQ(occupancy(90, {256, 119, 0}), 0.25) << "registers, rounded up to 120: 2 blocks";
  EXPECT_DOUBLE_EQ(occupancy(80, {256, 32, 48 << 10}), 0.375) << "shared memory: 3 blocks of 164 KiB";
  EXPECT_DOUBLE_EQ(occupancy(90, {32, 16, 0}), 0.5) << "blocks: 32 of one warp";
  EXPECT_DOUBLE_EQ(occupancy(86, {1024, 32, 0}), 32.0 / 48) << "warps: one block of 32 of 48";
  EXPECT_DOUBLE_EQ(occupancy(90, {1024, 128, 0}), 0) << "no block fits";
}

TEST(GpuTable, NamesAreKnownOrListed) {
  EXPECT_EQ(gpuModelNamed("H100").architecture, 90);
  try {
    gpuModelNamed("GTX");
    FAIL();
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.message).find("A100, A10,"), std::string::npos) << error.message;
  }
}

TEST(PtxMix, CountsOneFunctionByKind) {
  PtxMix mix = mixOf(".visible .entry other(\n)\n{\n\tbar.sync 0;\n}\n"
                     ".visible .entry k(\n\t.param .u64 p\n)\n{\n"
                     "\t.reg .f32 %f<3>;\n\t.loc 1 2 3\n"
                     "\tld.param.u64 %rd1, [p];\n$L1:\n\tld.global.f32 %f1, [%rd1];\n"
                     "\tst.shared.f32 [%r1], %f1;\n\tfma.rn.f32 %f2, %f1, %f1, %f1;\n"
                     "\tex2.approx.f32 %f2, %f2;\n\tdiv.s32 %r1, %r2, %r3;\n"
                     "\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};\n"
                     "\t@%p1 bra $L1;\n\tret;\n}\n", "k");
  EXPECT_EQ(mix.counts[PtxMix::Global], 1u);
  EXPECT_EQ(mix.counts[PtxMix::Shared], 1u);
  EXPECT_EQ(mix.counts[PtxMix::Float], 1u);
  EXPECT_EQ(mix.counts[PtxMix::Special], 1u);
  EXPECT_EQ(mix.counts[PtxMix::Tensor], 1u);
  EXPECT_EQ(mix.counts[PtxMix::Control], 2u) << "the branch and the return";
  EXPECT_EQ(mix.counts[PtxMix::Integer], 2u) << "an integer division, a parameter";
  EXPECT_EQ(mix.text(), "integer 22%, control 22%, global 11%");
  EXPECT_EQ(mixOf("no such function", "k").total(), 0u);
}

} // namespace
