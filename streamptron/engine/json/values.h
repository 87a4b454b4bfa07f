/* Values in a model file's header: labels, odd names, parameters. docs/format.md lists them.

   null, true, false, texts and whole numbers below 2^53 stand for themselves. Any other value is a
   list: its kind, and what it is made from. Here values are checked, compared as Python compares
   the objects that they stand for, and shown as Python shows these. No objects are made. */

#ifndef STREAMPTRON_JSON_VALUES_H
#define STREAMPTRON_JSON_VALUES_H

#include "json/bytes.h"
#include "json/json.h"

enum {
    SP_VALUE_FEW = 16, /* values that are compared one by one */
};

/* Whether a node stands for a value that can be a label or a name: immutable and hashable. */
SP_PRIVATE bool sp_is_value(const sp_json *json, uint32_t node);

/* Whether it can be a label: such a value that equals itself, as must all items of a tuple, and
   that is not None. */
SP_PRIVATE bool sp_is_label(const sp_json *json, uint32_t node);

/* Whether it stands for a position in a stream: a value, or lists and dicts of values. */
SP_PRIVATE bool sp_is_position(const sp_json *json, uint32_t node);

/* Whether it is a name that needs an object: not a text, a number, or None. */
SP_PRIVATE bool sp_is_object(const sp_json *json, uint32_t node);

/* A value that is a number, or a truth value, which counts as 1 or 0. False: it is neither, or not
   exact as a double. `plain`: decimals are accepted, too, as people write them. */
SP_PRIVATE bool sp_value_number(const sp_json *json, uint32_t node, bool plain, double *number);

/* The same for a whole number of at least 0. */
SP_PRIVATE bool sp_value_whole(const sp_json *json, uint32_t node, uint64_t *number);

/* Whether two are equal: a text and a text, 1 and true and 1.0. */
SP_PRIVATE bool sp_values_equal(const sp_json *json, uint32_t a, const sp_json *other, uint32_t b);

/* A hash; equal values have the same. */
SP_PRIVATE uint64_t sp_value_hash(const sp_json *json, uint32_t node);

/* Whether a value of a list occurs twice; -1 if out of memory. */
SP_PRIVATE int sp_values_repeat(const sp_json *json, uint32_t list);

/* Write a value as Python's str() does, with a text as it is; if `quoted`, or within a tuple, as
   repr() does. */
SP_PRIVATE void sp_value_show(const sp_json *json, uint32_t node, bool quoted, sp_bytes *to);

/* Write a UTF-8 text with quotes, as repr() does. */
SP_PRIVATE void sp_text_quote(const uint8_t *p, size_t n, sp_bytes *to);

/* The same for bytes. */
SP_PRIVATE void sp_bytes_quote(const uint8_t *p, size_t n, sp_bytes *to);

#endif
