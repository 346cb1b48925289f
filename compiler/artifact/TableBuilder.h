// The FlatBuffers table of an artifact, from plans.

#ifndef DLC_COMPILER_ARTIFACT_TABLEBUILDER_H
#define DLC_COMPILER_ARTIFACT_TABLEBUILDER_H

#include "compiler/artifact/ConstantPool.h"
#include "compiler/artifact/Writer.h"

#include "passes/plan/Lifetimes.h"

#include "runtime/schema/artifact_generated.h"

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/MapVector.h"

namespace dlc {

using TableIndices = std::vector<uint32_t>;

/// What all programs of an artifact refer to.
struct SharedTables {
  explicit SharedTables(ConstantPool &pool) : pool(pool) {}

  uint32_t kernel(mlir::StringRef name);
  TableIndices nodes(mlir::ArrayAttr nodes);
  /// Numbers the state that a buffer is. Fails when an entry before has another type or
  /// initial value for it.
  mlir::LogicalResult addState(plan::BufferOp buffer);
  uint32_t state(plan::BufferOp buffer) const;

  ConstantPool &pool;
  llvm::MapVector<mlir::StringRef, uint32_t> kernelNumbers;
  llvm::MapVector<plan::NodeAttr, uint32_t> nodeNumbers;
  llvm::MapVector<mlir::StringRef, plan::BufferOp> states; // the first buffer of each
};

/// The tables of one program.
class EntryBuilder {
public:
  using Builder = flatbuffers::FlatBufferBuilder;
  template <typename Table>
  using Tables = std::vector<flatbuffers::Offset<Table>>;

  EntryBuilder(plan::ProgramOp program, SharedTables &shared)
      : program(program), shared(shared) {}

  /// Numbers buffers and expressions, and what is shared.
  mlir::LogicalResult collect();

  /// Offsets of what `build` made, ready for an Artifact or an Entry.
  struct Parts {
    Tables<schema::DimSymbol> symbols;
    Tables<schema::Constraint> constraints;
    Tables<schema::Value> values;
    TableIndices inputs, outputs, updates;
    flatbuffers::Offset<schema::Block> body;
  };
  Parts build(Builder &b);
  Tables<schema::Expr> buildExprs(Builder &b);

  plan::ProgramOp program;

private:
  /// Fails on expressions that the runtime would refuse.
  mlir::LogicalResult checkExprs();
  uint32_t expr(mlir::AffineExpr expr);
  TableIndices exprs(mlir::AffineMap map);
  TableIndices bufferIndices(mlir::ValueRange values) const;
  TableIndices updatedStates();
  flatbuffers::Offset<schema::Expr> buildExpr(Builder &b, mlir::AffineExpr expr);
  flatbuffers::Offset<schema::Value> buildValue(Builder &b, plan::BufferOp buffer);
  flatbuffers::Offset<schema::Instruction> buildInstruction(Builder &b,
                                                            mlir::Operation *op);
  flatbuffers::Offset<schema::Instruction> buildControl(Builder &b, mlir::Operation *op);
  flatbuffers::Offset<schema::Block> buildBlock(Builder &b, mlir::Block &block);

  SharedTables &shared;
  llvm::MapVector<mlir::AffineExpr, uint32_t> exprNumbers;
  llvm::MapVector<mlir::Value, uint32_t> bufferNumbers;
  llvm::DenseMap<plan::BufferOp, plan::Lifetime> lifetimes;
};

class TableBuilder {
public:
  TableBuilder(llvm::ArrayRef<plan::ProgramOp> programs, ConstantPool &pool);

  mlir::LogicalResult collect(llvm::ArrayRef<NamedWeight> weights);
  /// The lowest version that holds these programs.
  uint32_t formatVersion();
  /// The table's bytes, with sections at the given file offsets.
  std::string build(const CompiledCode &compiled,
                    llvm::ArrayRef<NamedWeight> weights, uint64_t constantsAt,
                    llvm::ArrayRef<uint64_t> codeOffsets, uint64_t imagesAt);
  /// The images of the devices in the order in which they lie in the file, back to
  /// back; known once the table was built.
  llvm::ArrayRef<const DeviceImage *> deviceImages() const { return images; }

private:
  using Builder = flatbuffers::FlatBufferBuilder;

  EntryBuilder::Tables<schema::Entry> buildEntries(Builder &b);
  EntryBuilder::Tables<schema::State> buildStates(Builder &b);
  flatbuffers::Offset<schema::DeviceProgram> buildDevice(Builder &b, const DeviceProgram &device,
                                                         uint64_t &imageAt);
  flatbuffers::Offset<schema::DeviceKernel> buildDeviceKernel(Builder &b, const DeviceKernel &kernel,
                                                              uint64_t &imageAt);

  SharedTables shared;
  std::vector<EntryBuilder> entries; // the first is the artifact's own program
  std::vector<const DeviceImage *> images;
};

/// The schema's element type; nullopt for one that it does not have.
std::optional<schema::ElementType> toSchemaType(mlir::Type element);

} // namespace dlc

#endif // DLC_COMPILER_ARTIFACT_TABLEBUILDER_H
