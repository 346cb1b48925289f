/* Kernels for the runtime's tests, in the calling convention of KernelAbi.h. Built
 * twice, with another ANSWER each, to tell two models' code apart. */
#include <stdint.h>

struct call {
  void *const *buffers;
  const int64_t *dims;
  void *(*scratch)(const struct call *, int64_t);
  void *state;
};

enum { CHUNK = 16 };

/* out[i] = in[i] + ANSWER; dims: how many. */
int64_t add_work(const int64_t *dims) { return (dims[0] + CHUNK - 1) / CHUNK; }
int32_t add(const struct call *call, int64_t begin, int64_t end) {
  const float *in = call->buffers[0];
  float *out = call->buffers[1];
  int64_t stop = end * CHUNK < call->dims[0] ? end * CHUNK : call->dims[0];
  for (int64_t i = begin * CHUNK; i < stop; ++i)
    out[i] = in[i] + ANSWER;
  return 0;
}

/* The same by way of scratch memory of dims[0] floats a unit. */
int64_t scratch_work(const int64_t *dims) { return add_work(dims); }
int32_t scratch(const struct call *call, int64_t begin, int64_t end) {
  float *memory = call->scratch(call, call->dims[0] * 4);
  if (!memory || (uintptr_t)memory % 64)
    return 1;
  void *buffers[] = {call->buffers[0], memory};
  struct call inner = {buffers, call->dims, call->scratch, call->state};
  add(&inner, begin, end);
  int64_t stop = end * CHUNK < call->dims[0] ? end * CHUNK : call->dims[0];
  for (int64_t i = begin * CHUNK; i < stop; ++i)
    ((float *)call->buffers[1])[i] = memory[i];
  return 0;
}

/* in: an i64; out: a bool, in + 1 < 3. */
int32_t below_three(const struct call *call, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  *(uint8_t *)call->buffers[1] = *(const int64_t *)call->buffers[0] + 1 < 3;
  return 0;
}

int32_t bad_index(const struct call *call, int64_t begin, int64_t end) {
  (void)call, (void)begin, (void)end;
  return 2;
}
