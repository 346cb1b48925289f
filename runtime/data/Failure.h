// Inside the pipeline errors are thrown, as the readers of files do; the interface
// returns them. This is the edge between the two.

#ifndef DLC_RUNTIME_DATA_FAILURE_H
#define DLC_RUNTIME_DATA_FAILURE_H

#include "dlc/data.hpp"
#include "runtime/tools/io/Error.h"

#include <exception>
#include <new>

namespace dlc::data {

using cli::fail;
using cli::inQuotes;

/// Runs `body`; what it throws becomes a status.
template <typename Body> Status guarded(const Body &body) {
  try {
    body();
    return Status();
  } catch (const cli::Error &error) {
    return failure(error.code, error.message);
  } catch (const std::bad_alloc &) {
    return failure(DLC_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return failure(DLC_INTERNAL, error.what());
  }
}

/// Throws what a status says.
inline void require(const Status &status) {
  if (status)
    throw cli::Error{status.code(), status.message()};
}

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_FAILURE_H
