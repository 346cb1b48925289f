// The FlatBuffers table of an artifact, from a plan.

#ifndef DLC_COMPILER_ARTIFACT_TABLEBUILDER_H
#define DLC_COMPILER_ARTIFACT_TABLEBUILDER_H

#include "compiler/artifact/ConstantPool.h"
#include "compiler/artifact/Writer.h"

#include "passes/plan/Lifetimes.h"

#include "runtime/schema/artifact_generated.h"

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/MapVector.h"

namespace dlc {

class TableBuilder {
public:
  TableBuilder(plan::ProgramOp program, ConstantPool &pool)
      : program(program), pool(pool) {}

  /// Numbers buffers, expressions, kernels, nodes and constants.
  mlir::LogicalResult collect(llvm::ArrayRef<NamedWeight> weights);

  /// The table's bytes, with sections at the given file offsets.
  std::string build(llvm::ArrayRef<TargetCode> codes,
                    llvm::ArrayRef<NamedWeight> weights, uint64_t constantsAt,
                    llvm::ArrayRef<uint64_t> codeOffsets);

private:
  using Builder = flatbuffers::FlatBufferBuilder;
  using Indices = std::vector<uint32_t>;

  uint32_t expr(mlir::AffineExpr expr);
  Indices exprs(mlir::AffineMap map);
  Indices bufferIndices(mlir::ValueRange values) const;
  Indices nodeIndices(mlir::ArrayAttr nodes);
  flatbuffers::Offset<schema::Expr> buildExpr(Builder &b, mlir::AffineExpr expr);
  flatbuffers::Offset<schema::Value> buildValue(Builder &b, plan::BufferOp buffer);
  flatbuffers::Offset<schema::Instruction> buildInstruction(Builder &b,
                                                            mlir::Operation *op);

  flatbuffers::Offset<schema::Instruction> buildControl(Builder &b, mlir::Operation *op);
  flatbuffers::Offset<schema::Block> buildBlock(Builder &b, mlir::Block &block);

  plan::ProgramOp program;
  ConstantPool &pool;
  llvm::MapVector<mlir::AffineExpr, uint32_t> exprNumbers;
  llvm::MapVector<mlir::Value, uint32_t> bufferNumbers;
  llvm::MapVector<mlir::StringRef, uint32_t> kernelNumbers;
  llvm::MapVector<mlir::StringRef, uint32_t> nodeNumbers;
  llvm::DenseMap<plan::BufferOp, plan::Lifetime> lifetimes;
};

/// The schema's element type; nullopt for one that it does not have.
std::optional<schema::ElementType> toSchemaType(mlir::Type element);

} // namespace dlc

#endif // DLC_COMPILER_ARTIFACT_TABLEBUILDER_H
