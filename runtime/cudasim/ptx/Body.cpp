// Parser: function bodies.

#include "runtime/cudasim/ptx/Parser.h"

#include <charconv>
#include <cstring>

namespace dlc::sim::ptx {

void Parser::body() {
  scopes.clear();
  source = {};
  expect("{");
  block();
}

/// Up to and with the brace that ends the scope.
void Parser::block() {
  scopes.emplace_back();
  while (!consume("}")) {
    if (peek().kind == Token::End)
      fail("function " + current->name + " has no end");
    if (consume("{"))
      block();
    else if (peek().kind == Token::Word && peek(1).is(":"))
      label();
    else if (peek().kind == Token::Word && peek().text[0] == '.')
      bodyDirective();
    else if (!consume(";"))
      instruction();
  }
  scopes.pop_back();
}

void Parser::bodyDirective() {
  if (consume(".reg"))
    return registers();
  if (consume(".loc"))
    return location();
  if (consume(".pragma")) {
    take();
    return expect(";");
  }
  Space space = peek().is(".shared")  ? Space::Shared
                : peek().is(".local") ? Space::Local
                : peek().is(".param") ? Space::Param
                                      : Space::Register;
  if (space == Space::Register)
    fail("unknown directive '" + std::string(peek().text) + "'");
  take();
  Variable result = variable(space, false);
  expect(";");
  std::string unique = uniqueName(result.name);
  declare(result.name, unique);
  result.name = unique;
  current->variables.push_back(std::move(result));
}

std::string Parser::uniqueName(const std::string &name) {
  // The outermost scope keeps its names, so that messages speak as the text does.
  return scopes.size() == 1 ? name : name + "#" + std::to_string(++numRenamed);
}

void Parser::declare(const std::string &name, const std::string &unique) {
  if (!scopes.back().emplace(name, unique).second)
    fail("'" + name + "' is declared twice");
}

std::string Parser::resolve(std::string name) const {
  for (size_t i = scopes.size(); i-- > 0;)
    if (auto found = scopes[i].find(name); found != scopes[i].end())
      return found->second;
  return name;
}

/// `.reg .b32 %r<10>;` declares %r0 to %r9, `.reg .pred p, q;` two.
void Parser::registers() {
  std::string type = word("a register's type").substr(1);
  unsigned bits = type == "pred" ? 1 : 8 * typeBytes(type);
  if (bits == 0)
    fail("registers of type '." + type + "' are not simulated");
  do {
    std::string name = word("a register's name");
    if (!consume("<")) {
      std::string unique = uniqueName(name);
      declare(name, unique);
      current->registers[unique] = {type, bits};
      continue;
    }
    uint64_t number = count("a number of registers", 1 << 20);
    expect(">");
    for (uint64_t i = 0; i < number; ++i) {
      std::string one = name + std::to_string(i), unique = uniqueName(one);
      declare(one, unique);
      current->registers[unique] = {type, bits};
    }
  } while (consume(","));
  expect(";");
}

/// `.loc 1 9 3, function_name $L__info0, inlined_at 1 13 3`
void Parser::location() {
  source.file = int(count("a file's number", 1 << 20));
  source.line = int(count("a line", 1 << 30));
  count("a column", 1 << 30);
  while (consume(",")) {
    std::string what = word("a location's attribute");
    if (what == "function_name") {
      word("a name");
      if (consume("+"))
        integer("an offset");
    } else if (what == "inlined_at") {
      for (int i = 0; i < 3; ++i)
        count("a position", 1 << 30);
    } else {
      fail("unknown attribute '" + what + "' of .loc");
    }
  }
}

void Parser::label() {
  std::string name = word("a label");
  expect(":");
  if (consume(".branchtargets")) {
    auto &targets = current->branchTables[name];
    do
      targets.push_back(word("a label"));
    while (consume(","));
    return expect(";");
  }
  if (peek().is(".callprototype")) {
    while (!peek().is(";") && peek().kind != Token::End)
      take();
    return expect(";");
  }
  if (!current->labels.emplace(name, current->code.size()).second)
    fail("label " + name + " is declared twice");
}

void Parser::instruction() {
  Instruction inst;
  inst.line = peek().line;
  inst.source = source;
  if (consume("@")) {
    inst.isGuardNegated = consume("!");
    inst.guard = resolve(word("a predicate"));
  }
  std::string opcode = word("an instruction");
  size_t start = opcode.find('.');
  inst.opcode = opcode.substr(0, start);
  while (start != std::string::npos) {
    size_t end = opcode.find('.', start + 1);
    inst.modifiers.push_back(opcode.substr(start + 1, end - start - 1));
    start = end;
  }
  while (!consume(";")) {
    inst.operands.push_back(operand());
    if (consume("|")) // shfl's `%r|%p`
      inst.operands.push_back(operand());
    if (!peek().is(";"))
      expect(",");
  }
  current->code.push_back(std::move(inst));
}

Operand Parser::operand() {
  if (consume("["))
    return address();
  if (consume("{"))
    return vector("}");
  if (consume("("))
    return vector(")");
  Operand result;
  result.isNegated = consume("!");
  bool isNegative = consume("-");
  if (peek().kind == Token::Number)
    return number(isNegative);
  if (isNegative)
    fail("expected a number after '-'");
  result.name = resolve(word("an operand"));
  bool isRegister = result.name[0] == '%' || current->registers.count(result.name) || result.name == "_";
  result.kind = isRegister ? Operand::Register : Operand::Symbol;
  if (result.kind == Operand::Symbol && consume("+"))
    result.integer = integer("an offset");
  return result;
}

/// After `[`: a register or symbol with an offset, or a number.
Operand Parser::address() {
  Operand result;
  result.kind = Operand::Address;
  if (peek().kind == Token::Word) {
    result.name = resolve(word("an address"));
    if (consume("+"))
      result.integer = integer("an offset");
    else if (peek().is("-"))
      result.integer = integer("an offset");
  } else {
    result.integer = integer("an address");
  }
  expect("]");
  return result;
}

Operand Parser::vector(const char *close) {
  Operand result;
  result.kind = Operand::Vector;
  while (!consume(close)) {
    if (!result.parts.empty())
      expect(",");
    result.parts.push_back(operand());
  }
  return result;
}

Operand Parser::number(bool isNegative) {
  std::string text(take().text);
  Operand result;
  bool isBits = text.size() > 2 && text[0] == '0' && strchr("fFdD", text[1]);
  bool isHex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  bool isOctal = !isBits && !isHex && text.size() > 1 && text[0] == '0' && text.find('.') == std::string::npos;
  if (text.back() == 'U')
    text.pop_back();
  if (!isBits && !isHex && text.find_first_of(".eE") != std::string::npos) {
    char *end = nullptr;
    double value = strtod(text.c_str(), &end);
    if (*end)
      fail("'" + text + "' is no number");
    value = isNegative ? -value : value;
    result.kind = Operand::Double;
    memcpy(&result.integer, &value, sizeof value);
    return result;
  }
  uint64_t bits = 0;
  const char *first = text.c_str() + (isBits || isHex ? 2 : 0), *last = text.c_str() + text.size();
  auto [end, code] = std::from_chars(first, last, bits, isBits || isHex ? 16 : isOctal ? 8 : 10);
  if (code != std::errc() || end != last)
    fail("'" + text + "' is no number");
  if (isBits) {
    bool isSingle = text[1] == 'f' || text[1] == 'F';
    result.kind = isSingle ? Operand::Float : Operand::Double;
    bits ^= isNegative ? uint64_t(1) << (isSingle ? 31 : 63) : 0;
    result.integer = int64_t(bits);
    return result;
  }
  result.kind = Operand::Integer;
  result.integer = int64_t(isNegative ? 0 - bits : bits);
  return result;
}

} // namespace dlc::sim::ptx
