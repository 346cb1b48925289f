// PTX text to tokens. A word keeps its dots: `ld.global.f32`, `%tid.x`, `.reg`.

#ifndef DLC_RUNTIME_CUDASIM_PTX_LEXER_H
#define DLC_RUNTIME_CUDASIM_PTX_LEXER_H

#include "runtime/cudasim/ptx/Module.h"

#include <string_view>

namespace dlc::sim::ptx {

struct Token {
  enum Kind : uint8_t { End, Word, Number, String, Punctuation };
  Kind kind = End;
  std::string_view text;
  int line = 0;
  bool is(std::string_view expected) const { return kind != String && text == expected; }
};

/// The whole text at once; the views point into it.
std::vector<Token> tokenize(std::string_view text);

} // namespace dlc::sim::ptx

#endif // DLC_RUNTIME_CUDASIM_PTX_LEXER_H
