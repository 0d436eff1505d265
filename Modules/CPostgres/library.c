#include "CPostgres.h"

#include <string.h>

#if defined(__has_include) && __has_include(<dlfcn.h>)
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>

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
              find(library, "PQconninfo", &table->conninfo) &&
              find(library, "PQconninfoFree", &table->conninfoFree) &&
              find(library, "PQhost", &table->host) &&
              find(library, "PQhostaddr", &table->hostaddr) &&
              find(library, "PQport", &table->port) &&
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
  return found ? NULL : "libpq 5 lacks a function: it is older than PostgreSQL 12";
}

static void ignore(void *argument, const char *message) {
  (void)argument;
  (void)message;
}

void tern_pq_ignore_notices(struct tern_pq table, struct tern_pq_connection *connection) {
  table.setNoticeProcessor(connection, ignore, NULL);
}

char *tern_pq_setting(
    struct tern_pq table, struct tern_pq_connection *connection, const char *keyword) {
  struct tern_pq_option *options = table.conninfo(connection);
  char *copy = NULL;
  for (struct tern_pq_option *option = options; option && option->keyword; option++) {
    if (option->value && strcmp(option->keyword, keyword) == 0) {
      size_t size = strlen(option->value) + 1;
      copy = malloc(size);
      if (copy) memcpy(copy, option->value, size);
      break;
    }
  }
  if (options) table.conninfoFree(options);
  return copy;
}

void tern_pq_addresses(const char *name, char *text, size_t size) {
  if (size == 0) return;
  *text = 0;
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  struct addrinfo *found = NULL;
  if (getaddrinfo(name, NULL, &hints, &found) != 0) return;
  size_t end = 0;
  for (struct addrinfo *entry = found; entry; entry = entry->ai_next) {
    /* An IPv6 address with the name of its interface. */
    char address[128];
    if (getnameinfo(entry->ai_addr, entry->ai_addrlen, address, sizeof address, NULL, 0,
                    NI_NUMERICHOST) != 0) {
      continue;
    }
    size_t length = strlen(address);
    if (end + length + 2 > size) break;
    memcpy(text + end, address, length);
    end += length;
    text[end++] = '\n';
    text[end] = 0;
  }
  freeaddrinfo(found);
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

char *tern_pq_setting(
    struct tern_pq table, struct tern_pq_connection *connection, const char *keyword) {
  (void)table;
  (void)connection;
  (void)keyword;
  return NULL;
}

void tern_pq_addresses(const char *name, char *text, size_t size) {
  (void)name;
  if (size > 0) *text = 0;
}
#endif
