#include "runtime/cudasim/ops/Builtins.h"

#include <algorithm>

namespace dlc::sim {

namespace {

uint64_t argument(Warp &w, const Inst &i, const Call &call, size_t index, unsigned lane) {
  uint64_t value = 0;
  if (index < call.arguments.size() && call.arguments[index].bytes <= 8)
    if (char *at = w.param(lane, call.arguments[index].offset, call.arguments[index].bytes)) {
      memcpy(&value, at, call.arguments[index].bytes);
      return value;
    }
  w.fault(i, kLaunchFailed, int(lane), "a call passes other arguments than the function has");
}

/// Host address of a byte at a generic address; null when there is nothing.
const char *byteAt(Warp &w, unsigned lane, uint64_t address, unsigned bytes) {
  if (w.block->memory().isLive(address, bytes))
    return reinterpret_cast<const char *>(address);
  uint64_t offset = address & ((uint64_t(1) << kWindowBits) - 1);
  return address >> kWindowBits == kLocalWindow >> kWindowBits ? w.local(lane, offset, bytes) : nullptr;
}

std::string textAt(Warp &w, const Inst &i, unsigned lane, uint64_t address) {
  std::string text;
  for (constexpr size_t most = 4096; text.size() < most; ++address) {
    const char *at = byteAt(w, lane, address, 1);
    if (!at)
      w.fault(i, kIllegalAddress, int(lane), "a text of printf or assert is not in memory");
    if (*at == 0)
      break;
    text += *at;
  }
  return text;
}

/// The arguments lie one after the other, each at a multiple of its size.
std::string format(Warp &w, const Inst &i, unsigned lane, const std::string &pattern, uint64_t arguments) {
  std::string out;
  auto next = [&](unsigned bytes) {
    arguments = (arguments + bytes - 1) / bytes * bytes;
    uint64_t value = 0;
    const char *at = byteAt(w, lane, arguments, bytes);
    if (!at)
      w.fault(i, kIllegalAddress, int(lane), "printf reads past its arguments");
    memcpy(&value, at, bytes);
    arguments += bytes;
    return value;
  };
  for (size_t k = 0; k < pattern.size();) {
    if (pattern[k] != '%') {
      out += pattern[k++];
      continue;
    }
    size_t end = pattern.find_first_of("diouxXcsfFeEgGaAp%", k + 1);
    if (end == std::string::npos)
      return out + pattern.substr(k);
    std::string flags = pattern.substr(k, end - k);
    char kind = pattern[end];
    bool isLong = flags.find('l') != std::string::npos || flags.find('z') != std::string::npos;
    flags.erase(std::remove_if(flags.begin(), flags.end(), [](char c) { return strchr("hlzjtL*", c); }), flags.end());
    char text[512];
    k = end + 1;
    if (kind == '%')
      out += '%';
    else if (kind == 's')
      out += textAt(w, i, lane, next(8));
    else if (strchr("fFeEgGaA", kind))
      snprintf(text, sizeof text, (flags + kind).c_str(), bitsTo<double>(next(8))), out += text;
    else if (kind == 'p')
      snprintf(text, sizeof text, "0x%llx", (unsigned long long)next(8)), out += text;
    else if (kind == 'c')
      out += char(next(4));
    else if (isLong)
      snprintf(text, sizeof text, (flags + "ll" + kind).c_str(), (unsigned long long)next(8)), out += text;
    else
      snprintf(text, sizeof text, (flags + kind).c_str(), uint32_t(next(4))), out += text;
  }
  return out;
}

void print(Warp &w, const Inst &i, const Call &call, uint32_t active) {
  forLanes(active, [&](unsigned lane) {
    std::string pattern = textAt(w, i, lane, argument(w, i, call, 0, lane));
    std::string text = format(w, i, lane, pattern, argument(w, i, call, 1, lane));
    Launch &launch = w.block->launch;
    std::lock_guard<std::mutex> lock(launch.mutex);
    launch.printed += text;
    int32_t length = int32_t(text.size());
    if (!call.results.empty() && call.results[0].bytes == 4)
      if (char *at = w.param(lane, call.results[0].offset, 4))
        memcpy(at, &length, sizeof length);
  });
}

void failAssertion(Warp &w, const Inst &i, const Call &call, uint32_t active) {
  unsigned lane = unsigned(__builtin_ctz(active));
  std::string text = textAt(w, i, lane, argument(w, i, call, 1, lane)) + ":" +
                     std::to_string(argument(w, i, call, 2, lane)) + ": assertion failed: " +
                     textAt(w, i, lane, argument(w, i, call, 0, lane));
  w.fault(i, kAssert, int(lane), text);
}

} // namespace

int builtinNamed(const std::string &name) {
  return name == "vprintf" ? Vprintf : name == "__assertfail" ? AssertFail : -1;
}

void runBuiltin(Warp &w, const Inst &i, const Call &call, uint32_t active) {
  call.builtin == Vprintf ? print(w, i, call, active) : failAssertion(w, i, call, active);
}

} // namespace dlc::sim
