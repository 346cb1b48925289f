// What is wrong with a model: gathered, never thrown, so that one run reports all.

#ifndef DLC_FRONTENDS_ONNX_ISSUES_H
#define DLC_FRONTENDS_ONNX_ISSUES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <string>
#include <vector>

namespace dlc::onnx {

struct Issue {
  bool isWarning = false;
  bool isUnsupported = false; // dlc lacks it; otherwise the model is broken
  std::string node;           // the node or tensor, safe to print; may be empty
  std::string message;        // one line
};

class IssueList {
public:
  void error(llvm::StringRef node, const llvm::Twine &message);
  void unsupported(llvm::StringRef node, const llvm::Twine &message);
  void warning(llvm::StringRef node, const llvm::Twine &message);

  bool hasErrors() const { return numErrors != 0; }
  size_t errorCount() const { return numErrors; }
  std::vector<Issue> take() { return std::move(issues); }

private:
  void add(Issue issue);

  std::vector<Issue> issues;
  size_t numErrors = 0;
};

/// A name from a model in quotes, safe to print: control bytes and broken UTF-8
/// escaped, the middle of long names left out.
std::string quoted(llvm::StringRef name);
/// The same without quotes.
std::string printable(llvm::StringRef name);

} // namespace dlc::onnx

#endif // DLC_FRONTENDS_ONNX_ISSUES_H
