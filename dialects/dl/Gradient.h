// What Differentiable implementations are written with: the vector-Jacobian
// product of one op, in dl ops.

#ifndef DLC_DIALECTS_DL_GRADIENT_H
#define DLC_DIALECTS_DL_GRADIENT_H

#include "dialects/dl/Dl.h"

namespace dlc::dl {

/// Builds the gradient of one op. Every function gives null for null operands
/// and after an error was reported, so that calls nest and one check at the end
/// does. Binary functions broadcast.
class GradientBuilder {
public:
  using Value = mlir::Value;
  using NeedsFn = llvm::function_ref<bool(Value)>;

  GradientBuilder(mlir::OpBuilder &b, mlir::Operation *op, NeedsFn isNeeded)
      : b(b), op(op), loc(op->getLoc()), isNeeded(isNeeded) {}

  mlir::OpBuilder &b;
  mlir::Operation *const op;
  const mlir::Location loc;

  /// Whether anything asks for the gradient of this operand. What is built for
  /// an operand that nobody needs is erased later: ask only where a gradient
  /// may not exist.
  bool needs(Value operand) const { return operand && isNeeded(operand); }
  bool hasFailed() const { return failed; }
  /// Reports that a needed gradient does not exist: "has no gradient: <what>".
  llvm::LogicalResult refuse(const llvm::Twine &what);

  template <typename OpTy, typename... Args> Value make(Args &&...args) {
    if (failed || (isNull(args) || ...))
      return {};
    auto made = dl::make<OpTy>(b, loc, std::forward<Args>(args)...);
    failed |= !made;
    return made ? Value(made->getResult(0)) : Value();
  }

  /// A rank-0 constant of the element type of `like`.
  Value constant(Value like, double value);
  Value zero(Value like) { return constant(like, 0); }
  Value constantOf(mlir::Type element, double value);
  /// An i64 vector.
  Value indices(llvm::ArrayRef<int64_t> values);

  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value div(Value x, Value y);
  Value pow(Value x, Value y);
  Value neg(Value x);
  Value scale(Value x, double factor) { return mul(x, constant(x, factor)); }
  Value offset(Value x, double summand) { return add(x, constant(x, summand)); }
  Value square(Value x) { return mul(x, x); }
  Value reciprocal(Value x) { return div(constant(x, 1), x); }
  Value exp(Value x);
  Value log(Value x);
  Value rsqrt(Value x);
  Value sin(Value x);
  Value cos(Value x);
  Value sinh(Value x);
  Value cosh(Value x);
  Value sign(Value x);
  Value floor(Value x);
  Value round(Value x);
  Value compare(Comparison predicate, Value x, Value y);
  Value isPositive(Value x) { return compare(Comparison::gt, x, zero(x)); }
  Value isZero(Value x) { return compare(Comparison::eq, x, zero(x)); }
  Value select(Value condition, Value x, Value y);
  Value cast(Value x, mlir::Type element);

  /// The gradients of max, min: dy goes to x where `first`, to y elsewhere.
  llvm::SmallVector<Value> choose(Value first, Value dy);
  /// The gradients of result = x^y. 0^0 has the derivative 0 by both.
  llvm::SmallVector<Value> power(Value dy, Value x, Value y, Value result);

  /// The sizes of `like` as an i64 vector; a constant where they are static.
  Value shapeOf(Value like);
  /// Some of the sizes of `like` as an i64 vector.
  Value sizesOf(Value like, llvm::ArrayRef<int64_t> axes);
  Value reshape(Value x, Value shape);
  Value reshapeLike(Value x, Value like) { return reshape(x, shapeOf(like)); }
  Value expandLike(Value x, Value like);
  /// Joins axes: one axis for those from each of `groupStarts` to the next.
  Value flatten(Value x, llvm::ArrayRef<int64_t> groupStarts);
  /// `reduced`, which lost or kept `axes` of `like`, with those axes as 1.
  Value keepAxes(Value reduced, Value like, llvm::ArrayRef<int64_t> axes);
  Value transpose(Value x, llvm::ArrayRef<int64_t> permutation);
  Value reduce(Value x, ReduceKind kind, llvm::ArrayRef<int64_t> axes, bool keepDims);
  Value sum(Value x, llvm::ArrayRef<int64_t> axes, bool keepDims) {
    return reduce(x, ReduceKind::sum, axes, keepDims);
  }
  /// The product of the sizes of some axes of `like`, in its element type.
  Value countOf(Value like, llvm::ArrayRef<int64_t> axes);
  Value concat(llvm::ArrayRef<Value> parts, int64_t axis);
  /// A part of one axis; `start` and `size` are i64 vectors of one element.
  Value slice(Value x, int64_t axis, Value start, Value size);
  /// 0, 1, .. along a new vector; `size` is an i64 vector of one element.
  Value iota(Value size);
  /// Zeros of the shape that an i64 vector holds, of the element type of `like`.
  Value zeros(Value shape, Value like);
  Value zerosLike(Value like) { return zeros(shapeOf(like), like); }
  /// The gradient of broadcasting `like`: sums what it was repeated along.
  Value sumTo(Value grad, Value like);
  /// sumTo for each operand of the op; null where there is nothing or no need.
  llvm::SmallVector<Value> sumToOperands(llvm::ArrayRef<Value> grads);

private:
  template <typename T> static bool isNull(const T &) { return false; }
  static bool isNull(const Value &v) { return !v; }
  static bool isNull(const mlir::ValueRange &values) {
    return llvm::any_of(values, [](Value v) { return !v; });
  }

  NeedsFn isNeeded;
  bool failed = false;
};

} // namespace dlc::dl

#endif // DLC_DIALECTS_DL_GRADIENT_H
