/* SQLite calls this when the extension is loaded. It adds the functions and the virtual table to
   this connection. */

#include "extension.h"

#include "functions.h"
#include "table.h"

SQLITE_EXTENSION_INIT1

#ifdef _WIN32
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
int sqlite3_streamptron_init(sqlite3 *db, char **words, const sqlite3_api_routines *routines);

int sqlite3_streamptron_init(sqlite3 *db, char **words, const sqlite3_api_routines *routines)
{
    (void)words;
    SQLITE_EXTENSION_INIT2(routines)
    int failed = functions_register(db);
    return failed ? failed : table_register(db);
}
