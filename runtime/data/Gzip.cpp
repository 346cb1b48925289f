#include "runtime/data/Gzip.h"

#include "runtime/data/Failure.h"

#include <algorithm>
#include <limits>
#include <zlib.h>

namespace dlc::data {

struct GzipReader::Stream {
  z_stream zlib = {};
  std::span<const uint8_t> rest;
  bool ended = false;
};

bool isGzip(std::span<const uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

GzipReader::GzipReader(std::string file, std::span<const uint8_t> compressed)
    : name(std::move(file)), compressedBytes(compressed.size()), stream(new Stream) {
  constexpr int gzipOnly = 16;
  if (inflateInit2(&stream->zlib, MAX_WBITS | gzipOnly) != Z_OK)
    fail(DLC_OUT_OF_MEMORY, name, ": no memory to decompress");
  stream->rest = compressed;
}

GzipReader::~GzipReader() { inflateEnd(&stream->zlib); }

size_t GzipReader::readSome(uint8_t *data, size_t size) {
  constexpr size_t most = std::numeric_limits<int>::max();
  z_stream &zlib = stream->zlib;
  if (stream->ended)
    return 0;
  size_t given = std::min(stream->rest.size(), most), room = std::min(size, most);
  zlib.next_in = const_cast<uint8_t *>(stream->rest.data());
  zlib.avail_in = static_cast<unsigned>(given);
  zlib.next_out = data;
  zlib.avail_out = static_cast<unsigned>(room);
  int code = inflate(&zlib, Z_NO_FLUSH);
  stream->rest = stream->rest.subspan(given - zlib.avail_in);
  stream->ended = code == Z_STREAM_END;
  if (code != Z_OK && code != Z_STREAM_END)
    fail(DLC_USAGE, name, ": broken gzip data: ",
         zlib.msg ? zlib.msg : code == Z_BUF_ERROR ? "the file is truncated" : "unknown error");
  return room - zlib.avail_out;
}

void GzipReader::read(void *data, size_t size) {
  auto *bytes = static_cast<uint8_t *>(data);
  for (size_t done = 0; done < size;) {
    size_t count = readSome(bytes + done, size - done);
    if (count == 0 && stream->ended)
      fail(DLC_USAGE, name, ": truncated: ", size - done, " more bytes are due");
    done += count;
  }
}

void GzipReader::expectEnd() {
  uint8_t extra;
  while (!stream->ended)
    if (readSome(&extra, 1) != 0)
      fail(DLC_USAGE, name, ": more data than its header says");
  if (!stream->rest.empty())
    fail(DLC_USAGE, name, ": ", stream->rest.size(), " bytes after the end of the gzip data");
}

uint64_t GzipReader::mostBytes() const {
  constexpr uint64_t greatestRatio = 1032;
  return compressedBytes * greatestRatio;
}

} // namespace dlc::data
