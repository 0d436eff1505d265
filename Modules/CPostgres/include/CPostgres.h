/* The client library of PostgreSQL, libpq, loaded when it is first used: what is built needs neither
 * its headers nor the library. The declarations are those of the documentation of libpq; its binary
 * interface has had number 5 since 2006. */
#ifndef TERN_CPOSTGRES_H
#define TERN_CPOSTGRES_H

#include <stddef.h>

/* PGconn and PGresult. */
struct tern_pq_connection;
struct tern_pq_result;

/* CONNECTION_OK; PGRES_POLLING_READING, _WRITING, _OK; PGRES_COMMAND_OK, _TUPLES_OK;
 * PG_DIAG_SQLSTATE. */
enum {
  TERN_PQ_CONNECTION_OK = 0,
  TERN_PQ_POLLING_READING = 1,
  TERN_PQ_POLLING_WRITING = 2,
  TERN_PQ_POLLING_OK = 3,
  TERN_PQ_COMMAND_OK = 1,
  TERN_PQ_TUPLES_OK = 2,
  TERN_PQ_DIAG_SQLSTATE = 'C',
};

/* PQconninfoOption. */
struct tern_pq_option {
  char *keyword;
  char *variable;
  char *compiled;
  char *value;
  char *label;
  char *display;
  int size;
};

/* The functions that are used. Each is called as the function of libpq with its name. */
struct tern_pq {
  int (*libVersion)(void);
  struct tern_pq_connection *(*connectStartParams)(
      const char *const *keywords, const char *const *values, int expandDatabase);
  int (*connectPoll)(struct tern_pq_connection *);
  void (*finish)(struct tern_pq_connection *);
  struct tern_pq_option *(*conninfo)(struct tern_pq_connection *);
  void (*conninfoFree)(struct tern_pq_option *);
  char *(*host)(const struct tern_pq_connection *);
  char *(*hostaddr)(const struct tern_pq_connection *);
  char *(*port)(const struct tern_pq_connection *);
  int (*status)(const struct tern_pq_connection *);
  int (*socket)(const struct tern_pq_connection *);
  char *(*errorMessage)(const struct tern_pq_connection *);
  int (*setNonBlocking)(struct tern_pq_connection *, int isNonBlocking);
  int (*sendQueryParams)(
      struct tern_pq_connection *, const char *command, int count, const unsigned *types,
      const char *const *values, const int *lengths, const int *formats, int resultFormat);
  int (*sendPrepare)(
      struct tern_pq_connection *, const char *name, const char *command, int count,
      const unsigned *types);
  int (*sendQueryPrepared)(
      struct tern_pq_connection *, const char *name, int count, const char *const *values,
      const int *lengths, const int *formats, int resultFormat);
  int (*flush)(struct tern_pq_connection *);
  int (*consumeInput)(struct tern_pq_connection *);
  int (*isBusy)(struct tern_pq_connection *);
  struct tern_pq_result *(*getResult)(struct tern_pq_connection *);
  int (*resultStatus)(const struct tern_pq_result *);
  char *(*resultErrorField)(const struct tern_pq_result *, int field);
  char *(*resultErrorMessage)(const struct tern_pq_result *);
  int (*ntuples)(const struct tern_pq_result *);
  int (*nfields)(const struct tern_pq_result *);
  char *(*getvalue)(const struct tern_pq_result *, int row, int field);
  int (*getlength)(const struct tern_pq_result *, int row, int field);
  int (*getisnull)(const struct tern_pq_result *, int row, int field);
  void (*clear)(struct tern_pq_result *);
  void (*(*setNoticeProcessor)(
      struct tern_pq_connection *, void (*)(void *, const char *), void *))(void *, const char *);
};

/* Loads the library, which then stays loaded, and fills `table`. Returns NULL, or what is wrong. */
const char *tern_pq_load(struct tern_pq *table);

/* Makes a connection throw notices of the server away, which libpq prints by itself. */
void tern_pq_ignore_notices(struct tern_pq table, struct tern_pq_connection *connection);

/* Returns the value of a connection's setting, to be freed; NULL for none. */
char *tern_pq_setting(
    struct tern_pq table, struct tern_pq_connection *connection, const char *keyword);

/* Writes the addresses of a host into `text`, a line each, and a zero: those that fit; none for a
 * name that is not resolved. */
void tern_pq_addresses(const char *name, char *text, size_t size);

#endif
