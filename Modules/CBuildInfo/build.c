#include "build.h"

#ifndef TERN_COMMIT
#define TERN_COMMIT ""
#endif

const char *tern_build_commit(void) { return TERN_COMMIT; }
