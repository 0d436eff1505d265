#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "CSQLitePages.h"

#include <errno.h>
#include <fcntl.h>

int tern_take_space(int descriptor, int64_t from, int64_t bytes) {
#ifdef __linux__
  while (fallocate(descriptor, FALLOC_FL_KEEP_SIZE, from, bytes) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
#else
  (void)descriptor, (void)from, (void)bytes;
  return ENOTSUP;
#endif
}
