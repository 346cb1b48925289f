// Tiles of a matrix product: a block keeps kRows x kColumns sums in registers and
// walks the depth in steps that it stages in shared memory. Each tile type says
// which of the sums a thread has: result(e) is at (row(e), column(e)).
#pragma once

__device__ __forceinline__ float dlc_multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double dlc_multiply_add(double a, double b, double c) { return fma(a, b, c); }
// Integers wrap.
__device__ __forceinline__ i32 dlc_multiply_add(i32 a, i32 b, i32 c) { return (i32)((u32)a * (u32)b + (u32)c); }
__device__ __forceinline__ i64 dlc_multiply_add(i64 a, i64 b, i64 c) { return (i64)((u64)a * (u64)b + (u64)c); }

// One multiply-add at a time, exact in T. A thread has a square of 4 x 4 sums.
template <typename T> struct SimtTile {
  static constexpr int kRows = 64, kColumns = 64, kDepth = 16, kThreads = 256, kSide = 4;
  static constexpr int kResults = kSide * kSide;
  typedef T Factor;

  struct __align__(16) Shared {
    T rows[kDepth][kRows + 4], columns[kDepth][kColumns + 4];
    __device__ __forceinline__ T &a(int row, int depth) { return rows[depth][row]; }
    __device__ __forceinline__ T &b(int depth, int column) { return columns[depth][column]; }
  };

  T sums[kSide][kSide] = {};

  __device__ __forceinline__ static int row(int e) { return (int)threadIdx.x / 16 * kSide + e / kSide; }
  __device__ __forceinline__ static int column(int e) { return (int)threadIdx.x % 16 * kSide + e % kSide; }
  __device__ __forceinline__ T result(int e) const { return sums[e / kSide][e % kSide]; }

  __device__ __forceinline__ void multiply(Shared &shared) {
#pragma unroll
    for (int depth = 0; depth < kDepth; ++depth) {
      T a[kSide], b[kSide];
#pragma unroll
      for (int i = 0; i < kSide; ++i) {
        a[i] = shared.rows[depth][row(0) + i];
        b[i] = shared.columns[depth][column(0) + i];
      }
#pragma unroll
      for (int i = 0; i < kSide; ++i)
#pragma unroll
        for (int j = 0; j < kSide; ++j)
          sums[i][j] = dlc_multiply_add(a[i], b[j], sums[i][j]);
    }
  }
};

__device__ __forceinline__ void dlc_mma(float *c, const u32 *a, const u32 *b, f16) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
               "{%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ __forceinline__ void dlc_mma(float *c, const u32 *a, const u32 *b, bf16) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
               "{%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Tensor cores: factors of 16 bits, sums in f32. Eight warps in two rows of four;
// each has 32 x 16 sums as 2 x 2 products of m16n8k16.
template <typename Half> struct MmaTile {
  static constexpr int kRows = 64, kColumns = 64, kDepth = 32, kThreads = 256;
  static constexpr int kResults = 16;
  typedef Half Factor;

  // Both with the depth innermost: a fragment is pairs of neighbours in the depth. The
  // padding keeps the eight rows of a fragment in different banks.
  struct __align__(16) Shared {
    Half rows[kRows][kDepth + 8], columns[kColumns][kDepth + 8];
    __device__ __forceinline__ Half &a(int row, int depth) { return rows[row][depth]; }
    __device__ __forceinline__ Half &b(int depth, int column) { return columns[column][depth]; }
  };

  float sums[2][2][4] = {};

  __device__ __forceinline__ static int warp() { return (int)threadIdx.x / 32; }
  __device__ __forceinline__ static int group() { return (int)threadIdx.x % 32 / 4; }
  __device__ __forceinline__ static int member() { return (int)threadIdx.x % 4; }
  __device__ __forceinline__ static int row(int e) {
    return warp() / 4 * 32 + e / 8 * 16 + group() + e / 2 % 2 * 8;
  }
  __device__ __forceinline__ static int column(int e) {
    return warp() % 4 * 16 + e / 4 % 2 * 8 + member() * 2 + e % 2;
  }
  __device__ __forceinline__ float result(int e) const { return sums[e / 8][e / 4 % 2][e % 4]; }

  __device__ __forceinline__ static u32 pair(const Half &first) {
    return *reinterpret_cast<const u32 *>(&first);
  }

  __device__ __forceinline__ void multiply(Shared &shared) {
#pragma unroll
    for (int depth = 0; depth < kDepth; depth += 16) {
      u32 a[2][4], b[2][2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        int top = warp() / 4 * 32 + i * 16 + group(), left = depth + member() * 2;
        a[i][0] = pair(shared.rows[top][left]);
        a[i][1] = pair(shared.rows[top + 8][left]);
        a[i][2] = pair(shared.rows[top][left + 8]);
        a[i][3] = pair(shared.rows[top + 8][left + 8]);
        int column = warp() % 4 * 16 + i * 8 + group();
        b[i][0] = pair(shared.columns[column][left]);
        b[i][1] = pair(shared.columns[column][left + 8]);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j)
          dlc_mma(sums[i][j], a[i], b[j], Half());
    }
  }
};
