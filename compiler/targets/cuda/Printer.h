// Prints one launch of a kernel: values by name, buffers as views of pointers,
// linalg ops as loops over threads.

#ifndef DLC_COMPILER_TARGETS_CUDA_PRINTER_H
#define DLC_COMPILER_TARGETS_CUDA_PRINTER_H

#include "compiler/targets/cuda/Contraction.h"
#include "compiler/targets/cuda/Groups.h"
#include "compiler/targets/cuda/Kernel.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineExpr.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace dlc::cuda {

/// A size or an offset: C++ text, and where it is known an expression over the
/// kernel's sizes (null: not known before the launch).
struct Extent {
  std::string text;
  mlir::AffineExpr expr;
};

/// What a memref means in C++: element [i, j] is pointer[offset + i*s0 + j*s1].
struct View {
  std::string pointer;
  Extent offset;
  llvm::SmallVector<Extent> sizes, strides;
  mlir::Type element;
  int parameter = -1; // of the launch, that the pointer comes from
  /// Where not empty: axis a has elements from low on, `inner` of them, and `border`
  /// before and behind them.
  struct Padding {
    int64_t low;
    Extent inner;
  };
  llvm::SmallVector<Padding> padding = {};
  std::string border = {};
};

/// Who executes an op: every thread of the grid a part, every thread of one block
/// a part, or one thread all of it.
enum class Scope { Grid, Block, Thread };

/// "float", "i64": the type of a scalar, as the device library names it.
std::string typeName(mlir::Type type);
/// A literal of that type.
std::string literal(mlir::TypedAttr value);

class Printer {
public:
  /// `parameterOf` numbers the buffers that launches can be handed, then sizes.
  Printer(mlir::func::FuncOp function, const llvm::MapVector<mlir::Value, unsigned> &parameters,
          std::string launch)
      : function(function), parameters(parameters), context(function.getContext()),
        launch(std::move(launch)), used(parameters.size()) {}

  /// Prints the ops as the body of one launch in `scope`.
  mlir::LogicalResult printBody(llvm::ArrayRef<mlir::Operation *> ops, Scope scope);

  /// Prints ops over the same points as the body of one grid launch, after `needs`.
  mlir::LogicalResult printPoints(llvm::ArrayRef<mlir::Operation *> needs,
                                  llvm::ArrayRef<PointOp> group);

  /// The same, with one of them, a contraction, as tiles of a matrix product. One
  /// block does one tile.
  mlir::LogicalResult printTiles(llvm::ArrayRef<mlir::Operation *> needs,
                                 llvm::ArrayRef<PointOp> group, const Contraction &contraction);

  /// The same, a block per setting of the first `rank` loops.
  mlir::LogicalResult printRows(llvm::ArrayRef<mlir::Operation *> needs,
                                llvm::ArrayRef<PointOp> group, unsigned rank);

  /// Sizes of the loops, from the operand axes that they walk.
  llvm::SmallVector<Extent> loopSizes(mlir::linalg::GenericOp op);

  std::string body;    // what was printed
  std::string globals; // tables of constants that it reads
  /// Parameters that the body uses, in order of their numbers.
  llvm::SmallVector<unsigned> usedParameters() const;
  std::string parameterDeclaration(unsigned parameter) const;
  /// Of a grid launch: how many points there are; null where the launch cannot know.
  mlir::AffineExpr work;
  /// The bytes of a temporary; null where only the data decides.
  mlir::AffineExpr bytesOf(mlir::memref::AllocOp alloc);
  /// Loop variables and sizes are "int": right where every extent is below 2^30.
  bool narrowIndices = true;
  /// The extents that loops and addresses are made of; a null one is known to nobody
  /// before the launch.
  const llvm::SetVector<mlir::AffineExpr> &extents() const { return noted; }

private:
  // Text
  std::string index() const { return narrowIndices ? "int" : "i64"; }
  void line(const llvm::Twine &text);
  void open(const llvm::Twine &text);
  void close();
  std::string fresh(llvm::StringRef stem);
  std::string declare(mlir::Value value, const llvm::Twine &initial);

  // Scalars
  std::string name(mlir::Value value);
  mlir::LogicalResult printScalar(mlir::Operation *op);
  std::string expression(mlir::Operation *op, llvm::ArrayRef<std::string> x);
  /// Without symbols, dims are indices of loops, which are never negative.
  std::string affineText(mlir::AffineExpr expr, llvm::ArrayRef<std::string> dims,
                         llvm::ArrayRef<std::string> symbols);

  // Sizes and views
  Extent constant(int64_t value);
  Extent times(const Extent &a, const Extent &b);
  Extent plus(const Extent &a, const Extent &b);
  Extent extent(mlir::OpFoldResult value);
  void note(const Extent &extent) { noted.insert(extent.expr); }
  std::string sizeName(mlir::Value argument);
  std::string sizeText(mlir::AffineExpr expr);
  mlir::AffineExpr sizeExpr(mlir::Value value);
  const View &view(mlir::Value memref);
  View makeView(mlir::Value memref);
  View makeRoot(mlir::Value memref);
  View makeDense(std::string pointer, mlir::Type element, llvm::SmallVector<Extent> sizes);
  View viewOfReshape(mlir::memref::ReshapeOp op);
  View viewOfSubview(mlir::memref::SubViewOp op);
  View viewOfExpand(mlir::memref::ExpandShapeOp op);
  View viewOfCollapse(mlir::memref::CollapseShapeOp op);
  View viewOfPadded(kernel::PaddedOp op);
  View viewOfGlobal(mlir::memref::GetGlobalOp op);
  /// The text of an element; notes that the launch uses the buffer.
  std::string element(const View &view, llvm::ArrayRef<std::string> indices);
  std::string paddedElement(const View &view, llvm::ArrayRef<std::string> indices);
  bool isDense(const View &view);
  Extent count(const View &view);

  // Statements
  mlir::LogicalResult printOp(mlir::Operation *op, Scope scope);
  mlir::LogicalResult printOps(mlir::Block &block, Scope scope);
  mlir::LogicalResult printStore(mlir::memref::StoreOp op, Scope scope);
  mlir::LogicalResult printCopy(mlir::memref::CopyOp op, Scope scope);
  mlir::LogicalResult printFor(mlir::scf::ForOp op, Scope scope);
  mlir::LogicalResult printIf(mlir::scf::IfOp op, Scope scope);
  mlir::LogicalResult printWhile(mlir::scf::WhileOp op, Scope scope);
  void declareResults(mlir::Operation *op);
  mlir::LogicalResult assign(mlir::ValueRange targets, mlir::ValueRange values);
  mlir::LogicalResult printGeneric(mlir::linalg::GenericOp op, Scope scope);
  mlir::LogicalResult printPoint(mlir::linalg::GenericOp op, llvm::ArrayRef<std::string> indices);
  mlir::FailureOr<llvm::SmallVector<std::string>>
  printPayload(mlir::linalg::GenericOp op, llvm::ArrayRef<std::string> indices,
               llvm::ArrayRef<std::string> carried);
  std::string placeText(mlir::Value memref, mlir::AffineMap map,
                        llvm::ArrayRef<std::string> indices);
  void printDecode(const std::string &flat, llvm::ArrayRef<unsigned> order,
                   llvm::ArrayRef<Extent> sizes, llvm::SmallVectorImpl<std::string> &indices);
  mlir::LogicalResult printMembers(llvm::ArrayRef<PointOp> group, const PointOp &decodedFor,
                                   llvm::ArrayRef<std::string> decoded,
                                   const Contraction *contraction);
  Extent product(llvm::ArrayRef<unsigned> loops, llvm::ArrayRef<Extent> sizes);
  mlir::LogicalResult printFactor(const Contraction &c, bool isA,
                                  llvm::ArrayRef<std::string> indices, bool isRaw,
                                  std::string &value);
  mlir::LogicalResult printStage(const Contraction &c, bool isA, llvm::ArrayRef<Extent> sizes,
                                 llvm::ArrayRef<std::string> batch, bool isRaw);
  mlir::LogicalResult printRowReduction(const PointOp &point, llvm::ArrayRef<std::string> row);
  mlir::LogicalResult printRowPoints(const PointOp &point, unsigned rank,
                                     llvm::ArrayRef<std::string> row);
  mlir::LogicalResult printSum(const Contraction &c, llvm::ArrayRef<std::string> indices);
  mlir::LogicalResult printTileResults(const Contraction &c, llvm::ArrayRef<PointOp> group,
                                       llvm::ArrayRef<Extent> sizes,
                                       llvm::ArrayRef<std::string> batch);
  void openThreadLoop(Scope scope, const Extent &count);
  void barrier(Scope scope);

  mlir::func::FuncOp function;
  const llvm::MapVector<mlir::Value, unsigned> &parameters;
  mlir::MLIRContext *context;
  std::string launch; // the name of the function
  int indent = 1;
  unsigned counter = 0;
  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::DenseMap<mlir::Value, std::unique_ptr<View>> views;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> exprs;
  llvm::SmallVector<bool> used;
  llvm::SetVector<mlir::AffineExpr> noted;
  llvm::DenseMap<mlir::Value, std::string> locals; // buffers that are variables of a point
  llvm::SmallVector<std::string> loopIndices; // of the linalg op being printed
  mlir::Operation *problem = nullptr;         // an op that has no CUDA form
};

} // namespace dlc::cuda

#endif // DLC_COMPILER_TARGETS_CUDA_PRINTER_H
