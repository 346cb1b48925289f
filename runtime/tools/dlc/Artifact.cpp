#include "runtime/tools/dlc/Artifact.h"

#include "runtime/schema/Expr.h"
#include "runtime/tools/io/Error.h"

#include <algorithm>
#include <set>

namespace dlc::cli {

namespace {

/// The validator bounds what a block may name, not how deep blocks nest.
constexpr int kDeepest = 64;

void visitBlock(const schema::Block *block, int depth,
                const std::function<void(const schema::Dispatch &, int)> &visit) {
  if (!block || !block->instructions() || depth > kDeepest)
    return;
  for (const schema::Instruction *instruction : *block->instructions()) {
    if (const auto *dispatch = instruction->action_as_Dispatch())
      visit(*dispatch, depth);
    if (const auto *branch = instruction->action_as_If()) {
      visitBlock(branch->then_block(), depth + 1, visit);
      visitBlock(branch->else_block(), depth + 1, visit);
    }
    if (const auto *loop = instruction->action_as_Loop())
      visitBlock(loop->body(), depth + 1, visit);
  }
}

} // namespace

Artifact::Artifact(const std::string &path) : path(path) {
  check(dlc_artifact_open(path.c_str(), &handle));
}

std::string text(const flatbuffers::String *string) { return string ? string->str() : ""; }

std::string Artifact::valueType(uint32_t index) const {
  std::string result = dlc_type_name(static_cast<dlc_type>(value(index).element()));
  result += "[";
  const auto *dims = value(index).dims();
  for (uint32_t axis = 0; dims && axis < dims->size(); ++axis)
    result += (axis ? "," : "") +
              schema::exprText(*table().exprs()->Get(dims->Get(axis)), *table().symbols());
  return result + "]";
}

std::string Artifact::nodeNames(const schema::Dispatch &dispatch) const {
  std::string names;
  if (dispatch.nodes())
    for (uint32_t node : *dispatch.nodes())
      names += (names.empty() ? "" : ", ") + text(table().nodes()->Get(node)->name());
  return names;
}

double Artifact::usedConstantBytes() const {
  std::set<uint32_t> used;
  for (const schema::Value *value : *table().values())
    if (value->storage() == schema::Storage::Constant)
      used.insert(value->constant());
  double bytes = 0;
  for (uint32_t constant : used)
    bytes += static_cast<double>(table().constants()->Get(constant)->size_bytes());
  return bytes;
}

void Artifact::forEachDispatch(
    const std::function<void(const schema::Dispatch &, int depth)> &visit) const {
  visitBlock(table().body(), 0, visit);
}

SymbolValues symbolValues(const Artifact &artifact, const std::map<std::string, int64_t> &given) {
  const auto &symbols = *artifact.table().symbols();
  SymbolValues values{std::vector<int64_t>(symbols.size()), std::vector<char>(symbols.size())};
  std::set<std::string> known;
  for (uint32_t i = 0; i < symbols.size(); ++i) {
    const schema::DimSymbol &symbol = *symbols.Get(i);
    std::string name = text(symbol.name());
    known.insert(name);
    auto found = given.find(name);
    if (found != given.end() && (found->second < symbol.lower() || found->second > symbol.upper()))
      fail(DLC_USAGE, "--dim ", name, "=", found->second, " is outside [", symbol.lower(), ", ",
           symbol.upper(), "]");
    values.isBound[i] = found != given.end() || !name.starts_with("?");
    values.sizes[i] = found != given.end() ? found->second : std::max<int64_t>(1, symbol.lower());
  }
  std::string names;
  for (const std::string &name : known)
    names += (names.empty() ? "" : ", ") + name;
  for (const auto &[name, size] : given)
    if (!known.contains(name))
      fail(DLC_USAGE, "--dim: ", artifact.path, " has no symbolic size ", inQuotes(name),
           "; it has ", names.empty() ? "none" : names);
  return values;
}

int64_t valueBytes(const Artifact &artifact, uint32_t index, const SymbolValues &symbols) {
  const schema::Value &value = artifact.value(index);
  int64_t dims[DLC_MAX_RANK] = {};
  int rank = value.dims() ? static_cast<int>(value.dims()->size()) : 0;
  bool overflow = false;
  for (int axis = 0; axis < rank; ++axis)
    if (!schema::evaluateExpr(*artifact.table().exprs()->Get(value.dims()->Get(axis)),
                              symbols.sizes.data(), symbols.isBound.data(), dims[axis], overflow))
      return -1;
  int64_t size = dlc_type_size_bytes(static_cast<dlc_type>(value.element()), dims, rank);
  if (overflow || size < 0)
    fail(DLC_USAGE, artifact.path, ": the size of value ", index, ", ",
         artifact.valueType(index), ", overflows");
  return size;
}

} // namespace dlc::cli
