// NumPy's .npy format and archives of it, .npz.

#ifndef DLC_RUNTIME_TOOLS_IO_NPY_H
#define DLC_RUNTIME_TOOLS_IO_NPY_H

#include "runtime/tools/io/File.h"
#include "runtime/tools/io/Tensor.h"

namespace dlc::cli {

struct NpyHeader {
  dlc_type type;
  size_t elementBytes;
  bool bigEndian = false, fortranOrder = false;
  Dims dims;
};
/// What comes before the data; checks that as many bytes follow as it says.
NpyHeader readNpyHeader(ByteSource &source);

/// One array. Versions 1 to 3, both byte orders, C and Fortran order.
Tensor readNpy(ByteSource &source);
/// All arrays of an archive, named without the ".npy".
NamedTensors readNpz(const std::string &path);

/// Types that NumPy lacks are written by their carrier (toNumpyCarrier).
void writeNpy(const std::string &path, const dlc_tensor &tensor);

struct NamedView {
  std::string name;
  const dlc_tensor *tensor;
};
/// Stored, not compressed; the same arrays give the same bytes.
void writeNpz(const std::string &path, const std::vector<NamedView> &arrays);

/// The bytes before the data of a .npy file.
std::string npyHeader(const dlc_tensor &tensor);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_IO_NPY_H
