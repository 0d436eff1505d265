#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

/// Decompresses one whole stream; `bits` is the window of `inflateInit2`. Returns 0 with the number
/// of bytes in `produced`, 1 when they are more than `capacity`, and -1 for anything that is not
/// exactly one stream.
static inline int tern_inflate(int bits, const uint8_t *input, size_t count, uint8_t *output,
                               size_t capacity, size_t *produced) {
  if (count > UINT_MAX || capacity > UINT_MAX) return -1;
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  if (inflateInit2(&stream, bits) != Z_OK) return -1;
  stream.next_in = (Bytef *)input;
  stream.avail_in = (uInt)count;
  stream.next_out = output;
  stream.avail_out = (uInt)capacity;
  int result = inflate(&stream, Z_FINISH);
  int is_whole = stream.avail_in == 0;
  int is_full = stream.avail_out == 0;
  *produced = stream.total_out;
  inflateEnd(&stream);
  if (result == Z_STREAM_END) return is_whole ? 0 : -1;
  return (result == Z_BUF_ERROR || result == Z_OK) && is_full ? 1 : -1;
}

/// The most bytes that `tern_deflate` makes of `count`.
static inline size_t tern_deflate_bound(size_t count) { return compressBound(count) + 32; }

/// Compresses one whole stream, fast rather than small; `bits` is the window of `deflateInit2`.
/// Returns the number of bytes, or 0 when there is no memory.
static inline size_t tern_deflate(int bits, const uint8_t *input, size_t count, uint8_t *output,
                                  size_t capacity) {
  if (count > UINT_MAX || capacity > UINT_MAX) return 0;
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
  stream.next_in = (Bytef *)input;
  stream.avail_in = (uInt)count;
  stream.next_out = output;
  stream.avail_out = (uInt)capacity;
  int result = deflate(&stream, Z_FINISH);
  size_t produced = stream.total_out;
  deflateEnd(&stream);
  return result == Z_STREAM_END ? produced : 0;
}
