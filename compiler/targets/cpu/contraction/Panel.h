// The innermost loop of every product, and the panels that it reads: a panel is
// a few vectors of columns of the right side, one row after the other.

#ifndef DLC_COMPILER_TARGETS_CPU_CONTRACTION_PANEL_H
#define DLC_COMPILER_TARGETS_CPU_CONTRACTION_PANEL_H

#include "compiler/targets/cpu/contraction/KernelBuilder.h"

namespace dlc::cpu {

/// rows[:, 0:count] * panel[0:count, :]
struct PanelProduct {
  llvm::ArrayRef<mlir::Value> rows; // where each row of the left side starts
  mlir::Value rowStep;              // elements between its entries; null: 1
  mlir::Value panel;
  mlir::Value panelStep; // elements between the panel's rows
  int64_t vectors;       // per row of the panel
  mlir::Value count;
  /// One per vector where the panel's row may not be read whole.
  llvm::ArrayRef<mlir::Value> masks = {};
};

/// accumulators + product, row by row with `vectors` each.
KernelBuilder::Values multiplyPanel(KernelBuilder &m, const PanelProduct &product,
                                    llvm::ArrayRef<mlir::Value> accumulators);

/// Columns of a matrix in memory, of which one stride is 1.
struct PanelSource {
  mlir::Value base; // entry (0, 0)
  mlir::Value stride; // between columns when `isTransposed`, else between rows
  bool isTransposed;  // a column, not a row, is contiguous
  mlir::Value rows;   // how many there are
  mlir::Value columns;
};

/// Copies `vectors` vectors of columns into panel[row][vectors * lanes]. Rows
/// are written up to the next multiple of the lanes; columns past
/// `source.columns` hold numbers of no meaning.
void packPanel(KernelBuilder &m, const PanelSource &source, mlir::Value panel,
               int64_t vectors);

} // namespace dlc::cpu

#endif // DLC_COMPILER_TARGETS_CPU_CONTRACTION_PANEL_H
