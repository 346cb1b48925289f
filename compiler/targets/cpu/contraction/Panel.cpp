#include "compiler/targets/cpu/contraction/Panel.h"

using namespace mlir;

namespace dlc::cpu {

using Values = KernelBuilder::Values;

Values multiplyPanel(KernelBuilder &m, const PanelProduct &p, ArrayRef<Value> accumulators) {
  return m.loop(m.integer(0), p.count, accumulators, [&](Value k, ArrayRef<Value> carried) {
    Values result(carried.begin(), carried.end()), columns;
    Value at = m.offset(p.panel, m.mul(k, p.panelStep));
    for (int64_t v = 0; v < p.vectors; ++v) {
      Value address = m.offset(at, m.integer(v * m.lanes));
      columns.push_back(p.masks.empty() ? m.loadVector(address, m.lanes)
                                        : m.loadMasked(address, p.masks[v]));
    }
    Value step = p.rowStep ? m.mul(k, p.rowStep) : k;
    for (auto [row, pointer] : llvm::enumerate(p.rows)) {
      Value element = m.splat(m.loadFloat(m.offset(pointer, step)));
      for (int64_t v = 0; v < p.vectors; ++v) {
        Value &accumulator = result[row * p.vectors + v];
        accumulator = m.fma(element, columns[v], accumulator);
      }
    }
    return result;
  });
}

namespace {

/// Row i of the result holds lane i of every input. Swaps blocks off the
/// diagonal, of half the size at every step.
Values transposeVectors(KernelBuilder &m, Values x) {
  for (int64_t half = m.lanes / 2; half >= 1; half /= 2) {
    SmallVector<int64_t> upper, lower;
    for (int64_t lane = 0; lane < m.lanes; ++lane) {
      bool isLow = (lane & half) == 0;
      upper.push_back(isLow ? lane : m.lanes + lane - half);
      lower.push_back(isLow ? lane + half : m.lanes + lane);
    }
    Values next = x;
    for (int64_t i = 0; i < m.lanes; ++i)
      if ((i & half) == 0) {
        next[i] = m.shuffle(x[i], x[i + half], upper);
        next[i + half] = m.shuffle(x[i], x[i + half], lower);
      }
    x = next;
  }
  return x;
}

void packRows(KernelBuilder &m, const PanelSource &s, Value panel, int64_t vectors) {
  Values masks;
  for (int64_t v = 0; v < vectors; ++v)
    masks.push_back(m.maskBelow(m.sub(s.columns, m.integer(v * m.lanes))));
  m.loop(m.integer(0), s.rows, [&](Value row) {
    Value from = m.offset(s.base, m.mul(row, s.stride));
    Value to = m.offset(panel, m.mul(row, m.integer(vectors * m.lanes)));
    for (int64_t v = 0; v < vectors; ++v) {
      Value lane = m.integer(v * m.lanes);
      m.storeVector(m.loadMasked(m.offset(from, lane), masks[v]), m.offset(to, lane), m.lanes);
    }
  });
}

/// Squares of lanes x lanes: a column of the source becomes a lane.
void packColumns(KernelBuilder &m, const PanelSource &s, Value panel, int64_t vectors) {
  Value lastColumn = m.sub(s.columns, m.integer(1));
  m.loop(m.integer(0), m.ceilDiv(s.rows, m.lanes), [&](Value square) {
    Value row = m.mul(square, m.integer(m.lanes));
    Value mask = m.maskBelow(m.sub(s.rows, row));
    for (int64_t v = 0; v < vectors; ++v) {
      Values x;
      for (int64_t lane = 0; lane < m.lanes; ++lane) {
        Value column = m.min(m.integer(v * m.lanes + lane), lastColumn);
        Value at = m.add(m.mul(column, s.stride), row);
        x.push_back(m.loadMasked(m.offset(s.base, at), mask));
      }
      x = transposeVectors(m, x);
      for (auto [i, y] : llvm::enumerate(x)) {
        Value line = m.mul(m.add(row, m.integer(i)), m.integer(vectors * m.lanes));
        m.storeVector(y, m.offset(panel, m.add(line, m.integer(v * m.lanes))), m.lanes);
      }
    }
  });
}

} // namespace

void packPanel(KernelBuilder &m, const PanelSource &source, Value panel, int64_t vectors) {
  if (source.isTransposed)
    packColumns(m, source, panel, vectors);
  else
    packRows(m, source, panel, vectors);
}

} // namespace dlc::cpu
