// .npz archives through libzip. A zip entry's directory says how long it is; no
// memory is taken before that length fits both the array's header and what its
// compressed bytes can possibly hold.

#include "runtime/tools/io/Error.h"
#include "runtime/tools/io/Npy.h"

#include <zip.h>

#include <array>
#include <set>
#include <string_view>

namespace dlc::cli {

namespace {

/// Deflate cannot do better than this.
constexpr uint64_t kGreatestRatio = 1032;
constexpr int64_t kMostEntries = 1 << 16;

struct ArchiveDiscard {
  void operator()(zip_t *archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, ArchiveDiscard>;

Archive openArchive(const std::string &path, int flags) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), flags, &code));
  if (archive)
    return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  fail(code == ZIP_ER_MEMORY ? DLC_OUT_OF_MEMORY : DLC_USAGE, path, ": ", why);
}

class EntrySource : public ByteSource {
public:
  EntrySource(zip_t *archive, const zip_stat_t &info, const std::string &name)
      : ByteSource(name, info.size), file(zip_fopen_index(archive, info.index, 0)) {
    if (!file)
      fail(DLC_USAGE, name, ": ", zip_strerror(archive));
  }
  ~EntrySource() override { zip_fclose(file); }
  /// libzip compares the checksum when it is asked for more than there is.
  void expectEnd() {
    char extra;
    if (readSome(&extra, 1) != 0)
      fail(DLC_USAGE, name, ": longer than the archive's directory says");
  }

protected:
  size_t readSome(void *data, size_t size) override {
    zip_int64_t count = zip_fread(file, data, size);
    if (count < 0)
      fail(DLC_USAGE, name, ": ", zip_error_strerror(zip_file_get_error(file)));
    return static_cast<size_t>(count);
  }

private:
  zip_file_t *file;
};

zip_stat_t describe(zip_t *archive, int64_t index, const std::string &path) {
  zip_stat_t info;
  constexpr zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if (zip_stat_index(archive, index, 0, &info) != 0 || (info.valid & needed) != needed)
    fail(DLC_USAGE, path, ": broken entry ", index, ": ", zip_strerror(archive));
  if (info.size / kGreatestRatio > info.comp_size)
    fail(DLC_USAGE, path, ": entry ", inQuotes(info.name), " claims ", info.size,
         " bytes from ", info.comp_size, " compressed ones");
  return info;
}

} // namespace

NamedTensors readNpz(const std::string &path) {
  FileSource exists(path); // a better message than libzip's, and no devices
  Archive archive = openArchive(path, ZIP_RDONLY);
  int64_t count = zip_get_num_entries(archive.get(), 0);
  if (count > kMostEntries)
    fail(DLC_USAGE, path, ": ", count, " entries, at most ", kMostEntries, " are read");
  NamedTensors arrays;
  std::set<std::string> names;
  for (int64_t index = 0; index < count; ++index) {
    zip_stat_t info = describe(archive.get(), index, path);
    std::string name = info.name;
    if (name.ends_with(".npy"))
      name.resize(name.size() - 4);
    if (!names.insert(name).second)
      fail(DLC_USAGE, path, ": two arrays are named ", inQuotes(name));
    EntrySource source(archive.get(), info, path + ": array " + inQuotes(name));
    arrays.push_back({name, readNpy(source)});
    source.expectEnd();
  }
  return arrays;
}

void writeNpz(const std::string &path, const std::vector<NamedView> &arrays) {
  if (arrays.empty()) { // libzip writes no file for an empty archive
    constexpr std::string_view endOfDirectory("PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
    return writeFile(path, std::array<std::string_view, 1>{endOfDirectory});
  }
  Archive archive = openArchive(path, ZIP_CREATE | ZIP_TRUNCATE);
  // libzip reads the buffers when it closes the archive.
  std::vector<Tensor> carriers;
  std::vector<std::string> headers;
  headers.reserve(arrays.size());
  for (const NamedView &array : arrays) {
    carriers.push_back(toNumpyCarrier(*array.tensor, path));
    const dlc_tensor &written = *(carriers.back() ? carriers.back().get() : array.tensor);
    headers.push_back(npyHeader(written));
    std::span<const uint8_t> data = bytesOf(written);
    zip_buffer_fragment_t parts[] = {
        {reinterpret_cast<zip_uint8_t *>(headers.back().data()), headers.back().size()},
        {const_cast<zip_uint8_t *>(data.data()), data.size()}};
    zip_source_t *source = zip_source_buffer_fragment(archive.get(), parts, 2, 0);
    int64_t index = source ? zip_file_add(archive.get(), (array.name + ".npy").c_str(),
                                          source, ZIP_FL_ENC_UTF_8)
                           : -1;
    if (index < 0) {
      zip_source_free(source);
      fail(DLC_USAGE, path, ": array ", inQuotes(array.name), ": ", zip_strerror(archive.get()));
    }
    constexpr time_t anyTime = 315532800; // 1980-01-01: zip's earliest
    zip_set_file_compression(archive.get(), index, ZIP_CM_STORE, 0);
    zip_file_set_mtime(archive.get(), index, anyTime, 0);
  }
  if (zip_close(archive.get()) != 0)
    fail(DLC_USAGE, path, ": cannot write: ", zip_strerror(archive.get()));
  archive.release();
}

} // namespace dlc::cli
