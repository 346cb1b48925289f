// What generated kernels are written in: names of types, conversions of narrow
// floats, and the arithmetic whose edge cases C++ leaves open. Needs no header of
// the toolkit, so that NVRTC alone compiles it.
#pragma once

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// The same bits as another type of the same size.
template <typename To, typename From> __device__ __forceinline__ To dlc_bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "bits of different sizes");
  To result;
  memcpy(&result, &x, sizeof(To));
  return result;
}

struct f16 { u16 bits; };
struct bf16 { u16 bits; };
struct f8e4m3fn { u8 bits; };
struct f8e4m3fnuz { u8 bits; };
struct f8e5m2 { u8 bits; };
struct f8e5m2fnuz { u8 bits; };

__device__ __forceinline__ float to_float(f16 x) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(x.bits));
  return result;
}
__device__ __forceinline__ f16 f16_from(float x) {
  f16 result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
}
// Rounded once: through float it would be rounded twice.
__device__ __forceinline__ f16 f16_from(double x) {
  f16 result;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(result.bits) : "d"(x));
  return result;
}
__device__ __forceinline__ float to_float(bf16 x) { return __int_as_float((u32)x.bits << 16); }
__device__ __forceinline__ bf16 bf16_from(float x) {
  u32 bits = (u32)__float_as_int(x);
  if (x != x)
    return bf16{(u16)(bits >> 16 | 0x40)};
  return bf16{(u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
__device__ __forceinline__ bf16 bf16_from(double x) { return bf16_from((float)x); }

// 8-bit floats: sign, `E` exponent bits of bias `B`, `M` mantissa bits.
template <int E, int M, int B> __device__ __forceinline__ float dlc_unpack8(u8 bits) {
  int exponent = bits >> M & ((1 << E) - 1), mantissa = bits & ((1 << M) - 1);
  float magnitude = exponent ? ldexpf((float)(mantissa | 1 << M), exponent - B - M)
                             : ldexpf((float)mantissa, 1 - B - M);
  return bits & 0x80 ? -magnitude : magnitude;
}
// Round to nearest even on the grid of the type; beyond `largest` gives `overflow`.
template <int E, int M, int B>
__device__ __forceinline__ u8 dlc_pack8(float x, float largest, u8 overflow, bool hasNegativeZero) {
  u8 sign = __float_as_int(x) < 0 ? 0x80 : 0;
  float magnitude = fabsf(x);
  int exponent;
  frexpf(magnitude, &exponent); // magnitude in [0.5, 1) * 2^exponent
  int step = (exponent - 1 < 1 - B ? 1 - B : exponent - 1) - M;
  float units = rintf(ldexpf(magnitude, -step));
  if (ldexpf(units, step) > largest)
    return overflow == 0x80 ? overflow : (u8)(sign | overflow);
  int number = (int)units;
  if (number >= 2 << M) { // rounded up to the next power of two
    number >>= 1;
    ++step;
  }
  int biased = number < 1 << M ? 0 : step + M + B;
  u8 result = (u8)(biased << M | (number & ((1 << M) - 1)));
  return result || hasNegativeZero ? (u8)(sign | result) : (u8)0;
}
__device__ __forceinline__ float dlc_nan() { return __int_as_float(0x7fc00000); }
__device__ __forceinline__ float dlc_inf() { return __int_as_float(0x7f800000); }

__device__ __forceinline__ float to_float(f8e4m3fn x) {
  return (x.bits & 0x7f) == 0x7f ? dlc_nan() : dlc_unpack8<4, 3, 7>(x.bits);
}
__device__ __forceinline__ f8e4m3fn f8e4m3fn_from(float x) {
  return f8e4m3fn{x != x ? (u8)0x7f : dlc_pack8<4, 3, 7>(x, 448.0f, 0x7f, true)};
}
__device__ __forceinline__ float to_float(f8e4m3fnuz x) {
  return x.bits == 0x80 ? dlc_nan() : dlc_unpack8<4, 3, 8>(x.bits);
}
__device__ __forceinline__ f8e4m3fnuz f8e4m3fnuz_from(float x) {
  return f8e4m3fnuz{x != x ? (u8)0x80 : dlc_pack8<4, 3, 8>(x, 240.0f, 0x80, false)};
}
__device__ __forceinline__ float to_float(f8e5m2 x) {
  if ((x.bits & 0x7c) == 0x7c)
    return x.bits & 3 ? dlc_nan() : x.bits & 0x80 ? -dlc_inf() : dlc_inf();
  return dlc_unpack8<5, 2, 15>(x.bits);
}
__device__ __forceinline__ f8e5m2 f8e5m2_from(float x) {
  return f8e5m2{x != x ? (u8)0x7f : dlc_pack8<5, 2, 15>(x, 57344.0f, 0x7c, true)};
}
__device__ __forceinline__ float to_float(f8e5m2fnuz x) {
  return x.bits == 0x80 ? dlc_nan() : dlc_unpack8<5, 2, 16>(x.bits);
}
__device__ __forceinline__ f8e5m2fnuz f8e5m2fnuz_from(float x) {
  return f8e5m2fnuz{x != x ? (u8)0x80 : dlc_pack8<5, 2, 16>(x, 57344.0f, 0x80, false)};
}

// NaN wins, and +0 is larger than -0.
__device__ __forceinline__ float dlc_maximum(float a, float b) {
  return a != a ? a : b != b ? b : fmaxf(a, b);
}
__device__ __forceinline__ float dlc_minimum(float a, float b) {
  return a != a ? a : b != b ? b : fminf(a, b);
}
__device__ __forceinline__ double dlc_maximum(double a, double b) {
  return a != a ? a : b != b ? b : fmax(a, b);
}
__device__ __forceinline__ double dlc_minimum(double a, double b) {
  return a != a ? a : b != b ? b : fmin(a, b);
}

template <typename T> __device__ __forceinline__ T dlc_max(T a, T b) { return a > b ? a : b; }
template <typename T> __device__ __forceinline__ T dlc_min(T a, T b) { return a < b ? a : b; }
// |MIN| is MIN, as in two's complement.
template <typename T> __device__ __forceinline__ T dlc_abs(T a) { return a < 0 ? (T)(0 - (u64)a) : a; }

// Division toward minus infinity and plus infinity, and its rest; b > 0. int or i64.
template <typename A, typename B> __device__ __forceinline__ auto dlc_floordiv(A a, B b) { return a / b - (a % b < 0); }
template <typename A, typename B> __device__ __forceinline__ auto dlc_ceildiv(A a, B b) { return a / b + (a % b > 0); }
template <typename A, typename B> __device__ __forceinline__ auto dlc_mod(A a, B b) { return a % b < 0 ? a % b + b : a % b; }
