// Prints every registered op of the dl dialect and the interfaces that tests ask
// for, one op per line: tests walk this list, so that a new op is under test
// without being named anywhere.

#include "dialects/dl/Dl.h"

#include "llvm/Support/raw_ostream.h"

int main() {
  mlir::MLIRContext context;
  context.loadDialect<dlc::dl::DlDialect>();
  for (mlir::RegisteredOperationName name : context.getRegisteredOperationsByDialect("dl")) {
    llvm::outs() << name.getStringRef();
    if (name.hasInterface<dlc::dl::Differentiable>())
      llvm::outs() << " Differentiable";
    if (name.hasInterface<dlc::dl::Elementwise>())
      llvm::outs() << " Elementwise";
    llvm::outs() << "\n";
  }
}
