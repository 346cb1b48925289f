// The parser's private face: declarations in one file, bodies in another.

#ifndef DLC_RUNTIME_CUDASIM_PTX_PARSER_H
#define DLC_RUNTIME_CUDASIM_PTX_PARSER_H

#include "runtime/cudasim/ptx/Lexer.h"

namespace dlc::sim::ptx {

class Parser {
public:
  explicit Parser(const std::string &text) : tokens(tokenize(text)) {}
  std::unique_ptr<Module> run();

private:
  // Tokens.
  const Token &peek(size_t ahead = 0) const {
    return tokens[at + ahead < tokens.size() ? at + ahead : tokens.size() - 1];
  }
  const Token &take() { return tokens[at + 1 < tokens.size() ? at++ : at]; }
  bool consume(std::string_view text);
  void expect(std::string_view text);
  [[noreturn]] void fail(const std::string &text) const { throw Error(peek().line, text); }
  std::string word(const char *what);
  int64_t integer(const char *what);
  uint64_t count(const char *what, uint64_t most);

  // Declarations.
  void statement();
  void file();
  void skipSection();
  void moduleVariable();
  Variable variable(Space space, bool isExtern);
  void initializer(Variable &variable);
  void initialValue(Variable &variable, uint64_t &index);
  void function(bool isEntry);
  std::vector<Variable> parameters();
  void functionDirectives(Function &function);

  // Bodies.
  void body();
  void block();
  void bodyDirective();
  void registers();
  void location();
  void label();
  void instruction();
  Operand operand();
  Operand address();
  Operand vector(const char *close);
  Operand number(bool isNegative);
  std::string resolve(std::string name) const;
  void declare(const std::string &name, const std::string &unique);
  std::string uniqueName(const std::string &name);

  std::vector<Token> tokens;
  size_t at = 0;
  std::unique_ptr<Module> module;
  Function *current = nullptr;
  SourceLine source;
  // Inline assembly declares names of its own in `{ }`: one map a scope.
  std::vector<std::unordered_map<std::string, std::string>> scopes;
  unsigned numRenamed = 0;
};

} // namespace dlc::sim::ptx

#endif // DLC_RUNTIME_CUDASIM_PTX_PARSER_H
