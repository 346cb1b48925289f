#ifndef DLC_DIALECTS_KERNEL_KERNEL_H
#define DLC_DIALECTS_KERNEL_KERNEL_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "dialects/kernel/KernelDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.h.inc"

#endif // DLC_DIALECTS_KERNEL_KERNEL_H
