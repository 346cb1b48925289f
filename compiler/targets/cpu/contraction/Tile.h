// One register tile: `rows` output pixels by one block of output channels.

#ifndef DLC_COMPILER_TARGETS_CPU_CONTRACTION_TILE_H
#define DLC_COMPILER_TARGETS_CPU_CONTRACTION_TILE_H

#include "compiler/targets/cpu/contraction/Contraction.h"
#include "compiler/targets/cpu/contraction/KernelBuilder.h"

namespace dlc::cpu {

/// What all tiles of a kernel share.
struct TileContext {
  TileContext(KernelBuilder &m, const ContractionKernel &kernel, TileShape shape,
              llvm::ArrayRef<mlir::Value> sizes);

  KernelBuilder &m;
  const ContractionKernel &kernel;
  TileShape shape;
  KernelBuilder::Values buffers;
  mlir::Value zeros; // padding, when there is any
  mlir::Value inHeight, inWidth, outHeight, outWidth, pixels;
};

struct Tile {
  TileContext &c;
  mlir::Value column;    // first output channel of the block
  mlir::Value inChannel; // first input channel of the group
  mlir::Value filter;    // the packed block
  int64_t activeColumns; // channels of the block that exist

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
  void storeRow(mlir::Value pixel, llvm::ArrayRef<mlir::Value> accumulators);
};

} // namespace dlc::cpu

#endif // DLC_COMPILER_TARGETS_CPU_CONTRACTION_TILE_H
