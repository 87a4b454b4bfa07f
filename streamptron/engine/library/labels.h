/* A model's labels as texts, each found by its text, and what class_weight says of it. */

#ifndef STREAMPTRON_LIBRARY_LABELS_H
#define STREAMPTRON_LIBRARY_LABELS_H

#include "file/bytes.h"
#include "file/open.h"
#include "memory/arena.h"

typedef struct sp_label_text {
    const char *p; /* with a zero at its end */
    size_t n;
    double weight;
} sp_label_text;

typedef struct sp_label_list {
    sp_label_text *labels;
    uint32_t n, room;
    uint32_t *table; /* 1 + the number, by the text's hash; 0: empty */
    uint32_t table_size;
    sp_arena texts;
    sp_bytes more; /* those that have come since, as JSON */
} sp_label_list;

/* -1 without memory. Call sp_labels_free in either case. */
SP_PRIVATE int sp_labels_begin(sp_label_list *list, const sp_contents *contents);
SP_PRIVATE void sp_labels_free(sp_label_list *list);

/* -1: there is none. */
SP_PRIVATE ptrdiff_t sp_labels_find(const sp_label_list *list, const char *p, size_t n);

/* Add a text as the last label; it can be taken back once. -1 without memory. */
SP_PRIVATE int sp_labels_add(sp_label_list *list, const sp_contents *contents, const char *p,
                             size_t n);
SP_PRIVATE void sp_labels_take_back(sp_label_list *list, size_t n_more);

#endif
