/* A model's labels as texts, found by their text, each with its class_weight and threshold. Reading
   or adding one also binds its alarm (false_positive_rate). */

#ifndef STREAMPTRON_LIBRARY_LABELS_H
#define STREAMPTRON_LIBRARY_LABELS_H

#include "file/open.h"
#include "json/bytes.h"
#include "memory/arena.h"

typedef struct sp_label_text {
    const char *p; /* zero-terminated */
    size_t n;
    double weight;
    double above; /* MultiLabelClassifier: the threshold */
} sp_label_text;

typedef struct sp_label_list {
    sp_label_text *labels;
    uint32_t n, room;
    uint32_t *table; /* 1 + the number, by the text's hash; 0: empty */
    uint32_t table_size;
    sp_arena texts;
    sp_bytes more; /* labels that have come since, as JSON */
} sp_label_list;

/* A point to go back to, if labels that come later are to be removed. */
typedef struct sp_label_point {
    uint32_t n;
    size_t n_more;
    sp_arena_point texts;
} sp_label_point;

/* -1 if out of memory. Call sp_labels_free in either case. */
SP_PRIVATE int sp_labels_begin(sp_label_list *list, sp_contents *contents);
SP_PRIVATE void sp_labels_free(sp_label_list *list);

/* -1: there is none. */
SP_PRIVATE ptrdiff_t sp_labels_find(const sp_label_list *list, const char *p, size_t n);

/* Add a text as the last label. -1 if out of memory. */
SP_PRIVATE int sp_labels_add(sp_label_list *list, sp_contents *contents, const char *p, size_t n);

/* The same for all values of a list that begins with the existing labels. -1 if out of memory; then
   some may have been added. */
SP_PRIVATE int sp_labels_add_all(sp_label_list *list, sp_contents *contents, const sp_json *json);
SP_PRIVATE sp_label_point sp_labels_savepoint(const sp_label_list *list);
SP_PRIVATE void sp_labels_rewind(sp_label_list *list, sp_label_point mark);

#endif
