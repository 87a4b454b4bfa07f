#include "file/counts.h"

#include "exchange/sound.h"
#include "json/numbers.h"
#include "machine/machine.h"
#include "memory/heap.h"

#include <math.h>
#include <string.h>

static int sp_counts_wrong(sp_fault *fault, const char *words)
{
    return sp_fault_say(fault, SP_WHY_DAMAGED, words);
}

/* --- Reading */

/* A finite double in base 16. A whole number is read, too, though our writers never write a double
   like that. */
static bool sp_double_read(const sp_json *json, uint32_t node, double *number)
{
    const uint8_t *p = sp_json_start(json, node);
    size_t n = sp_json_length(json, node);
    if (sp_json_type(json, node) == SP_JSON_STRING)
        return sp_hex_read(p, n, number) && isfinite(*number);
    if (sp_json_type(json, node) != SP_JSON_NUMBER)
        return false;
    *number = 0.0;
    for (size_t i = *p == '-'; i < n; i++) {
        if (p[i] < '0' || p[i] > '9')
            return false;
        *number = 10.0 * *number + (double)(p[i] - '0');
    }
    *number = *p == '-' ? -*number : *number;
    return isfinite(*number);
}

/* Whether a node is a list of n values. */
static bool sp_is_list(const sp_json *json, uint32_t node, uint32_t n)
{
    return sp_json_type(json, node) == SP_JSON_LIST && json->nodes[node].n == n;
}

/* n consecutive doubles. */
static bool sp_doubles_read(const sp_json *json, uint32_t node, uint32_t n, double *to)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!sp_double_read(json, node + i, &to[i]))
            return false;
    }
    return true;
}

static bool sp_counters_read(const sp_json *json, sp_learner *learner)
{
    return sp_is_list(json, 0, 3) && sp_json_whole(json, 1, UINT64_MAX, &learner->n_seen)
           && sp_json_whole(json, 2, UINT64_MAX, &learner->n_updates)
           && sp_json_whole(json, 3, UINT64_MAX, &learner->n_mistakes);
}

static bool sp_clock_read(const sp_json *json, sp_learner *learner)
{
    sp_table *table = &learner->table;
    uint64_t fold;
    if (!sp_is_list(json, 0, 4) || !sp_double_read(json, 1, &table->c)
        || !sp_double_read(json, 2, &table->s) || !sp_json_whole(json, 3, UINT32_MAX, &fold)
        || !sp_double_read(json, 4, &table->epoch))
        return false;
    table->fold = (uint32_t)fold;
    return true;
}

/* The scales and calibrators of the kept vectors: a list that is the first of serve's three. */
static bool sp_kinds_read(const sp_json *json, sp_learner *learner, uint32_t *node)
{
    if (!sp_is_list(json, *node, SP_KEPT_KINDS))
        return false;
    *node += 1;
    for (int k = 0; k < SP_KEPT_KINDS; k++) {
        double numbers[SP_FIT_NUMBERS];
        if (!sp_is_list(json, *node, SP_FIT_NUMBERS)
            || !sp_doubles_read(json, *node + 1, SP_FIT_NUMBERS, numbers))
            return false;
        sp_fit_write(numbers, &learner->serve.scale[k], &learner->fits[k]);
        *node = json->nodes[*node].next;
    }
    return true;
}

static bool sp_serve_read(const sp_json *json, sp_learner *learner)
{
    sp_serve *serve = &learner->serve;
    uint32_t node = 1;
    uint64_t lead, duel;
    if (!sp_is_list(json, 0, 3) || !sp_kinds_read(json, learner, &node)
        || !sp_is_list(json, node, 2))
        return false;
    node++;
    for (int k = 0; k < 2; k++) {
        if (!sp_is_list(json, node, 4) || !sp_doubles_read(json, node + 1, 2, serve->T[k])
            || !sp_double_read(json, node + 3, &serve->G[k])
            || !sp_json_whole(json, node + 4, 1, &lead))
            return false;
        serve->lead[k] = (int)lead;
        serve->stale[k] = true;
        node = json->nodes[node].next;
    }
    if (!sp_is_list(json, node, 3) || !sp_json_whole(json, node + 1, UINT64_MAX, &serve->run)
        || !sp_json_whole(json, node + 2, UINT64_MAX, &serve->record))
        return false;
    /* the lead in the duel is small; it is negative if the other one leads */
    const uint8_t *p = sp_json_start(json, node + 3);
    double number;
    if (sp_json_type(json, node + 3) != SP_JSON_NUMBER
        || !sp_decimal_read(p, sp_json_length(json, node + 3), &number) || floor(number) != number
        || fabs(number) > INT32_MAX)
        return false;
    duel = (uint64_t)fabs(number);
    serve->duel = number < 0.0 ? -(int)duel : (int)duel;
    return true;
}

/* Whether there are only numbers, in lists of any kind. */
static bool sp_are_numbers(const sp_json *json)
{
    double number;
    for (uint32_t node = 0; node < json->nodes[0].next; node++) {
        if (sp_json_type(json, node) != SP_JSON_LIST && !sp_double_read(json, node, &number))
            return false;
    }
    return true;
}

static bool sp_ceiling_read(const sp_json *json, sp_learner *learner)
{
    uint64_t hand, clock, evicted;
    if (!sp_index_is_limited(&learner->index))
        return sp_are_numbers(json); /* the learner has no ceiling, whatever the file says */
    if (!sp_is_list(json, 0, 3) || !sp_json_whole(json, 1, UINT32_MAX, &hand)
        || !sp_json_whole(json, 2, UINT32_MAX, &clock)
        || !sp_json_whole(json, 3, UINT64_MAX, &evicted))
        return false;
    learner->ceiling.hand = (sp_slot_type)hand;
    learner->ceiling.clock = (uint32_t)clock;
    learner->ceiling.n_evicted = evicted;
    return true;
}

/* The n_lists lists at the end, from a node on. */
static bool sp_once_lists_read(const sp_json *json, uint32_t node, const sp_model_numbers *once,
                               double *numbers)
{
    uint32_t n = (uint32_t)once->n_more;
    for (ptrdiff_t i = 0; i < once->n_lists; i++, numbers += n) {
        if (!sp_is_list(json, node, n) || !sp_doubles_read(json, node + 1, n, numbers))
            return false;
        node = json->nodes[node].next;
    }
    return true;
}

/* The model's numbers, then a list of rows, if there are any, then the numbers and lists behind. */
static bool sp_once_numbers_read(const sp_json *json, const sp_model_numbers *once, double *numbers)
{
    uint32_t n = (uint32_t)once->n, node = n + 1;
    uint32_t n_behind = (uint32_t)once->n_behind;
    bool rows = once->width > 0;
    if (!sp_is_list(json, 0, n + rows + n_behind + (uint32_t)once->n_lists)
        || !sp_doubles_read(json, 1, n, numbers)
        || (rows && !sp_is_list(json, node, (uint32_t)once->n_rows)))
        return false;
    node += rows;
    numbers += n;
    for (ptrdiff_t k = 0; rows && k < once->n_rows; k++, numbers += once->width) {
        if (!sp_is_list(json, node, (uint32_t)once->width)
            || !sp_doubles_read(json, node + 1, (uint32_t)once->width, numbers))
            return false;
        node = json->nodes[node].next;
    }
    if (!sp_doubles_read(json, node, n_behind, numbers))
        return false;
    return sp_once_lists_read(json, node + n_behind, once, numbers + once->n_behind);
}

/* Read what the machine keeps once per model. 0, or a kind of fault. */
static int sp_once_take(const sp_json *json, sp_learner *learner, sp_fault *fault)
{
    const sp_model_numbers once = sp_machine_model_numbers(learner);
    const char *wrong = "what is kept once does not fit the model";
    double *numbers = (double *)sp_calloc(sp_model_numbers_count(&once) + 1, sizeof(double));
    if (numbers == NULL)
        return sp_fault_memory(fault);
    if (sp_once_numbers_read(json, &once, numbers))
        wrong = sp_machine_model_numbers_read(learner, numbers);
    sp_free(numbers);
    return wrong == NULL ? 0 : sp_counts_wrong(fault, wrong);
}

/* --- Writing */

static void sp_double_write(double number, sp_bytes *to)
{
    char text[SP_NUMBER_ROOM];
    size_t n = sp_hex_write(number, text);
    sp_bytes_word(to, "\"");
    sp_bytes_add(to, text, n);
    sp_bytes_word(to, "\"");
}

static void sp_doubles_write(const double *numbers, ptrdiff_t n, sp_bytes *to)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        sp_bytes_word(to, i ? "," : "");
        sp_double_write(numbers[i], to);
    }
}

/* A list of whole numbers. */
static void sp_wholes_write(const uint64_t *numbers, int n, sp_bytes *to)
{
    sp_bytes_word(to, "[");
    for (int i = 0; i < n; i++) {
        sp_bytes_word(to, i ? "," : "");
        sp_bytes_number(to, numbers[i]);
    }
    sp_bytes_word(to, "]");
}

static void sp_counters_write(const sp_learner *learner, sp_bytes *to)
{
    const uint64_t numbers[] = {learner->n_seen, learner->n_updates, learner->n_mistakes};
    sp_wholes_write(numbers, 3, to);
}

static void sp_clock_write(const sp_learner *learner, sp_bytes *to)
{
    const double numbers[] = {learner->table.c, learner->table.s};
    sp_bytes_word(to, "[");
    sp_doubles_write(numbers, 2, to);
    sp_bytes_word(to, ",");
    sp_bytes_number(to, learner->table.fold);
    sp_bytes_word(to, ",");
    sp_double_write(learner->table.epoch, to);
    sp_bytes_word(to, "]");
}

static void sp_serve_write(const sp_learner *learner, sp_bytes *to)
{
    const sp_serve *serve = &learner->serve;
    sp_bytes_word(to, "[[");
    for (int k = 0; k < SP_KEPT_KINDS; k++) {
        double numbers[SP_FIT_NUMBERS];
        sp_fit_read(&serve->scale[k], &learner->fits[k], numbers);
        sp_bytes_word(to, k ? ",[" : "[");
        sp_doubles_write(numbers, SP_FIT_NUMBERS, to);
        sp_bytes_word(to, "]");
    }
    sp_bytes_word(to, "],[");
    for (int k = 0; k < 2; k++) {
        const double numbers[] = {serve->T[k][0], serve->T[k][1], serve->G[k]};
        sp_bytes_word(to, k ? ",[" : "[");
        sp_doubles_write(numbers, 3, to);
        sp_bytes_word(to, serve->lead[k] ? ",1]" : ",0]");
    }
    sp_bytes_word(to, "],[");
    sp_bytes_number(to, serve->run);
    sp_bytes_word(to, ",");
    sp_bytes_number(to, serve->record);
    sp_bytes_word(to, serve->duel < 0 ? ",-" : ",");
    sp_bytes_number(to, (uint64_t)(serve->duel < 0 ? -(int64_t)serve->duel : serve->duel));
    sp_bytes_word(to, "]]");
}

static void sp_ceiling_write(const sp_learner *learner, sp_bytes *to)
{
    const sp_ceiling *ceiling = &learner->ceiling;
    const uint64_t numbers[] = {ceiling->hand, ceiling->clock, ceiling->n_evicted};
    sp_wholes_write(numbers, 3, to);
}

static void sp_once_put(const sp_learner *learner, sp_bytes *to)
{
    sp_model_numbers once = sp_machine_model_numbers(learner);
    double *numbers = (double *)sp_calloc(sp_model_numbers_count(&once) + 1, sizeof(double));
    if (numbers == NULL) {
        to->failed = true;
        return;
    }
    sp_machine_model_numbers_write(learner, numbers);
    const double *row = numbers + once.n;
    sp_bytes_word(to, "[");
    sp_doubles_write(numbers, once.n, to);
    for (ptrdiff_t k = 0; once.width > 0 && k < once.n_rows; k++, row += once.width) {
        sp_bytes_word(to, k ? ",[" : ",[[");
        sp_doubles_write(row, once.width, to);
        sp_bytes_word(to, "]");
    }
    sp_bytes_word(to, once.width ? "]" : "");
    sp_bytes_word(to, once.n_behind ? "," : "");
    sp_doubles_write(row, once.n_behind, to);
    row += once.n_behind;
    for (ptrdiff_t i = 0; i < once.n_lists; i++, row += once.n_more) {
        sp_bytes_word(to, ",[");
        sp_doubles_write(row, once.n_more, to);
        sp_bytes_word(to, "]");
    }
    sp_bytes_word(to, "]");
    sp_free(numbers);
}

/* --- All parts */

typedef struct sp_counted {
    const char *name; /* NULL: the machine's own name for it */
    void (*write)(const sp_learner *learner, sp_bytes *to);
    bool (*read)(const sp_json *json, sp_learner *learner);
    const char *wrong;
} sp_counted;

enum { SP_COUNTS_ONCE = 3 };

/* In the order of a file. */
static const sp_counted sp_counts[SP_COUNTS] = {
    {"counters", sp_counters_write, sp_counters_read, "the counters are invalid"},
    {"clock", sp_clock_write, sp_clock_read, "the averages' clock is invalid"},
    {"serve", sp_serve_write, sp_serve_read, "the record of which vector answers is invalid"},
    [SP_COUNTS_ONCE] = {NULL, sp_once_put, NULL, NULL},
    {"ceiling", sp_ceiling_write, sp_ceiling_read,
     "what is kept for max_features does not fit it"},
};

SP_API const char *sp_counts_name(const sp_learner *learner, int i)
{
    return i == SP_COUNTS_ONCE ? sp_machine_model_numbers(learner).name : sp_counts[i].name;
}

SP_API void sp_counts_write(const sp_learner *learner, int i, sp_bytes *to)
{
    sp_counts[i].write(learner, to);
}

SP_API int sp_counts_read(const sp_part *parts, sp_learner *learner, sp_fault *fault)
{
    for (int i = 0; i < SP_COUNTS; i++) {
        if (i != SP_COUNTS_ONCE && !sp_counts[i].read(&parts[i].json, learner))
            return sp_counts_wrong(fault, sp_counts[i].wrong);
    }
    const char *wrong = sp_counts_fault(learner);
    if (wrong != NULL)
        return sp_counts_wrong(fault, wrong);
    const bool once = sp_counts_name(learner, SP_COUNTS_ONCE) != NULL;
    return once ? sp_once_take(&parts[SP_COUNTS_ONCE].json, learner, fault) : 0;
}

SP_PRIVATE int sp_counts_open(const sp_header *header, sp_learner *learner, sp_fault *fault)
{
    sp_part parts[SP_COUNTS] = {{.there = false}};
    int failed = 0;
    for (int i = 0; i < SP_COUNTS && !failed; i++) {
        const char *name = sp_counts_name(learner, i);
        if (name == NULL)
            continue;
        failed = sp_part_read(header, name, &parts[i], fault);
        if (!failed && !parts[i].there) {
            sp_counts_wrong(fault, "it has no part ");
            failed = sp_fault_add(fault, name);
        }
    }
    if (!failed)
        failed = sp_counts_read(parts, learner, fault);
    for (int i = 0; i < SP_COUNTS; i++)
        sp_part_free(&parts[i]);
    return failed;
}
