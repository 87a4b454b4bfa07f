#include "library/labels.h"

#include "file/plain.h"
#include "file/values.h"
#include "memory/heap.h"

#include <string.h>

static uint64_t sp_label_hash(const char *p, size_t n)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint8_t)p[i]) * UINT64_C(0x100000001B3);
    return h ^ h >> 32;
}

/* Where in the table a text is, or an empty place. */
static uint32_t sp_label_place(const sp_label_list *list, const char *p, size_t n)
{
    uint32_t at = (uint32_t)sp_label_hash(p, n) & (list->table_size - 1);
    while (list->table[at] != 0) {
        const sp_label_text *label = &list->labels[list->table[at] - 1];
        if (label->n == n && memcmp(label->p, p, n) == 0)
            break;
        at = (at + 1) & (list->table_size - 1);
    }
    return at;
}

SP_PRIVATE ptrdiff_t sp_labels_find(const sp_label_list *list, const char *p, size_t n)
{
    if (list->table_size == 0)
        return -1;
    return (ptrdiff_t)list->table[sp_label_place(list, p, n)] - 1;
}

/* Room for one more. -1 without memory. */
static int sp_labels_room(sp_label_list *list)
{
    if (list->n < list->room)
        return 0;
    uint32_t room = 2 * list->room + 8, size = 16;
    while (size < 2 * room)
        size *= 2;
    void *p = sp_realloc(list->labels, room * sizeof(sp_label_text));
    if (p == NULL)
        return -1;
    list->labels = (sp_label_text *)p;
    uint32_t *table = (uint32_t *)sp_calloc(size, sizeof(uint32_t));
    if (table == NULL)
        return -1;
    sp_free(list->table);
    list->table = table;
    list->table_size = size;
    list->room = room;
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t at = sp_label_place(list, list->labels[i].p, list->labels[i].n);
        if (table[at] == 0)
            table[at] = i + 1;
    }
    return 0;
}

static int sp_label_put(sp_label_list *list, const void *p, size_t n, double weight)
{
    uint8_t *text = sp_arena_alloc(&list->texts, n + 1);
    if (text == NULL || sp_labels_room(list) < 0)
        return -1;
    if (n > 0)
        memcpy(text, p, n);
    text[n] = 0;
    sp_label_text label = {(const char *)text, n, weight};
    uint32_t at = sp_label_place(list, label.p, n);
    list->labels[list->n++] = label;
    if (list->table[at] == 0) /* of two that look alike the first is found */
        list->table[at] = list->n;
    return 0;
}

/* A label of the file, or of a Perceptron one of two: how the lines write it, or as Python does. */
static void sp_label_show(const sp_contents *contents, uint32_t i, uint32_t node, sp_bytes *to)
{
    const sp_part *lines = &contents->parts[SP_PART_LINES];
    if (node != 0) {
        sp_value_show(&contents->parts[SP_PART_LABELS].json, node, false, to);
        return;
    }
    uint32_t names = lines->there ? sp_json_get(&lines->json, 0, "names") : 0;
    if (names && sp_json_type(&lines->json, names) == SP_JSON_LIST
        && sp_json_type(&lines->json, names + 1 + i) == SP_JSON_STRING)
        sp_value_show(&lines->json, names + 1 + i, false, to);
    else
        sp_bytes_word(to, i ? "True" : "False");
}

/* What class_weight says of a label, given as JSON; 0 without memory is no answer, so -1. */
static double sp_label_weight(const sp_contents *contents, const void *json, size_t n)
{
    sp_json value;
    sp_fault fault;
    double weight = -1.0;
    if (sp_json_read(&value, (const uint8_t *)json, n, &fault) == 0)
        weight = sp_class_weight(&contents->parameters, &contents->given, &value, 0);
    sp_json_free(&value);
    return weight;
}

SP_PRIVATE void sp_labels_free(sp_label_list *list)
{
    sp_free(list->labels);
    sp_free(list->table);
    sp_arena_free(&list->texts);
    sp_bytes_free(&list->more);
    memset(list, 0, sizeof(*list));
}

SP_PRIVATE int sp_labels_begin(sp_label_list *list, const sp_contents *contents)
{
    const sp_json *json = &contents->parts[SP_PART_LABELS].json;
    bool listed = sp_json_type(json, 0) == SP_JSON_LIST;
    uint32_t n = sp_contents_labels(contents), node = listed ? 1 : 0;
    sp_bytes shown = {.failed = false};
    int failed = 0;
    memset(list, 0, sizeof(*list));
    sp_arena_init(&list->texts);
    for (uint32_t i = 0; i < n && !failed; i++) {
        shown.n = 0;
        sp_label_show(contents, i, node, &shown);
        double weight = listed
                            ? sp_class_weight(&contents->parameters, &contents->given, json, node)
                            : sp_label_weight(contents, i ? "1" : "0", 1);
        failed = shown.failed || weight < 0.0 ? -1 : sp_label_put(list, shown.p, shown.n, weight);
        node = listed ? json->nodes[node].next : 0;
    }
    sp_bytes_free(&shown);
    return failed;
}

SP_PRIVATE int sp_labels_add(sp_label_list *list, const sp_contents *contents, const char *p,
                             size_t n)
{
    size_t before = list->more.n;
    sp_bytes_word(&list->more, ",");
    sp_json_quote((const uint8_t *)p, n, &list->more);
    double weight = -1.0;
    if (!list->more.failed)
        weight = sp_label_weight(contents, list->more.p + before + 1, list->more.n - before - 1);
    if (weight >= 0.0 && sp_label_put(list, p, n, weight) == 0)
        return 0;
    list->more.n = before;
    list->more.failed = false;
    return -1;
}

SP_PRIVATE void sp_labels_take_back(sp_label_list *list, size_t n_more)
{
    const sp_label_text *label = &list->labels[list->n - 1];
    uint32_t at = sp_label_place(list, label->p, label->n);
    if (list->table[at] == list->n)
        list->table[at] = 0; /* nothing was put behind it */
    list->n--;
    list->more.n = n_more;
}
