// Loading: map, check, flatten, find the machine code that fits.

#include "runtime/core/Program.h"

#include "runtime/core/CpuFeatures.h"
#include "runtime/schema/ContentHash.h"
#include "runtime/schema/Expr.h"
#include "runtime/schema/Format.h"

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
  return finish();
}

Status Program::loadMemory(const void *bytes, size_t size,
                           const dlc_load_options &options) {
  name = "artifact in memory";
  RETURN_IF_ERROR(file.wrap(bytes, size));
  RETURN_IF_ERROR(check(options));
  return finish();
}

Status Program::check(const dlc_load_options &options) {
  RETURN_IF_ERROR(checkHeader(options));
  return validate(*artifact, file.size, name);
}

Status Program::finish() {
  RETURN_IF_ERROR(flatten());
  return loadCode();
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

namespace {

std::vector<uint32_t> toVector(const flatbuffers::Vector<uint32_t> *list) {
  return list ? std::vector<uint32_t>(list->begin(), list->end())
              : std::vector<uint32_t>();
}

} // namespace

std::string Program::nodeNames(const flatbuffers::Vector<uint32_t> *nodes) const {
  std::string text;
  for (uint32_t n : toVector(nodes))
    text += (text.empty() ? "" : ", ") + artifact->nodes()->Get(n)->name()->str();
  return text;
}

size_t Program::emitControl(schema::Action kind, Control control, std::vector<uint32_t> operands) {
  Instruction result;
  result.kind = kind;
  result.control = control;
  result.operands = std::move(operands);
  instructions.push_back(std::move(result));
  return instructions.size() - 1;
}

void Program::flattenIf(const schema::If &choice) {
  size_t test = emitControl(schema::Action::If, Control::JumpUnless, {choice.condition()});
  flattenBlock(choice.then_block());
  size_t leave = emitControl(schema::Action::If, Control::Jump, {});
  instructions[test].target = instructions.size();
  flattenBlock(choice.else_block());
  instructions[leave].target = instructions.size();
}

void Program::flattenLoop(const schema::Loop &loop) {
  emitControl(schema::Action::Loop, Control::LoopBegin, {loop.counter()});
  size_t head = emitControl(schema::Action::Loop, Control::LoopHead,
                            {loop.counter(), loop.condition(), loop.trip()});
  flattenBlock(loop.body());
  std::vector<uint32_t> operands = {loop.counter(), loop.condition(), loop.next_condition()};
  auto pairs = [&](const std::vector<uint32_t> &from, const std::vector<uint32_t> &to) {
    for (size_t i = 0; i < from.size(); ++i)
      operands.insert(operands.end(), {from[i], to[i]});
  };
  pairs(toVector(loop.carried_from()), toVector(loop.carried_to()));
  pairs(toVector(loop.scan_from()), toVector(loop.scan_to()));
  size_t end = emitControl(schema::Action::Loop, Control::LoopEnd, std::move(operands));
  instructions[end].index = toVector(loop.carried_from()).size();
  instructions[end].target = head;
  instructions[head].target = instructions.size();
}

void Program::flattenBlock(const schema::Block *block) {
  const auto *list = block->instructions();
  for (uint32_t i = 0; list && i < list->size(); ++i) {
    if (const auto *choice = list->Get(i)->action_as_If()) {
      flattenIf(*choice);
      continue;
    }
    if (const auto *loop = list->Get(i)->action_as_Loop()) {
      flattenLoop(*loop);
      continue;
    }
    Instruction result;
    result.kind = list->Get(i)->action_type();
    if (const auto *dispatch = list->Get(i)->action_as_Dispatch()) {
      result.kernel = dispatch->kernel();
      result.operands = toVector(dispatch->operands());
      result.dims = toVector(dispatch->dims());
      result.flops = dispatch->flops();
      result.nodes = nodeNames(dispatch->nodes());
    } else if (const auto *copy = list->Get(i)->action_as_Copy()) {
      result.operands = {copy->source(), copy->target()};
    } else if (const auto *bind = list->Get(i)->action_as_BindSymbol()) {
      result.operands = {bind->value()};
      result.symbol = bind->symbol();
      result.index = bind->index();
    } else if (const auto *check = list->Get(i)->action_as_CheckIndices()) {
      result.operands = {check->value()};
      result.dims = {check->lower(), check->upper()};
      result.nodes = nodeNames(check->nodes());
    }
    instructions.push_back(std::move(result));
  }
}

Status Program::flatten() {
  flattenBlock(artifact->body());
  for (uint32_t v = 0; v < artifact->values()->size(); ++v) {
    dimTexts.emplace_back();
    for (uint32_t e : toVector(value(v).dims()))
      dimTexts.back().push_back(exprText(e));
  }
  for (uint32_t c = 0; c < artifact->constants()->size(); ++c)
    constantBytes += artifact->constants()->Get(c)->size_bytes();
  return nullptr;
}

std::string Program::exprText(uint32_t i) const {
  return schema::exprText(expr(i), *artifact->symbols());
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
