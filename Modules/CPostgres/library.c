#include "CPostgres.h"

#include <string.h>

#if defined(__has_include) && __has_include(<dlfcn.h>)
#include <dlfcn.h>

static const char *const names[] = {
    "libpq.so.5",
    "libpq.5.dylib",
    "/opt/homebrew/opt/libpq/lib/libpq.5.dylib",
    "/usr/local/opt/libpq/lib/libpq.5.dylib",
};

static void *open_library(void) {
  for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
    void *library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
  }
  return NULL;
}

/* Copies the address of a function, since ISO C has no conversion from pointers to objects. */
static int find(void *library, const char *name, void *slot) {
  void *symbol = dlsym(library, name);
  if (!symbol) return 0;
  memcpy(slot, &symbol, sizeof symbol);
  return 1;
}

const char *tern_pq_load(struct tern_pq *table) {
  void *library = open_library();
  if (!library) return "libpq 5 is not installed (Debian: libpq5)";
  int found = find(library, "PQlibVersion", &table->libVersion) &&
              find(library, "PQconnectStartParams", &table->connectStartParams) &&
              find(library, "PQconnectPoll", &table->connectPoll) &&
              find(library, "PQfinish", &table->finish) &&
              find(library, "PQstatus", &table->status) &&
              find(library, "PQsocket", &table->socket) &&
              find(library, "PQerrorMessage", &table->errorMessage) &&
              find(library, "PQsetnonblocking", &table->setNonBlocking) &&
              find(library, "PQsendQueryParams", &table->sendQueryParams) &&
              find(library, "PQsendPrepare", &table->sendPrepare) &&
              find(library, "PQsendQueryPrepared", &table->sendQueryPrepared) &&
              find(library, "PQflush", &table->flush) &&
              find(library, "PQconsumeInput", &table->consumeInput) &&
              find(library, "PQisBusy", &table->isBusy) &&
              find(library, "PQgetResult", &table->getResult) &&
              find(library, "PQresultStatus", &table->resultStatus) &&
              find(library, "PQresultErrorField", &table->resultErrorField) &&
              find(library, "PQresultErrorMessage", &table->resultErrorMessage) &&
              find(library, "PQntuples", &table->ntuples) &&
              find(library, "PQnfields", &table->nfields) &&
              find(library, "PQgetvalue", &table->getvalue) &&
              find(library, "PQgetlength", &table->getlength) &&
              find(library, "PQgetisnull", &table->getisnull) &&
              find(library, "PQclear", &table->clear) &&
              find(library, "PQsetNoticeProcessor", &table->setNoticeProcessor);
  return found ? NULL : "libpq 5 lacks a function";
}

static void ignore(void *argument, const char *message) {
  (void)argument;
  (void)message;
}

void tern_pq_ignore_notices(struct tern_pq table, struct tern_pq_connection *connection) {
  table.setNoticeProcessor(connection, ignore, NULL);
}
#else
const char *tern_pq_load(struct tern_pq *table) {
  (void)table;
  return "this system loads no libraries";
}

void tern_pq_ignore_notices(struct tern_pq table, struct tern_pq_connection *connection) {
  (void)table;
  (void)connection;
}
#endif
