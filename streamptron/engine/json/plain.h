/* Parameters as people write them, in plain JSON, turned into the values of a model file. */

#ifndef STREAMPTRON_JSON_PLAIN_H
#define STREAMPTRON_JSON_PLAIN_H

#include "json/bytes.h"
#include "json/json.h"

/* Write a parameter's value, which follows its name and has been checked. */
SP_PRIVATE void sp_plain_write(const sp_json *json, uint32_t name, sp_bytes *to);

/* Write a number as a value that keeps all its bits. */
SP_PRIVATE void sp_plain_double(double number, sp_bytes *to);

/* Write a UTF-8 text as a JSON string in ASCII, as Python does. */
SP_PRIVATE void sp_json_quote(const uint8_t *p, size_t n, sp_bytes *to);

#endif
