#include "frontends/onnx/Issues.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace dlc::onnx {

namespace {

constexpr size_t kLongestName = 80;
/// A broken file must not fill the screen.
constexpr size_t kMostErrors = 100;

} // namespace

std::string printable(StringRef name) {
  bool isUtf8 = json::isUTF8(name);
  std::string head = name.str(), tail;
  if (name.size() > kLongestName) {
    head = name.take_front(kLongestName / 2).str();
    tail = name.take_back(kLongestName / 4).str();
  }
  // A cut through a multi-byte character leaves broken bytes; they are escaped.
  auto escape = [&](StringRef text) {
    std::string result;
    bool keepHigh = isUtf8 && json::isUTF8(text);
    for (unsigned char c : text) {
      if (c == '\n' || c < 0x20 || c == 0x7f || (c >= 0x80 && !keepHigh))
        result += "\\x" + utohexstr(c, /*LowerCase=*/true, 2);
      else
        result += char(c);
    }
    return result;
  };
  if (tail.empty())
    return escape(head);
  return escape(head) + "..." + escape(tail) + " (" + std::to_string(name.size()) +
         " bytes)";
}

std::string quoted(StringRef name) { return "'" + printable(name) + "'"; }

void IssueList::error(StringRef node, const Twine &message) {
  add({false, false, printable(node), message.str()});
}

void IssueList::unsupported(StringRef node, const Twine &message) {
  add({false, true, printable(node), message.str()});
}

void IssueList::warning(StringRef node, const Twine &message) {
  add({true, false, printable(node), message.str()});
}

void IssueList::add(Issue issue) {
  if (!issue.isWarning && ++numErrors > kMostErrors) {
    if (numErrors == kMostErrors + 1)
      issues.push_back({true, false, "", "more errors follow; only the first " +
                                             std::to_string(kMostErrors) + " are listed"});
    return;
  }
  issues.push_back(std::move(issue));
}

} // namespace dlc::onnx
