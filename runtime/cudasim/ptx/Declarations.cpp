// Parser: everything outside a function's body.

#include "runtime/cudasim/ptx/Parser.h"

#include <charconv>

namespace dlc::sim::ptx {

unsigned typeBytes(const std::string &type) {
  static const std::unordered_map<std::string, unsigned> sizes = {
      {"b8", 1},   {"u8", 1},   {"s8", 1},     {"b16", 2},    {"u16", 2}, {"s16", 2}, {"f16", 2},
      {"bf16", 2}, {"b32", 4},  {"u32", 4},    {"s32", 4},    {"f32", 4}, {"f16x2", 4},
      {"bf16x2", 4}, {"tf32", 4}, {"b64", 8},  {"u64", 8},    {"s64", 8}, {"f64", 8}};
  auto found = sizes.find(type);
  return found == sizes.end() ? 0 : found->second;
}

bool Parser::consume(std::string_view text) {
  if (!peek().is(text))
    return false;
  take();
  return true;
}

void Parser::expect(std::string_view text) {
  if (!consume(text))
    fail("expected '" + std::string(text) + "' before '" + std::string(peek().text) + "'");
}

std::string Parser::word(const char *what) {
  if (peek().kind != Token::Word)
    fail(std::string("expected ") + what + " before '" + std::string(peek().text) + "'");
  return std::string(take().text);
}

int64_t Parser::integer(const char *what) {
  bool isNegative = consume("-");
  if (peek().kind != Token::Number)
    fail(std::string("expected ") + what + " before '" + std::string(peek().text) + "'");
  Operand value = number(isNegative);
  if (value.kind != Operand::Integer)
    fail(std::string(what) + " is no integer");
  return value.integer;
}

uint64_t Parser::count(const char *what, uint64_t most) {
  int64_t value = integer(what);
  if (value < 0 || uint64_t(value) > most)
    fail(std::string(what) + " " + std::to_string(value) + " is out of range");
  return uint64_t(value);
}

std::unique_ptr<Module> parse(const std::string &text) { return Parser(text).run(); }

std::unique_ptr<Module> Parser::run() {
  module = std::make_unique<Module>();
  while (peek().kind != Token::End)
    statement();
  if (module->version == 0)
    fail("no .version: this is no PTX");
  return std::move(module);
}

void Parser::statement() {
  if (consume(".version")) {
    std::string_view text = take().text;
    int major = 0, minor = 0;
    auto end = std::from_chars(text.data(), text.data() + text.size(), major).ptr;
    if (end == text.data() + text.size() || *end != '.')
      fail("a version is written 8.0");
    std::from_chars(end + 1, text.data() + text.size(), minor);
    module->version = major * 10 + minor;
  } else if (consume(".target")) {
    module->target = word("a target");
    while (consume(","))
      word("a target's option");
  } else if (consume(".address_size")) {
    if (integer("an address size") != 64)
      fail("only 64-bit addresses are simulated");
  } else if (consume(".file")) {
    file();
  } else if (consume(".section")) {
    skipSection();
  } else if (consume(".visible") || consume(".weak") || consume(".common")) {
    // Linkage matters between modules, and each is on its own here.
  } else if (consume(".entry")) {
    function(true);
  } else if (consume(".func")) {
    function(false);
  } else {
    moduleVariable();
  }
}

void Parser::file() {
  int number = int(count("a file's number", 1 << 20));
  if (peek().kind != Token::String)
    fail("expected a file's name");
  module->files[number] = std::string(take().text);
  while (consume(",")) // time stamp and size
    take();
}

/// Debugging data: no instructions in it.
void Parser::skipSection() {
  word("a section");
  expect("{");
  for (int depth = 1; depth > 0;) {
    if (peek().kind == Token::End)
      fail("a .section has no end");
    depth += peek().is("{") ? 1 : peek().is("}") ? -1 : 0;
    take();
  }
}

void Parser::moduleVariable() {
  bool isExtern = consume(".extern");
  if (isExtern && consume(".func"))
    return function(false);
  std::string space = word("a declaration");
  Space where = space == ".global"   ? Space::Global
                : space == ".const"  ? Space::Const
                : space == ".shared" ? Space::Shared
                                     : Space::Register;
  if (where == Space::Register)
    fail("unknown declaration '" + space + "'");
  module->variables.push_back(variable(where, isExtern));
  expect(";");
}

/// `.align 4 .b8 name[16] = {...}`, after its space.
Variable Parser::variable(Space space, bool isExtern) {
  Variable result;
  result.line = peek().line;
  result.space = space;
  result.isExtern = isExtern;
  for (bool more = true; more;) {
    more = false;
    if (consume(".align")) {
      result.align = unsigned(count("an alignment", 1 << 20));
      more = true;
    } else if (consume(".ptr")) { // kernel parameter: `.ptr .global .align 16`
      more = consume(".global") || consume(".shared") || consume(".const") || consume(".local");
      if (consume(".align"))
        count("an alignment", 1 << 20);
      more = true;
    } else if (unsigned bytes = peek().text.size() > 1 ? typeBytes(std::string(peek().text.substr(1))) : 0) {
      result.type = std::string(take().text.substr(1));
      result.elementBytes = bytes;
      more = true;
    }
  }
  if (result.elementBytes == 0)
    fail("unknown type '" + std::string(peek().text) + "'");
  if (result.align == 0)
    result.align = result.elementBytes;
  result.name = word("a variable's name");
  while (consume("[")) {
    constexpr uint64_t most = uint64_t(1) << 40;
    uint64_t extent = peek().is("]") ? 0 : count("an extent", most);
    if (extent != 0 && result.numElements > most / extent)
      fail("variable " + result.name + " is too large");
    result.numElements *= extent;
    expect("]");
  }
  if (consume("="))
    initializer(result);
  return result;
}

void Parser::initializer(Variable &variable) {
  uint64_t index = 0;
  if (!peek().is("{")) {
    initialValue(variable, index);
    return;
  }
  int depth = 0;
  do {
    if (consume("{"))
      ++depth;
    else if (consume("}"))
      --depth;
    else if (!consume(","))
      initialValue(variable, index);
  } while (depth > 0);
}

void Parser::initialValue(Variable &variable, uint64_t &index) {
  if (index >= variable.numElements)
    fail("variable " + variable.name + " has more initial values than elements");
  variable.bytes.resize(variable.sizeBytes());
  uint64_t offset = index++ * variable.elementBytes;
  if (peek().kind == Token::Word) {
    bool isGeneric = consume("generic");
    if (isGeneric)
      expect("(");
    Variable::Reference reference{offset, word("a symbol"), 0, isGeneric};
    if (isGeneric)
      expect(")");
    if (consume("+"))
      reference.addend = integer("an offset");
    if (variable.elementBytes != 8)
      fail("an address needs a 64-bit element");
    variable.references.push_back(reference);
    return;
  }
  bool isNegative = consume("-");
  Operand value = number(isNegative);
  uint64_t bits = uint64_t(value.integer);
  for (unsigned i = 0; i < variable.elementBytes; ++i)
    variable.bytes[offset + i] = uint8_t(bits >> (8 * i));
}

std::vector<Variable> Parser::parameters() {
  std::vector<Variable> list;
  if (!consume("("))
    return list;
  while (!consume(")")) {
    if (!list.empty())
      expect(",");
    expect(".param");
    list.push_back(variable(Space::Param, false));
  }
  return list;
}

void Parser::functionDirectives(Function &function) {
  for (;;) {
    bool isMost = peek().is(".maxntid"), isRequired = peek().is(".reqntid");
    if (isMost || isRequired) {
      take();
      uint64_t product = 1;
      for (int axis = 0; axis == 0 || (axis < 3 && consume(",")); ++axis) {
        uint64_t extent = count("a number of threads", 1024);
        product *= extent;
        if (isRequired)
          function.requiredThreads[axis] = unsigned(extent);
      }
      if (isRequired)
        for (unsigned &extent : function.requiredThreads)
          extent = extent ? extent : 1;
      function.maxThreads = unsigned(product);
    } else if (peek().is(".minnctapersm") || peek().is(".maxnctapersm") || peek().is(".maxnreg")) {
      take();
      count("a bound", 1 << 20);
    } else if (!consume(".noreturn")) {
      return;
    }
  }
}

void Parser::function(bool isEntry) {
  auto result = std::make_unique<Function>();
  result->line = peek().line;
  result->isEntry = isEntry;
  if (!isEntry && peek().is("("))
    result->results = parameters();
  result->name = word("a function's name");
  result->params = parameters();
  functionDirectives(*result);
  current = result.get();
  if (!consume(";")) {
    result->hasBody = true;
    body();
  }
  // A definition takes the place of its declaration.
  for (auto &other : module->functions)
    if (other->name == result->name) {
      if (result->hasBody)
        other = std::move(result);
      return;
    }
  module->functions.push_back(std::move(result));
}

} // namespace dlc::sim::ptx
