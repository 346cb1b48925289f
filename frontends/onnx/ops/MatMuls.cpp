// MatMul and Gemm.

#include "frontends/onnx/ops/Families.h"
#include "frontends/onnx/ops/Products.h"

#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/MatMul.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Constant.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

/// The sizes of `v` without axis `drop`, as a shape that reshape understands.
Value shapeWithout(NodeContext &c, Value v, int64_t drop) {
  SmallVector<int64_t> shape(c.type(v).getShape());
  shape.erase(shape.begin() + drop);
  if (llvm::count(shape, ShapedType::kDynamic) > 1)
    return {};
  for (int64_t &size : shape)
    size = ShapedType::isDynamic(size) ? -1 : size;
  return c.ints(shape);
}

} // namespace

Value multiplyMatrices(NodeContext &c, Value a, Value b) {
  if (!a || !b || c.rank(a) == 0 || c.rank(b) == 0) {
    (void)c.invalid("needs two operands of rank 1 or more");
    return {};
  }
  bool leftVector = c.rank(a) == 1, rightVector = c.rank(b) == 1;
  if (leftVector)
    a = c.reshape(a, {1, -1});
  if (rightVector)
    b = c.reshape(b, {-1, 1});
  Value y = c.make<dl::MatMulOp>(a, b, UnitAttr(), UnitAttr());
  for (bool isRight : {true, false}) {
    if (!y || !(isRight ? rightVector : leftVector))
      continue;
    int64_t axis = c.rank(y) - (isRight || rightVector ? 1 : 2);
    Value shape = shapeWithout(c, y, axis);
    if (!shape) {
      (void)c.unsupported("a vector times a stack of several symbolic sizes");
      return {};
    }
    y = c.make<dl::ReshapeOp>(y, shape);
  }
  return y;
}

namespace {

LogicalResult matMul(NodeContext &c) { return c.done(multiplyMatrices(c, c.input(0), c.input(1))); }

LogicalResult gemm(NodeContext &c) {
  Value a = c.input(0), b = c.input(1), bias = c.input(2);
  if (!a || !b || c.rank(a) != 2 || c.rank(b) != 2)
    return c.invalid("needs two matrices");
  auto flag = [&](const char *name) {
    return c.intAttr(name, 0) ? c.b.getUnitAttr() : UnitAttr();
  };
  Value y = c.make<dl::MatMulOp>(a, b, flag("transA"), flag("transB"));
  double alpha = c.floatAttr("alpha", 1), beta = c.floatAttr("beta", 1);
  if (y && alpha != 1)
    y = c.make<dl::MulOp>(y, c.scalar(c.element(y), alpha));
  if (!y || !bias || beta == 0)
    return c.done(y);
  if (beta != 1)
    bias = c.make<dl::MulOp>(bias, c.scalar(c.element(bias), beta));
  return c.done(c.make<dl::AddOp>(y, bias));
}

} // namespace

void addMatMuls(Registry &r) {
  r["Gemm"] = gemm;
  r["MatMul"] = matMul;
}

} // namespace dlc::onnx
