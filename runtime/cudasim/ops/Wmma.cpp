// wmma: matrices spread over a warp's registers in an order that programs may not know.
// Here element j of lane l is element l * (elements a lane) + j, counted by rows;
// where registers have room for more, they hold the matrix twice.

#include "runtime/cudasim/ops/Access.h"
#include "runtime/cudasim/ops/Narrow.h"

namespace dlc::sim {

namespace {

using ptx::Space;

struct Shape {
  unsigned m = 0, n = 0, k = 0;
};
/// What a fragment is: in Inst::width (rows), count (columns), mode (element type).
unsigned perRegister(Type type) { return bitsOf(type) >= 32 ? 1 : 32 / bitsOf(type); }

double get(Warp &w, const Ref *registers, unsigned count, unsigned index, Type type, unsigned total) {
  unsigned each = perRegister(type), perLane = count * each;
  if (perLane * kLanes > total)
    perLane = total / kLanes;
  unsigned lane = index / perLane, j = index % perLane;
  uint32_t bits = w.in<uint32_t>(registers[j / each])[lane] >> (j % each * (32 / each) % 32);
  switch (type) {
  case Type::F16: return halfToFloat(uint16_t(bits));
  case Type::BF16: return bfloatToFloat(uint16_t(bits));
  case Type::TF32: return bitsTo<float>(bits & ~0x1fffu);
  case Type::F32: return bitsTo<float>(bits);
  case Type::S8: return int8_t(bits);
  case Type::U8: return uint8_t(bits);
  default: return int32_t(bits);
  }
}

unsigned bytesOf(Type type) { return bitsOf(type) / 8; }

/// flags 2: column major; list: registers, then the leading dimension.
template <bool isStore> void move(Warp &w, const Inst &i, uint32_t active) {
  if (!w.gather(i, active, kAllLanes))
    return;
  if (active != kAllLanes)
    w.fault(i, kLaunchFailed, __builtin_ctz(active), "wmma needs all 32 lanes");
  Type type = Type(i.mode);
  unsigned rows = i.width, columns = i.index & 255, count = i.count, total = rows * columns;
  unsigned each = perRegister(type), perLane = count * each, bytes = bytesOf(type);
  uint64_t addresses[kLanes];
  addressesOf(w, i, addresses);
  const uint32_t *leading = w.in<uint32_t>(i.list[count]);
  if (perLane * kLanes > total)
    perLane = total / kLanes;
  for (unsigned j = 0; j < count * each; ++j) {
    uint64_t at[kLanes];
    char *pointers[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) {
      unsigned index = l * perLane + j % perLane, row = index / columns, column = index % columns;
      uint64_t offset = i.flags & 2 ? row + uint64_t(column) * leading[l] : uint64_t(row) * leading[l] + column;
      at[l] = addresses[l] + offset * bytes;
    }
    if (isStore && j >= perLane)
      break;
    translate(w, i, kAllLanes, {Space(i.space), isStore ? AccessKind::Write : AccessKind::Read, bytes, bytes}, at, pointers);
    unsigned shift = j % each * 8 * bytes;
    uint32_t mask = bytes == 4 ? ~0u : ((1u << (8 * bytes)) - 1) << shift;
    uint32_t *d = w.out<uint32_t>(i.list[j / each]);
    for (unsigned l = 0; l < kLanes; ++l) {
      uint32_t value = isStore ? (d[l] & mask) >> shift : 0;
      if (isStore) {
        memcpy(pointers[l], &value, bytes);
      } else {
        memcpy(&value, pointers[l], bytes);
        d[l] = (d[l] & ~mask) | value << shift;
      }
    }
  }
}

/// list: d, a, b, c; imm: counts of registers, m, n, k.
struct Product {
  Shape shape;
  Type d, a, b, c;
  unsigned count[4];
  bool isSaturating;
};
void multiply(Warp &w, const Inst &i, uint32_t active) {
  if (!w.gather(i, active, kAllLanes))
    return;
  if (active != kAllLanes)
    w.fault(i, kLaunchFailed, __builtin_ctz(active), "wmma needs all 32 lanes");
  const Product &p = *static_cast<const Product *>(i.step[0]);
  auto [m, n, k] = p.shape;
  const Ref *d = i.list, *a = d + p.count[0], *b = a + p.count[1], *c = b + p.count[2];
  std::vector<double> left(m * k), right(k * n), sums(m * n);
  for (unsigned x = 0; x < m * k; ++x)
    left[x] = get(w, a, p.count[1], x, p.a, m * k);
  for (unsigned x = 0; x < k * n; ++x)
    right[x] = get(w, b, p.count[2], x, p.b, k * n);
  for (unsigned x = 0; x < m * n; ++x)
    sums[x] = get(w, c, p.count[3], x, p.c, m * n);
  for (unsigned row = 0; row < m; ++row)
    for (unsigned x = 0; x < k; ++x)
      for (unsigned column = 0; column < n; ++column)
        sums[row * n + column] += left[row * k + x] * right[x * n + column];
  unsigned each = perRegister(p.d), perLane = m * n / kLanes;
  for (unsigned x = 0; x < m * n; ++x) {
    unsigned lane = x / perLane, j = x % perLane;
    if (p.d == Type::F16) {
      w.out<uint16_t>(d[j / each])[2 * lane + j % each] = uint16_t(toNarrow(sums[x], kF16, Rounding::Nearest, false));
    } else if (p.d == Type::F32) {
      float total = float(sums[x]);
      w.out<float>(d[j])[lane] = total == total ? total : bitsTo<float>(0x7fffffffu);
    } else {
      int64_t total = int64_t(sums[x]);
      if (p.isSaturating)
        total = total > INT32_MAX ? INT32_MAX : total < INT32_MIN ? INT32_MIN : total;
      w.out<int32_t>(d[j])[lane] = int32_t(total);
    }
  }
}

Shape takeShape(Decoder &decoder) {
  static constexpr Shape shapes[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}, {16, 16, 8}};
  int which = decoder.takeOne({"m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8"});
  if (which < 0)
    decoder.fail(decoder.text() + " is not simulated");
  return shapes[which];
}

void checkType(Decoder &decoder, Type type) {
  for (Type known : {Type::F16, Type::BF16, Type::TF32, Type::F32, Type::S8, Type::U8, Type::S32})
    if (type == known)
      return;
  decoder.fail(decoder.text() + " is not simulated");
}

void append(Decoder &decoder, const ptx::Operand &operand, bool isOut, std::vector<Ref> &refs) {
  std::vector<ptx::Operand> parts = operand.kind == ptx::Operand::Vector ? operand.parts : std::vector<ptx::Operand>{operand};
  for (const ptx::Operand &part : parts)
    refs.push_back(isOut ? decoder.out(part, Type::B32) : decoder.in(part, part.kind == ptx::Operand::Float ? Type::F32 : Type::B32));
}

void decodeMove(Decoder &decoder, Inst &inst, bool isStore) {
  int which = isStore ? 2 : decoder.takeOne({"a", "b", "c"});
  if (isStore && !decoder.take("d"))
    which = -1;
  int layout = decoder.takeOne({"row", "col"});
  Shape shape = takeShape(decoder);
  Space space = takeSpace(decoder);
  Type type = decoder.takeType();
  checkType(decoder, type);
  if (which < 0 || layout < 0)
    decoder.fail(decoder.text() + " is not simulated");
  decoder.expectOperands(2, 3);
  unsigned rows = which == 1 ? shape.k : shape.m, columns = which == 0 ? shape.k : shape.n;
  std::vector<Ref> refs;
  append(decoder, decoder.operand(isStore ? 1 : 0), !isStore, refs);
  inst.count = uint8_t(refs.size());
  unsigned capacity = unsigned(refs.size()) * perRegister(type) * kLanes;
  if (capacity < rows * columns || capacity % (rows * columns) != 0)
    decoder.fail(decoder.text() + ": " + std::to_string(refs.size()) + " registers");
  if (decoder.numOperands() == 3)
    refs.push_back(decoder.in(2, Type::U32));
  else
    refs.push_back(decoder.constant(layout ? rows : columns, 4));
  decoder.address(decoder.operand(isStore ? 0 : 1), space, inst);
  inst.flags |= layout ? 2 : 0;
  inst.list = decoder.list(refs);
  inst.width = uint8_t(rows);
  inst.index = uint16_t(columns);
  inst.mode = uint8_t(type);
  inst.space = uint8_t(space);
  inst.run = isStore ? move<true> : move<false>;
}

void decodeMultiply(Decoder &decoder, Inst &inst) {
  // Layouts concern loads alone: a fragment here is always by rows.
  decoder.takeOne({"row", "col"});
  decoder.takeOne({"row", "col"});
  auto product = std::make_shared<Product>();
  product->shape = takeShape(decoder);
  product->isSaturating = decoder.take("satfinite");
  product->d = decoder.takeType();
  Type second = decoder.takeType();
  // With f16 only the accumulators' types are named.
  if (auto third = decoder.takeTypeIf()) {
    product->a = second;
    product->b = *third;
    product->c = decoder.takeType();
  } else {
    product->a = product->b = Type::F16;
    product->c = second;
  }
  for (Type type : {product->a, product->b, product->c, product->d})
    checkType(decoder, type);
  decoder.expectOperands(4, 4);
  std::vector<Ref> refs;
  for (size_t group = 0; group < 4; ++group) {
    size_t before = refs.size();
    append(decoder, decoder.operand(group), group == 0, refs);
    product->count[group] = unsigned(refs.size() - before);
  }
  auto [m, n, k] = product->shape;
  unsigned sizes[] = {m * n, m * k, k * n, m * n};
  Type types[] = {product->d, product->a, product->b, product->c};
  for (int group = 0; group < 4; ++group)
    if (product->count[group] * perRegister(types[group]) * kLanes < sizes[group])
      decoder.fail(decoder.text() + ": too few registers");
  inst.list = decoder.list(refs);
  inst.step[0] = product.get();
  decoder.program.owned.push_back(product);
  inst.run = multiply;
}

void decodeWmma(Decoder &decoder, Inst &inst) {
  decoder.takeAny({"sync", "aligned"});
  int what = decoder.takeOne({"load", "store", "mma"});
  if (what < 0)
    decoder.fail(decoder.text() + " is not simulated");
  what == 2 ? decodeMultiply(decoder, inst) : decodeMove(decoder, inst, what == 1);
}

constexpr Decoding decodings[] = {{"wmma", decodeWmma}};

} // namespace

DLC_SIM_FAMILY(kWmma);

} // namespace dlc::sim
