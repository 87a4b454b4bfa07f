/* The virtual table: what is inserted is learned, what matches is answered. */

#ifndef STREAMPTRON_SQLITE_TABLE_H
#define STREAMPTRON_SQLITE_TABLE_H

#include "extension.h"

int table_register(sqlite3 *db);

#endif
