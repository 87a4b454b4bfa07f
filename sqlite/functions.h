/* The functions that answer from a model's file or bytes. */

#ifndef STREAMPTRON_SQLITE_FUNCTIONS_H
#define STREAMPTRON_SQLITE_FUNCTIONS_H

#include "extension.h"

int functions_register(sqlite3 *db);

#endif
