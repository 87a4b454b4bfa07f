#include "library/labels.h"

#include "json/plain.h"
#include "json/united.h"
#include "json/values.h"
#include "memory/grow.h"
#include "memory/heap.h"

#include <string.h>

static uint64_t sp_label_hash(const char *p, size_t n)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint8_t)p[i]) * UINT64_C(0x100000001B3);
    return h ^ h >> 32;
}

/* The place of a text in the table, or a free place. */
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

/* Room for one more label. -1 if out of memory. */
static int sp_labels_room(sp_label_list *list)
{
    if (list->n < list->room)
        return 0;
    uint32_t room = 2 * list->room + 8, size = 16;
    while (size < 2 * room)
        size *= 2;
    if (SP_GROW(list->labels, room) < 0)
        return -1;
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

/* Add a label. `its`: its weight and threshold. */
static int sp_label_put(sp_label_list *list, const void *p, size_t n, const sp_label_text *its)
{
    uint8_t *text = sp_arena_alloc(&list->texts, n + 1);
    if (text == NULL || sp_labels_room(list) < 0)
        return -1;
    if (n > 0)
        memcpy(text, p, n);
    text[n] = 0;
    sp_label_text label = {(const char *)text, n, its->weight, its->above};
    uint32_t at = sp_label_place(list, label.p, n);
    list->labels[list->n++] = label;
    if (list->table[at] == 0) /* if two look alike, the first is found */
        list->table[at] = list->n;
    return 0;
}

/* Show a label of the file as Python does; or one of a Perceptron's two, by its name in `lines`, or
   as True or False. */
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

/* Read the parameters for a label, a node of a document, which will be the model's next. */
static void sp_label_read(const sp_label_list *list, sp_contents *contents, const sp_json *json,
                          uint32_t node, sp_label_text *label)
{
    sp_alarms_name(&contents->parameters, &contents->given, json, node, list->n,
                   &contents->learner);
    label->weight = sp_class_weight(&contents->parameters, &contents->given, json, node);
    label->above = sp_threshold_of(&contents->parameters, &contents->given, json, node);
}

/* The same for a label given as JSON. -1 if out of memory. */
static int sp_label_read_alone(const sp_label_list *list, sp_contents *contents, const void *text,
                               size_t n, sp_label_text *label)
{
    sp_json json;
    sp_fault fault;
    int failed = sp_json_read(&json, (const uint8_t *)text, n, &fault);
    if (!failed)
        sp_label_read(list, contents, &json, 0, label);
    sp_json_free(&json);
    return failed ? -1 : 0;
}

SP_PRIVATE void sp_labels_free(sp_label_list *list)
{
    sp_free(list->labels);
    sp_free(list->table);
    sp_arena_free(&list->texts);
    sp_bytes_free(&list->more);
    memset(list, 0, sizeof(*list));
}

SP_PRIVATE int sp_labels_begin(sp_label_list *list, sp_contents *contents)
{
    const sp_json *json = &contents->parts[SP_PART_LABELS].json;
    bool listed = sp_json_type(json, 0) == SP_JSON_LIST;
    uint32_t n = sp_contents_labels(contents), node = listed ? 1 : 0;
    sp_bytes shown = {.failed = false};
    int failed = 0;
    memset(list, 0, sizeof(*list));
    sp_arena_init(&list->texts);
    for (uint32_t i = 0; i < n && !failed; i++) {
        sp_label_text its;
        shown.n = 0;
        sp_label_show(contents, i, node, &shown);
        if (listed)
            sp_label_read(list, contents, json, node, &its);
        else
            failed = sp_label_read_alone(list, contents, i ? "1" : "0", 1, &its);
        failed = failed || shown.failed ? -1 : sp_label_put(list, shown.p, shown.n, &its);
        node = listed ? json->nodes[node].next : 0;
    }
    sp_bytes_free(&shown);
    return failed;
}

SP_PRIVATE int sp_labels_add(sp_label_list *list, sp_contents *contents, const char *p, size_t n)
{
    sp_label_point before = sp_labels_savepoint(list);
    sp_label_text its;
    sp_bytes_word(&list->more, ",");
    sp_json_quote((const uint8_t *)p, n, &list->more);
    if (!list->more.failed
        && sp_label_read_alone(list, contents, list->more.p + before.n_more + 1,
                               list->more.n - before.n_more - 1, &its)
               == 0
        && sp_label_put(list, p, n, &its) == 0)
        return 0;
    list->more.failed = false;
    sp_labels_rewind(list, before);
    return -1;
}

SP_PRIVATE int sp_labels_add_all(sp_label_list *list, sp_contents *contents, const sp_json *json)
{
    sp_bytes shown = {.failed = false};
    uint32_t node = 1;
    int failed = 0;
    for (uint32_t i = 0; i < sp_list_length(json) && !failed; i++, node = json->nodes[node].next) {
        sp_label_text its;
        if (i < list->n)
            continue;
        shown.n = 0;
        sp_value_copy(json, node, true, &list->more);
        sp_value_show(json, node, false, &shown);
        sp_label_read(list, contents, json, node, &its);
        failed = list->more.failed || shown.failed
                 || sp_label_put(list, shown.p, shown.n, &its) < 0;
    }
    sp_bytes_free(&shown);
    list->more.failed = false;
    return failed ? -1 : 0;
}

SP_PRIVATE sp_label_point sp_labels_savepoint(const sp_label_list *list)
{
    sp_label_point mark = {list->n, list->more.n, sp_arena_savepoint(&list->texts)};
    return mark;
}

SP_PRIVATE void sp_labels_rewind(sp_label_list *list, sp_label_point mark)
{
    for (; list->n > mark.n; list->n--) { /* the last one first: no other was placed after it */
        const sp_label_text *label = &list->labels[list->n - 1];
        uint32_t at = sp_label_place(list, label->p, label->n);
        if (list->table[at] == list->n)
            list->table[at] = 0;
    }
    list->more.n = mark.n_more;
    sp_arena_rewind(&list->texts, mark.texts);
}
