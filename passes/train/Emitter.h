// Short names for the dl ops that losses and optimizers are written in.

#ifndef DLC_PASSES_TRAIN_EMITTER_H
#define DLC_PASSES_TRAIN_EMITTER_H

#include "dialects/dl/Dl.h"
#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/Reduce.h"

namespace dlc {

/// All functions give null for a null operand, or when an op does not fit its operands:
/// its error is reported then, and one check at the end is enough.
class Emitter {
public:
  using Value = mlir::Value;

  Emitter(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  template <typename OpTy, typename... Args> Value make(Args... args) {
    if ((isNull(args) || ...))
      return {};
    OpTy op = dl::make<OpTy>(b, loc, args...);
    return op ? Value(op->getResult(0)) : Value();
  }

  static mlir::RankedTensorType type(Value v) { return mlir::cast<mlir::RankedTensorType>(v.getType()); }
  static mlir::Type element(Value v) { return type(v).getElementType(); }

  Value scalar(mlir::Type element, double value);
  /// A constant of the element type of `like`, to be broadcast with it.
  Value scalar(Value like, double value) { return like ? scalar(element(like), value) : Value(); }
  Value integer(int64_t value);
  Value ints(llvm::ArrayRef<int64_t> values);

  Value add(Value x, Value y) { return make<dl::AddOp>(x, y); }
  Value sub(Value x, Value y) { return make<dl::SubOp>(x, y); }
  Value mul(Value x, Value y) { return make<dl::MulOp>(x, y); }
  Value div(Value x, Value y) { return make<dl::DivOp>(x, y); }
  Value add(Value x, double y) { return add(x, scalar(x, y)); }
  Value mul(Value x, double y) { return y == 1 ? x : mul(x, scalar(x, y)); }
  Value neg(Value x) { return make<dl::NegOp>(x); }
  Value abs(Value x) { return make<dl::AbsOp>(x); }
  Value sqrt(Value x) { return make<dl::SqrtOp>(x); }
  Value square(Value x) { return mul(x, x); }
  Value min(Value x, double y) { return make<dl::MinOp>(x, scalar(x, y)); }
  Value max(Value x, double y) { return make<dl::MaxOp>(x, scalar(x, y)); }
  Value compare(dl::Comparison how, Value x, Value y);
  Value select(Value condition, Value x, Value y) { return make<dl::SelectOp>(condition, x, y); }
  Value cast(Value x, mlir::Type to);
  Value reduce(dl::ReduceKind kind, Value x, llvm::ArrayRef<int64_t> axes, bool keepDims);
  /// A rank-0 tensor.
  Value sumAll(Value x);
  /// The shape of `x` with an axis of size 1 more.
  Value unsqueeze(Value x, int64_t axis);
  /// One size as an i64 of rank 0.
  Value size(Value x, int64_t axis);
  /// 0, 1, ..., size - 1
  Value iota(Value size);
  /// The number of elements of `x` as a rank-0 tensor.
  Value count(Value x, mlir::Type element);

  mlir::OpBuilder &b;
  const mlir::Location loc;

private:
  template <typename T> static bool isNull(const T &arg) {
    if constexpr (std::is_same_v<T, Value>)
      return !arg;
    else
      return false;
  }
};

} // namespace dlc

#endif // DLC_PASSES_TRAIN_EMITTER_H
