#include "runtime/tools/dlc/train/TransformList.h"

#include "runtime/tools/io/Error.h"

#include <algorithm>
#include <charconv>

namespace dlc::cli {

namespace {

using namespace data;
using Numbers = std::vector<double>;

struct Kind {
  const char *name, *arguments;
  size_t least, most; // arguments
  TransformPtr (*make)(const std::string &field, const Numbers &x);
};

int whole(double x) { return static_cast<int>(x); }
double orElse(const Numbers &x, size_t i, double other) { return i < x.size() ? x[i] : other; }

constexpr size_t kAny = DLC_MAX_RANK;
const Kind kKinds[] = {
    {"resize", "H,W", 2, 2, [](const std::string &f, const Numbers &x) { return resize(f, whole(x[0]), whole(x[1])); }},
    {"resize-shorter", "SIDE", 1, 1, [](const std::string &f, const Numbers &x) { return resizeShorter(f, whole(x[0])); }},
    {"center-crop", "H,W", 2, 2,
     [](const std::string &f, const Numbers &x) { return centerCrop(f, whole(x[0]), whole(x[1])); }},
    {"random-crop", "H,W[,PADDING]", 2, 3,
     [](const std::string &f, const Numbers &x) { return randomCrop(f, whole(x[0]), whole(x[1]), whole(orElse(x, 2, 0))); }},
    {"random-resized-crop", "H,W[,LEAST AREA]", 2, 3,
     [](const std::string &f, const Numbers &x) {
       CropRange range;
       range.minArea = orElse(x, 2, range.minArea);
       return randomResizedCrop(f, whole(x[0]), whole(x[1]), range);
     }},
    {"random-flip", "[PROBABILITY]", 0, 1,
     [](const std::string &f, const Numbers &x) { return randomFlip(f, orElse(x, 0, 0.5)); }},
    {"color-jitter", "BRIGHTNESS[,CONTRAST,SATURATION,HUE]", 1, 4,
     [](const std::string &f, const Numbers &x) {
       return colorJitter(f, {x[0], orElse(x, 1, 0), orElse(x, 2, 0), orElse(x, 3, 0)});
     }},
    {"to-gray", "", 0, 0, [](const std::string &f, const Numbers &) { return toGray(f); }},
    {"normalize", "MEANS,DEVIATIONS", 2, 8,
     [](const std::string &f, const Numbers &x) {
       auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
       return normalize(f, Numbers(x.begin(), middle), Numbers(middle, x.end()));
     }},
    {"channels-first", "", 0, 0, [](const std::string &f, const Numbers &) { return channelsFirst(f); }},
    {"one-hot", "CLASSES", 1, 1, [](const std::string &f, const Numbers &x) { return oneHot(f, whole(x[0])); }},
    {"pad", "LENGTH[,VALUE]", 1, 2,
     [](const std::string &f, const Numbers &x) { return padToLength(f, whole(x[0]), orElse(x, 1, 0)); }},
    {"reshape", "SIZES", 1, kAny,
     [](const std::string &f, const Numbers &x) { return reshape(f, std::vector<int64_t>(x.begin(), x.end())); }},
};

Numbers parseNumbers(const std::string &word, const std::string &text) {
  Numbers numbers;
  const char *at = text.data(), *end = at + text.size();
  while (at != end) {
    double value = 0;
    auto [next, error] = std::from_chars(at, end, value);
    bool isLast = next == end;
    if (error != std::errc() || (!isLast && (*next != ',' || next + 1 == end)))
      fail(DLC_USAGE, "--transform ", inQuotes(word), ": not numbers with commas between: ", inQuotes(text));
    numbers.push_back(value);
    at = isLast ? end : next + 1;
  }
  return numbers;
}

bool isImage(const FieldSpec &field) {
  return field.type == DLC_U8 && (field.dims.size() == 2 || field.dims.size() == 3);
}

} // namespace

TransformPtr parseTransform(const std::string &word, const std::string &field) {
  size_t colon = word.find(':'), equals = word.find('=');
  std::string of = colon < equals ? word.substr(0, colon) : field;
  std::string rest = colon < equals ? word.substr(colon + 1) : word;
  std::string name = rest.substr(0, rest.find('='));
  auto kind = std::ranges::find_if(kKinds, [&](const Kind &k) { return name == k.name; });
  if (kind == std::end(kKinds))
    fail(DLC_USAGE, "--transform ", inQuotes(word), ": there are ", transformHelp());
  Numbers numbers = parseNumbers(word, name.size() < rest.size() ? rest.substr(name.size() + 1) : "");
  bool isPairless = name == "normalize" && numbers.size() % 2 != 0;
  if (numbers.size() < kind->least || numbers.size() > kind->most || isPairless)
    fail(DLC_USAGE, "--transform ", inQuotes(word), ": expects ", name, *kind->arguments ? "=" : "", kind->arguments);
  return kind->make(of, numbers);
}

std::string transformHelp() {
  std::string text;
  for (const Kind &kind : kKinds)
    text += (text.empty() ? "" : ", ") + std::string(kind.name) + (*kind.arguments ? "=" : "") + kind.arguments;
  return text;
}

Transforms makeTransforms(const std::vector<std::string> &words, bool channelsLast, const std::string &target,
                          std::vector<FieldSpec> &fields) {
  Transforms transforms;
  auto add = [&](TransformPtr transform) {
    check(transform->bind(fields).release());
    transforms.push_back(std::move(transform));
  };
  auto first = std::ranges::find_if(fields, [&](const FieldSpec &field) { return field.name != target; });
  std::string input = first == fields.end() ? target : first->name;
  std::vector<FieldSpec> given = fields;
  for (const std::string &word : words)
    add(parseTransform(word, input));
  for (size_t i = 0; i < fields.size(); ++i) {
    if (given[i].name == target || !isImage(given[i]))
      continue;
    if (isImage(fields[i]))
      add(normalize(fields[i].name, {0}, {1}));
    // Axes that a transform has changed are as the user wants them.
    bool hasOwnAxes = std::ranges::any_of(words, [](const std::string &word) {
      return word.find("reshape=") != std::string::npos || word.find("channels-first") != std::string::npos;
    });
    if (hasOwnAxes)
      continue;
    std::vector<int64_t> dims = fields[i].dims;
    if (dims.size() == 2)
      add(reshape(fields[i].name, channelsLast ? std::vector<int64_t>{dims[0], dims[1], 1}
                                               : std::vector<int64_t>{1, dims[0], dims[1]}));
    else if (dims.size() == 3 && !channelsLast)
      add(channelsFirst(fields[i].name));
  }
  return transforms;
}

} // namespace dlc::cli
