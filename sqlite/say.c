#include "say.h"

SQLITE_EXTENSION_INIT3

#include <stdarg.h>

int say_code(int code)
{
    switch (code) {
    case SPT_OK:
        return SQLITE_OK;
    case SPT_MEMORY:
        return SQLITE_NOMEM;
    case SPT_FOREIGN:
    case SPT_DAMAGED:
        return SQLITE_CORRUPT_VTAB;
    default:
        return SQLITE_ERROR;
    }
}

void say_result(sqlite3_context *context, const spt_error *error)
{
    if (error->code == SPT_MEMORY)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_error(context, error->words, -1);
}

int say_table(sqlite3_vtab *table, int code, const char *words, ...)
{
    va_list values;
    va_start(values, words);
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_vmprintf(words, values);
    va_end(values);
    return code;
}
