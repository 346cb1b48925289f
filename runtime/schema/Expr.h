// Evaluates and prints the size expressions of an artifact: for the executor and
// for tools that show sizes. Expressions must have been validated.

#ifndef DLC_RUNTIME_SCHEMA_EXPR_H
#define DLC_RUNTIME_SCHEMA_EXPR_H

#include "runtime/schema/artifact_generated.h"

#include <algorithm>
#include <string>
#include <vector>

namespace dlc::schema {

/// No valid expression needs a deeper stack.
inline constexpr int kExprStackDepth = 64;
/// Longer ones the compiler refuses to write; printing them takes quadratic time.
inline constexpr uint64_t kMostExprSteps = 4096;

/// False while a symbol in it has no value. On overflow, or division by what is
/// not positive, `overflow` is set and the result means nothing.
inline bool evaluateExpr(const Expr &expr, const int64_t *symbols, const char *isBound,
                         int64_t &result, bool &overflow) {
  int64_t stack[kExprStackDepth + 1];
  int top = 0;
  for (const ExprStep *step : *expr.steps()) {
    if (step->code() == ExprCode::Const) {
      stack[top++] = step->value();
      continue;
    }
    if (step->code() == ExprCode::Symbol) {
      if (!isBound[step->value()])
        return false;
      stack[top++] = symbols[step->value()];
      continue;
    }
    int64_t b = stack[--top], &a = stack[top - 1];
    switch (step->code()) {
    case ExprCode::Add: overflow |= __builtin_add_overflow(a, b, &a); break;
    case ExprCode::Mul: overflow |= __builtin_mul_overflow(a, b, &a); break;
    case ExprCode::Min: a = std::min(a, b); break;
    case ExprCode::Max: a = std::max(a, b); break;
    default: {
      if (b <= 0) {
        overflow = true;
        break;
      }
      int64_t quotient = a / b, remainder = a % b;
      if (remainder < 0)
        --quotient, remainder += b;
      a = step->code() == ExprCode::Mod        ? remainder
          : step->code() == ExprCode::FloorDiv ? quotient
                                               : quotient + (remainder != 0);
    }
    }
  }
  result = stack[0];
  return true;
}

/// "N*2", for messages and signatures.
inline std::string exprText(const Expr &expr,
                            const flatbuffers::Vector<flatbuffers::Offset<DimSymbol>> &symbols) {
  static const char *const infix[] = {"", "", " + ", "*", " / ", " ceildiv ", " mod ",
                                      " min ", " max "};
  std::vector<std::string> stack;
  for (const ExprStep *step : *expr.steps()) {
    if (step->code() == ExprCode::Const) {
      stack.push_back(std::to_string(step->value()));
    } else if (step->code() == ExprCode::Symbol) {
      stack.push_back(symbols.Get(step->value())->name()->str());
    } else {
      std::string right = std::move(stack.back());
      stack.pop_back();
      bool isProduct = step->code() == ExprCode::Mul;
      std::string text = stack.back() + infix[int(step->code())] + right;
      stack.back() = isProduct ? text : "(" + text + ")";
    }
  }
  std::string text = stack.back();
  if (text.size() > 2 && text.front() == '(' && text.back() == ')' &&
      text.find('(', 1) == std::string::npos)
    return text.substr(1, text.size() - 2);
  return text;
}

} // namespace dlc::schema

#endif // DLC_RUNTIME_SCHEMA_EXPR_H
