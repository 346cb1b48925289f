#include "compiler/targets/cpu/contraction/KernelBuilder.h"

#include "compiler/targets/cpu/contraction/Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc::cpu {

Type KernelBuilder::pointer() { return LLVM::LLVMPointerType::get(b.getContext()); }
Type KernelBuilder::vector() { return VectorType::get({lanes}, b.getF32Type()); }

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Value KernelBuilder::integer(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}
Value KernelBuilder::add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
Value KernelBuilder::sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); }
Value KernelBuilder::mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); }
Value KernelBuilder::div(Value x, Value y) { return b.createOrFold<arith::DivUIOp>(loc, x, y); }
Value KernelBuilder::rem(Value x, Value y) { return b.createOrFold<arith::RemUIOp>(loc, x, y); }
Value KernelBuilder::min(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(loc, x, y); }
Value KernelBuilder::max(Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(loc, x, y); }
Value KernelBuilder::less(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, y);
}
Value KernelBuilder::equal(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, x, y);
}
Value KernelBuilder::inside(Value x, Value bound) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, x, bound);
}
Value KernelBuilder::both(Value x, Value y) { return b.createOrFold<arith::AndIOp>(loc, x, y); }
Value KernelBuilder::select(Value condition, Value x, Value y) {
  return b.createOrFold<arith::SelectOp>(loc, condition, x, y);
}

Value KernelBuilder::expand(AffineExpr expr, ArrayRef<Value> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return integer(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = expand(binary.getLHS(), symbols);
  Value rhs = expand(binary.getRHS(), symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(lhs, rhs);
  case AffineExprKind::Mul:
    return mul(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return b.createOrFold<arith::FloorDivSIOp>(loc, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return b.createOrFold<arith::CeilDivSIOp>(loc, lhs, rhs);
  default: { // Mod: the result has the divisor's sign, which is positive.
    Value quotient = b.createOrFold<arith::FloorDivSIOp>(loc, lhs, rhs);
    return sub(lhs, mul(quotient, rhs));
  }
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

func::FuncOp KernelBuilder::beginFunction(const std::string &name, ArrayRef<Type> inputs,
                                          Type output) {
  auto function = func::FuncOp::create(b, loc, name, b.getFunctionType(inputs, {output}));
  b.setInsertionPointToStart(function.addEntryBlock());
  return function;
}
func::FuncOp KernelBuilder::beginWork(const std::string &name) {
  return beginFunction(name + "_work", {pointer()}, i64());
}
func::FuncOp KernelBuilder::beginKernel(const std::string &name) {
  return beginFunction(name, {pointer(), i64(), i64()}, b.getI32Type());
}
KernelBuilder::Values KernelBuilder::loadSizes(Value dims, unsigned count) {
  Values sizes;
  for (unsigned i = 0; i < count; ++i)
    sizes.push_back(loadInteger(offset(dims, integer(i), 8)));
  return sizes;
}
KernelBuilder::Values KernelBuilder::loadBuffers(Value call, unsigned count) {
  Value pointers = loadPointer(call);
  Values buffers;
  for (unsigned i = 0; i < count; ++i)
    buffers.push_back(loadPointer(offset(pointers, integer(i), 8)));
  return buffers;
}

Value KernelBuilder::offset(Value base, Value index, int64_t elementBytes) {
  Type element = b.getIntegerType(8 * elementBytes);
  return LLVM::GEPOp::create(b, loc, pointer(), element, base,
                             ArrayRef<LLVM::GEPArg>{index});
}
Value KernelBuilder::scratch(Value call, Value sizeBytes) {
  Value function = loadPointer(offset(call, integer(2), 8));
  auto signature = LLVM::LLVMFunctionType::get(pointer(), {pointer(), i64()});
  auto allocation = LLVM::CallOp::create(b, loc, signature, ValueRange{function, call, sizeBytes});
  NamedAttribute noAlias(b.getStringAttr("llvm.noalias"), b.getUnitAttr());
  allocation.setResAttrsAttr(b.getArrayAttr(b.getDictionaryAttr(noAlias)));
  return allocation.getResult();
}
Value KernelBuilder::stack(int64_t sizeBytes) {
  return LLVM::AllocaOp::create(b, loc, pointer(), b.getI8Type(), integer(sizeBytes),
                                /*alignment=*/64);
}
Value KernelBuilder::isNull(Value address) {
  Value null = LLVM::ZeroOp::create(b, loc, pointer());
  return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, address, null);
}
Value KernelBuilder::loadPointer(Value address) {
  return LLVM::LoadOp::create(b, loc, pointer(), address);
}
Value KernelBuilder::loadInteger(Value address) {
  return LLVM::LoadOp::create(b, loc, i64(), address);
}
Value KernelBuilder::loadFloat(Value address) {
  return LLVM::LoadOp::create(b, loc, b.getF32Type(), address);
}

Value KernelBuilder::mask(int64_t active) {
  SmallVector<bool> bits(lanes, false);
  std::fill_n(bits.begin(), active, true);
  auto type = VectorType::get({lanes}, b.getI1Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, bits));
}

Value KernelBuilder::loadVector(Value address, int64_t active) {
  if (active == lanes)
    return LLVM::LoadOp::create(b, loc, vector(), address, /*alignment=*/4);
  return LLVM::MaskedLoadOp::create(b, loc, vector(), address, mask(active),
                                    zeros(), /*alignment=*/4);
}

void KernelBuilder::storeVector(Value value, Value address, int64_t active) {
  if (active == lanes)
    LLVM::StoreOp::create(b, loc, value, address, /*alignment=*/4);
  else
    LLVM::MaskedStoreOp::create(b, loc, value, address, mask(active),
                                /*alignment=*/4);
}

Value KernelBuilder::maskBelow(Value active) {
  SmallVector<int32_t> numbers = llvm::to_vector(llvm::seq<int32_t>(0, lanes));
  auto type = VectorType::get({lanes}, b.getI32Type());
  Value lane = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  Value narrow = arith::TruncIOp::create(b, loc, b.getI32Type(), active);
  Value bound = vector::BroadcastOp::create(b, loc, type, narrow);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lane, bound);
}
Value KernelBuilder::loadMasked(Value address, Value mask) {
  return LLVM::MaskedLoadOp::create(b, loc, vector(), address, mask, zeros(), /*alignment=*/4);
}
void KernelBuilder::storeMasked(Value value, Value address, Value mask) {
  LLVM::MaskedStoreOp::create(b, loc, value, address, mask, /*alignment=*/4);
}
Value KernelBuilder::shuffle(Value x, Value y, ArrayRef<int64_t> order) {
  return vector::ShuffleOp::create(b, loc, x, y, order);
}

Value KernelBuilder::splat(Value scalar) {
  return vector::BroadcastOp::create(b, loc, vector(), scalar);
}
Value KernelBuilder::zeros() {
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(vector()));
}
Value KernelBuilder::fma(Value x, Value y, Value accumulator) {
  return vector::FMAOp::create(b, loc, x, y, accumulator);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

KernelBuilder::Values KernelBuilder::loop(Value begin, Value end,
                                          ArrayRef<Value> init, LoopBody body) {
  auto op = scf::ForOp::create(
      b, loc, begin, end, integer(1), init,
      [&](OpBuilder &inner, Location, Value index, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(inner.getInsertionBlock());
        scf::YieldOp::create(b, loc, body(index, Values(carried.begin(), carried.end())));
      });
  return Values(op.getResults().begin(), op.getResults().end());
}

void KernelBuilder::loop(Value begin, Value end, llvm::function_ref<void(Value)> body) {
  loop(begin, end, {}, [&](Value index, ArrayRef<Value>) {
    body(index);
    return Values{};
  });
}

KernelBuilder::Values KernelBuilder::ifElse(Value condition, TypeRange types,
                                            llvm::function_ref<Values()> onTrue,
                                            llvm::function_ref<Values()> onFalse) {
  auto op = scf::IfOp::create(b, loc, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  Values values = onTrue();
  if (types.size())
    scf::YieldOp::create(b, loc, values);
  b.setInsertionPointToStart(op.elseBlock());
  values = onFalse();
  if (types.size())
    scf::YieldOp::create(b, loc, values);
  return Values(op.getResults().begin(), op.getResults().end());
}

void KernelBuilder::ifThen(Value condition, llvm::function_ref<void()> body) {
  auto op = scf::IfOp::create(b, loc, condition);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  body();
}

Value KernelBuilder::applyVectorised(func::FuncOp function, ArrayRef<Value> args) {
  IRMapping mapping;
  Block &body = function.getBody().front();
  for (auto [parameter, arg] : llvm::zip(body.getArguments(), args))
    mapping.map(parameter, arg);
  for (Operation &op : body.without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto type = VectorType::get({lanes}, constant.getType());
      auto value = DenseElementsAttr::get(type, Attribute(constant.getValue()));
      mapping.map(constant.getResult(), arith::ConstantOp::create(b, loc, value));
      continue;
    }
    OperationState state(loc, op.getName());
    for (Value operand : op.getOperands())
      state.addOperands(mapping.lookup(operand));
    state.addAttributes(op.getAttrDictionary().getValue());
    for (Type type : op.getResultTypes())
      state.addTypes(VectorType::get({lanes}, type));
    Operation *clone = b.create(state);
    mapping.map(op.getResults(), clone->getResults());
  }
  return mapping.lookup(body.getTerminator()->getOperand(0));
}

Value applyEpilogue(KernelBuilder &m, const ContractionKernel &kernel,
                    ArrayRef<Value> buffers, Value accumulator, Value element,
                    Value channel, int64_t active) {
  if (!kernel.epilogue)
    return accumulator;
  KernelBuilder::Values args = {accumulator};
  for (const EpilogueOperand &operand : kernel.epilogueOperands) {
    Value buffer = buffers[operand.buffer];
    if (operand.access == EpilogueOperand::Scalar) {
      args.push_back(m.splat(m.loadFloat(buffer)));
      continue;
    }
    bool isElement = operand.access == EpilogueOperand::Element;
    args.push_back(m.loadVector(m.offset(buffer, isElement ? element : channel), active));
  }
  return m.applyVectorised(kernel.epilogue, args);
}

} // namespace dlc::cpu
