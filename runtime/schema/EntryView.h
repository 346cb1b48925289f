// The programs of an artifact alike: the first one, whose tables are the
// artifact's own, and those in its `entries`.

#ifndef DLC_RUNTIME_SCHEMA_ENTRYVIEW_H
#define DLC_RUNTIME_SCHEMA_ENTRYVIEW_H

#include "runtime/schema/artifact_generated.h"

namespace dlc::schema {

struct EntryView {
  const char *name;
  const flatbuffers::Vector<flatbuffers::Offset<Expr>> *exprs;
  const flatbuffers::Vector<flatbuffers::Offset<DimSymbol>> *symbols;
  const flatbuffers::Vector<flatbuffers::Offset<Constraint>> *constraints;
  const flatbuffers::Vector<flatbuffers::Offset<Value>> *values;
  const flatbuffers::Vector<uint32_t> *inputs, *outputs;
  const Block *body;
  int64_t arenaBytes, arenaLowerBound;
  const flatbuffers::Vector<uint32_t> *updates; // null: none
};

/// Works for `Artifact` and `Entry`, which name these fields alike.
template <typename Table>
EntryView viewOf(const Table &table, const flatbuffers::String *name) {
  return {name ? name->c_str() : "main", table.exprs(), table.symbols(),
          table.constraints(), table.values(), table.inputs(), table.outputs(),
          table.body(), table.arena_bytes(), table.arena_lower_bound(),
          table.updates()};
}

inline uint32_t entryCount(const Artifact &artifact) {
  return 1 + (artifact.entries() ? artifact.entries()->size() : 0);
}

/// Entry 0 is the artifact's own program.
inline EntryView entryAt(const Artifact &artifact, uint32_t i) {
  if (i == 0)
    return viewOf(artifact, artifact.entry_name());
  const Entry &entry = *artifact.entries()->Get(i - 1);
  return viewOf(entry, entry.name());
}

} // namespace dlc::schema

#endif // DLC_RUNTIME_SCHEMA_ENTRYVIEW_H
