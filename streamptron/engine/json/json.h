/* JSON, read strictly and without recursion. A text becomes a list of its values.

       {"a": [1, "b"]}      object  end 5  ->  key  list  end 5  ->  number  string

   A value is one node. What it holds follows at once, and `next` is the node behind all of that. So
   a counter walks through a document, and a value is skipped in one step. An object's names and
   values alternate.

   It accepts what RFC 8259 allows and no more: no NaN, no comment, no extra comma, only UTF-8 (and
   lone surrogates, as Python writes them), and no name twice in an object. */

#ifndef STREAMPTRON_JSON_JSON_H
#define STREAMPTRON_JSON_JSON_H

#include "json/words.h"
#include "memory/compiler.h"

enum {
    SP_JSON_NULL,
    SP_JSON_FALSE,
    SP_JSON_TRUE,
    SP_JSON_NUMBER,
    SP_JSON_STRING,
    SP_JSON_LIST,
    SP_JSON_OBJECT,

    SP_JSON_DEPTH = 500,           /* how deeply lists and objects may be nested */
    SP_JSON_LENGTH_MOST = 1 << 30, /* bytes of a text */
};

typedef struct sp_node {
    int type;
    uint32_t start, end; /* in the text; for a string, between the quotes */
    uint32_t next;
    uint32_t n; /* values of a list, or names of an object */
} sp_node;

typedef struct sp_json {
    const uint8_t *text; /* belongs to the caller */
    sp_node *nodes;
    uint32_t n_nodes;
} sp_json;

/* Read a text. 0, or a kind of fault. Call sp_json_free in either case. */
SP_PRIVATE int sp_json_read(sp_json *json, const uint8_t *text, size_t n, sp_fault *fault);

SP_PRIVATE void sp_json_free(sp_json *json);

/* Whether a node is a string of these characters. */
SP_PRIVATE bool sp_json_is(const sp_json *json, uint32_t node, const char *words);

/* The node of the value under a name of an object; 0, which is never such a node, if there is
   none. */
SP_PRIVATE uint32_t sp_json_get(const sp_json *json, uint32_t object, const char *name);

/* Write a string's characters as UTF-8: at most as many bytes as it has in the text. Returns their
   number. */
SP_PRIVATE size_t sp_json_string(const sp_json *json, uint32_t node, uint8_t *to);

/* A whole number of at most `most`; false: something else. */
SP_PRIVATE bool sp_json_whole(const sp_json *json, uint32_t node, uint64_t most, uint64_t *number);

static inline int sp_json_type(const sp_json *json, uint32_t node)
{
    return json->nodes[node].type;
}

static inline size_t sp_json_length(const sp_json *json, uint32_t node)
{
    return json->nodes[node].end - json->nodes[node].start;
}

static inline const uint8_t *sp_json_start(const sp_json *json, uint32_t node)
{
    return json->text + json->nodes[node].start;
}

#endif
