// Transforms as words: "random-crop=28,28,2", "image:normalize=0.5,0.25".

#ifndef DLC_RUNTIME_TOOLS_DLC_TRAIN_TRANSFORMLIST_H
#define DLC_RUNTIME_TOOLS_DLC_TRAIN_TRANSFORMLIST_H

#include "dlc/data.hpp"

#include <string>
#include <vector>

namespace dlc::cli {

/// One transform; without a field's name in front it is of `field`. Errors name the word.
data::TransformPtr parseTransform(const std::string &word, const std::string &field);

/// All words and what they do, for a help text.
std::string transformHelp();

/// The transforms of the words, and those that make the samples fit a model: pixels of u8
/// become f32 from 0 to 1, and channels come first unless `channelsLast`. `fields` are what
/// the dataset has and become what comes out; the field called `target` is left alone.
data::Transforms makeTransforms(const std::vector<std::string> &words, bool channelsLast, const std::string &target,
                                std::vector<data::FieldSpec> &fields);

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_DLC_TRAIN_TRANSFORMLIST_H
