// How functions say that a tensor lives from run to run.

#ifndef DLC_PASSES_STATES_H
#define DLC_PASSES_STATES_H

#include "llvm/ADT/StringRef.h"

namespace dlc {

/// On an argument: the name of the state that it is when a run begins. On a result: the
/// state that has this value when the run ends. Names are one across all functions of a
/// module; a state that no result names stays as it is.
inline constexpr llvm::StringLiteral kStateAttr = "dl.state";
/// On such an argument: its value in a model just loaded; zeros without.
inline constexpr llvm::StringLiteral kInitialAttr = "dl.initial";
/// On such an argument, for tools: "parameter", "moment", "statistic", "gradient",
/// "counter".
inline constexpr llvm::StringLiteral kRoleAttr = "dl.role";

} // namespace dlc

#endif // DLC_PASSES_STATES_H
