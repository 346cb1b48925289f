// dlc-opt: runs passes on textual IR; what the lit tests drive.

#include "dialects/dl/Dl.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

int main(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<func::FuncDialect, dlc::dl::DlDialect>();
  registerTransformsPasses();
  dlc::registerDlcPasses();
  return asMainReturnCode(MlirOptMain(argc, argv, "dlc optimizer driver\n", registry));
}
