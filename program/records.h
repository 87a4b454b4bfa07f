/* The contents of a line: a text and its label. */

#ifndef SPT_PROGRAM_RECORDS_H
#define SPT_PROGRAM_RECORDS_H

#include "model.h"

typedef enum line_kind {
    LINE_TEXT,     /* the line is the text */
    LINE_EITHER,   /* label<TAB>text, or a text without a TAB */
    LINE_LABELLED, /* label<TAB>text */
    LINE_OBJECT,   /* a JSON object, with fields of these names */
    LINE_MAIL,     /* not a line: a whole mail */
} line_kind;

typedef struct record_reader {
    line_kind kind;
    const char *text_field, *label_field; /* of an object; label NULL: not wanted */
    bool label_needed;
    json object;
    bytes text, label; /* of an object */
} record_reader;

typedef enum record_is { RECORD_EVENT, RECORD_BLANK, RECORD_BAD } record_is;

typedef struct record {
    const char *text, *label; /* label NULL: none */
    size_t n, n_label;
    bool has_object; /* the line is JSON, even if otherwise wrong */
} record;

/* Read a line; it and what is found stay valid until the next one. RECORD_BAD: `why` says why. If
   memory runs out, `bytes` are marked as failed. */
record_is record_read(record_reader *r, const char *line, size_t n, record *found, bytes *why);

void record_end(record_reader *r);

#endif
