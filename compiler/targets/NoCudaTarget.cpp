// In place of the CUDA target in a build without it (DLC_CUDA=OFF).

#include "compiler/Target.h"

namespace dlc {

llvm::Expected<std::unique_ptr<Target>> makeCudaTarget(std::vector<std::string>, const CompileOptions &) {
  return llvm::createStringError("--target=cuda: this compiler is built without it (DLC_CUDA=OFF)");
}

} // namespace dlc
