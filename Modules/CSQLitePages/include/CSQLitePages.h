/* Checksums for the pages of SQLite databases, and what tells a cut write-ahead log from a whole
 * one. Format: Docs/Formats/storage-sqlite.md. Nothing here allocates but a buffer per open file. */
#ifndef TERN_CSQLITEPAGES_H
#define TERN_CSQLITEPAGES_H

#include <stdint.h>

struct sqlite3;

/* The file system under which every page of a database is checked when it is read. */
#define TERN_PAGES_CHECKED "tern"
/* The same without checks of what is read; checksums are written where the database has room. */
#define TERN_PAGES_UNCHECKED "tern-unchecked"
/* The bytes that a database keeps free at the end of each page. */
#define TERN_PAGES_RESERVED 8

/* The code of a page that does not match its checksum: an SQLITE_CORRUPT (11) of our own, 77. An error of
 * reading would end the transaction around it behind the caller's back. */
#define TERN_PAGES_MISMATCH 19723

/* Registers both file systems, once for the process. Returns a code of SQLite.
 *
 * `beforeRemoval` is called with the folder of a store, ending in a slash, before SQLite removes
 * the write-ahead log in it: all of the log is in the database then, and synced. Other than 0 keeps
 * the log. */
int tern_pages_register(int (*beforeRemoval)(const char *folder));

/* The checksum of `bytes` bytes, a multiple of 8, as page `number`. */
uint64_t tern_pages_checksum(const void *page, uint32_t bytes, uint32_t number);

/* The state of a page, as tern_pages_examine found it. */
enum {
  TERN_PAGE_WELL,
  /* One bit was wrong; it was set right in the file. */
  TERN_PAGE_CORRECTED,
  TERN_PAGE_CORRUPT,
  TERN_PAGE_UNREADABLE,
  TERN_PAGE_BEHIND_END
};

/* Reads page `number` of the open database from its file. No checkpoint may run meanwhile. */
int tern_pages_examine(struct sqlite3 *database, uint32_t number, uint32_t pageBytes);

/* The pages since the start of the process in which one bit was set right while reading. */
uint64_t tern_pages_corrected(void);

/* Reads the salts of the open database's write-ahead log. Returns 0, or -1 without a log. */
int tern_log_salts(struct sqlite3 *database, uint32_t *first, uint32_t *second);

/* A write-ahead log as it lies in its file. */
typedef struct {
  int32_t exists;
  /* Whether the header is whole; all below is 0 otherwise. */
  int32_t isValid;
  uint32_t firstSalt, secondSalt;
  uint32_t pageBytes;
  /* The end of the last commit before the first corrupt or unfinished frame. */
  uint64_t committedEnd;
  /* Whether whole commits lie behind that, of which each was begun after a sync of the one before. */
  int32_t hasCommitsBehind;
} tern_log;

/* Reads the write-ahead log at `path`. Returns 0, or -1 when it cannot be read. */
int tern_log_examine(const char *path, tern_log *log);

/* Takes space on the disk for bytes of a file, also behind its end, whose place does not change.
 * Returns 0 or an error number: ENOSPC or EDQUOT when the disk is full, others where the file system
 * cannot do it. */
int tern_take_space(int descriptor, int64_t from, int64_t bytes);

#endif
