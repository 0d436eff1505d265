#include "CSQLitePages.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint32_t get32(const unsigned char *at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* MARK: The log
 *
 * Source: sqlite.org/fileformat2.html, section 4. */

int tern_log_salts(sqlite3 *database, uint32_t *first, uint32_t *second) {
  sqlite3_file *file = 0;
  unsigned char header[32];
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK)
    return -1;
  if (!file || !file->pMethods) return -1;
  if (file->pMethods->xRead(file, header, sizeof header, 0) != SQLITE_OK) return -1;
  *first = get32(header + 16);
  *second = get32(header + 20);
  return 0;
}

typedef struct {
  uint32_t first, second;
} Sum;

static Sum add(Sum sum, const unsigned char *bytes, size_t count, int isBigEndian) {
  for (size_t offset = 0; offset < count; offset += 8) {
    uint32_t one = get32(bytes + offset), two = get32(bytes + offset + 4);
    if (!isBigEndian) {
      one = __builtin_bswap32(one);
      two = __builtin_bswap32(two);
    }
    sum.first += one + sum.second;
    sum.second += two + sum.first;
  }
  return sum;
}

static Sum sum_at(const unsigned char *bytes) {
  Sum sum = {get32(bytes), get32(bytes + 4)};
  return sum;
}

static int is_equal(Sum a, Sum b) { return a.first == b.first && a.second == b.second; }

/* Reads frames one after the other; `frame` has room for one. */
static void examine_frames(int descriptor, tern_log *log, Sum sum, int isBig, unsigned char *frame) {
  size_t bytes = 24 + (size_t)log->pageBytes;
  uint64_t offset = 32;
  int isWhole = 1, followsCommit = 0;
  log->committedEnd = 32;
  while (pread(descriptor, frame, bytes, (off_t)offset) == (ssize_t)bytes) {
    if (get32(frame + 8) != log->firstSalt || get32(frame + 12) != log->secondSalt) {
      isWhole = 0;
      followsCommit = 0;
    } else {
      Sum found = add(add(sum, frame, 8, isBig), frame + 24, log->pageBytes, isBig);
      int isValid = get32(frame) != 0 && is_equal(found, sum_at(frame + 16));
      int isCommit = isValid && get32(frame + 4) != 0;
      if (!isValid) isWhole = 0;
      /* A frame that goes on where a whole commit behind the gap ends was written after its sync. */
      if (!isWhole && isValid && followsCommit) log->hasCommitsBehind = 1;
      followsCommit = !isWhole && isCommit;
      if (isWhole && isCommit) log->committedEnd = offset + bytes;
    }
    sum = sum_at(frame + 16);
    offset += bytes;
  }
}

int tern_log_examine(const char *path, tern_log *log) {
  memset(log, 0, sizeof *log);
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return errno == ENOENT ? 0 : -1;
  struct stat info;
  unsigned char header[32];
  if (fstat(descriptor, &info) != 0) {
    close(descriptor);
    return -1;
  }
  log->exists = info.st_size > 0;
  if (pread(descriptor, header, sizeof header, 0) == (ssize_t)sizeof header) {
    uint32_t magic = get32(header), pageBytes = get32(header + 8);
    int isBig = magic & 1;
    Sum start = {0, 0};
    Sum sum = add(start, header, 24, isBig);
    int isPage = pageBytes >= 512 && pageBytes <= 65536 && (pageBytes & (pageBytes - 1)) == 0;
    if ((magic & 0xFFFFFFFEu) == 0x377F0682u && get32(header + 4) == 3007000 && isPage
        && is_equal(sum, sum_at(header + 24))) {
      log->isValid = 1;
      log->firstSalt = get32(header + 16);
      log->secondSalt = get32(header + 20);
      log->pageBytes = pageBytes;
      unsigned char *frame = malloc(24 + (size_t)pageBytes);
      if (!frame) {
        close(descriptor);
        return -1;
      }
      examine_frames(descriptor, log, sum, isBig, frame);
      free(frame);
    }
  }
  close(descriptor);
  return 0;
}
