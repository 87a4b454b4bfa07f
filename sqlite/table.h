/* The virtual table: inserting a row learns it, MATCH answers. */

#ifndef STREAMPTRON_SQLITE_TABLE_H
#define STREAMPTRON_SQLITE_TABLE_H

#include "extension.h"

int table_register(sqlite3 *db);

#endif
