// The C API for looking into artifacts without running them.

#include "runtime/core/Program.h"
#include "runtime/core/ThreadPool.h"

struct dlc_artifact {
  dlc::rt::Program program;
};

extern "C" {

dlc_status *dlc_artifact_open(const char *path, dlc_artifact **artifact) {
  dlc_load_options options = {sizeof(options), 1, true, nullptr, nullptr};
  auto opened = std::make_unique<dlc_artifact>();
  if (dlc::rt::Status status = opened->program.open(path, options))
    return status.release();
  *artifact = opened.release();
  return nullptr;
}

void dlc_artifact_free(dlc_artifact *artifact) { delete artifact; }
const void *dlc_artifact_data(const dlc_artifact *artifact) {
  return artifact->program.mapping().data;
}
size_t dlc_artifact_size_bytes(const dlc_artifact *artifact) {
  return artifact->program.mapping().size;
}
const void *dlc_artifact_table(const dlc_artifact *artifact) {
  return &artifact->program.table();
}

int dlc_available_threads(void) { return dlc::rt::availableThreads(); }
}
