/* JSON, read as strictly as the Python program reads a line. A text becomes a list of its values.

   A value is one node. What it holds follows at once, and `next` is the node behind all of that. An
   object's names and values alternate. */

#ifndef SPT_PROGRAM_JSON_H
#define SPT_PROGRAM_JSON_H

#include "bytes.h"

typedef enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_WHOLE, /* a number without a point or an exponent */
    JSON_NUMBER,
    JSON_STRING,
    JSON_LIST,
    JSON_OBJECT,
} json_type;

typedef struct json_node {
    json_type type;
    size_t start, end; /* in the text, including quotes and brackets */
    size_t at, n;      /* a string: where its characters are in `texts`, with a zero behind
                          them, and how many bytes; else n: how many values, or names */
    size_t next;
} json_node;

typedef struct json {
    const char *text;
    size_t n;
    json_node *nodes;
    size_t n_nodes, room;
    bytes texts; /* UTF-8; lone surrogates as three bytes */
    const char *wrong; /* why it is not JSON; NULL: out of memory, or nothing is wrong */
} json;

/* Read a text. What was read before is forgotten, and its memory used again. false: see `wrong`. */
bool json_read(json *j, const char *text, size_t n);

void json_free(json *j);

/* The node of a name's value in an object; 0: there is none. */
size_t json_get(const json *j, size_t object, const char *name, size_t n);

/* The value of the name `path`, or the one reached by names with dots between them; 0: there is
   none. */
size_t json_path(const json *j, const char *path);

const char *json_string(const json *j, size_t node, size_t *n);
bool json_is(const json *j, size_t node, const char *word);
double json_number(const json *j, size_t node);

/* A value as Python's repr shows it. */
void json_show(const json *j, size_t node, bytes *to);

/* A value as Python's json.dumps writes it. */
void json_add(const json *j, size_t node, bytes *to);

#endif
