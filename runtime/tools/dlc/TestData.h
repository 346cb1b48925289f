// Test data in the layout of the ONNX backend suite: input_0.pb ... output_0.pb.

#ifndef DLC_RUNTIME_TOOLS_DLC_TESTDATA_H
#define DLC_RUNTIME_TOOLS_DLC_TESTDATA_H

#include "runtime/tools/dlc/Compare.h"
#include "runtime/tools/dlc/Model.h"

namespace dlc::cli {

/// The folder itself if it has .pb files, else its test_data_set_* folders.
std::vector<std::string> testDataSets(const std::string &folder);

/// Runs the model on a set's inputs and compares all its outputs.
std::vector<Comparison> runTestData(Model &model, const std::string &folder,
                                    const Tolerance &tolerance);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TESTDATA_H
