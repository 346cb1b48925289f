// Where the simulated CUDA device is: a library beside the runtime.

#ifndef DLC_RUNTIME_SCHEMA_SIMULATOR_H
#define DLC_RUNTIME_SCHEMA_SIMULATOR_H

#include <dlfcn.h>
#include <string>

namespace dlc::schema {

/// Opens it beside the library that `address` lies in, else where the loader looks; null
/// when it is not installed.
inline void *openSimulator(const void *address) {
  constexpr const char *name = "libdlc_cudasim.so";
  Dl_info info;
  if (dladdr(address, &info) && info.dli_fname) {
    std::string path = info.dli_fname;
    size_t slash = path.rfind('/');
    path = (slash == std::string::npos ? "" : path.substr(0, slash + 1)) + name;
    if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
  }
  return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

} // namespace dlc::schema

#endif // DLC_RUNTIME_SCHEMA_SIMULATOR_H
