// The contents of a TensorProto: checked, located and turned into an attribute.

#ifndef DLC_FRONTENDS_ONNX_TENSORDATA_H
#define DLC_FRONTENDS_ONNX_TENSORDATA_H

#include "frontends/onnx/Issues.h"
#include "frontends/onnx/Model.h"
#include "frontends/onnx/ModelFile.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace dlc::onnx {

/// "float", "int64", ... as ONNX spells it; "type 99" for what it does not know.
std::string dataTypeName(int32_t dataType);
/// The element type in dl; null where dl has none.
mlir::Type elementType(int32_t dataType, mlir::MLIRContext *context);
/// The ONNX number of an element type of dl.
DataType dataTypeOf(mlir::Type element);

/// Checks sizes, fields and external data. `what` names the tensor in messages.
bool checkTensor(const Tensor &tensor, StringRef what, MappedFiles &files,
                 IssueList &issues);
/// The value of a tensor that passed checkTensor; null, with an error, when dl has
/// no such type. Large tensors stay where they are.
mlir::ElementsAttr tensorAttr(const Tensor &tensor, StringRef what, MappedFiles &files,
                              mlir::MLIRContext *context, IssueList &issues);

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_TENSORDATA_H
