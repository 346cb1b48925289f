#include "compiler/Report.h"

#include "compiler/Pipeline.h"
#include "passes/plan/PeakMemory.h"

#include "mlir/IR/Location.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace dlc {

namespace {

constexpr size_t kMostPrinted = 50;

/// The ONNX node that a location names first.
std::string nodeOf(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (std::string name = nodeOf(part); !name.empty())
        return name;
  return "";
}

std::string bytesText(int64_t bytes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (bytes >= 1 << 20)
    os << llvm::format("%.1f MiB", double(bytes) / (1 << 20));
  else
    os << llvm::format("%.1f KiB", double(bytes) / (1 << 10));
  return text;
}

/// Kernel calls of all programs, those in branches and loops once each.
int64_t countDispatches(ArrayRef<plan::ProgramOp> programs) {
  int64_t count = 0;
  for (plan::ProgramOp program : programs)
    program.walk([&](plan::DispatchOp) { ++count; });
  return count;
}

llvm::json::Array memoryJson(ArrayRef<plan::ProgramOp> programs) {
  llvm::json::Array list;
  for (plan::ProgramOp program : programs)
    for (const plan::PeakMemory &peak : plan::peakMemory(program))
      list.push_back(llvm::json::Object{{"entry", program.getEntry().value_or("main")},
                                        {"sizes", printable(peak.sizes)},
                                        {"arena_bytes", peak.arenaBytes},
                                        {"lower_bound_bytes", peak.lowerBoundBytes},
                                        {"unknown_buffers", peak.unknownBuffers}});
  return list;
}

void printMemory(plan::ProgramOp program) {
  for (const plan::PeakMemory &peak : plan::peakMemory(program)) {
    auto &os = llvm::outs();
    os << "  memory   " << bytesText(peak.arenaBytes) << " planned (lower bound "
       << bytesText(peak.lowerBoundBytes) << ")";
    if (program.getEntry())
      os << " in " << printable(*program.getEntry());
    if (!peak.sizes.empty())
      os << " for " << printable(peak.sizes);
    if (peak.unknownBuffers)
      os << ", and " << peak.unknownBuffers << " buffers whose sizes the data decide";
    os << "\n";
  }
}

} // namespace

std::string printable(StringRef text, size_t limit) {
  std::string result;
  for (unsigned char c : text.take_front(limit)) {
    if (c < 0x20 || c >= 0x7f) {
      constexpr char digits[] = "0123456789abcdef";
      result += {'\\', 'x', digits[c >> 4], digits[c & 15]};
    } else {
      result += char(c);
    }
  }
  if (text.size() > limit)
    result += "... (" + std::to_string(text.size()) + " bytes)";
  return result;
}

Reporter::~Reporter() = default;

void Reporter::listen(MLIRContext &context) {
  handler = std::make_unique<ScopedDiagnosticHandler>(&context, [this](Diagnostic &d) {
    if (d.getSeverity() == DiagnosticSeverity::Remark ||
        d.getSeverity() == DiagnosticSeverity::Note)
      return success();
    Problem problem;
    problem.isWarning = d.getSeverity() == DiagnosticSeverity::Warning;
    problem.node = nodeOf(d.getLocation());
    problem.message = d.str();
    StringRef message = problem.message;
    if (message.contains(kUnsupportedPrefix))
      problem.code = kExitUnsupported;
    else if (message.starts_with(kOutOfMemoryPrefix))
      problem.code = kExitOutOfMemory;
    add(std::move(problem));
    return success();
  });
}

void Reporter::add(Problem problem) { problems.push_back(std::move(problem)); }

void Reporter::print() {
  size_t shown = 0;
  for (const Problem &problem : problems) {
    if (++shown > kMostPrinted) {
      llvm::errs() << "... and " << problems.size() - kMostPrinted << " more\n";
      break;
    }
    llvm::errs() << (problem.isWarning ? "warning: " : "error: ") << options.input << ": ";
    if (!problem.node.empty())
      llvm::errs() << "node '" << printable(problem.node) << "': ";
    llvm::errs() << printable(problem.message, 600) << "\n";
  }
  problems.clear();
}

int Reporter::error(ExitCode code, const std::string &message) {
  add({false, code, "", message});
  return exitCode(code);
}

int Reporter::exitCode(ExitCode fallback) {
  int code = kExitOk;
  bool unsupported = false;
  for (const Problem &problem : problems) {
    if (problem.isWarning)
      continue;
    unsupported |= problem.code == kExitUnsupported;
    code = code == kExitOk || code == kExitUnsupported ? problem.code : code;
  }
  if (code == kExitOk) {
    add({false, fallback, "", "compilation failed without a reason: a defect of dlc"});
    code = kExitInternal;
  }
  print();
  if (unsupported)
    llvm::errs() << "next: dlc check " << options.input
                 << " lists every problem; see docs/conformance.md for what is supported\n";
  return code;
}

int Reporter::finishCheck() {
  bool failed = llvm::any_of(problems, [](const Problem &p) { return !p.isWarning; });
  if (options.json) {
    llvm::json::Array list;
    for (const Problem &p : problems)
      list.push_back(llvm::json::Object{{"node", printable(p.node)},
                                        {"message", printable(p.message, 600)},
                                        {"severity", p.isWarning ? "warning" : "error"},
                                        {"unsupported", p.code == kExitUnsupported}});
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(list)));
    if (!failed)
      return kExitOk;
    problems.resize(problems.size());
    int code = kExitUnsupported;
    for (const Problem &p : problems)
      if (!p.isWarning && p.code != kExitUnsupported)
        code = p.code;
    return code;
  }
  if (failed)
    return exitCode(kExitUsage);
  print();
  llvm::outs() << options.input << ": no problems; next: dlc compile " << options.input
               << "\n";
  return kExitOk;
}

void Reporter::summaryJson(const CompileState &state, const ArtifactSummary &artifact,
                           const std::string &path) {
  llvm::json::Object phases;
  for (const auto &[name, seconds] : state.phaseSeconds)
    phases[name] = seconds;
  llvm::json::Object passes;
  for (const auto &[key, count] : state.counts)
    passes[key.first + "." + key.second] = count;
  llvm::json::Object root{
      {"artifact", path},
      {"passes", std::move(passes)},
      {"file_bytes", artifact.fileBytes},
      {"constant_bytes", artifact.constantBytes},
      {"code_bytes", artifact.codeBytes},
      {"nodes", int64_t(state.importedNodes)},
      {"kernels", int64_t(state.sources.sources().size())},
      {"dispatches", countDispatches(state.programs)},
      {"memory", memoryJson(state.programs)},
      {"seconds", state.elapsedSeconds()},
      {"phase_seconds", std::move(phases)}};
  llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(root)));
}

void Reporter::summary(const CompileState &state, const ArtifactSummary &artifact,
                       const std::string &path) {
  print();
  if (options.json)
    return summaryJson(state, artifact, path);
  auto &os = llvm::outs();
  os << path << ": " << state.importedNodes << " nodes -> " << countDispatches(state.programs)
     << " kernel calls of " << state.sources.sources().size() << " kernels for " << options.target << "\n";
  llvm::for_each(state.programs, printMemory);
  os << "  weights  " << bytesText(artifact.constantBytes) << "\n"
     << "  artifact " << bytesText(artifact.fileBytes) << ", code "
     << bytesText(artifact.codeBytes) << "\n"
     << llvm::format("  time     %.2f s", state.elapsedSeconds());
  for (const auto &[name, seconds] : state.phaseSeconds)
    if (options.verbose || seconds > 0.05)
      os << llvm::format(", %s %.2f", name.c_str(), seconds);
  os << "\n";
  if (options.verbose)
    for (const auto &[key, count] : state.counts)
      os << "  " << key.first << ": " << count << " " << key.second << "\n";
}

} // namespace dlc
