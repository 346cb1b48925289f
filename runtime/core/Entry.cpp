#include "runtime/core/Entry.h"

#include "runtime/core/Program.h"
#include "runtime/schema/Expr.h"

namespace dlc::rt {

namespace {

std::vector<uint32_t> toVector(const flatbuffers::Vector<uint32_t> *list) {
  return list ? std::vector<uint32_t>(list->begin(), list->end())
              : std::vector<uint32_t>();
}

} // namespace

std::string Entry::nodeNames(const flatbuffers::Vector<uint32_t> *nodes) const {
  std::string text;
  for (uint32_t n : toVector(nodes))
    text += (text.empty() ? "" : ", ") + program.table().nodes()->Get(n)->name()->str();
  return text;
}

size_t Entry::emitControl(schema::Action kind, Control control, std::vector<uint32_t> operands) {
  Instruction result;
  result.kind = kind;
  result.control = control;
  result.operands = std::move(operands);
  instructions.push_back(std::move(result));
  return instructions.size() - 1;
}

void Entry::flattenIf(const schema::If &choice) {
  size_t test = emitControl(schema::Action::If, Control::JumpUnless, {choice.condition()});
  flattenBlock(choice.then_block());
  size_t leave = emitControl(schema::Action::If, Control::Jump, {});
  instructions[test].target = instructions.size();
  flattenBlock(choice.else_block());
  instructions[leave].target = instructions.size();
}

void Entry::flattenLoop(const schema::Loop &loop) {
  emitControl(schema::Action::Loop, Control::LoopBegin, {loop.counter()});
  size_t head = emitControl(schema::Action::Loop, Control::LoopHead,
                            {loop.counter(), loop.condition(), loop.trip()});
  flattenBlock(loop.body());
  std::vector<uint32_t> operands = {loop.counter(), loop.condition(), loop.next_condition()};
  auto pairs = [&](const std::vector<uint32_t> &from, const std::vector<uint32_t> &to) {
    for (size_t i = 0; i < from.size(); ++i)
      operands.insert(operands.end(), {from[i], to[i]});
  };
  pairs(toVector(loop.carried_from()), toVector(loop.carried_to()));
  pairs(toVector(loop.scan_from()), toVector(loop.scan_to()));
  size_t end = emitControl(schema::Action::Loop, Control::LoopEnd, std::move(operands));
  instructions[end].index = toVector(loop.carried_from()).size();
  instructions[end].target = head;
  instructions[head].target = instructions.size();
}

void Entry::flattenBlock(const schema::Block *block) {
  const auto *list = block->instructions();
  for (uint32_t i = 0; list && i < list->size(); ++i) {
    if (const auto *choice = list->Get(i)->action_as_If()) {
      flattenIf(*choice);
      continue;
    }
    if (const auto *loop = list->Get(i)->action_as_Loop()) {
      flattenLoop(*loop);
      continue;
    }
    Instruction result;
    result.kind = list->Get(i)->action_type();
    if (const auto *dispatch = list->Get(i)->action_as_Dispatch()) {
      result.kernel = dispatch->kernel();
      result.operands = toVector(dispatch->operands());
      result.dims = toVector(dispatch->dims());
      result.flops = dispatch->flops();
      result.nodes = nodeNames(dispatch->nodes());
    } else if (const auto *copy = list->Get(i)->action_as_Copy()) {
      result.operands = {copy->source(), copy->target()};
    } else if (const auto *bind = list->Get(i)->action_as_BindSymbol()) {
      result.operands = {bind->value()};
      result.symbol = bind->symbol();
      result.index = bind->index();
    } else if (const auto *check = list->Get(i)->action_as_CheckIndices()) {
      result.operands = {check->value()};
      result.dims = {check->lower(), check->upper()};
      result.nodes = nodeNames(check->nodes());
    }
    instructions.push_back(std::move(result));
  }
}

Entry::Entry(const Program &program, const schema::EntryView &view)
    : program(program), name(program.name), view(view) {
  if (!program.entries().empty()) // the first goes by the file's name alone
    name += " (" + std::string(view.name) + ")";
  flattenBlock(view.body);
  for (uint32_t v = 0; v < view.values->size(); ++v) {
    usesStates |= value(v).storage() == schema::Storage::State;
    dimTexts.emplace_back();
    for (uint32_t e : toVector(value(v).dims()))
      dimTexts.back().push_back(exprText(e));
  }
}

std::string Entry::exprText(uint32_t i) const { return schema::exprText(expr(i), *view.symbols); }

} // namespace dlc::rt
