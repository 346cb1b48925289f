// dlc-opt: runs passes on textual IR; what the lit tests drive.

#include "compiler/tools/Registration.h"
#include "passes/Passes.h"
#include "passes/plan/Passes.h"
#include "passes/train/Passes.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  dlc::registerDialects(registry);
  mlir::registerTransformsPasses();
  dlc::registerDlcPasses();
  dlc::plan::registerPlanPasses();
  dlc::train::registerTrainPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "dlc optimizer driver\n", registry));
}
