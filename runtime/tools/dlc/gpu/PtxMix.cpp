#include "runtime/tools/dlc/gpu/PtxMix.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace dlc::cli {

namespace {

bool isOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool has(std::string_view opcode, std::string_view part) {
  return opcode.find(part) != std::string_view::npos;
}

PtxMix::Kind kindOf(std::string_view opcode) {
  std::string_view base = opcode.substr(0, opcode.find('.'));
  if (isOneOf(base, {"mma", "wmma", "wgmma", "ldmatrix"}))
    return PtxMix::Tensor;
  if (isOneOf(base, {"ld", "st", "atom", "red", "cp", "ldu", "prefetch"}))
    return has(opcode, ".shared") ? PtxMix::Shared : has(opcode, ".param") ? PtxMix::Integer : PtxMix::Global;
  if (isOneOf(base, {"ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh", "div"}) && has(opcode, "f"))
    return PtxMix::Special;
  if (isOneOf(base, {"bra", "brx", "call", "ret", "exit", "bar", "barrier", "setp", "vote", "shfl", "membar", "fence"}))
    return PtxMix::Control;
  for (std::string_view type : {".f16", ".bf16", ".f32", ".f64", ".f16x2", ".bf16x2"})
    if (has(opcode, type))
      return PtxMix::Float;
  return PtxMix::Integer;
}

/// The opcode of a line of a function's body; none for labels and directives.
std::optional<std::string_view> opcodeOf(std::string_view line) {
  size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos)
    return std::nullopt;
  line.remove_prefix(begin);
  if (line[0] == '@') {
    size_t space = line.find_first_of(" \t");
    if (space == std::string_view::npos)
      return std::nullopt;
    return opcodeOf(line.substr(space));
  }
  bool isOpcode = line[0] >= 'a' && line[0] <= 'z' && line.find(';') != std::string_view::npos;
  return isOpcode ? std::optional(line.substr(0, line.find_first_of(" \t;"))) : std::nullopt;
}

/// Between the braces of the entry function.
std::string_view bodyOf(std::string_view ptx, const std::string &name) {
  size_t at = ptx.find(".entry " + name + "(");
  size_t begin = at == std::string_view::npos ? at : ptx.find("\n{", at);
  if (begin == std::string_view::npos)
    return {};
  size_t end = ptx.find("\n}", begin);
  return ptx.substr(begin + 2, end == std::string_view::npos ? end : end - begin - 2);
}

} // namespace

uint32_t PtxMix::total() const { return std::accumulate(counts.begin(), counts.end(), 0u); }

std::string PtxMix::text() const {
  std::vector<int> kinds(numKinds);
  std::iota(kinds.begin(), kinds.end(), 0);
  std::ranges::sort(kinds, [&](int a, int b) { return std::pair(counts[b], a) < std::pair(counts[a], b); });
  constexpr size_t most = 3;
  std::string text;
  for (size_t i = 0; i < most && counts[kinds[i]] > 0; ++i)
    text += (i ? ", " : "") + std::string(kNames[kinds[i]]) + " " +
            std::to_string((100 * counts[kinds[i]] + total() / 2) / total()) + "%";
  return text;
}

PtxMix mixOf(std::string_view ptx, const std::string &name) {
  PtxMix mix;
  std::string_view body = bodyOf(ptx, name);
  while (!body.empty()) {
    size_t end = std::min(body.find('\n'), body.size());
    if (auto opcode = opcodeOf(body.substr(0, end)))
      ++mix.counts[kindOf(*opcode)];
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  return mix;
}

} // namespace dlc::cli
