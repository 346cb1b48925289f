#include "runtime/tools/dlc/Weights.h"

#include "runtime/tools/io/Error.h"

namespace dlc::cli {

namespace {

Weight weightAt(const Artifact &artifact, uint32_t index) {
  const schema::Artifact &table = artifact.table();
  std::string name = text(table.weight_names()->Get(index));
  std::string where = artifact.path + ": weight " + inQuotes(name);
  auto element = table.weight_elements()->Get(index);
  Dims dims;
  if (const auto *steps = table.weight_dims()->Get(index)->steps())
    for (const schema::ExprStep *step : *steps)
      dims.push_back(step->value());
  if (dims.size() > DLC_MAX_RANK)
    fail(DLC_USAGE, where, " has rank ", dims.size());
  const schema::Constant &constant = *table.constants()->Get(table.weight_values()->Get(index));
  // The API takes writable memory; a view that is only read never writes to it.
  auto *data = const_cast<uint8_t *>(artifact.bytes().data() + constant.offset());
  dlc_tensor *tensor = nullptr;
  check(dlc_tensor_wrap(static_cast<dlc_type>(element), dims.data(), static_cast<int>(dims.size()),
                        data, constant.size_bytes(), &tensor),
        where);
  return {std::move(name), Tensor(tensor)};
}

} // namespace

std::vector<Weight> weightsOf(const Artifact &artifact) {
  std::vector<Weight> weights;
  const auto *names = artifact.table().weight_names();
  for (uint32_t i = 0; names && i < names->size(); ++i)
    weights.push_back(weightAt(artifact, i));
  return weights;
}

} // namespace dlc::cli
