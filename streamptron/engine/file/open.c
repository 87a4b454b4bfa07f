#include "file/open.h"

#include "file/arrays.h"
#include "file/counts.h"
#include "json/numbers.h"
#include "json/values.h"
#include "memory/heap.h"
#include "path/path.h"

#include <string.h>

/* In the order of sp_snapshot_part. */
static const char sp_part_names[SP_PARTS][11] = {
    "parameters", "labels", "objects", "y_name",   "past",
    "tokenizer",  "mail",   "lines",   "position", "metadata",
};

static int sp_open_wrong(sp_fault *fault, const char *words)
{
    return sp_fault_say(fault, SP_WHY_DAMAGED, words);
}

SP_PRIVATE void sp_contents_free(sp_contents *contents)
{
    sp_learner_free(&contents->learner);
    sp_pairing_free(&contents->pairing);
    sp_tokens_free(&contents->tokens);
    for (int i = 0; i < SP_PARTS; i++)
        sp_part_free(&contents->parts[i]);
    sp_bytes_free(&contents->journal);
    memset(contents, 0, sizeof(*contents));
}

/* --- Small parts */

/* A part that consists of one string. */
static int sp_string_part(const sp_header *header, const char *name, sp_part *part, sp_fault *fault)
{
    int failed = sp_part_read(header, name, part, fault);
    if (!failed && (!part->there || sp_json_type(&part->json, 0) != SP_JSON_STRING)) {
        sp_fault_say(fault, SP_WHY_DAMAGED, "it has no part ");
        failed = sp_fault_add(fault, name);
    }
    return failed;
}

SP_PRIVATE int sp_class_read(const sp_header *header, int *kind, sp_fault *fault)
{
    sp_part part;
    int failed = sp_string_part(header, "class", &part, fault);
    if (!failed) {
        *kind = sp_class_of(&part.json, 0);
        if (*kind < 0) {
            sp_fault_say(fault, SP_WHY_FOREIGN,
                         "holds a learner that this version does not know: ");
            failed = sp_fault_add_value(fault, &part.json, 0);
        }
    }
    sp_part_free(&part);
    return failed;
}

static int sp_seed_read(const sp_header *header, const sp_contents *contents, uint64_t *seed,
                        sp_fault *fault)
{
    sp_part part;
    int failed = sp_string_part(header, "seed", &part, fault);
    if (!failed
        && (!sp_hex_whole_read(sp_json_start(&part.json, 0), sp_json_length(&part.json, 0), seed)
            || (contents->parameters.seeded && contents->parameters.hash_seed != *seed)))
        failed = sp_open_wrong(fault, "the hash's seed is not the parameter's");
    sp_part_free(&part);
    return failed;
}

/* Whether the text is a version such as 15.1.0. */
static bool sp_is_version(const uint8_t *p, size_t n)
{
    int figures = 0, points = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '.' && figures > 0 && points < 2) {
            points++;
            figures = 0;
        } else if (p[i] >= '0' && p[i] <= '9')
            figures++;
        else
            return false;
    }
    return points == 2 && figures > 0;
}

/* Accept any version of the Unicode tables: docs/format.md says what another version means. */
static int sp_unicode_check(const sp_header *header, sp_fault *fault)
{
    sp_part part;
    int failed = sp_part_read(header, "unicode", &part, fault);
    if (!failed && part.there
        && !(sp_json_type(&part.json, 0) == SP_JSON_STRING
             && sp_is_version(sp_json_start(&part.json, 0), sp_json_length(&part.json, 0)))) {
        sp_open_wrong(fault, "its letters are of the Unicode version ");
        failed = sp_fault_add_value(fault, &part.json, 0);
    }
    sp_part_free(&part);
    return failed;
}

static bool sp_is_text_or_null(const sp_json *json, uint32_t node)
{
    return sp_json_type(json, node) == SP_JSON_STRING || sp_json_type(json, node) == SP_JSON_NULL;
}

/* null, or a list of texts and nulls: n of them, or with n = 0 any number. */
static bool sp_is_texts(const sp_json *json, uint32_t node, uint32_t n)
{
    if (sp_json_type(json, node) == SP_JSON_NULL)
        return true;
    if (sp_json_type(json, node) != SP_JSON_LIST || (n && json->nodes[node].n != n))
        return false;
    for (uint32_t i = node + 1; i < json->nodes[node].next; i++) {
        if (!sp_is_text_or_null(json, i))
            return false;
    }
    return true;
}

/* Whether this can be what the command line keeps. */
static bool sp_is_lines(const sp_json *json)
{
    static const char more[][7] = {"header", "place", "spool", "mails", "labels"};
    if (sp_json_type(json, 0) != SP_JSON_OBJECT)
        return false;
    uint32_t reading = sp_json_get(json, 0, "reading"), names = sp_json_get(json, 0, "names");
    uint32_t positive = sp_json_get(json, 0, "positive"), n = 3;
    if (!reading || !names || !positive || sp_json_type(json, reading) != SP_JSON_OBJECT)
        return false;
    for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
        uint32_t node = sp_json_get(json, 0, more[i]);
        n += node != 0;
        if (node && (i ? sp_json_type(json, node) != SP_JSON_OBJECT : !sp_is_texts(json, node, 0)))
            return false;
    }
    uint32_t format = sp_json_get(json, reading, "format");
    return n == json->nodes[0].n && format && sp_json_type(json, format) == SP_JSON_STRING
           && sp_is_texts(json, names, 2) && sp_is_text_or_null(json, positive);
}

/* Whether two pairs in a list of n pairs have the same first number; -1 if out of memory. */
static int sp_first_repeats(const sp_json *json, uint32_t list)
{
    size_t n = json->nodes[list].n, size = 16;
    uint32_t pair = list + 1;
    bool repeats = false;
    while (size < 2 * n)
        size *= 2;
    uint64_t *table = (uint64_t *)sp_calloc(size, sizeof(uint64_t)); /* number + 1; 0: free */
    if (table == NULL)
        return -1;
    for (size_t i = 0; i < n && !repeats; i++, pair = json->nodes[pair].next) {
        size_t at = sp_value_hash(json, pair + 1) & (size - 1);
        uint64_t number = 0;
        sp_json_whole(json, pair + 1, UINT64_MAX - 1, &number);
        while (table[at] != 0 && table[at] != number + 1)
            at = (at + 1) & (size - 1);
        repeats = table[at] != 0;
        table[at] = number + 1;
    }
    sp_free(table);
    return repeats;
}

/* Whether these are marks and numbers of steps: pairs of both, then numbers of undone steps, in
   range. */
static bool sp_is_past(const sp_json *json, uint64_t n_seen)
{
    uint64_t number;
    if (sp_json_type(json, 0) != SP_JSON_LIST || json->nodes[0].n != 2
        || sp_json_type(json, 1) != SP_JSON_LIST)
        return false;
    uint32_t undone = json->nodes[1].next;
    for (uint32_t pair = 2; pair < undone; pair = json->nodes[pair].next) {
        if (sp_json_type(json, pair) != SP_JSON_LIST || json->nodes[pair].n != 2
            || !sp_json_whole(json, pair + 1, (UINT64_C(1) << 48) - 1, &number)
            || !sp_json_whole(json, pair + 2, n_seen, &number))
            return false;
    }
    if (sp_json_type(json, undone) != SP_JSON_LIST)
        return false;
    for (uint32_t i = undone + 1; i < json->nodes[undone].next; i++) {
        if (!sp_json_whole(json, i, n_seen, &number) || number == n_seen)
            return false;
    }
    return true;
}

static int sp_past_check(const sp_json *json, uint64_t n_seen, sp_fault *fault)
{
    bool good = sp_is_past(json, n_seen);
    int twice = good ? sp_first_repeats(json, 1) : 0;
    int again = good ? sp_values_repeat(json, json->nodes[1].next) : 0;
    if (twice < 0 || again < 0)
        return sp_fault_memory(fault);
    if (!good || twice || again)
        return sp_open_wrong(fault, "the record of steps that can be taken back is invalid");
    return 0;
}

/* --- Labels and names */

SP_PRIVATE uint32_t sp_contents_labels(const sp_contents *contents)
{
    const sp_json *json = &contents->parts[SP_PART_LABELS].json;
    if (sp_json_type(json, 0) == SP_JSON_LIST)
        return json->nodes[0].n;
    return contents->learner.answer == SP_ANSWER_SIGN ? 2 : 0;
}

/* 0, or a fault in the list of labels. `most`: how many there may be; 0: any number. */
static int sp_labels_check(const sp_json *json, uint64_t most, sp_fault *fault)
{
    if (sp_json_type(json, 0) != SP_JSON_LIST)
        return sp_open_wrong(fault, "there is no list of labels");
    for (uint32_t i = 1; i < json->nodes[0].next; i = json->nodes[i].next) {
        if (!sp_is_label(json, i)) {
            sp_open_wrong(fault, "it has the label ");
            sp_fault_add_value(fault, json, i);
            return sp_fault_add(fault, ", which is not a valid label");
        }
    }
    if (most && json->nodes[0].n > most) {
        sp_open_wrong(fault, "max_labels=");
        sp_fault_add_number(fault, most);
        sp_fault_add(fault, "; the model already has ");
        sp_fault_add_number(fault, json->nodes[0].n);
        return sp_fault_add(fault, " labels");
    }
    int twice = sp_values_repeat(json, 0);
    if (twice < 0)
        return sp_fault_memory(fault);
    return twice ? sp_open_wrong(fault, "a label occurs twice") : 0;
}

/* Give the learner its labels. 0, or a kind of fault. *n_outputs: how many outputs it has. */
static int sp_labels_open(sp_contents *contents, ptrdiff_t *n_outputs, sp_fault *fault)
{
    sp_learner *learner = &contents->learner;
    const sp_json *json = &contents->parts[SP_PART_LABELS].json;
    int answer = learner->answer;
    double number;
    *n_outputs = 1;
    if (answer == SP_ANSWER_SIGN || answer == SP_ANSWER_CANDIDATES) {
        if (sp_json_type(json, 0) == SP_JSON_NULL)
            return 0;
        return sp_open_wrong(fault, answer == SP_ANSWER_SIGN
                                        ? "a model for two labels keeps no list of them"
                                        : "a model that chooses among candidates keeps no labels");
    }
    int failed = sp_labels_check(json, contents->parameters.max_labels, fault);
    if (failed)
        return failed;
    uint32_t n = json->nodes[0].n, node = 1;
    for (uint32_t k = 0; k < n; k++, node = json->nodes[node].next)
        sp_alarms_name(&contents->parameters, &contents->given, json, node, k, learner);
    if (sp_learner_by_label(learner))
        *n_outputs = n;
    if (answer == SP_ANSWER_LABELS)
        return 0;
    if (sp_learner_can(learner, SP_CAN_SET))
        return sp_learner_expect(learner, n, 0) < 0 ? sp_fault_memory(fault) : 0;
    bool true_first = n > 0 && sp_value_number(json, 1, false, &number) && number == 1.0;
    if (sp_learner_expect(learner, n, true_first ? 0 : 1) < 0)
        return sp_fault_memory(fault);
    *n_outputs = n > 2 ? (ptrdiff_t)n : 1;
    return 0;
}

static int sp_objects_open(sp_contents *contents, sp_fault *fault)
{
    const sp_json *json = &contents->parts[SP_PART_OBJECTS].json;
    if (sp_json_type(json, 0) != SP_JSON_LIST)
        return sp_open_wrong(fault, "there is no list of odd names");
    for (uint32_t i = 1; i < json->nodes[0].next; i = json->nodes[i].next) {
        if (!sp_is_value(json, i))
            return sp_open_wrong(fault, "a feature name is invalid");
        if (!sp_is_object(json, i))
            return sp_open_wrong(fault, "a feature name is stored as the wrong kind");
    }
    contents->n_objects = json->nodes[0].n;
    int twice = sp_values_repeat(json, 0);
    if (twice < 0)
        return sp_fault_memory(fault);
    return twice ? sp_open_wrong(fault, "a feature name occurs twice") : 0;
}

/* --- The whole file */

static int sp_parts_read(sp_contents *contents, const sp_header *header, sp_fault *fault)
{
    for (int i = 0; i < SP_PARTS; i++) {
        int failed = sp_part_read(header, sp_part_names[i], &contents->parts[i], fault);
        if (failed)
            return failed;
        bool needed = i < SP_PART_PAST || i == SP_PART_METADATA;
        if (needed && !contents->parts[i].there) {
            sp_open_wrong(fault, "it has no part ");
            return sp_fault_add(fault, sp_part_names[i]);
        }
    }
    const sp_part *parts = contents->parts;
    if (sp_json_type(&parts[SP_PART_METADATA].json, 0) != SP_JSON_OBJECT)
        return sp_open_wrong(fault, "its metadata is not an object");
    if (!sp_is_value(&parts[SP_PART_Y_NAME].json, 0))
        return sp_open_wrong(fault, "the name of the labels' series is invalid");
    if (parts[SP_PART_LINES].there && !sp_is_lines(&parts[SP_PART_LINES].json))
        return sp_open_wrong(fault, "the entry for lines is invalid");
    if (parts[SP_PART_POSITION].there && !sp_is_position(&parts[SP_PART_POSITION].json, 0))
        return sp_open_wrong(fault, "the position in the stream is invalid");
    return 0;
}

/* The rule for splitting texts or mails. If there are both, the Mail's is used. */
static int sp_tokens_open(sp_contents *contents, bool plain, sp_fault *fault)
{
    sp_part *parts = contents->parts;
    sp_given tokens = {&parts[SP_PART_TOKENIZER].json, 0, plain};
    sp_given mail = {&parts[SP_PART_MAIL].json, 0, plain};
    int failed = 0;
    contents->has_tokens = parts[SP_PART_TOKENIZER].there || parts[SP_PART_MAIL].there;
    if (parts[SP_PART_TOKENIZER].there)
        failed = sp_tokens_read(&contents->tokens, &tokens, fault);
    if (!failed && parts[SP_PART_MAIL].there) {
        sp_tokens_free(&contents->tokens);
        sp_part_free(&parts[SP_PART_TOKENIZER]);
        failed = sp_mail_tokens_read(&contents->tokens, &mail, fault);
    }
    return failed;
}

/* Check the parameters, with the tokenizer's, and make an untrained learner. */
static int sp_contents_begin(sp_contents *contents, bool plain, uint64_t seed, sp_fault *fault)
{
    int failed = sp_pairing_read(&contents->pairing, &contents->parameters, &contents->given,
                                 fault);
    if (!failed)
        failed = sp_tokens_open(contents, plain, fault);
    if (!failed)
        failed = sp_parameters_apply(&contents->parameters, &contents->given, &contents->pairing,
                                     seed, &contents->learner, fault);
    return failed;
}

static int sp_parameters_open(sp_contents *contents, bool plain, sp_fault *fault)
{
    contents->given.json = &contents->parts[SP_PART_PARAMETERS].json;
    contents->given.object = 0;
    contents->given.plain = plain;
    return sp_parameters_read(&contents->parameters, contents->kind, &contents->given, fault);
}

/* Only Python can run a pipeline's steps: name the first one. */
static int sp_steps_refused(const sp_header *header, const uint8_t *arrays, sp_fault *fault)
{
    const sp_array *steps = &header->arrays[SP_ARRAY_STEPS];
    sp_json json;
    int failed = sp_json_read(&json, arrays + steps->start, steps->n, fault);
    if (failed == SP_WHY_DAMAGED)
        sp_open_wrong(fault, "the steps before the learner are not JSON");
    if (!failed) {
        bool object = sp_json_type(&json, 0) == SP_JSON_OBJECT;
        uint32_t names = object ? sp_json_get(&json, 0, "names") : 0;
        sp_fault_say(fault, SP_WHY_FOREIGN, "holds a pipeline with ");
        if (names && sp_json_type(&json, names) == SP_JSON_LIST && json.nodes[names].n > 0) {
            sp_fault_add(fault, "the step ");
            sp_fault_add_value(fault, &json, names + 1);
        } else
            sp_fault_add(fault, "steps");
        failed = sp_fault_add(fault, " before the learner, which only Python can use");
    }
    sp_json_free(&json);
    return failed;
}

/* Keep what a file that can be saved again has beside the model. */
static int sp_journal_keep(sp_contents *contents, const sp_header *header, const uint8_t *arrays,
                           sp_fault *fault)
{
    const sp_array *journal = &header->arrays[SP_ARRAY_JOURNAL];
    contents->has_journal = journal->there;
    sp_bytes_add(&contents->journal, arrays + journal->start, journal->end - journal->start);
    return contents->journal.failed ? sp_fault_memory(fault) : 0;
}

/* Read all but the arrays. *n_outputs: of the untrained learner made here. 0, or a kind of
   fault. */
static int sp_contents_describe(sp_contents *contents, const sp_header *header,
                                ptrdiff_t *n_outputs, sp_fault *fault)
{
    uint64_t seed = 0;
    int failed = sp_class_read(header, &contents->kind, fault);
    if (!failed)
        failed = sp_parts_read(contents, header, fault);
    if (!failed)
        failed = sp_parameters_open(contents, false, fault);
    if (!failed)
        failed = sp_seed_read(header, contents, &seed, fault);
    if (!failed)
        failed = sp_contents_begin(contents, false, seed, fault);
    if (!failed)
        failed = sp_unicode_check(header, fault);
    if (!failed)
        failed = sp_labels_open(contents, n_outputs, fault);
    if (!failed)
        failed = sp_objects_open(contents, fault);
    if (!failed)
        failed = sp_counts_open(header, &contents->learner, fault);
    if (!failed && contents->parts[SP_PART_PAST].there)
        failed = sp_past_check(&contents->parts[SP_PART_PAST].json, contents->learner.n_seen,
                               fault);
    /* a wrong parameter in a file means damage */
    if (failed == SP_WHY_PARAMETER)
        failed = fault->kind = SP_WHY_DAMAGED;
    return failed;
}

static int sp_contents_read(sp_contents *contents, const sp_header *header, const uint8_t *arrays,
                            bool in_place, sp_fault *fault)
{
    ptrdiff_t n_outputs = 0;
    sp_file_arrays found;
    if (header->arrays[SP_ARRAY_STEPS].there)
        return sp_steps_refused(header, arrays, fault);
    int failed = sp_contents_describe(contents, header, &n_outputs, fault);
    if (!failed && !in_place && !sp_header_fits(header, arrays))
        failed = sp_open_wrong(fault, "the arrays do not match their checksum");
    sp_file_arrays_behind(header, arrays, &found);
    if (!failed)
        failed = sp_file_arrays_open(&found, &contents->learner, n_outputs, contents->n_objects,
                                     in_place ? SP_FROM_MAPPED : SP_FROM_FILE, fault);
    if (!failed && !in_place)
        failed = sp_journal_keep(contents, header, arrays, fault);
    return failed;
}

SP_API int sp_contents_check(const sp_header *header, sp_fault *fault)
{
    sp_contents contents;
    ptrdiff_t n_outputs = 0;
    memset(&contents, 0, sizeof(contents));
    int failed = sp_contents_describe(&contents, header, &n_outputs, fault);
    sp_contents_free(&contents);
    return failed;
}

SP_PRIVATE int sp_contents_open(sp_contents *contents, const uint8_t *file, size_t n, bool in_place,
                                sp_fault *fault)
{
    sp_header header;
    memset(contents, 0, sizeof(*contents));
    int failed = sp_header_read(&header, file, n, n, fault);
    if (!failed)
        failed = sp_contents_read(contents, &header, file + header.size, in_place, fault);
    sp_header_free(&header);
    if (failed)
        sp_contents_free(contents);
    return failed;
}

SP_API int sp_part_of(sp_part *part, const void *text, size_t n, sp_fault *fault)
{
    memset(part, 0, sizeof(*part));
    part->there = true;
    part->n = n;
    part->text = (uint8_t *)sp_malloc(n + 1);
    if (part->text == NULL)
        return sp_fault_memory(fault);
    memcpy(part->text, text, n);
    return sp_json_read(&part->json, part->text, n, fault);
}

/* Read parameters as people write them, to be checked. */
static int sp_plain_part(sp_part *part, const char *text, const char *what, sp_fault *fault)
{
    int failed = sp_part_of(part, text, strlen(text), fault);
    if (failed != SP_WHY_DAMAGED)
        return failed;
    sp_fault_say(fault, SP_WHY_PARAMETER, "the parameters of the ");
    sp_fault_add(fault, what);
    return sp_fault_add(fault, " are not JSON");
}

/* After the check: write all of them as in a file. */
static int sp_plain_as_values(sp_contents *contents, int i, sp_fault *fault)
{
    sp_bytes values = {.failed = false};
    sp_part made = {.there = false}, *part = &contents->parts[i];
    if (i == SP_PART_PARAMETERS)
        sp_parameters_write(contents->kind, &part->json, &values);
    else
        sp_tokens_write(i == SP_PART_MAIL, &part->json, &values);
    int failed = values.failed ? sp_fault_memory(fault)
                               : sp_part_of(&made, values.p, values.n, fault);
    sp_bytes_free(&values);
    if (!failed) {
        sp_part_free(part);
        *part = made;
    } else
        sp_part_free(&made);
    return failed;
}

SP_PRIVATE int sp_contents_new(sp_contents *contents, const char *learner, const char *parameters,
                               const char *tokenizer, const char *mail, uint64_t seed,
                               sp_fault *fault)
{
    memset(contents, 0, sizeof(*contents));
    sp_part *parts = contents->parts;
    contents->kind = sp_class_named(learner);
    if (contents->kind < 0) {
        sp_fault_say(fault, SP_WHY_PARAMETER, "there is no learner called ");
        sp_fault_add(fault, learner);
        return sp_fault_add(fault, "; the learners are perceptron, multiclass, mira, arow, "
                                   "adaptive, voted, ranking and multilabel");
    }
    int failed = sp_plain_part(&parts[SP_PART_PARAMETERS], parameters, "learner", fault);
    if (!failed && tokenizer != NULL)
        failed = sp_plain_part(&parts[SP_PART_TOKENIZER], tokenizer, "tokenizer", fault);
    if (!failed && mail != NULL)
        failed = sp_plain_part(&parts[SP_PART_MAIL], mail, "Mail", fault);
    if (!failed)
        failed = sp_parameters_open(contents, true, fault);
    if (!failed)
        failed = sp_contents_begin(
            contents, true, contents->parameters.seeded ? contents->parameters.hash_seed : seed,
            fault);
    const char *labels = contents->learner.answer == SP_ANSWER_SIGN
                                 || contents->learner.answer == SP_ANSWER_CANDIDATES
                             ? "null"
                             : "[]";
    const char *rest[SP_PARTS] = {[SP_PART_LABELS] = labels,
                                  [SP_PART_OBJECTS] = "[]",
                                  [SP_PART_Y_NAME] = "null",
                                  [SP_PART_METADATA] = "{}"};
    for (int i = 0; i < SP_PARTS && !failed; i++) {
        if (rest[i] != NULL)
            failed = sp_part_of(&parts[i], rest[i], strlen(rest[i]), fault);
        else if (parts[i].there)
            failed = sp_plain_as_values(contents, i, fault);
    }
    if (!failed) /* read them again: they pointed into a text that has been replaced */
        failed = sp_parameters_open(contents, false, fault);
    if (failed)
        sp_contents_free(contents);
    return failed;
}

/* --- Making one like another */

SP_PRIVATE int sp_part_joined(sp_part *part, const sp_part *list, const void *more, size_t n,
                              sp_fault *fault)
{
    sp_bytes whole = {.failed = false};
    size_t end = list->n; /* up to its closing bracket */
    bool listed = sp_json_type(&list->json, 0) == SP_JSON_LIST;
    while (listed && list->text[--end] != ']') {
    }
    sp_bytes_add(&whole, list->text, end);
    if (listed) {
        sp_bytes_word(&whole, n && list->json.nodes[0].n ? "," : "");
        sp_bytes_add(&whole, more, n);
        sp_bytes_word(&whole, "]");
    }
    memset(part, 0, sizeof(*part));
    int failed = whole.failed ? sp_fault_memory(fault)
                              : sp_part_of(part, whole.p, whole.n, fault);
    sp_bytes_free(&whole);
    return failed;
}

SP_PRIVATE int sp_contents_like(sp_contents *contents, const sp_contents *like,
                                const sp_bytes *labels, const sp_bytes *objects,
                                ptrdiff_t *n_outputs, sp_fault *fault)
{
    sp_part *parts = contents->parts;
    int failed = 0;
    memset(contents, 0, sizeof(*contents));
    contents->kind = like->kind;
    for (int i = 0; i < SP_PARTS && !failed; i++) {
        const sp_part *its = &like->parts[i];
        if (i == SP_PART_LABELS)
            failed = sp_part_of(&parts[i], labels->p, labels->n, fault);
        else if (i == SP_PART_OBJECTS)
            failed = sp_part_of(&parts[i], objects->p, objects->n, fault);
        else if (its->there && i != SP_PART_PAST)
            failed = sp_part_of(&parts[i], its->text, its->n, fault);
    }
    if (!failed)
        failed = sp_parameters_open(contents, false, fault);
    if (!failed)
        failed = sp_contents_begin(contents, false, like->learner.index.seed_number, fault);
    if (!failed)
        failed = sp_labels_open(contents, n_outputs, fault);
    if (!failed)
        failed = sp_objects_open(contents, fault);
    if (failed)
        sp_contents_free(contents);
    return failed;
}

/* Keep what the command line keeps, except its place in the input and what it has learned. */
static int sp_lines_bare(sp_part *lines, sp_fault *fault)
{
    const sp_json *json = &lines->json;
    sp_bytes text = {.failed = false};
    sp_part made = {.there = false};
    for (uint32_t name = 1; name < json->nodes[0].next; name = json->nodes[name + 1].next) {
        if (sp_json_is(json, name, "place") || sp_json_is(json, name, "spool")
            || sp_json_is(json, name, "mails"))
            continue;
        size_t from = json->nodes[name].start - 1; /* with its quote */
        bool quoted = sp_json_type(json, name + 1) == SP_JSON_STRING;
        sp_bytes_word(&text, text.n ? "," : "{");
        sp_bytes_add(&text, json->text + from, json->nodes[name + 1].end + quoted - from);
    }
    sp_bytes_word(&text, "}");
    int failed = text.failed ? sp_fault_memory(fault) : sp_part_of(&made, text.p, text.n, fault);
    sp_bytes_free(&text);
    sp_part_free(failed ? &made : lines);
    if (!failed)
        *lines = made;
    return failed;
}

SP_PRIVATE int sp_contents_put_lines(sp_contents *contents, const void *text, size_t n,
                                     sp_fault *fault)
{
    sp_part made = {.there = false};
    int failed = sp_part_of(&made, text, n, fault);
    if (!failed && !sp_is_lines(&made.json))
        failed = sp_fault_say(fault, SP_WHY_PARAMETER, "lines is not what docs/format.md says");
    sp_part_free(failed ? &made : &contents->parts[SP_PART_LINES]);
    if (!failed)
        contents->parts[SP_PART_LINES] = made;
    return failed;
}

SP_PRIVATE int sp_contents_bare(sp_contents *contents, sp_fault *fault)
{
    sp_part *parts = contents->parts;
    sp_bytes_free(&contents->journal);
    contents->has_journal = false;
    sp_part_free(&parts[SP_PART_POSITION]);
    sp_part_free(&parts[SP_PART_METADATA]);
    int failed = sp_part_of(&parts[SP_PART_METADATA], "{}", 2, fault);
    if (!failed && parts[SP_PART_LINES].there)
        failed = sp_lines_bare(&parts[SP_PART_LINES], fault);
    return failed;
}
