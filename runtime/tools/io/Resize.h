// Resizing of pictures: bilinear when enlarging, averaging when shrinking.

#ifndef DLC_RUNTIME_TOOLS_IO_RESIZE_H
#define DLC_RUNTIME_TOOLS_IO_RESIZE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlc::cli {

/// Rows of interleaved channels, perhaps a part of a larger picture.
template <typename T> struct Pixels {
  const T *start;
  int height, width, channels;
  size_t rowStride; // elements
};

/// Keeps its tables and rows: from the second picture on nothing is allocated.
class Resizer {
public:
  /// Writes [height][width][channels]; bytes are rounded to the nearest, ties to even.
  void resize(const Pixels<uint8_t> &from, int height, int width, uint8_t *to);
  void resize(const Pixels<uint8_t> &from, int height, int width, float *to);
  void resize(const Pixels<float> &from, int height, int width, float *to);

private:
  /// Which source samples make one target sample; the weights are one after the other.
  struct Taps {
    int first, count;
    size_t weights;
  };
  struct Axis {
    std::vector<Taps> taps;
    std::vector<float> weights;
    int from = -1, to = -1;
    void prepare(int from, int to);
  };
  template <typename From, typename To>
  void run(const Pixels<From> &from, int height, int width, To *to);
  template <typename From> void mixRows(const Pixels<From> &from, const Taps &taps);
  template <int Channels, typename To> void mixColumns(int channels, int width, To *to) const;

  Axis down, across;
  std::vector<float> row; // a mix of source rows, with room to load four floats at the end
};

} // namespace dlc::cli

#endif // DLC_RUNTIME_TOOLS_IO_RESIZE_H
