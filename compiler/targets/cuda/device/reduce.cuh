// Reductions of one value per thread over a block.
#pragma once

// Another lane's value, of any type.
template <typename T> __device__ __forceinline__ T dlc_shuffle_xor(T x, int mask) {
  constexpr int count = (sizeof(T) + 3) / 4;
  u32 words[count] = {};
  memcpy(words, &x, sizeof(T));
#pragma unroll
  for (int i = 0; i < count; ++i)
    words[i] = __shfl_xor_sync(0xffffffffu, words[i], mask);
  memcpy(&x, words, sizeof(T));
  return x;
}

// Every thread gets the result, the same bits. All threads of the block call it;
// `partials` is shared memory for one value per warp.
template <typename T, typename Combine>
__device__ __forceinline__ T dlc_block_reduce(T x, Combine combine, T *partials) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2)
    x = combine(x, dlc_shuffle_xor(x, mask));
  if (blockDim.x == 32)
    return x;
  if (threadIdx.x % 32 == 0)
    partials[threadIdx.x / 32] = x;
  __syncthreads();
  x = partials[0];
  for (unsigned warp = 1; warp < blockDim.x / 32; ++warp)
    x = combine(x, partials[warp]);
  __syncthreads();
  return x;
}
