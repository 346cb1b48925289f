// Loading: map, check, find the machine code that fits.

#include "runtime/core/Program.h"

#include "runtime/core/CpuFeatures.h"
#include "runtime/schema/ContentHash.h"
#include "runtime/schema/Format.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dlc::rt {

Mapping::~Mapping() {
  if (owned && data)
    munmap(const_cast<char *>(data), size);
}

Status Mapping::open(const char *path) {
  int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return fail(DLC_USAGE, "%s: %s", path, strerror(errno));
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return fail(DLC_USAGE, "%s: not a regular file", path);
  }
  size = info.st_size;
  void *memory = size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  close(fd);
  if (memory == MAP_FAILED)
    return fail(DLC_USAGE, "%s: %s", path, size ? strerror(errno) : "the file is empty");
  data = static_cast<const char *>(memory);
  owned = true;
  return nullptr;
}

Status Mapping::wrap(const void *bytes, size_t length) {
  if (reinterpret_cast<uintptr_t>(bytes) % schema::kPageBytes != 0)
    return fail(DLC_USAGE, "artifact in memory: must be page aligned");
  data = static_cast<const char *>(bytes);
  size = length;
  return nullptr;
}

Program::~Program() {
  if (library)
    dlclose(library);
  if (codeFile >= 0)
    close(codeFile);
}

Status Program::open(const char *path, const dlc_load_options &options) {
  name = path;
  RETURN_IF_ERROR(file.open(path));
  return check(options);
}

Status Program::load(const char *path, const dlc_load_options &options) {
  RETURN_IF_ERROR(open(path, options));
  return finish(options);
}

Status Program::loadMemory(const void *bytes, size_t size,
                           const dlc_load_options &options) {
  name = "artifact in memory";
  RETURN_IF_ERROR(file.wrap(bytes, size));
  RETURN_IF_ERROR(check(options));
  return finish(options);
}

Status Program::check(const dlc_load_options &options) {
  RETURN_IF_ERROR(checkHeader(options));
  RETURN_IF_ERROR(validate(*artifact, file.size, name));
  return validateDevices(*artifact, file.size, name);
}

bool isCpu(const char *device) { return !device || !*device || strcmp(device, "cpu") == 0; }

Status Program::finish(const dlc_load_options &options) {
  flatten();
  if (isCpu(options.device))
    return loadCode();
  for (uint32_t i = 0; i < artifact->kernels()->size(); ++i)
    kernels.push_back({artifact->kernels()->Get(i)->name()->str(), nullptr, nullptr});
  return nullptr;
}

Status Program::checkHeader(const dlc_load_options &options) {
  schema::FileHeader header;
  if (file.size < sizeof(header))
    return fail(DLC_USAGE, "%s: truncated: %zu bytes, shorter than an artifact's header",
                name.c_str(), file.size);
  memcpy(&header, file.data, sizeof(header));
  if (memcmp(header.magic, schema::kMagic, sizeof(header.magic)) != 0)
    return fail(DLC_USAGE, "%s: not a dlc artifact (foreign identifier); make one with "
                "dlc compile", name.c_str());
  if (header.formatVersion > schema::kFormatVersion)
    return fail(DLC_UNSUPPORTED, "%s: format version %u is newer than this runtime's %u; "
                "update the runtime", name.c_str(), header.formatVersion,
                schema::kFormatVersion);
  if (header.fileBytes != file.size)
    return fail(DLC_USAGE, "%s: truncated: %zu bytes of %llu", name.c_str(), file.size,
                (unsigned long long)header.fileBytes);
  if (header.tableOffset > file.size || header.tableOffset % 8 != 0 ||
      header.tableBytes > file.size - header.tableOffset ||
      header.tableBytes >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return fail(DLC_USAGE, "%s: broken artifact: table outside the file", name.c_str());
  if (options.verify_hash &&
      schema::contentHash(file.data + sizeof(header), file.size - sizeof(header)) !=
          header.contentHash)
    return fail(DLC_USAGE, "%s: damaged: contents differ from their hash", name.c_str());
  auto table = reinterpret_cast<const uint8_t *>(file.data + header.tableOffset);
  if (header.tableHash != 0 && schema::contentHash(table, header.tableBytes) != header.tableHash)
    return fail(DLC_USAGE, "%s: damaged: its table differs from its hash; compile it again",
                name.c_str());
  flatbuffers::Verifier verifier(table, header.tableBytes, 4 * kDeepestBlock, 100000000);
  if (!schema::VerifyArtifactBuffer(verifier))
    return fail(DLC_USAGE, "%s: broken artifact: its table does not verify", name.c_str());
  artifact = schema::GetArtifact(table);
  return nullptr;
}

int64_t stateSizeBytes(const schema::State &state) {
  const auto *dims = state.dims();
  return dlc_type_size_bytes(dlc_type(state.element()), dims ? dims->data() : nullptr,
                             dims ? int(dims->size()) : 0);
}

void Program::flatten() {
  entryList.reserve(schema::entryCount(*artifact));
  for (uint32_t i = 0; i < schema::entryCount(*artifact); ++i)
    entryList.emplace_back(*this, schema::entryAt(*artifact, i));
  for (uint32_t c = 0; c < artifact->constants()->size(); ++c)
    constantBytes += artifact->constants()->Get(c)->size_bytes();
  for (uint32_t i = 0; artifact->states() && i < artifact->states()->size(); ++i) {
    const schema::State &state = *artifact->states()->Get(i);
    stateBytes = std::max(stateBytes, state.offset() + stateSizeBytes(state));
  }
}

Status Program::loadCode() {
  if (artifact->kernels()->size() == 0)
    return nullptr;
  const schema::Code *best = nullptr;
  std::string lacking;
  auto featureCount = [](const schema::Code &code) {
    return code.features() ? code.features()->size() : 0;
  };
  for (uint32_t i = 0; i < artifact->codes()->size(); ++i) {
    const schema::Code *code = artifact->codes()->Get(i);
    if (code->target()->str() != "cpu")
      continue;
    std::string missing = missingCpuFeatures(*code);
    if (!missing.empty())
      lacking += " " + code->cpu()->str() + " (lacks " + missing + ")";
    else if (!best || featureCount(*code) > featureCount(*best))
      best = code;
  }
  if (!best)
    return fail(DLC_UNSUPPORTED, "%s: this machine cannot run any code in it:%s; compile "
                "with --cpu=native here or --cpu=x86-64-v2", name.c_str(),
                lacking.empty() ? " there is none for the CPU" : lacking.c_str());
  if (best->hash() != 0 &&
      schema::contentHash(file.data + best->offset(), best->size_bytes()) != best->hash())
    return fail(DLC_USAGE, "%s: damaged: its machine code differs from its hash; compile "
                "it again", name.c_str());
  codeFile = memfd_create("dlc-kernels", MFD_CLOEXEC);
  if (codeFile < 0 || write(codeFile, file.data + best->offset(), best->size_bytes()) !=
                          ssize_t(best->size_bytes()))
    return fail(DLC_OUT_OF_MEMORY, "%s: no memory for its machine code", name.c_str());
  std::string path = "/proc/self/fd/" + std::to_string(codeFile);
  // Kernels call libm. A host that took this library as a plug-in need not have it in
  // its own scope; where libm is part of libc there is nothing to open.
  static void *const math = dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL);
  (void)math;
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(DLC_USAGE, "%s: its machine code does not load: %s", name.c_str(), dlerror());
  for (uint32_t i = 0; i < artifact->kernels()->size(); ++i) {
    const schema::Kernel *table = artifact->kernels()->Get(i);
    Kernel kernel;
    kernel.name = table->name()->str();
    kernel.run = reinterpret_cast<DlcKernelFn>(dlsym(library, kernel.name.c_str()));
    kernel.work = reinterpret_cast<DlcKernelWorkFn>(
        dlsym(library, (kernel.name + "_work").c_str()));
    if (!kernel.run || (table->has_work() && !kernel.work))
      return fail(DLC_USAGE, "%s: broken artifact: kernel %s is not in its code",
                  name.c_str(), kernel.name.c_str());
    kernels.push_back(std::move(kernel));
  }
  return nullptr;
}

} // namespace dlc::rt
