#include "CSQLitePages.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>

/* An open database: SQLite's own file follows it in the same memory. */
typedef struct {
  sqlite3_file base;
  sqlite3_file *real;
  /* Whether pages are checked when they are read. */
  int isChecked;
  /* Whether pages get a checksum when they are written; -1 while unknown. */
  int hasRoom;
  /* The page to be written, with its checksum. */
  unsigned char *scratch;
  int scratchBytes;
} PageFile;

static sqlite3_vfs *system_vfs;
static int (*before_removal)(const char *folder);
static atomic_uint_fast64_t corrected_pages;

uint64_t tern_pages_corrected(void) { return atomic_load(&corrected_pages); }

/* MARK: Checksums */

static inline uint64_t word(const unsigned char *at) {
  uint64_t value;
  memcpy(&value, at, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  value = __builtin_bswap64(value);
#endif
  return value;
}

static inline uint64_t fold(uint64_t a, uint64_t b) {
  unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

#define KEY 0xD1B54A32D192ED03u

uint64_t tern_pages_checksum(const void *page, uint32_t bytes, uint32_t number) {
  const unsigned char *at = page;
  uint64_t start = 0x9E3779B97F4A7C15u ^ ((uint64_t)number << 32 | bytes);
  /* Four chains at once, as one waits for its multiplications. */
  uint64_t a = start, b = start + 1, c = start + 2, d = start + 3;
  uint32_t offset = 0;
  for (; offset + 64 <= bytes; offset += 64, at += 64) {
    a = fold(word(at) ^ KEY, word(at + 8) ^ a);
    b = fold(word(at + 16) ^ KEY, word(at + 24) ^ b);
    c = fold(word(at + 32) ^ KEY, word(at + 40) ^ c);
    d = fold(word(at + 48) ^ KEY, word(at + 56) ^ d);
  }
  for (; offset + 8 <= bytes; offset += 8, at += 8) a = fold(word(at) ^ KEY, a ^ start);
  uint64_t mixed = fold(a ^ 0x8CB92BA72F3D8DD7u, b ^ 0xABC98388FB8FAC03u);
  mixed ^= fold(c ^ 0xABC98388FB8FAC03u, d ^ 0x8CB92BA72F3D8DD7u);
  return fold(mixed ^ KEY, 0x9E3779B97F4A7C15u);
}

static int matches(const unsigned char *page, uint32_t bytes, uint32_t number) {
  uint32_t data = bytes - TERN_PAGES_RESERVED;
  return tern_pages_checksum(page, data, number) == word(page + data);
}

static int is_zero(const unsigned char *page, uint32_t bytes) {
  return page[0] == 0 && memcmp(page, page + 1, bytes - 1) == 0;
}

/* Finds the one wrong bit of a page and turns it: no other state that differs in one bit has the
 * same checksum, but for one chance in 2^49. Takes a few milliseconds. */
static int correct(unsigned char *page, uint32_t bytes, uint32_t number) {
  uint32_t data = bytes - TERN_PAGES_RESERVED;
  uint64_t wrong = tern_pages_checksum(page, data, number) ^ word(page + data);
  if ((wrong & (wrong - 1)) == 0) {
    /* The wrong bit is in the checksum itself. */
    for (int bit = 0; bit < 64; bit++)
      if (wrong >> bit & 1) page[data + bit / 8] ^= 1 << bit % 8;
    return 1;
  }
  for (uint32_t bit = 0; bit < data * 8; bit++) {
    page[bit / 8] ^= 1 << bit % 8;
    if (matches(page, bytes, number)) return 1;
    page[bit / 8] ^= 1 << bit % 8;
  }
  return 0;
}

/* A page nobody has written yet is a hole of zeros in the file. */
static int check(unsigned char *page, uint32_t bytes, uint32_t number) {
  if (matches(page, bytes, number) || is_zero(page, bytes)) return TERN_PAGE_WELL;
  return correct(page, bytes, number) ? TERN_PAGE_CORRECTED : TERN_PAGE_CORRUPT;
}

static int is_page(int bytes, sqlite3_int64 offset) {
  return bytes >= 512 && (bytes & (bytes - 1)) == 0 && offset % bytes == 0;
}

/* MARK: One file */

#define REAL(file) (((PageFile *)(file))->real)

static int pageClose(sqlite3_file *file) {
  PageFile *page = (PageFile *)file;
  sqlite3_free(page->scratch);
  page->scratch = 0;
  return page->real->pMethods->xClose(page->real);
}

static int pageRead(sqlite3_file *file, void *buffer, int bytes, sqlite3_int64 offset) {
  PageFile *page = (PageFile *)file;
  int code = page->real->pMethods->xRead(page->real, buffer, bytes, offset);
  if (code != SQLITE_OK || !page->isChecked || !is_page(bytes, offset)) return code;
  switch (check(buffer, bytes, (uint32_t)(offset / bytes) + 1)) {
  case TERN_PAGE_CORRUPT:
    return TERN_PAGES_MISMATCH;
  case TERN_PAGE_CORRECTED:
    atomic_fetch_add(&corrected_pages, 1);
    return SQLITE_OK;
  default:
    return SQLITE_OK;
  }
}

/* Byte 20 of the first page: the bytes kept free at the end of each. */
static int has_room(const unsigned char *header) { return header[20] == TERN_PAGES_RESERVED; }

static int pageWrite(
  sqlite3_file *file, const void *buffer, int bytes, sqlite3_int64 offset) {
  PageFile *page = (PageFile *)file;
  sqlite3_file *real = page->real;
  if (!is_page(bytes, offset)) return real->pMethods->xWrite(real, buffer, bytes, offset);
  if (offset == 0) {
    page->hasRoom = has_room(buffer);
  } else if (page->hasRoom < 0) {
    unsigned char header[100];
    int code = real->pMethods->xRead(real, header, sizeof header, 0);
    if (code != SQLITE_OK) return code;
    page->hasRoom = has_room(header);
  }
  if (!page->hasRoom) return real->pMethods->xWrite(real, buffer, bytes, offset);
  if (page->scratchBytes < bytes) {
    unsigned char *grown = sqlite3_realloc(page->scratch, bytes);
    if (!grown) return SQLITE_IOERR_NOMEM;
    page->scratch = grown;
    page->scratchBytes = bytes;
  }
  uint32_t data = bytes - TERN_PAGES_RESERVED;
  memcpy(page->scratch, buffer, data);
  uint64_t sum = tern_pages_checksum(page->scratch, data, (uint32_t)(offset / bytes) + 1);
  for (int index = 0; index < 8; index++) page->scratch[data + index] = sum >> (8 * index);
  return real->pMethods->xWrite(real, page->scratch, bytes, offset);
}

static int pageTruncate(sqlite3_file *file, sqlite3_int64 size) {
  return REAL(file)->pMethods->xTruncate(REAL(file), size);
}
static int pageSync(sqlite3_file *file, int flags) {
  return REAL(file)->pMethods->xSync(REAL(file), flags);
}
static int pageFileSize(sqlite3_file *file, sqlite3_int64 *size) {
  return REAL(file)->pMethods->xFileSize(REAL(file), size);
}
static int pageLock(sqlite3_file *file, int level) {
  return REAL(file)->pMethods->xLock(REAL(file), level);
}
static int pageUnlock(sqlite3_file *file, int level) {
  return REAL(file)->pMethods->xUnlock(REAL(file), level);
}
static int pageCheckReservedLock(sqlite3_file *file, int *result) {
  return REAL(file)->pMethods->xCheckReservedLock(REAL(file), result);
}
static int pageFileControl(sqlite3_file *file, int operation, void *argument) {
  return REAL(file)->pMethods->xFileControl(REAL(file), operation, argument);
}
static int pageSectorSize(sqlite3_file *file) {
  return REAL(file)->pMethods->xSectorSize(REAL(file));
}
static int pageDeviceCharacteristics(sqlite3_file *file) {
  return REAL(file)->pMethods->xDeviceCharacteristics(REAL(file));
}
static int pageShmMap(
  sqlite3_file *file, int region, int bytes, int extend, void volatile **memory) {
  return REAL(file)->pMethods->xShmMap(REAL(file), region, bytes, extend, memory);
}
static int pageShmLock(sqlite3_file *file, int offset, int count, int flags) {
  return REAL(file)->pMethods->xShmLock(REAL(file), offset, count, flags);
}
static void pageShmBarrier(sqlite3_file *file) {
  REAL(file)->pMethods->xShmBarrier(REAL(file));
}
static int pageShmUnmap(sqlite3_file *file, int remove) {
  return REAL(file)->pMethods->xShmUnmap(REAL(file), remove);
}

/* Version 2: a log, and no pages mapped past the checks. */
static const sqlite3_io_methods page_methods = {
  2,
  pageClose,
  pageRead,
  pageWrite,
  pageTruncate,
  pageSync,
  pageFileSize,
  pageLock,
  pageUnlock,
  pageCheckReservedLock,
  pageFileControl,
  pageSectorSize,
  pageDeviceCharacteristics,
  pageShmMap,
  pageShmLock,
  pageShmBarrier,
  pageShmUnmap,
  0,
  0,
};

/* MARK: The file system */

static int vfsOpen(
  sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *outFlags) {
  /* Logs and temporary files are SQLite's own in the memory made for ours, which is larger. */
  if (!(flags & SQLITE_OPEN_MAIN_DB))
    return system_vfs->xOpen(system_vfs, name, file, flags, outFlags);
  PageFile *page = (PageFile *)file;
  memset(page, 0, sizeof *page);
  page->real = (sqlite3_file *)(page + 1);
  page->real->pMethods = 0;
  page->isChecked = vfs->pAppData != 0;
  page->hasRoom = page->isChecked ? 1 : -1;
  int code = system_vfs->xOpen(system_vfs, name, page->real, flags, outFlags);
  if (page->real->pMethods) page->base.pMethods = &page_methods;
  return code;
}

/* A log that goes is noted as not needed first: it is removed only when all of it was moved. */
static int vfsDelete(sqlite3_vfs *vfs, const char *name, int syncsDirectory) {
  (void)vfs;
  size_t count = strlen(name);
  const char *slash = strrchr(name, '/');
  if (slash && count > 4 && strcmp(name + count - 4, "-wal") == 0) {
    size_t folder = (size_t)(slash - name) + 1;
    char *path = sqlite3_mprintf("%.*s", (int)folder, name);
    if (!path) return SQLITE_IOERR_NOMEM;
    int code = before_removal(path);
    sqlite3_free(path);
    if (code != 0) return SQLITE_IOERR_DELETE;
  }
  return system_vfs->xDelete(system_vfs, name, syncsDirectory);
}

static int vfsAccess(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
  (void)vfs;
  return system_vfs->xAccess(system_vfs, name, flags, result);
}
static int vfsFullPathname(sqlite3_vfs *vfs, const char *name, int bytes, char *path) {
  (void)vfs;
  return system_vfs->xFullPathname(system_vfs, name, bytes, path);
}
static void *vfsDlOpen(sqlite3_vfs *vfs, const char *name) {
  (void)vfs;
  return system_vfs->xDlOpen(system_vfs, name);
}
static void vfsDlError(sqlite3_vfs *vfs, int bytes, char *message) {
  (void)vfs;
  system_vfs->xDlError(system_vfs, bytes, message);
}
static void (*vfsDlSym(sqlite3_vfs *vfs, void *library, const char *symbol))(void) {
  (void)vfs;
  return system_vfs->xDlSym(system_vfs, library, symbol);
}
static void vfsDlClose(sqlite3_vfs *vfs, void *library) {
  (void)vfs;
  system_vfs->xDlClose(system_vfs, library);
}
static int vfsRandomness(sqlite3_vfs *vfs, int bytes, char *out) {
  (void)vfs;
  return system_vfs->xRandomness(system_vfs, bytes, out);
}
static int vfsSleep(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  return system_vfs->xSleep(system_vfs, microseconds);
}
static int vfsCurrentTime(sqlite3_vfs *vfs, double *now) {
  (void)vfs;
  return system_vfs->xCurrentTime(system_vfs, now);
}
static int vfsGetLastError(sqlite3_vfs *vfs, int bytes, char *message) {
  (void)vfs;
  return system_vfs->xGetLastError(system_vfs, bytes, message);
}
static int vfsCurrentTimeInt64(sqlite3_vfs *vfs, sqlite3_int64 *now) {
  (void)vfs;
  return system_vfs->xCurrentTimeInt64(system_vfs, now);
}

static sqlite3_vfs file_systems[2];
static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;
static int isRegistered, registration;

static int registerAll(void) {
  int code = sqlite3_initialize();
  if (code != SQLITE_OK) return code;
  system_vfs = sqlite3_vfs_find(0);
  if (!system_vfs || system_vfs->iVersion < 2) return SQLITE_MISUSE;
  for (int index = 0; index < 2 && code == SQLITE_OK; index++) {
    sqlite3_vfs *vfs = &file_systems[index];
    vfs->iVersion = 2;
    vfs->szOsFile = (int)sizeof(PageFile) + system_vfs->szOsFile;
    vfs->mxPathname = system_vfs->mxPathname;
    vfs->zName = index == 0 ? TERN_PAGES_CHECKED : TERN_PAGES_UNCHECKED;
    vfs->pAppData = index == 0 ? vfs : 0;
    vfs->xOpen = vfsOpen;
    vfs->xDelete = vfsDelete;
    vfs->xAccess = vfsAccess;
    vfs->xFullPathname = vfsFullPathname;
    vfs->xDlOpen = vfsDlOpen;
    vfs->xDlError = vfsDlError;
    vfs->xDlSym = vfsDlSym;
    vfs->xDlClose = vfsDlClose;
    vfs->xRandomness = vfsRandomness;
    vfs->xSleep = vfsSleep;
    vfs->xCurrentTime = vfsCurrentTime;
    vfs->xGetLastError = vfsGetLastError;
    vfs->xCurrentTimeInt64 = vfsCurrentTimeInt64;
    code = sqlite3_vfs_register(vfs, 0);
  }
  return code;
}

int tern_pages_register(int (*beforeRemoval)(const char *folder)) {
  pthread_mutex_lock(&registering);
  if (!isRegistered) {
    before_removal = beforeRemoval;
    registration = registerAll();
    isRegistered = 1;
  }
  pthread_mutex_unlock(&registering);
  return registration;
}

int tern_pages_examine(sqlite3 *database, uint32_t number, uint32_t pageBytes) {
  sqlite3_file *file = 0;
  sqlite3_int64 size = 0;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK)
    return TERN_PAGE_UNREADABLE;
  if (!file || file->pMethods != &page_methods) return TERN_PAGE_UNREADABLE;
  sqlite3_file *real = REAL(file);
  if (real->pMethods->xFileSize(real, &size) != SQLITE_OK) return TERN_PAGE_UNREADABLE;
  sqlite3_int64 offset = (sqlite3_int64)(number - 1) * pageBytes;
  if (offset + pageBytes > size) return TERN_PAGE_BEHIND_END;
  unsigned char *page = sqlite3_malloc((int)pageBytes);
  if (!page) return TERN_PAGE_UNREADABLE;
  int verdict = TERN_PAGE_UNREADABLE;
  if (real->pMethods->xRead(real, page, (int)pageBytes, offset) == SQLITE_OK) {
    verdict = check(page, pageBytes, number);
    if (verdict == TERN_PAGE_CORRECTED)
      real->pMethods->xWrite(real, page, (int)pageBytes, offset);
  }
  sqlite3_free(page);
  return verdict;
}
