// Einsum as matrix products: operands are multiplied pair by pair, each pair as
// [batch, rows, summed] x [batch, summed, columns].

#include "frontends/onnx/ops/Families.h"

#include "dialects/dl/ops/Constant.h"
#include "dialects/dl/ops/Elementwise.h"
#include "dialects/dl/ops/MatMul.h"
#include "dialects/dl/ops/Movement.h"
#include "dialects/dl/ops/Reduce.h"
#include "dialects/dl/ops/Slice.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace dlc::onnx {

namespace {

/// One label per axis: a letter, or kEllipsis + i for the i-th axis from the end of
/// what "..." stands for.
using Labels = SmallVector<int>;
constexpr int kEllipsis = 1000;

struct Term {
  Value value;
  Labels labels;
};

struct Equation {
  SmallVector<std::string> inputs;
  std::string output;
  bool hasOutput = false;
};

bool isTerm(StringRef text) {
  size_t dots = text.find("...");
  if (dots != StringRef::npos)
    return llvm::all_of(text.take_front(dots), llvm::isAlpha) &&
           llvm::all_of(text.drop_front(dots + 3), llvm::isAlpha);
  return llvm::all_of(text, llvm::isAlpha);
}

FailureOr<Equation> parseEquation(NodeContext &c) {
  std::string text = c.stringAttr("equation", "");
  llvm::erase(text, ' ');
  auto [left, right] = StringRef(text).split("->");
  Equation e;
  e.hasOutput = StringRef(text).contains("->");
  e.output = right.str();
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  for (StringRef part : parts)
    e.inputs.push_back(part.str());
  for (StringRef part : llvm::concat<StringRef>(parts, SmallVector<StringRef>{right}))
    if (!isTerm(part))
      return c.invalid("equation " + quoted(text) + " has the broken term " + quoted(part));
  if (e.inputs.size() != c.numInputs())
    return c.invalid("equation " + quoted(text) + " is for " + Twine(e.inputs.size()) +
                     " operands, but there are " + Twine(c.numInputs()));
  return e;
}

/// Labels of a term whose ellipsis stands for `numDots` axes.
Labels expandTerm(StringRef term, int64_t numDots) {
  Labels labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] != '.') {
      labels.push_back(term[i]);
      continue;
    }
    for (int64_t k = numDots; k-- > 0;)
      labels.push_back(kEllipsis + int(k));
    i += 2;
  }
  return labels;
}

class Contractor {
public:
  explicit Contractor(NodeContext &c) : c(c) {}

  Value run() {
    auto equation = parseEquation(c);
    if (failed(equation) || !readTerms(*equation))
      return {};
    Labels output = outputLabels(*equation);
    if (!checkOutput(output))
      return {};
    for (Term &term : terms)
      takeDiagonals(term);
    Term result = terms.front();
    for (size_t i = 1; i < terms.size() && !c.failed(); ++i)
      result = multiply(result, terms[i], neededAfter(i, output));
    if (c.failed())
      return {};
    reduceTo(result, output);
    return arrange(result, output);
  }

private:
  bool readTerms(const Equation &e) {
    for (auto [i, text] : llvm::enumerate(e.inputs)) {
      Value v = c.input(i);
      if (!v)
        return succeeded(c.invalid("operand " + Twine(i) + " is missing"));
      bool hasDots = StringRef(text).contains('.');
      int64_t letters = int64_t(text.size()) - (hasDots ? 3 : 0), dots = c.rank(v) - letters;
      if (dots < 0 || (dots > 0 && !hasDots))
        return succeeded(c.invalid("operand " + Twine(i) + " has rank " + Twine(c.rank(v)) +
                                   ", which the term " + quoted(text) + " does not fit"));
      mostDots = std::max(mostDots, dots);
      terms.push_back({v, expandTerm(text, dots)});
    }
    return true;
  }

  /// Without an arrow: the ellipsis, then the letters that occur once, in order.
  Labels outputLabels(const Equation &e) {
    if (e.hasOutput)
      return expandTerm(e.output, mostDots);
    std::map<int, int> counts;
    for (const Term &term : terms)
      for (int label : term.labels)
        ++counts[label];
    Labels output;
    for (int64_t k = mostDots; k-- > 0;)
      output.push_back(kEllipsis + int(k));
    for (auto [label, count] : counts)
      if (label < kEllipsis && count == 1)
        output.push_back(label);
    return output;
  }

  bool checkOutput(const Labels &output) {
    for (auto [i, label] : llvm::enumerate(output)) {
      std::string name(1, char(label));
      if (llvm::is_contained(ArrayRef(output).take_front(i), label))
        return succeeded(c.invalid("the equation's output names '" + name + "' twice"));
      if (label < kEllipsis && llvm::none_of(terms, [&](const Term &t) {
            return llvm::is_contained(t.labels, label);
          }))
        return succeeded(c.invalid("the equation's output names '" + name +
                                   "', which no operand has"));
    }
    return true;
  }

  /// Axes of one label become one axis: its diagonal.
  void takeDiagonals(Term &term) {
    for (size_t i = 0; i < term.labels.size() && !c.failed(); ++i)
      for (size_t j = i + 1; j < term.labels.size(); ++j)
        if (term.labels[i] == term.labels[j]) {
          diagonal(term, i, j);
          j = i;
        }
  }

  /// Moves axes i and j to the end, joins them, and takes every (n + 1)-th element.
  void diagonal(Term &term, size_t i, size_t j) {
    auto type = c.type(term.value);
    int64_t rank = type.getRank(), n = type.getDimSize(i);
    if (!type.hasStaticShape())
      return (void)c.unsupported("a diagonal of symbolic size");
    if (n != type.getDimSize(j))
      return (void)c.invalid("a repeated label has the sizes " + Twine(n) + " and " +
                             Twine(type.getDimSize(j)));
    SmallVector<int64_t> order, shape, bounds;
    Labels labels;
    for (int64_t axis = 0; axis < rank; ++axis)
      if (axis != int64_t(i) && axis != int64_t(j)) {
        order.push_back(axis);
        labels.push_back(term.labels[axis]);
        shape.push_back(type.getDimSize(axis));
      }
    labels.push_back(term.labels[i]);
    order.append({int64_t(i), int64_t(j)});
    shape.push_back(n * n);
    Value flat = c.reshape(c.transpose(term.value, order), shape);
    bounds.append(rank - 1, 0);
    bounds.append(shape.begin(), shape.end() - 1);
    bounds.push_back(n);
    bounds.append(rank - 2, 1);
    bounds.push_back(n + 1);
    auto boundsType = RankedTensorType::get({3, rank - 1}, c.b.getI64Type());
    Value at = c.constant(DenseElementsAttr::get(boundsType, ArrayRef(bounds)));
    term = {c.make<dl::SliceOp>(flat, at), labels};
  }

  Labels neededAfter(size_t i, const Labels &output) {
    Labels needed = output;
    for (const Term &term : ArrayRef(terms).drop_front(i + 1))
      needed.append(term.labels);
    return needed;
  }

  /// Sums over the axes whose labels `keep` lacks.
  void reduceTo(Term &term, const Labels &keep) {
    SmallVector<int64_t> axes;
    Labels left;
    for (auto [axis, label] : llvm::enumerate(term.labels)) {
      if (llvm::is_contained(keep, label))
        left.push_back(label);
      else
        axes.push_back(axis);
    }
    if (axes.empty())
      return;
    auto kind = dl::ReduceKindAttr::get(c.b.getContext(), dl::ReduceKind::sum);
    term = {c.make<dl::ReduceOp>(term.value, kind, c.array(axes), c.b.getBoolAttr(false)), left};
  }

  /// The term's axes in the order of `labels`; those it lacks have size 1.
  Value arrange(const Term &term, const Labels &labels) {
    SmallVector<int64_t> order;
    SmallVector<Value> sizes;
    bool isComplete = true;
    for (int label : labels) {
      auto it = llvm::find(term.labels, label);
      isComplete &= it != term.labels.end();
      if (it != term.labels.end())
        order.push_back(it - term.labels.begin());
    }
    Value moved = c.transpose(term.value, order);
    if (isComplete)
      return moved;
    SmallVector<Labels> groups;
    for (int label : labels)
      groups.push_back({label});
    return c.reshape(moved, shapeOfGroups({term}, groups));
  }

  /// An i64 vector with one size per group of labels: the product of their sizes.
  Value shapeOfGroups(ArrayRef<Term> from, ArrayRef<Labels> groups) {
    SmallVector<Value> sizes;
    for (const Labels &group : groups) {
      Value size = c.ints({1});
      for (int label : group)
        if (Value one = sizeOf(from, label))
          size = c.make<dl::MulOp>(size, one);
      sizes.push_back(size);
    }
    if (sizes.empty())
      return c.ints({});
    return c.make<dl::ConcatOp>(ValueRange(sizes), c.b.getI64IntegerAttr(0));
  }

  /// The size of a label: that of the first term where it is not 1.
  Value sizeOf(ArrayRef<Term> from, int label) {
    Value found;
    for (const Term &term : from) {
      auto it = llvm::find(term.labels, label);
      if (it == term.labels.end() || c.failed())
        continue;
      int64_t axis = it - term.labels.begin();
      if (found && c.type(term.value).getDimSize(axis) == 1)
        continue;
      found = c.slice(c.shapeOf(term.value), axis, axis + 1);
      if (c.type(term.value).getDimSize(axis) != 1)
        break;
    }
    return found;
  }

  Term multiply(Term a, Term b, const Labels &needed) {
    Labels keepA = needed, keepB = needed;
    keepA.append(b.labels);
    keepB.append(a.labels);
    reduceTo(a, keepA);
    reduceTo(b, keepB);
    if (c.failed())
      return a;
    Labels batch, rows, summed, columns;
    for (int label : a.labels) {
      bool inB = llvm::is_contained(b.labels, label), stays = llvm::is_contained(needed, label);
      (!inB ? rows : stays ? batch : summed).push_back(label);
    }
    for (int label : b.labels)
      if (!llvm::is_contained(a.labels, label))
        columns.push_back(label);
    if (!sameSizes(a, b, summed))
      return a;
    Value left = matrix(a, batch, rows, summed), right = matrix(b, batch, summed, columns);
    Value product = c.make<dl::MatMulOp>(left, right, UnitAttr(), UnitAttr());
    Labels labels = batch;
    labels.append(rows);
    labels.append(columns);
    SmallVector<Labels> groups;
    for (int label : labels)
      groups.push_back({label});
    return {c.reshape(product, shapeOfGroups({a, b}, groups)), labels};
  }

  /// Summed axes are not broadcast: their sizes must agree.
  bool sameSizes(const Term &a, const Term &b, const Labels &summed) {
    for (int label : summed) {
      int64_t x = c.type(a.value).getDimSize(llvm::find(a.labels, label) - a.labels.begin());
      int64_t y = c.type(b.value).getDimSize(llvm::find(b.labels, label) - b.labels.begin());
      if (x != y && !ShapedType::isDynamic(x) && !ShapedType::isDynamic(y)) {
        std::string name = label < kEllipsis ? std::string(1, char(label)) : "...";
        (void)c.invalid("label '" + name + "' has the sizes " + Twine(x) + " and " + Twine(y));
        return false;
      }
    }
    return true;
  }

  /// [batch.., rows, columns] with all labels of a group in one axis.
  Value matrix(const Term &term, const Labels &batch, const Labels &rows, const Labels &columns) {
    Labels order = batch;
    order.append(rows);
    order.append(columns);
    Value moved = arrange(term, order);
    SmallVector<Labels> groups;
    for (int label : batch)
      groups.push_back({label});
    groups.push_back(rows);
    groups.push_back(columns);
    return c.failed() ? Value() : c.reshape(moved, shapeOfGroups({term}, groups));
  }

  NodeContext &c;
  SmallVector<Term> terms;
  int64_t mostDots = 0;
};

LogicalResult einsum(NodeContext &c) { return c.done(Contractor(c).run()); }

} // namespace

void addEinsum(Registry &r) { r.add("Einsum", 1, kAnyNumber, einsum, 12); }

} // namespace dlc::onnx
