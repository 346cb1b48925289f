// Checks what an artifact says about kernels of devices, against the dispatches that
// use them. The rest of the artifact has been checked already.

#include "runtime/core/Program.h"

#include "runtime/schema/EntryView.h"
#include "runtime/schema/Expr.h"

#include <algorithm>

namespace dlc::rt {

namespace {

using namespace schema;

constexpr uint32_t kMostThreads = 1024;

template <typename Vector> uint32_t sizeOf(const Vector *vector) {
  return vector ? vector->size() : 0;
}

/// How many symbols a postfix expression needs; -1 when it is malformed.
int64_t symbolsOf(const Expr *expr) {
  int64_t depth = 0, symbols = 0;
  if (!expr)
    return -1;
  for (uint32_t s = 0; s < sizeOf(expr->steps()); ++s) {
    const ExprStep *step = expr->steps()->Get(s);
    if (step->code() > ExprCode::MAX)
      return -1;
    if (step->code() == ExprCode::Symbol) {
      if (step->value() < 0 || step->value() >= DLC_MAX_RANK * 1024)
        return -1;
      symbols = std::max(symbols, step->value() + 1);
    }
    depth += step->code() <= ExprCode::Symbol ? 1 : -1;
    if (depth < 1 || depth > kExprStackDepth)
      return -1;
  }
  return depth == 1 ? symbols : -1;
}

uint32_t countFunctions(const schema::DeviceKernel &kernel) {
  uint32_t count = sizeOf(kernel.launches());
  for (uint32_t i = 0; i < sizeOf(kernel.launches()); ++i)
    count += kernel.launches()->Get(i)->narrow_function() != nullptr;
  return count;
}

/// What a device's kernel asks of a dispatch.
struct Needs {
  int64_t arguments = 0, symbols = 0;
};

class DeviceValidator {
public:
  DeviceValidator(const Artifact &a, size_t fileBytes, const std::string &file)
      : a(a), fileBytes(fileBytes), file(file) {}

  Status run() {
    for (uint32_t d = 0; d < sizeOf(a.devices()); ++d) {
      const DeviceProgram *device = a.devices()->Get(d);
      if (!device->target() || !device->headers() || sizeOf(device->kernels()) != a.kernels()->size())
        return bad("code of a device is incomplete", d);
      needs.assign(a.kernels()->size(), {});
      for (uint32_t k = 0; k < needs.size(); ++k)
        if (!checkKernel(*device->kernels()->Get(k), needs[k]))
          return bad("invalid kernel of a device", k);
      for (uint32_t e = 0; e < entryCount(a); ++e)
        RETURN_IF_ERROR(checkBlock(entryAt(a, e).body));
    }
    return nullptr;
  }

private:
  Status bad(const char *what, uint64_t index) {
    return fail(DLC_USAGE, "%s: broken artifact: %s (entry %llu); compile it again", file.c_str(),
                what, (unsigned long long)index);
  }

  bool checkKernel(const schema::DeviceKernel &kernel, Needs &needs) {
    for (uint32_t i = 0; i < sizeOf(kernel.images()); ++i) {
      const DeviceImage *image = kernel.images()->Get(i);
      if (image->kind() > ImageKind::MAX || !image->architecture() || image->offset() > fileBytes ||
          image->size_bytes() > fileBytes - image->offset() ||
          (sizeOf(image->resources()) > 0 && sizeOf(image->resources()) != countFunctions(kernel)))
        return false;
    }
    auto noteExpr = [&](const Expr *expr) {
      int64_t symbols = symbolsOf(expr);
      needs.symbols = std::max(needs.symbols, symbols);
      return symbols >= 0;
    };
    for (uint32_t i = 0; i < sizeOf(kernel.temporaries()); ++i)
      if (!noteExpr(kernel.temporaries()->Get(i)))
        return false;
    for (uint32_t i = 0; i < sizeOf(kernel.launches()); ++i) {
      const Launch *launch = kernel.launches()->Get(i);
      if (!launch->function() || launch->threads() == 0 || launch->threads() > kMostThreads ||
          launch->per_block() == 0 || launch->per_block() > INT64_MAX || launch->max_blocks() == 0 ||
          launch->max_blocks() > INT32_MAX || !launch->args() || !noteExpr(launch->work()) ||
          (launch->narrow_function() && !noteExpr(launch->largest())))
        return false;
      for (uint32_t argument : *launch->args())
        needs.arguments = std::max(needs.arguments, int64_t(argument) + 1 -
                                                        int64_t(sizeOf(kernel.temporaries())));
    }
    return true;
  }

  Status checkBlock(const Block *block) {
    for (uint32_t i = 0; i < sizeOf(block->instructions()); ++i) {
      const schema::Instruction *instruction = block->instructions()->Get(i);
      if (const auto *dispatch = instruction->action_as_Dispatch()) {
        const Needs &wanted = needs[dispatch->kernel()];
        if (wanted.symbols > sizeOf(dispatch->dims()) ||
            wanted.arguments > int64_t(sizeOf(dispatch->operands())) + sizeOf(dispatch->dims()))
          return bad("a dispatch gives a device's kernel too little", i);
      } else if (const auto *choice = instruction->action_as_If()) {
        RETURN_IF_ERROR(checkBlock(choice->then_block()));
        RETURN_IF_ERROR(checkBlock(choice->else_block()));
      } else if (const auto *loop = instruction->action_as_Loop()) {
        RETURN_IF_ERROR(checkBlock(loop->body()));
      }
    }
    return nullptr;
  }

  const Artifact &a;
  size_t fileBytes;
  const std::string &file;
  std::vector<Needs> needs; // per kernel of the device at hand
};

} // namespace

Status validateDevices(const Artifact &artifact, size_t fileBytes, const std::string &file) {
  return DeviceValidator(artifact, fileBytes, file).run();
}

} // namespace dlc::rt
