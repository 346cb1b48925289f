#include "dialects/kernel/Kernel.h"

#include "dialects/kernel/KernelDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.cpp.inc"

using namespace mlir;
using namespace mlir::bufferization;

namespace dlc::kernel {

void KernelDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/KernelOps.cpp.inc"
      >();
}

Value PaddedOp::getViewSource() { return getSource(); }

LogicalResult PaddedOp::verify() {
  auto source = cast<ShapedType>(getSource().getType());
  auto result = cast<ShapedType>(getResult().getType());
  int64_t rank = source.getRank();
  if (result.getRank() != rank || int64_t(getLow().size()) != rank ||
      int64_t(getHigh().size()) != rank)
    return emitOpError("C1. source, result, low and high have one rank");
  if (source.getElementType() != result.getElementType() ||
      getValue().getType() != result.getElementType() ||
      isa<MemRefType>(source) != isa<MemRefType>(result))
    return emitOpError("C2. source, result and value are of one kind and element type");
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (getLow()[axis] < 0 || getHigh()[axis] < 0)
      return emitOpError("C3. low and high are not negative");
    if (!source.isDynamicDim(axis) && !result.isDynamicDim(axis) &&
        getLow()[axis] + source.getDimSize(axis) + getHigh()[axis] != result.getDimSize(axis))
      return emitOpError("C4. every axis of the result is low + source + high");
  }
  return success();
}

// A view: it touches no memory itself, and what overwrites the source while the view
// is still read is a conflict that bufferization resolves.

bool PaddedOp::bufferizesToMemoryRead(OpOperand &, const AnalysisState &) { return false; }

bool PaddedOp::bufferizesToMemoryWrite(OpOperand &, const AnalysisState &) { return false; }

AliasingValueList PaddedOp::getAliasingValues(OpOperand &, const AnalysisState &) {
  return {{getResult(), BufferRelation::Unknown}};
}

bool PaddedOp::isWritable(Value, const AnalysisState &) { return false; }

FailureOr<BufferLikeType> PaddedOp::getBufferType(Value, const BufferizationOptions &,
                                                  const BufferizationState &,
                                                  SmallVector<Value> &) {
  auto type = cast<ShapedType>(getResult().getType());
  return cast<BufferLikeType>(Type(MemRefType::get(type.getShape(), type.getElementType())));
}

LogicalResult PaddedOp::bufferize(RewriterBase &rewriter, const BufferizationOptions &options,
                                  BufferizationState &state) {
  FailureOr<Value> source = getBuffer(rewriter, getSource(), options, state);
  SmallVector<Value> path;
  auto type = getBufferType(getResult(), options, state, path);
  if (failed(source) || failed(type))
    return failure();
  replaceOpWithNewBufferizedOp<PaddedOp>(rewriter, *this, *type, *source, getLow(), getHigh(),
                                         getValue());
  return success();
}

} // namespace dlc::kernel
