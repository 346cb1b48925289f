// The calling convention between the runtime and generated CPU kernels. Both
// sides include this; generated code spells out the same layout in LLVM IR.

#ifndef DLC_RUNTIME_SCHEMA_KERNELABI_H
#define DLC_RUNTIME_SCHEMA_KERNELABI_H

#include <stdint.h>

extern "C" {

/// What a kernel sees of one call. Tensors are dense and row-major; their
/// shapes follow from the kernel itself and from `dims`.
struct DlcKernelCall {
  /// One pointer per operand and then per result, 64-byte aligned.
  void *const *buffers;
  /// The sizes that the kernel was compiled to be told, in its own order.
  const int64_t *dims;
  /// Memory for the rest of this call, 64-byte aligned; null when exhausted.
  void *(*scratch)(const DlcKernelCall *call, int64_t sizeBytes);
  void *scratchState;
};

/// `<name>`: does the units [begin, end) of the kernel's work. Calls on
/// disjoint ranges may run at the same time. Returns a DlcKernelError.
typedef int32_t (*DlcKernelFn)(const DlcKernelCall *call, int64_t begin,
                               int64_t end);

/// `<name>_work`: how many units of work there are for these sizes, each worth
/// about 10-50 us so that one unit is one chunk of the thread pool.
typedef int64_t (*DlcKernelWorkFn)(const int64_t *dims);
}

enum DlcKernelError : int32_t {
  kDlcKernelOk = 0,
  kDlcKernelOutOfMemory = 1,
  kDlcKernelIndexOutOfRange = 2,
  kDlcKernelDivisionByZero = 3,
};

#endif // DLC_RUNTIME_SCHEMA_KERNELABI_H
