#include "runtime/schema/CodeCache.h"

#include "runtime/schema/ContentHash.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace dlc::schema {

namespace {

struct EntryHeader {
  char magic[8];
  uint64_t sizeBytes, hash;
};
constexpr char kMagic[9] = "DLCNV01\n";

void makeFolders(const std::string &path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    mkdir(path.substr(0, at).c_str(), 0755);
  mkdir(path.c_str(), 0700);
}

/// Each of the result's texts behind its length.
std::string pack(const NvrtcResult &result) {
  std::string packed;
  for (const std::string *text : {&result.ptx, &result.cubin, &result.log}) {
    uint64_t size = text->size();
    packed.append(reinterpret_cast<const char *>(&size), sizeof(size));
    packed += *text;
  }
  return packed;
}

bool unpack(const std::string &packed, NvrtcResult &result) {
  size_t at = 0;
  for (std::string *text : {&result.ptx, &result.cubin, &result.log}) {
    uint64_t size = 0;
    if (packed.size() - at < sizeof(size))
      return false;
    packed.copy(reinterpret_cast<char *>(&size), sizeof(size), at);
    at += sizeof(size);
    if (size > packed.size() - at)
      return false;
    *text = packed.substr(at, size);
    at += size;
  }
  return at == packed.size();
}

} // namespace

std::string CodeCache::defaultFolder() {
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (base && *base)
    return std::string(base) + "/dlc/cuda";
  return home && *home ? std::string(home) + "/.cache/dlc/cuda" : "";
}

std::string CodeCache::compile(const Nvrtc &nvrtc, const NvrtcJob &job, NvrtcResult &result) const {
  std::string key = keyOf(job, nvrtc.version()), packed;
  if (find(key, packed) && unpack(packed, result))
    return "";
  std::string error = nvrtc.compile(job, result);
  if (error.empty())
    store(key, pack(result));
  return error;
}

std::string CodeCache::keyOf(const NvrtcJob &job, const std::string &compiler) {
  std::string all = compiler + '\0' + job.architecture + '\0' + job.source + '\0' + job.headers;
  for (const std::string &option : job.options)
    all += '\0' + option;
  uint64_t first = contentHash(all.data(), all.size());
  all += "again";
  uint64_t second = contentHash(all.data(), all.size());
  char name[48];
  snprintf(name, sizeof(name), "%016llx%016llx", (unsigned long long)first,
           (unsigned long long)second);
  return name;
}

bool CodeCache::find(const std::string &key, std::string &code) const {
  if (folder.empty())
    return false;
  FILE *file = fopen((folder + "/" + key).c_str(), "rbe");
  if (!file)
    return false;
  EntryHeader header;
  bool ok = fread(&header, sizeof(header), 1, file) == 1 &&
            std::equal(kMagic, kMagic + 8, header.magic) && header.sizeBytes <= kMostBytes;
  if (ok) {
    code.resize(header.sizeBytes);
    ok = fread(code.data(), 1, code.size(), file) == code.size() && fgetc(file) == EOF &&
         contentHash(code.data(), code.size()) == header.hash;
  }
  fclose(file);
  return ok;
}

/// Under a name of its own first: readers see a whole entry or none.
void CodeCache::store(const std::string &key, const std::string &code) const {
  if (folder.empty())
    return;
  makeFolders(folder);
  std::string path = folder + "/" + key, temporary = path + ".XXXXXX";
  int descriptor = mkstemp(temporary.data());
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : nullptr;
  if (!file)
    return;
  EntryHeader header = {{}, code.size(), contentHash(code.data(), code.size())};
  std::copy(kMagic, kMagic + 8, header.magic);
  bool ok = fwrite(&header, sizeof(header), 1, file) == 1 &&
            fwrite(code.data(), 1, code.size(), file) == code.size();
  ok = fclose(file) == 0 && ok;
  if (!ok || rename(temporary.c_str(), path.c_str()) != 0)
    unlink(temporary.c_str());
  shrink();
}

void CodeCache::shrink() const {
  struct File {
    std::string path;
    int64_t bytes, time;
  };
  std::vector<File> files;
  int64_t total = 0;
  DIR *directory = opendir(folder.c_str());
  if (!directory)
    return;
  while (dirent *item = readdir(directory)) {
    std::string path = folder + "/" + item->d_name;
    struct stat info;
    if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
      continue;
    files.push_back({path, int64_t(info.st_size), int64_t(info.st_mtime)});
    total += info.st_size;
  }
  closedir(directory);
  std::sort(files.begin(), files.end(), [](const File &a, const File &b) { return a.time < b.time; });
  for (size_t i = 0; i < files.size() && total > int64_t(kMostBytes); ++i) {
    unlink(files[i].path.c_str());
    total -= files[i].bytes;
  }
}

} // namespace dlc::schema
