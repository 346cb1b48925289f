// A module ready to run: instructions with their handler and the places of their
// operands, decoded once.

#ifndef DLC_RUNTIME_CUDASIM_PROGRAM_PROGRAM_H
#define DLC_RUNTIME_CUDASIM_PROGRAM_PROGRAM_H

#include "runtime/cudasim/ptx/Module.h"

#include <map>

namespace dlc::sim {

inline constexpr unsigned kLanes = 32;
inline constexpr uint32_t kAllLanes = ~uint32_t(0);

class Warp;
struct Inst;
struct Code;
using Handler = void (*)(Warp &, const Inst &, uint32_t active);

/// Where an operand's 32 lanes lie. A predicate is one word of lane bits.
struct Ref {
  enum Base : uint32_t { Frame, Constant, Special };
  uint32_t base : 2;
  uint32_t offset : 30;
};

inline constexpr uint32_t kNoGuard = ~uint32_t(0);

struct Inst {
  Handler run = nullptr;
  const Ref *list = nullptr; // operands beyond a, b, c
  Ref d{}, a{}, b{}, c{};
  uint64_t imm = 0;
  uint32_t guard = kNoGuard; // offset of the predicate in the frame
  uint32_t target = 0;       // of a branch
  uint8_t isGuardNegated = 0;
  uint8_t width = 0, count = 0; // bytes of an element, elements of a vector
  uint8_t space = 0;            // ptx::Space
  uint8_t mode = 0, flags = 0;  // of the handler
  uint16_t index = 0;           // into a handler's table: callee, branch table
  void *step[2] = {};           // parts that a handler is put together from
};

struct Place {
  int ptxLine = 0;
  ptx::SourceLine source;
};

struct LocalVariable {
  uint32_t offset = 0, bytes = 0;
};

/// A function's code and what its frame needs.
struct Code {
  std::string name;
  bool isEntry = false;
  std::vector<Inst> code;
  std::vector<Place> places;
  uint32_t registerBytes = 0;
  uint32_t localBytes = 0; // per lane
  uint32_t paramBytes = 0; // per lane: own parameters and results, those of callees
  uint32_t sharedBytes = 0;
  std::vector<LocalVariable> params, results; // of an entry: offsets in the buffer
  uint32_t registersPerThread = 0;            // what a compiler might need, estimated
  unsigned maxThreads = 0;
  unsigned requiredThreads[3] = {0, 0, 0};
  bool isOrderSensitive = false; // results depend on the order of blocks: float atomics
  std::vector<uint32_t> callees;
  std::vector<std::vector<uint32_t>> branchTables;
};

struct Call {
  uint32_t callee = 0; // index into Program::functions, or a built-in
  int builtin = -1;
  Ref target{}; // of an indirect call
  bool isIndirect = false;
  std::vector<LocalVariable> arguments, results; // in the caller's param area
};

struct GlobalVariable {
  uint64_t address = 0, bytes = 0;
};

class Program {
public:
  std::vector<std::unique_ptr<Code>> functions;
  std::map<std::string, uint32_t> functionIndex;
  std::map<std::string, GlobalVariable> globals;
  std::vector<char> constants;
  std::vector<std::unique_ptr<Ref[]>> lists;
  std::vector<Call> calls;
  std::vector<std::shared_ptr<void>> owned; // what instructions point to
  std::unordered_map<int, std::string> files;
  uint32_t dynamicSharedAlign = 16;

  const Code *find(const std::string &name) const {
    auto found = functionIndex.find(name);
    return found == functionIndex.end() ? nullptr : functions[found->second].get();
  }
};

/// Memory for a module's variables: returns the address on the device.
struct GlobalAllocator {
  virtual ~GlobalAllocator() = default;
  virtual uint64_t allocate(const ptx::Variable &variable) = 0;
  virtual void write(uint64_t address, const void *data, uint64_t bytes) = 0;
};

/// Throws ptx::Error.
std::unique_ptr<Program> decode(const ptx::Module &module, GlobalAllocator &memory);

/// Generic addresses outside of global memory. Far above what a process maps.
inline constexpr uint64_t kWindowBits = 48;
inline constexpr uint64_t kSharedWindow = uint64_t(1) << kWindowBits;
inline constexpr uint64_t kLocalWindow = uint64_t(2) << kWindowBits;
inline constexpr uint64_t kParamWindow = uint64_t(3) << kWindowBits;
inline constexpr uint64_t kFunctionWindow = uint64_t(4) << kWindowBits;

/// Special registers: each has 32 lanes of 4 bytes.
enum Special : uint32_t {
  TidX, TidY, TidZ, NtidX, NtidY, NtidZ, CtaidX, CtaidY, CtaidZ, NctaidX, NctaidY, NctaidZ,
  LaneId, WarpId, NwarpId, SmId, NsmId, GridId, LaneMaskEq, LaneMaskLe, LaneMaskLt, LaneMaskGe,
  LaneMaskGt, DynamicShared, TotalShared, Zero, NumSpecials
};

} // namespace dlc::sim

#endif // DLC_RUNTIME_CUDASIM_PROGRAM_PROGRAM_H
