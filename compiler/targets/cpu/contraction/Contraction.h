// Contractions (matrix products and convolutions) as register-blocked kernels
// on packed filters. A matrix product is a 1x1 convolution over its rows.
//
//   out[p, g*OC + n] = epilogue( sum(kh,kw,c) in[pixel(p,kh,kw), g*C + c]
//                                           * filter[block, kh, kw, c, n] )
//
// Activations are channels-last and dense. The filter is packed into blocks of
// `blockColumns` output channels: [groups * blocks][KH][KW][C][blockColumns],
// zero beyond the last channel, so the inner loop reads it front to back.

#ifndef DLC_COMPILER_TARGETS_CPU_CONTRACTION_CONTRACTION_H
#define DLC_COMPILER_TARGETS_CPU_CONTRACTION_CONTRACTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

#include <optional>
#include <string>

namespace dlc::cpu {

/// What a register tile may use.
struct VectorIsa {
  int64_t lanes;     // f32 per vector register
  int64_t registers; // vector registers
};

/// Rows (pixels) and vectors (of output channels) that one tile accumulates.
struct TileShape {
  int64_t rows, vectors;
};

/// Output channels per packed filter block; depends on the ISA and the number
/// of channels alone, so that packing and kernel agree.
int64_t blockColumns(const VectorIsa &isa, int64_t outChannels);

/// The tile that wastes the fewest rows of `pixels` (if that is known).
TileShape chooseTile(const VectorIsa &isa, int64_t outChannels,
                     std::optional<int64_t> pixels);

/// An extra operand of the epilogue, indexed like ...
struct EpilogueOperand {
  enum Access {
    Element, // ... the output
    Channel, // ... the output's last axis
    Scalar   // ... nothing: one element
  };
  Access access;
  unsigned buffer;
};

/// Sizes are expressions over the kernel's `dims` (s0, s1, ...).
struct ContractionKernel {
  std::string name;
  mlir::AffineExpr batch, inHeight, inWidth, outHeight, outWidth;
  int64_t channels = 0, outChannels = 0; // per group
  int64_t groups = 1;
  int64_t kernelHeight = 1, kernelWidth = 1;
  int64_t strideHeight = 1, strideWidth = 1;
  int64_t dilationHeight = 1, dilationWidth = 1;
  int64_t padTop = 0, padLeft = 0;
  /// One filter per channel, packed [KH][KW][C]; channels == outChannels.
  bool isDepthwise = false;
  unsigned inputBuffer = 0, filterBuffer = 1, outputBuffer = 2;
  unsigned numBuffers = 3, numDims = 0;
  llvm::SmallVector<EpilogueOperand> epilogueOperands;
  /// (accumulator, operands...) -> element, all f32 scalars. Null: identity.
  mlir::func::FuncOp epilogue;

  int64_t taps() const { return kernelHeight * kernelWidth; }
  /// Every tile's rows are consecutive input pixels: also none is padded below or at
  /// the right.
  bool isPointwise() const {
    return taps() == 1 && strideHeight == 1 && strideWidth == 1 && padTop == 0 &&
           padLeft == 0 && inHeight == outHeight && inWidth == outWidth;
  }
};

/// Emits `<name>` and `<name>_work` (KernelAbi.h) at the builder's position,
/// in arith, math, scf, vector and LLVM pointer ops.
void emitContraction(mlir::OpBuilder &b, const ContractionKernel &kernel,
                     const VectorIsa &isa);

/// The same for `isDepthwise`; called by emitContraction.
void emitDepthwise(mlir::OpBuilder &b, const ContractionKernel &kernel,
                   const VectorIsa &isa);

} // namespace dlc::cpu

#endif // DLC_COMPILER_TARGETS_CPU_CONTRACTION_CONTRACTION_H
