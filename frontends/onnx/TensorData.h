// TensorProtos to constants, external data included, every length checked.

#ifndef DLC_FRONTENDS_ONNX_TENSORDATA_H
#define DLC_FRONTENDS_ONNX_TENSORDATA_H

#include "frontends/onnx/Model.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <map>
#include <memory>
#include <string>

namespace dlc::onnx {

/// The dl element type; null for one that dl does not have.
mlir::Type elementType(int32_t dataType, mlir::MLIRContext *context);
std::string dataTypeName(int32_t dataType);

/// A file mapped read-only.
class MappedFile {
public:
  ~MappedFile();
  /// Empty text on success.
  std::string open(const std::string &path);
  std::string_view bytes;
};

class TensorData {
public:
  /// External data may live only below the folder of `modelPath`.
  explicit TensorData(const std::string &modelPath);

  /// The tensor's value. Null on failure, with `error` set.
  mlir::ElementsAttr convert(const Tensor &tensor, mlir::MLIRContext *context,
                             std::string &error);
  std::map<std::string, std::shared_ptr<MappedFile>> files;

private:
  bool externalBytes(const Tensor &tensor, std::string_view &bytes, std::string &error);

  std::string folder; // canonical
};

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_TENSORDATA_H
