// Instructions, family by family, against what PTX's manual says they compute.

#include "test/cudasim/Simulator.h"

#include <cmath>
#include <cstring>
#include <random>

namespace dlc::sim {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;
using Reference = u32 (*)(u32 a, u32 b, u32 c);

float toFloat(u32 bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
u32 toBits(float value) {
  u32 bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// From a, b, c in %r5, %r6, %r7 to %r8; %r9... and %rd4... are free.
struct Case {
  const char *name, *body;
  Reference reference;
};
std::ostream &operator<<(std::ostream &os, const Case &c) { return os << c.name; }

constexpr unsigned kLaneCount = 32, kRounds = 8;

/// Corner values among random ones.
std::vector<u32> draw(unsigned seed) {
  constexpr u32 corners[] = {0,          1,          2,          31,         32,         33,
                             0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x0000ffff, 0x80008000,
                             0x3f800000, 0xbf800000, 0x00800000, 0x7f7fffff};
  std::mt19937 random(seed);
  std::vector<u32> words(3 * kLaneCount);
  for (u32 &word : words)
    word = random() % 3 ? u32(random()) : corners[random() % std::size(corners)];
  return words;
}

class Instructions : public Simulator, public testing::WithParamInterface<Case> {};

TEST_P(Instructions, ComputeWhatTheManualSays) {
  std::string body = "ld.global.u32 %r5, [%rd3];\nld.global.u32 %r6, [%rd3+128];\nld.global.u32 %r7, [%rd3+256];\n" +
                     std::string(GetParam().body) + "\nst.global.u32 [%rd3+384], %r8;";
  Pointer memory = allocate(4 * kLaneCount * sizeof(u32));
  for (unsigned round = 0; round < kRounds; ++round) {
    std::vector<u32> words = draw(round), result(kLaneCount);
    ASSERT_EQ(call("cuMemcpyHtoD_v2", memory, static_cast<const void *>(words.data()), words.size() * sizeof(u32)), 0);
    ASSERT_EQ(run(body, memory, kLaneCount), 0) << report();
    ASSERT_EQ(call("cuMemcpyDtoH_v2", static_cast<void *>(result.data()), memory + words.size() * sizeof(u32),
                   result.size() * sizeof(u32)), 0);
    for (unsigned lane = 0; lane < kLaneCount; ++lane) {
      u32 a = words[lane], b = words[lane + kLaneCount], c = words[lane + 2 * kLaneCount];
      EXPECT_EQ(result[lane], GetParam().reference(a, b, c)) << std::hex << a << " " << b << " " << c;
    }
  }
  EXPECT_EQ(call("cuMemFree_v2", memory), 0);
}

int32_t low24(u32 x) { return int32_t(x << 8) >> 8; }

const Case kCases[] = {
    {"add", "add.u32 %r8, %r5, %r6;", [](u32 a, u32 b, u32) { return a + b; }},
    {"add_sat", "add.sat.s32 %r8, %r5, %r6;",
     [](u32 a, u32 b, u32) {
       int64_t sum = int64_t(int32_t(a)) + int32_t(b);
       return u32(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
     }},
    {"mul_hi_u", "mul.hi.u32 %r8, %r5, %r6;", [](u32 a, u32 b, u32) { return u32(u64(a) * b >> 32); }},
    {"mul_hi_s", "mul.hi.s32 %r8, %r5, %r6;",
     [](u32 a, u32 b, u32) { return u32(int64_t(int32_t(a)) * int32_t(b) >> 32); }},
    {"mad_lo", "mad.lo.s32 %r8, %r5, %r6, %r7;", [](u32 a, u32 b, u32 c) { return a * b + c; }},
    {"mul24", "mul24.lo.s32 %r8, %r5, %r6;", [](u32 a, u32 b, u32) { return u32(int64_t(low24(a)) * low24(b)); }},
    {"div_s", "or.b32 %r6, %r6, 1;\ndiv.s32 %r8, %r5, %r6;",
     [](u32 a, u32 b, u32) { return u32(int64_t(int32_t(a)) / int32_t(b | 1)); }},
    {"rem_u", "or.b32 %r6, %r6, 1;\nrem.u32 %r8, %r5, %r6;", [](u32 a, u32 b, u32) { return a % (b | 1); }},
    {"sad", "sad.s32 %r8, %r5, %r6, %r7;",
     [](u32 a, u32 b, u32 c) { return c + (int32_t(a) < int32_t(b) ? b - a : a - b); }},
    // Carries: the upper word of sums, differences and products of two words.
    {"carry_add", "add.cc.u32 %r9, %r5, %r6;\naddc.u32 %r8, %r7, %r5;",
     [](u32 a, u32 b, u32 c) { return u32(((u64(c) << 32 | a) + (u64(a) << 32 | b)) >> 32); }},
    {"carry_sub", "sub.cc.u32 %r9, %r5, %r6;\nsubc.u32 %r8, %r7, %r5;",
     [](u32 a, u32 b, u32 c) { return u32(((u64(c) << 32 | a) - (u64(a) << 32 | b)) >> 32); }},
    {"carry_chain", "add.cc.u32 %r9, %r5, %r6;\naddc.cc.u32 %r9, %r7, -1;\naddc.u32 %r8, 0, 0;",
     [](u32 a, u32 b, u32 c) { return u32((u64(c) + 0xffffffffu + ((u64(a) + b) >> 32)) >> 32); }},
    {"carry_mad", "mad.lo.cc.u32 %r9, %r5, %r6, %r7;\nmadc.hi.u32 %r8, %r5, %r6, %r7;",
     [](u32 a, u32 b, u32 c) { return u32((u64(a) * b + (u64(c) << 32 | c)) >> 32); }},
    {"carry_mad_s", "mad.lo.cc.s32 %r9, %r5, %r6, %r7;\nmadc.hi.s32 %r8, %r5, %r6, 0;",
     [](u32 a, u32 b, u32 c) { return u32((int64_t(int32_t(a)) * int32_t(b) + int64_t(c)) >> 32); }},
    {"carry_64", "mov.b64 %rd4, {%r5, %r6};\nmov.b64 %rd5, {%r6, %r7};\nadd.cc.u64 %rd6, %rd4, %rd5;\n"
                 "addc.u64 %rd6, 0, 0;\ncvt.u32.u64 %r8, %rd6;",
     [](u32 a, u32 b, u32 c) {
       return u32((static_cast<unsigned __int128>(u64(b) << 32 | a) + (u64(c) << 32 | b)) >> 64);
     }},
    {"carry_is_a_lanes", "setp.lt.u32 %p1, %r1, 16;\nadd.cc.u32 %r9, -1, 1;\n@%p1 add.cc.u32 %r9, 0, 0;\n"
                         "addc.u32 %r8, 0, 0;\n@%p1 add.u32 %r8, %r8, 1;",
     [](u32, u32, u32) { return 1u; }},
    {"dp4a", "dp4a.s32.u32 %r8, %r5, %r6, %r7;",
     [](u32 a, u32 b, u32 c) {
       for (int k = 0; k < 32; k += 8)
         c += u32(int8_t(a >> k) * int32_t(uint8_t(b >> k)));
       return c;
     }},
    {"dp2a_lo", "dp2a.lo.u32.u32 %r8, %r5, %r6, %r7;",
     [](u32 a, u32 b, u32 c) { return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff); }},
    {"dp2a_hi", "dp2a.hi.s32.s32 %r8, %r5, %r6, %r7;",
     [](u32 a, u32 b, u32 c) { return c + u32(int16_t(a) * int8_t(b >> 16)) + u32(int16_t(a >> 16) * int8_t(b >> 24)); }},
    // Bits.
    {"shl_clamps", "shl.b32 %r8, %r5, %r6;", [](u32 a, u32 b, u32) { return b > 31 ? 0 : a << b; }},
    {"shr_s_clamps", "shr.s32 %r8, %r5, %r6;", [](u32 a, u32 b, u32) { return u32(int32_t(a) >> (b > 31 ? 31 : b)); }},
    {"shf_wrap", "shf.l.wrap.b32 %r8, %r5, %r6, %r7;",
     [](u32 a, u32 b, u32 c) { return u32((u64(b) << 32 | a) << (c & 31) >> 32); }},
    {"lop3", "lop3.b32 %r8, %r5, %r6, %r7, 0xe8;", [](u32 a, u32 b, u32 c) { return (a & b) | (b & c) | (a & c); }},
    {"popc", "popc.b32 %r8, %r5;", [](u32 a, u32, u32) { return u32(__builtin_popcount(a)); }},
    {"clz", "clz.b32 %r8, %r5;", [](u32 a, u32, u32) { return a ? u32(__builtin_clz(a)) : 32; }},
    {"bfe_s", "bfe.s32 %r8, %r5, 7, 9;", [](u32 a, u32, u32) { return u32(int32_t(a << 16) >> 23); }},
    {"bfi", "bfi.b32 %r8, %r5, %r6, 4, 8;", [](u32 a, u32 b, u32) { return (b & ~0xff0u) | (a & 0xff) << 4; }},
    {"prmt", "prmt.b32 %r8, %r5, %r6, 0x7531;",
     [](u32 a, u32 b, u32) { return (a >> 8 & 0xff) | (a >> 24) << 8 | (b >> 8 & 0xff) << 16 | (b >> 24) << 24; }},
    // Floats. NaN results have one pattern.
    {"fma", "fma.rn.f32 %r8, %r5, %r6, %r7;",
     [](u32 a, u32 b, u32 c) {
       float r = std::fma(toFloat(a), toFloat(b), toFloat(c));
       return std::isnan(r) ? 0x7fffffff : toBits(r);
     }},
    {"div", "div.rn.f32 %r8, %r5, %r6;",
     [](u32 a, u32 b, u32) {
       float r = toFloat(a) / toFloat(b);
       return std::isnan(r) ? 0x7fffffff : toBits(r);
     }},
    {"min", "min.f32 %r8, %r5, %r6;",
     [](u32 a, u32 b, u32) {
       float x = toFloat(a), y = toFloat(b);
       if (std::isnan(x) && std::isnan(y))
         return u32(0x7fffffff);
       return toBits(std::isnan(x) ? y : std::isnan(y) ? x : x == y && std::signbit(x) ? x : y < x || x == y ? y : x);
     }},
    {"compare_nan", "setp.ltu.f32 %p1, %r5, %r6;\nselp.u32 %r8, 1, 0, %p1;",
     [](u32 a, u32 b, u32) { return u32(!(toFloat(a) >= toFloat(b))); }},
    {"cvt_rni_sat", "cvt.rni.s32.f32 %r8, %r5;",
     [](u32 a, u32, u32) {
       double x = std::nearbyint(double(toFloat(a)));
       return std::isnan(x) ? 0u : u32(int32_t(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x));
     }},
    {"cvt_u8", "cvt.u8.u32 %h1, %r5;\ncvt.u32.u16 %r8, %h1;", [](u32 a, u32, u32) { return a & 0xff; }},
    {"cvt_s8_sat", "cvt.sat.s8.s32 %h1, %r5;\ncvt.s32.s16 %r8, %h1;",
     [](u32 a, u32, u32) { return u32(int32_t(a) > 127 ? 127 : int32_t(a) < -128 ? -128 : int32_t(a)); }},
    // Between lanes.
    {"shfl_bfly", "shfl.sync.bfly.b32 %r9, %r1, 5, 31, -1;\nxor.b32 %r8, %r9, %r1;", [](u32, u32, u32) { return 5u; }},
    {"vote_ballot", "setp.eq.u32 %p1, 0, 0;\nvote.sync.ballot.b32 %r8, %p1, -1;", [](u32, u32, u32) { return ~0u; }},
    {"redux", "redux.sync.add.s32 %r8, %r1, -1;", [](u32, u32, u32) { return 31u * 16; }},
};

INSTANTIATE_TEST_SUITE_P(Ptx, Instructions, testing::ValuesIn(kCases),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace dlc::sim
