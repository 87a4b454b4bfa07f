/* What stands between the brackets of CREATE VIRTUAL TABLE ... USING streamptron(...). */

#ifndef STREAMPTRON_SQLITE_GIVEN_H
#define STREAMPTRON_SQLITE_GIVEN_H

#include "extension.h"

/* Make the model that the arguments ask for. SPT_OK or a code, with its words in `error`. */
int given_model(int n, const char *const *arguments, spt_model **model, sqlite3_int64 *keep,
                spt_error *error);

#endif
