#ifndef TERN_BUILD_H
#define TERN_BUILD_H

/// The commit that the program was built from; empty when the build was not told.
const char *_Nonnull tern_build_commit(void);

#endif
