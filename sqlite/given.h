/* The arguments of CREATE VIRTUAL TABLE ... USING streamptron(...). */

#ifndef STREAMPTRON_SQLITE_GIVEN_H
#define STREAMPTRON_SQLITE_GIVEN_H

#include "extension.h"

/* Make the model that the arguments describe. SPT_OK or a code, with a message in `error`. */
int given_model(int n, const char *const *arguments, spt_model **model, sqlite3_int64 *keep,
                spt_error *error);

#endif
