// Lowers a whole function in place; the compiler itself lowers per kernel.

#include "passes/KernelLowering.h"
#include "passes/Passes.h"
#include "passes/ShapeAnalysis.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace dlc {
#define GEN_PASS_DEF_TOLINALG
#include "passes/Passes.h.inc"
} // namespace dlc

using namespace mlir;
using namespace dlc;

namespace {

struct ToLinalg : dlc::impl::ToLinalgBase<ToLinalg> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto analysis = ShapeAnalysis::run(function);
    if (!analysis)
      return signalPassFailure();
    auto lowered = lowerFunction(function, *analysis);
    if (failed(lowered))
      return signalPassFailure();
    function.getBody().takeBody((*lowered)->getRegion(0));
    function.setType((*lowered).getFunctionType());
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.removeArgAttr(i, kDimsAttr);
    (*lowered).erase();
  }
};

} // namespace
