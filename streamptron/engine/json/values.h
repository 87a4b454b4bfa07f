/* Values in a model file's header: labels, odd names, parameters. docs/format.md lists them.

   null, true, false, texts and whole numbers below 2^53 stand for themselves; others are a list of
   a kind and what it is made from. Here they are checked, compared as Python compares what they
   stand for, and shown as Python shows it; nothing is made of them. */

#ifndef STREAMPTRON_JSON_VALUES_H
#define STREAMPTRON_JSON_VALUES_H

#include "json/bytes.h"
#include "json/json.h"

enum {
    SP_VALUE_FEW = 16, /* values that are compared one by one */
};

/* Whether a node stands for a value that can be a label or a name: that does not change, and can
   be looked up. */
SP_PRIVATE bool sp_is_value(const sp_json *json, uint32_t node);

/* Whether it can be a label: such a value, which equals itself, as do all that a tuple holds, and
   is not None. */
SP_PRIVATE bool sp_is_label(const sp_json *json, uint32_t node);

/* Whether it stands for a position in a stream: a value, or lists and dicts of values. */
SP_PRIVATE bool sp_is_position(const sp_json *json, uint32_t node);

/* Whether it is a name that only an object can be, not a text, a number, or None. */
SP_PRIVATE bool sp_is_object(const sp_json *json, uint32_t node);

/* A value that is a number, or a truth value, which equals 1 or 0; false: it is none that a double
   holds exactly. `plain`: decimals are taken, too, as people write them. */
SP_PRIVATE bool sp_value_number(const sp_json *json, uint32_t node, bool plain, double *number);

/* The same of a whole number from 0 on. */
SP_PRIVATE bool sp_value_whole(const sp_json *json, uint32_t node, uint64_t *number);

/* Whether two are equal: a text and a text, 1 and true and 1.0. */
SP_PRIVATE bool sp_values_equal(const sp_json *json, uint32_t a, const sp_json *other, uint32_t b);

/* Equal values have the same. */
SP_PRIVATE uint64_t sp_value_hash(const sp_json *json, uint32_t node);

/* Whether a value of a list occurs twice; -1 without memory. */
SP_PRIVATE int sp_values_repeat(const sp_json *json, uint32_t list);

/* Write a value as Python's str() does, a text as it is; in a tuple, or `quoted`, as repr(). */
SP_PRIVATE void sp_value_show(const sp_json *json, uint32_t node, bool quoted, sp_bytes *to);

/* Write a text with quotes, as repr() does, from UTF-8. */
SP_PRIVATE void sp_text_quote(const uint8_t *p, size_t n, sp_bytes *to);

/* The same of bytes. */
SP_PRIVATE void sp_bytes_quote(const uint8_t *p, size_t n, sp_bytes *to);

#endif
