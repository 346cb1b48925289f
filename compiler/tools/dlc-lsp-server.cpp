// dlc-lsp-server: completion, hovers and diagnostics for dl and plan IR in
// editors that speak the language server protocol.

#include "compiler/tools/Registration.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  dlc::registerDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
