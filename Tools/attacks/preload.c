/* Loaded into a server under attack (LD_PRELOAD).
 *
 * ATTACK_RECORD=FILE  writes every change of a file to FILE, in the order in which they happen.
 * ATTACK_FAIL_SYNC=FILE  lets syncs of regular files fail with EIO while FILE exists.
 * ATTACK_CLOCK=N      moves the wall clock by N seconds; the monotonic clock stays.
 *
 * A record: kind (1 byte), length of the path (4), offset (8), length of the data (8), each most
 * significant byte last as the machine has it; then path and data. Kinds: W data, T size in the
 * offset, S sync, R rename (the data is the new path), U unlink, O created, D data that is durable
 * when the call returns (O_SYNC, O_DSYNC).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int record = -1;
static const char *fails_sync = NULL;
static long clock_offset = 0;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t);
static int (*real_rename)(const char *, const char *);
static int (*real_unlink)(const char *);
static int (*real_open)(const char *, int, ...);
static int (*real_openat)(int, const char *, int, ...);
static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int (*real_gettimeofday)(struct timeval *, void *);
static time_t (*real_time)(time_t *);

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
  real_write = next("write");
  real_pwrite = next("pwrite64");
  real_writev = next("writev");
  real_pwritev = next("pwritev64");
  real_fsync = next("fsync");
  real_fdatasync = next("fdatasync");
  real_ftruncate = next("ftruncate64");
  real_rename = next("rename");
  real_unlink = next("unlink");
  real_open = next("open64");
  real_openat = next("openat64");
  real_clock_gettime = next("clock_gettime");
  real_gettimeofday = next("gettimeofday");
  real_time = next("time");
  const char *file = getenv("ATTACK_RECORD");
  if (file && real_open)
    record = real_open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  fails_sync = getenv("ATTACK_FAIL_SYNC");
  const char *seconds = getenv("ATTACK_CLOCK");
  if (seconds) clock_offset = atol(seconds);
}

/* The path of a regular file; 0 for sockets, pipes and the record itself. */
static int path_of(int fd, char *path, size_t size) {
  struct stat info;
  if (record < 0 || fd == record || fstat(fd, &info) || !S_ISREG(info.st_mode)) return 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t count = readlink(link, path, size - 1);
  if (count <= 0) return 0;
  path[count] = 0;
  return 1;
}

static void put(char kind, const char *path, uint64_t offset, const void *data, uint64_t length) {
  uint32_t path_length = (uint32_t)strlen(path);
  char head[21];
  head[0] = kind;
  memcpy(head + 1, &path_length, 4);
  memcpy(head + 5, &offset, 8);
  memcpy(head + 13, &length, 8);
  struct iovec parts[3] = {
      {head, sizeof head}, {(void *)path, path_length}, {(void *)data, (size_t)length}};
  real_writev(record, parts, 3);
}

static char kind_of(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_DSYNC) ? 'D' : 'W';
}

static off_t position_of(int fd) {
  if (fcntl(fd, F_GETFL) & O_APPEND) return lseek(fd, 0, SEEK_END);
  return lseek(fd, 0, SEEK_CUR);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset) {
  char path[4096];
  if (record < 0 || !path_of(fd, path, sizeof path)) return real_pwrite(fd, data, size, offset);
  pthread_mutex_lock(&lock);
  ssize_t done = real_pwrite(fd, data, size, offset);
  int saved = errno;
  if (done > 0) put(kind_of(fd), path, (uint64_t)offset, data, (uint64_t)done);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return done;
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
  return pwrite64(fd, data, size, offset);
}

ssize_t write(int fd, const void *data, size_t size) {
  char path[4096];
  if (record < 0 || !path_of(fd, path, sizeof path)) return real_write(fd, data, size);
  pthread_mutex_lock(&lock);
  off_t offset = position_of(fd);
  ssize_t done = real_write(fd, data, size);
  int saved = errno;
  if (done > 0) put(kind_of(fd), path, (uint64_t)offset, data, (uint64_t)done);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return done;
}

static void put_parts(
    int fd, const char *path, off_t offset, const struct iovec *parts, int count, ssize_t done) {
  for (int n = 0; n < count && done > 0; n++) {
    size_t size = parts[n].iov_len < (size_t)done ? parts[n].iov_len : (size_t)done;
    put(kind_of(fd), path, (uint64_t)offset, parts[n].iov_base, size);
    offset += (off_t)size;
    done -= (ssize_t)size;
  }
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t offset) {
  char path[4096];
  if (record < 0 || !path_of(fd, path, sizeof path))
    return real_pwritev(fd, parts, count, offset);
  pthread_mutex_lock(&lock);
  ssize_t done = real_pwritev(fd, parts, count, offset);
  int saved = errno;
  put_parts(fd, path, offset, parts, count, done);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return done;
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  return pwritev64(fd, parts, count, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  char path[4096];
  if (record < 0 || !path_of(fd, path, sizeof path)) return real_writev(fd, parts, count);
  pthread_mutex_lock(&lock);
  off_t offset = position_of(fd);
  ssize_t done = real_writev(fd, parts, count);
  int saved = errno;
  put_parts(fd, path, offset, parts, count, done);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return done;
}

static int synced(int fd, int (*real)(int)) {
  char path[4096];
  struct stat status;
  if (fails_sync && access(fails_sync, F_OK) == 0 && fstat(fd, &status) == 0 &&
      S_ISREG(status.st_mode)) {
    errno = EIO;
    return -1;
  }
  if (record < 0 || !path_of(fd, path, sizeof path)) return real(fd);
  pthread_mutex_lock(&lock);
  int result = real(fd);
  int saved = errno;
  if (result == 0) put('S', path, 0, "", 0);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return result;
}
int fsync(int fd) { return synced(fd, real_fsync); }
int fdatasync(int fd) { return synced(fd, real_fdatasync); }

int ftruncate64(int fd, off_t size) {
  char path[4096];
  if (record < 0 || !path_of(fd, path, sizeof path)) return real_ftruncate(fd, size);
  pthread_mutex_lock(&lock);
  int result = real_ftruncate(fd, size);
  int saved = errno;
  if (result == 0) put('T', path, (uint64_t)size, "", 0);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return result;
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int rename(const char *from, const char *to) {
  if (record < 0) return real_rename(from, to);
  pthread_mutex_lock(&lock);
  int result = real_rename(from, to);
  int saved = errno;
  if (result == 0) put('R', from, 0, to, strlen(to));
  pthread_mutex_unlock(&lock);
  errno = saved;
  return result;
}

int unlink(const char *path) {
  if (record < 0) return real_unlink(path);
  pthread_mutex_lock(&lock);
  int result = real_unlink(path);
  int saved = errno;
  if (result == 0) put('U', path, 0, "", 0);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return result;
}

static int opened(int fd, int flags) {
  char path[4096];
  if (fd >= 0 && record >= 0 && (flags & (O_CREAT | O_TRUNC)) && path_of(fd, path, sizeof path)) {
    int saved = errno;
    pthread_mutex_lock(&lock);
    put(flags & O_TRUNC ? 'T' : 'O', path, 0, "", 0);
    pthread_mutex_unlock(&lock);
    errno = saved;
  }
  return fd;
}

static mode_t mode_of(int flags, va_list rest) {
  return flags & (O_CREAT | __O_TMPFILE) ? (mode_t)va_arg(rest, int) : 0;
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return opened(real_open(path, flags, mode), flags);
}
int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return opened(real_open(path, flags, mode), flags);
}
int openat64(int folder, const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return opened(real_openat(folder, path, flags, mode), flags);
}
int openat(int folder, const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return opened(real_openat(folder, path, flags, mode), flags);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = real_clock_gettime(clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    time->tv_sec += clock_offset;
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  int result = real_gettimeofday(time, zone);
  if (result == 0) time->tv_sec += clock_offset;
  return result;
}

time_t time(time_t *out) {
  time_t now = real_time(NULL) + clock_offset;
  if (out) *out = now;
  return now;
}
