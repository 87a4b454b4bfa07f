/* Lists of labels or odd names, united: each value once, in the order of first appearance. */

#ifndef STREAMPTRON_JSON_UNITED_H
#define STREAMPTRON_JSON_UNITED_H

#include "json/bytes.h"
#include "json/json.h"

typedef struct sp_united {
    sp_bytes text; /* the list as JSON; null: none */
    uint32_t n;
    uint32_t *numbers; /* by value, list after list: its number in `text` */
} sp_united;

/* 0, or a kind of fault. Call sp_united_free in either case. */
SP_PRIVATE int sp_lists_unite(sp_united *to, const sp_json *const *lists, int n, sp_fault *fault);

SP_PRIVATE void sp_united_free(sp_united *united);

/* How many values a document's list has; 0 if it is not a list. */
static inline uint32_t sp_list_length(const sp_json *json)
{
    return sp_json_type(json, 0) == SP_JSON_LIST ? json->nodes[0].n : 0;
}

/* Copy a value as it is in its document. `comma`: after a comma if others are there. */
SP_PRIVATE void sp_value_copy(const sp_json *json, uint32_t node, bool comma, sp_bytes *to);

/* Copy the values of a list from the n-th on, with commas between them. */
SP_PRIVATE void sp_list_write(const sp_json *json, uint32_t n, sp_bytes *to);

#endif
