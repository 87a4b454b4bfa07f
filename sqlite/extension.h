/* Included by all files: SQLite as a loaded extension sees it, and the library. */

#ifndef STREAMPTRON_SQLITE_EXTENSION_H
#define STREAMPTRON_SQLITE_EXTENSION_H

#include <sqlite3ext.h>

#include "streamptron.h"

#endif
