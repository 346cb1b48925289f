// Where the values of a run live: the arenas, the caller's tensors, the file.

#include "runtime/core/Executor.h"

#include <algorithm>

namespace dlc::rt {

using schema::Storage;

namespace {

/// A caller's empty tensor may have no memory, but null means not placed.
void *addressOf(const dlc_tensor &tensor) {
  alignas(schema::kBufferAlignment) static char nothing[schema::kBufferAlignment];
  return tensor.data ? tensor.data : nothing;
}

/// The plan adds sizes up: the sum of all must not overflow. -1 if it is absurd.
int64_t totalBytes(const std::vector<schema::ArenaInterval> &intervals) {
  int64_t total = 0;
  for (const schema::ArenaInterval &interval : intervals)
    if (interval.sizeBytes > (int64_t(1) << 56) || (total += interval.sizeBytes) > (int64_t(1) << 56))
      return -1;
  return total;
}

} // namespace

/// The arena values whose sizes the inputs have decided.
Status RunContext::collectSymbolic(std::vector<schema::ArenaInterval> &intervals,
                                   std::vector<uint32_t> &which) {
  for (uint32_t v = 0; v < pointers.size(); ++v) {
    const schema::Value &value = entry.value(v);
    if (value.storage() != Storage::Arena || value.offset() >= 0)
      continue;
    int64_t dims[DLC_MAX_RANK];
    int rank = value.dims() ? int(value.dims()->size()) : 0;
    bool known = true;
    for (int axis = 0; axis < rank; ++axis) {
      known &= bool(isKnown[value.dims()->Get(axis)]);
      dims[axis] = sizes[value.dims()->Get(axis)];
    }
    if (!known)
      continue;
    int64_t size = dlc_type_size_bytes(dlc_type(value.element()), dims, rank);
    if (size < 0)
      return fail(DLC_USAGE, "%s: a value has the impossible shape %s",
                  entry.name.c_str(), dimsText(dims, rank).c_str());
    intervals.push_back({value.first_use(), value.last_use(), size});
    which.push_back(v);
  }
  return nullptr;
}

/// Placements are kept for the last few shapes, so that runs that alternate
/// between lengths do not plan again.
Status RunContext::planSymbolicArena() {
  auto found = std::find_if(placements.begin(), placements.end(),
                            [&](const Placement &p) { return p.symbols == symbols; });
  if (found == placements.end()) {
    std::vector<schema::ArenaInterval> intervals;
    std::vector<uint32_t> which;
    RETURN_IF_ERROR(collectSymbolic(intervals, which));
    if (totalBytes(intervals) < 0)
      return fail(DLC_OUT_OF_MEMORY, "%s: out of memory: these sizes need over 2^56 bytes",
                  entry.name.c_str());
    Placement placement{symbols, std::vector<int64_t>(pointers.size(), -1), 0};
    if (!intervals.empty()) {
      schema::ArenaPlan plan = schema::planArena(intervals);
      placement.peakBytes = plan.peakBytes;
      for (size_t i = 0; i < which.size(); ++i)
        placement.offsets[which[i]] = plan.offsets[i];
    }
    if (placements.size() == kKeptPlacements)
      placements.erase(placements.begin());
    placements.push_back(std::move(placement));
    found = std::prev(placements.end());
  }
  current = &*found;
  return grow(symbolicArena, current->peakBytes, "these sizes need");
}

Status RunContext::placeOutput(uint32_t index, uint32_t output) {
  const schema::Value &value = entry.value(index);
  int64_t dims[DLC_MAX_RANK];
  int rank = value.dims() ? int(value.dims()->size()) : 0;
  for (int axis = 0; axis < rank; ++axis)
    dims[axis] = sizes[value.dims()->Get(axis)];
  auto type = dlc_type(value.element());
  dlc_tensor *&tensor = outputTensors[output];
  if (!tensor) {
    RETURN_IF_ERROR(createTensor(type, dims, rank, &tensor));
    isCreated[output] = 1;
  } else if (tensor->type != type || tensor->rank != rank ||
             !std::equal(dims, dims + rank, tensor->dims)) {
    return fail(DLC_USAGE, "%s: output %s is %s %s, the tensor given is %s %s",
                entry.name.c_str(), value.name()->c_str(), dlc_type_name(type),
                dimsText(dims, rank).c_str(), dlc_type_name(tensor->type),
                dimsText(tensor->dims, tensor->rank).c_str());
  }
  if (stream)
    RETURN_IF_ERROR(grow(blocks[index], bytes[index], "an output of"));
  pointers[index] = stream ? blocks[index].data : addressOf(*tensor);
  return nullptr;
}

Status RunContext::placeValue(uint32_t index) {
  const schema::Value &value = entry.value(index);
  int64_t dims[DLC_MAX_RANK];
  int rank = value.dims() ? int(value.dims()->size()) : 0;
  for (int axis = 0; axis < rank; ++axis) {
    if (!isKnown[value.dims()->Get(axis)])
      return nullptr;
    dims[axis] = sizes[value.dims()->Get(axis)];
  }
  bytes[index] = dlc_type_size_bytes(dlc_type(value.element()), dims, rank);
  if (bytes[index] < 0)
    return fail(DLC_USAGE, "%s: a value has the impossible shape %s",
                entry.name.c_str(), dimsText(dims, rank).c_str());
  switch (value.storage()) {
  case Storage::Input:
  case Storage::Output: {
    bool isInput = value.storage() == Storage::Input;
    const auto &list = isInput ? *entry.table().inputs : *entry.table().outputs;
    for (uint32_t i = 0; i < list.size(); ++i)
      if (list.Get(i) == index) {
        if (!isInput)
          return placeOutput(index, i);
        if (stream)
          RETURN_IF_ERROR(grow(blocks[index], bytes[index], "an input of"));
        pointers[index] = stream ? blocks[index].data : addressOf(*inputTensors[i]);
      }
    return nullptr;
  }
  case Storage::Constant:
    pointers[index] = device ? device->constant(value.constant())
                             : const_cast<void *>(entry.program.constantData(value.constant()));
    return nullptr;
  case Storage::State:
    pointers[index] = states + entry.program.table().states()->Get(value.state())->offset();
    return nullptr;
  case Storage::Alias:
    if (pointers[value.alias()] && bytes[value.alias()] != bytes[index])
      return fail(DLC_USAGE, "%s: cannot reshape %lld bytes to %s (%lld bytes)",
                  entry.name.c_str(), (long long)bytes[value.alias()],
                  dimsText(dims, rank).c_str(), (long long)bytes[index]);
    pointers[index] = pointers[value.alias()];
    return nullptr;
  case Storage::Arena:
    break;
  }
  if (value.offset() >= 0) {
    pointers[index] = static_cast<char *>(arena.data) + value.offset();
  } else if (current->offsets[index] >= 0) {
    pointers[index] = static_cast<char *>(symbolicArena.data) + current->offsets[index];
  } else {
    RETURN_IF_ERROR(grow(blocks[index], bytes[index], "a value of"));
    pointers[index] = blocks[index].data;
  }
  return nullptr;
}

Status RunContext::placeValues() {
  for (uint32_t v = 0; v < pointers.size(); ++v)
    if (!pointers[v])
      RETURN_IF_ERROR(placeValue(v));
  return nullptr;
}

Status RunContext::requirePlaced(uint32_t value) {
  if (pointers[value])
    return nullptr;
  return fail(DLC_USAGE, "%s: broken artifact: value %u is used before its size is known",
              entry.name.c_str(), value);
}

Status RunContext::requireKnown(uint32_t expr) {
  if (isKnown[expr])
    return nullptr;
  return fail(DLC_USAGE, "%s: broken artifact: the size %s is used before it is known",
              entry.name.c_str(), entry.exprText(expr).c_str());
}

/// An output whose size nothing decided would be left unwritten without a word.
Status RunContext::requireOutputs() {
  for (uint32_t output : *entry.table().outputs)
    RETURN_IF_ERROR(requirePlaced(output));
  return nullptr;
}

} // namespace dlc::rt
