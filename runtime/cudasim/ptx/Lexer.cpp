#include "runtime/cudasim/ptx/Lexer.h"

namespace dlc::sim::ptx {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' ||
         c == '.';
}
bool isWordPart(char c) { return isWordStart(c) || isDigit(c); }

class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  std::vector<Token> run() {
    while (skipBlank(), at < text.size())
      tokens.push_back(next());
    tokens.push_back({Token::End, {}, line});
    return std::move(tokens);
  }

private:
  char peek(size_t ahead = 0) const {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  }

  void skipBlank() {
    for (; at < text.size(); ++at) {
      char c = text[at];
      if (c == '\n')
        ++line;
      else if (c == '/' && peek(1) == '/')
        skipTo("\n");
      else if (c == '/' && peek(1) == '*')
        skipTo("*/");
      else if (c != ' ' && c != '\t' && c != '\r')
        return;
    }
  }

  /// Leaves `at` on the last character of what ends the comment.
  void skipTo(std::string_view end) {
    size_t found = text.find(end, at + 2);
    if (end == "\n" && found != std::string_view::npos) {
      ++line;
      at = found;
      return;
    }
    size_t last = found == std::string_view::npos ? text.size() : found + end.size();
    for (; at < last; ++at)
      line += text[at] == '\n';
    --at;
  }

  Token next() {
    size_t start = at;
    Token::Kind kind = Token::Punctuation;
    if (isDigit(peek())) {
      kind = Token::Number;
      while (isWordPart(peek()))
        ++at;
    } else if (isWordStart(peek())) {
      kind = Token::Word;
      // `ld.shared::cta` is one word, `$L__BB0_1:` a word and a colon.
      while (isWordPart(peek()) || (peek() == ':' && peek(1) == ':' && at > start)) {
        if (peek() == ':')
          ++at;
        ++at;
      }
    } else if (peek() == '"') {
      return string();
    } else {
      ++at;
    }
    return {kind, text.substr(start, at - start), line};
  }

  Token string() {
    size_t start = ++at;
    while (at < text.size() && text[at] != '"' && text[at] != '\n')
      at += text[at] == '\\' ? 2 : 1;
    if (at >= text.size() || text[at] != '"')
      throw Error(line, "a string has no end");
    return {Token::String, text.substr(start, at++ - start), line};
  }

  std::string_view text;
  size_t at = 0;
  int line = 1;
  std::vector<Token> tokens;
};

} // namespace

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

} // namespace dlc::sim::ptx
