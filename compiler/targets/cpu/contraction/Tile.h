// One register tile: `rows` output pixels by one block of output channels.

#ifndef DLC_COMPILER_TARGETS_CPU_CONTRACTION_TILE_H
#define DLC_COMPILER_TARGETS_CPU_CONTRACTION_TILE_H

#include "compiler/targets/cpu/contraction/Contraction.h"
#include "compiler/targets/cpu/contraction/KernelBuilder.h"

namespace dlc::cpu {

/// The part of a sum that is computed before other tiles come: of a pointwise
/// kernel some input channels, of others all there are.
struct Terms {
  mlir::Value first, count;
  bool areAll;
};

/// What all tiles of a kernel share.
struct TileContext {
  TileContext(KernelBuilder &m, const ContractionKernel &kernel, TileShape shape,
              llvm::ArrayRef<mlir::Value> sizes);

  /// The pixel, or the last one where the tile hangs over the end.
  mlir::Value lastOr(mlir::Value pixel);
  /// Of a pointwise kernel, where the rows of a tile start.
  KernelBuilder::Values pixelRows(mlir::Value firstPixel, mlir::Value channel);
  /// Copies these terms of a tile's rows, kCopyStride apart, for the tiles to read.
  void copyRows(mlir::Value memory, mlir::Value firstPixel, const Terms &terms);

  /// Terms that are summed at a time, and elements between copied rows.
  static constexpr int64_t kTerms = 512, kCopyStride = kTerms + 16;

  KernelBuilder &m;
  const ContractionKernel &kernel;
  TileShape shape;
  KernelBuilder::Values buffers;
  mlir::Value zeros; // padding, when there is any
  KernelBuilder::Values copies; // none: rows are read where they are
  mlir::Value inHeight, inWidth, outHeight, outWidth, pixels;
};

struct Tile {
  TileContext &c;
  mlir::Value column;    // first output channel of the block
  mlir::Value inChannel; // first input channel of the group
  mlir::Value filter;    // the packed block
  int64_t activeColumns; // channels of the block that exist
  Terms terms;

  void emit(mlir::Value firstPixel);

private:
  using Values = KernelBuilder::Values;

  /// Where one row's window starts: input coordinates and the image's base.
  struct Window {
    mlir::Value top, left, image;
  };

  int64_t vectors() const;
  int64_t activeLanes(int64_t vector) const;
  Values accumulatePointwise(mlir::Value firstPixel);
  Values accumulateConvolution(mlir::Value firstPixel);
  llvm::SmallVector<Window> windows(mlir::Value firstPixel);
  mlir::Value inputAddress(const Window &window, mlir::Value y, mlir::Value x);
  Values rowPointers(llvm::ArrayRef<Window> windows, mlir::Value kernelRow,
                     mlir::Value kernelColumn);
  Values multiply(llvm::ArrayRef<mlir::Value> rows, mlir::Value filterStart,
                  mlir::Value count, llvm::ArrayRef<mlir::Value> accumulators);
  Values startValues(mlir::Value firstPixel);
  mlir::Value outputElement(mlir::Value pixel, int64_t vector);
  void storeRow(mlir::Value pixel, llvm::ArrayRef<mlir::Value> accumulators);
};

} // namespace dlc::cpu

#endif // DLC_COMPILER_TARGETS_CPU_CONTRACTION_TILE_H
