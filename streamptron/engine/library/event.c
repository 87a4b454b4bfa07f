#include "library/event.h"

#include "memory/heap.h"
#include "names/hash.h"

#include <math.h>
#include <string.h>

SPT_API int spt_event_new(const spt_model *model, spt_event **event, spt_error *error)
{
    if (model == NULL || event == NULL)
        return sp_say(error, SPT_ARGUMENT, "model or event is NULL");
    *event = NULL;
    spt_event *made = (spt_event *)sp_calloc(1, sizeof(spt_event));
    if (made == NULL)
        return sp_say_memory(error);
    made->model = model;
    sp_event_init(&made->event);
    *event = made;
    return SPT_OK;
}

SPT_API void spt_event_free(spt_event *event)
{
    if (event == NULL)
        return;
    sp_event_free(&event->event);
    sp_text_free(&event->text);
    sp_bytes_free(&event->names);
    sp_bytes_free(&event->features);
    sp_bytes_free(&event->starts);
    sp_bytes_free(&event->table);
    sp_bytes_free(&event->shares);
    sp_bytes_free(&event->shown);
    sp_bytes_free(&event->values);
    sp_bytes_free(&event->numbers);
    sp_bytes_free(&event->turns);
    spt_step_free(event->step);
    sp_free(event);
}

static size_t sp_named_count(const spt_event *event)
{
    return event->features.n / sizeof(sp_named);
}

/* The number of the last candidate's first feature. */
static size_t sp_named_first(const spt_event *event)
{
    size_t n = sp_candidates(event);
    return n == 0 ? 0 : ((const size_t *)(const void *)event->starts.p)[n - 1];
}

static sp_named *sp_named_at(const spt_event *event, size_t i)
{
    return (sp_named *)(void *)event->features.p + i;
}

SPT_API void spt_event_clear(spt_event *event)
{
    if (event->features.n > 0 && event->table.n > 0)
        memset(event->table.p, 0, event->table.n);
    event->is_text = false;
    event->closed = false;
    event->names.n = 0;
    event->features.n = 0;
    event->starts.n = 0;
}

SPT_API int spt_event_candidate(spt_event *event, spt_error *error)
{
    size_t start = sp_named_count(event);
    if (!sp_ranks(event->model))
        return sp_say(error, SPT_ARGUMENT,
                      "the model answers labels, and has no candidates; add the event's features");
    if (sp_candidates(event) == SP_FEATURES_MOST)
        return sp_say(error, SPT_ARGUMENT, "the event has too many candidates");
    sp_bytes_add(&event->starts, &start, sizeof(start));
    if (event->starts.failed) {
        event->starts.failed = false;
        return sp_say_memory(error);
    }
    if (event->table.n > 0) /* names of earlier candidates may come again */
        memset(event->table.p, 0, event->table.n);
    event->closed = false;
    return SPT_OK;
}

/* Whether features may be added: with candidates, one must have begun. SPT_OK or a code. */
static int sp_may_add(const spt_event *event, spt_error *error)
{
    if (!sp_ranks(event->model) || (sp_candidates(event) > 0 && !event->closed))
        return SPT_OK;
    return sp_say(error, SPT_ARGUMENT,
                  event->closed ? "the candidate is a text and takes no more features; call "
                                  "spt_event_candidate to begin another one"
                                : "the model chooses among candidates; call spt_event_candidate "
                                  "before the features of each");
}

/* Begin another event if nothing can be added to this one. */
static void sp_event_open(spt_event *event)
{
    if (event->is_text || event->closed)
        spt_event_clear(event);
}

SP_PRIVATE bool sp_is_text(const char *p, size_t n)
{
    const uint8_t *text = (const uint8_t *)p;
    for (size_t i = 0; i < n;) {
        size_t length = text[i] < 0x80 ? 1 : text[i] < 0xE0 ? 2 : text[i] < 0xF0 ? 3 : 4;
        if ((text[i] >= 0x80 && text[i] < 0xC2) || text[i] > 0xF4 || length > n - i)
            return false;
        for (size_t k = 1; k < length; k++) {
            if ((text[i + k] & 0xC0) != 0x80)
                return false;
        }
        if ((text[i] == 0xE0 && text[i + 1] < 0xA0) || (text[i] == 0xED && text[i + 1] > 0x9F)
            || (text[i] == 0xF0 && text[i + 1] < 0x90) || (text[i] == 0xF4 && text[i + 1] > 0x8F))
            return false;
        i += length;
    }
    return true;
}

/* --- Texts */

/* Write a name's bytes behind the others, from SP_NAME_BEFORE on. Returns where; 0 if out of
   memory. */
static size_t sp_name_put(sp_bytes *names, const uint8_t *p, size_t n)
{
    size_t at = names->n ? names->n : SP_NAME_BEFORE;
    uint8_t *room = sp_bytes_room(names, n + SP_NAME_BEFORE);
    if (room == NULL) {
        names->failed = false;
        return 0;
    }
    if (names->n == 0)
        memset(names->p, 0, SP_NAME_BEFORE);
    if (n > 0)
        memcpy(names->p + at, p, n);
    return at;
}

SP_PRIVATE int sp_named_take(const sp_event *event, ptrdiff_t first, ptrdiff_t last,
                             sp_bytes *names, sp_bytes *features)
{
    for (ptrdiff_t i = first; i < last; i++) {
        const sp_key *key = &event->keys[i];
        sp_named feature = {.kind = sp_key_kind(key) & ~(uint64_t)SP_KEY_LONG,
                            .at = names->n,
                            .value = event->values[i]};
        uint8_t inside[16];
        if (feature.kind == SP_KEY_INT || feature.kind == SP_KEY_FLOAT)
            feature.word = key->lo;
        else {
            const uint8_t *p = sp_key_is_long(key) ? sp_key_bytes(key) : inside;
            if (p == inside)
                sp_key_inline_bytes(key, inside);
            feature.n = sp_key_length(key);
            feature.at = sp_name_put(names, p, feature.n);
            if (feature.at == 0)
                return -1;
            names->n = feature.at + feature.n;
        }
        sp_bytes_add(features, &feature, sizeof(feature));
        if (features->failed) {
            features->failed = false;
            return -1;
        }
    }
    return 0;
}

/* Let the features of a text be those of the last candidate. */
static int sp_candidate_take(spt_event *event, spt_error *error)
{
    size_t n_names = event->names.n, n_features = event->features.n;
    const sp_event *text = &event->event;
    int failed = sp_named_take(text, event->model->contents.learner.intercept, text->n,
                               &event->names, &event->features);
    sp_event_settle(&event->event, &event->model->contents.learner.index);
    event->closed = failed == 0;
    if (failed == 0)
        return SPT_OK;
    event->names.n = n_names;
    event->features.n = n_features;
    return sp_say_memory(error);
}

SPT_API int spt_event_texts(spt_event *event, const char *const *texts, const size_t *lengths,
                            size_t n_texts, spt_error *error)
{
    const sp_contents *contents = &event->model->contents;
    const sp_tokens *tokens = &contents->tokens;
    sp_piece one;
    sp_piece *pieces = &one;
    int failed = sp_may_add(event, error);
    if (failed)
        return failed;
    if (!contents->has_tokens)
        return sp_say(error, SPT_ARGUMENT,
                      "the model has no tokenizer, so it cannot take a text; add its features");
    if (n_texts != (size_t)tokens->n_pieces)
        return sp_say(error, SPT_ARGUMENT,
                      tokens->named ? "the model's tokenizer takes a text for each of its fields: "
                                      "as many as spt_fields says"
                                    : "the model's tokenizer takes one text");
    if (sp_ranks(event->model) && sp_named_count(event) > sp_named_first(event))
        return sp_say(error, SPT_ARGUMENT, "the candidate has features already, and a text must "
                                           "be all of them; call spt_event_candidate first");
    for (size_t i = 0; i < n_texts; i++) {
        if ((texts[i] == NULL && lengths[i] > 0) || lengths[i] > SP_TEXT_MOST)
            return sp_say(error, SPT_ARGUMENT,
                          "a text is NULL, or longer than 268435456 bytes: split it");
    }
    if (n_texts > 1)
        pieces = (sp_piece *)sp_calloc(n_texts, sizeof(sp_piece));
    if (pieces == NULL)
        return sp_say_memory(error);
    for (size_t i = 0; i < n_texts; i++) {
        pieces[i].p = (const uint8_t *)(texts[i] == NULL ? "" : texts[i]);
        pieces[i].n = lengths[i];
        pieces[i].surrogates = false;
    }
    if (!sp_ranks(event->model))
        spt_event_clear(event);
    else if (sp_event_candidates(&event->event, 0) < 0)
        failed = -1;
    if (!failed)
        failed = sp_text_write(&event->text, &event->event, &tokens->rule,
                               &contents->learner.index, contents->learner.intercept,
                               tokens->prefixes, pieces, tokens->n_pieces);
    if (pieces != &one)
        sp_free(pieces);
    if (failed < 0)
        return sp_say_memory(error);
    if (sp_ranks(event->model))
        return sp_candidate_take(event, error);
    event->event.generation = contents->learner.index.generation;
    event->is_text = true;
    return SPT_OK;
}

SPT_API int spt_event_text(spt_event *event, const char *text, size_t n, spt_error *error)
{
    return spt_event_texts(event, &text, &n, 1, error);
}

/* --- Names and numbers */

/* A feature's name in the engine's form. */
static sp_key sp_named_key(const spt_event *event, const sp_named *feature)
{
    if (feature->kind == SP_KEY_INT || feature->kind == SP_KEY_FLOAT)
        return sp_key_word(feature->kind, feature->word);
    return sp_key_text(feature->kind, event->names.p + feature->at, feature->n);
}

/* The place of a name in the table, or a free place. */
static uint32_t *sp_named_place(const spt_event *event, const sp_named *feature)
{
    uint32_t *table = (uint32_t *)(void *)event->table.p;
    size_t mask = event->table.n / sizeof(uint32_t) - 1;
    sp_key key = sp_named_key(event, feature);
    size_t at = sp_key_hash(&event->model->contents.learner.index.seed, &key) & mask;
    while (table[at] != 0) {
        sp_key its = sp_named_key(event, sp_named_at(event, table[at] - 1));
        if (sp_key_equal(&its, &key))
            break;
        at = (at + 1) & mask;
    }
    return &table[at];
}

/* Room in the table for one more name. False if out of memory. */
static bool sp_table_room(spt_event *event)
{
    size_t n = sp_named_count(event), first = sp_named_first(event), size = 64;
    while (size < 2 * (n - first + 1))
        size *= 2;
    if (size * sizeof(uint32_t) <= event->table.n)
        return true;
    sp_bytes grown = {.failed = false};
    if (sp_bytes_room(&grown, size * sizeof(uint32_t)) == NULL)
        return false;
    grown.n = size * sizeof(uint32_t);
    memset(grown.p, 0, grown.n);
    sp_bytes_free(&event->table);
    event->table = grown;
    for (size_t i = first; i < n; i++)
        *sp_named_place(event, sp_named_at(event, i)) = (uint32_t)i + 1;
    return true;
}

/* Whether a value stands for a missing one, which the model leaves out. */
static bool sp_is_left_out(spt_event *event, double value)
{
    if (!isnan(value) || event->model->contents.parameters.missing != SP_MISSING_SKIP_NAN)
        return false;
    sp_event_open(event);
    return true;
}

/* Add a feature whose name was written behind the others. */
static int sp_named_add(spt_event *event, sp_named *feature, spt_error *error)
{
    static const char twice[] = "the event has this feature already: ";
    size_t n_names = event->names.n;
    if (!isfinite(feature->value) || fabs(feature->value) > SP_VALUE_LIMIT)
        return sp_say(error, SPT_ARGUMENT,
                      "value must be a finite number of at most 1e+50 in size");
    sp_event_open(event);
    if (sp_named_count(event) == SP_FEATURES_MOST)
        return sp_say(error, SPT_ARGUMENT, "the event has too many features");
    if (!sp_table_room(event))
        return sp_say_memory(error);
    uint32_t *place = sp_named_place(event, feature);
    if (*place != 0) {
        sp_say(error, SPT_ARGUMENT, twice);
        return sp_say_more(error, SPT_ARGUMENT, event->names.p + feature->at, feature->n);
    }
    size_t number = sp_named_count(event) + 1;
    event->names.n = feature->at + feature->n;
    sp_bytes_add(&event->features, feature, sizeof(*feature));
    if (event->features.failed) {
        event->features.failed = false;
        event->names.n = n_names;
        return sp_say_memory(error);
    }
    *place = (uint32_t)number;
    return SPT_OK;
}

SPT_API int spt_event_add(spt_event *event, const char *name, size_t n, double value,
                          spt_error *error)
{
    sp_named feature = {.kind = SP_KEY_STR, .n = n, .value = value};
    int failed = sp_may_add(event, error);
    if (failed || sp_is_left_out(event, value))
        return failed;
    if ((name == NULL && n > 0) || n > SP_TEXT_MOST)
        return sp_say(error, SPT_ARGUMENT, "name is NULL, or too long");
    if (!sp_is_text(name, n))
        return sp_say(error, SPT_ARGUMENT, "name is not UTF-8");
    sp_event_open(event);
    feature.at = sp_name_put(&event->names, (const uint8_t *)name, n);
    return feature.at == 0 ? sp_say_memory(error) : sp_named_add(event, &feature, error);
}

SPT_API int spt_event_add_int(spt_event *event, int64_t name, double value, spt_error *error)
{
    const int64_t most = (INT64_C(1) << 61) - 2;
    sp_named feature = {.kind = SP_KEY_INT, .word = (uint64_t)name, .value = value};
    int failed = sp_may_add(event, error);
    if (failed || sp_is_left_out(event, value))
        return failed;
    if (name > most || name < -most)
        return sp_say(error, SPT_ARGUMENT, "name must be less than 2^61 - 1 in size");
    feature.at = event->names.n;
    return sp_named_add(event, &feature, error);
}

/* --- For the engine */

SP_PRIVATE int sp_event_put(const spt_model *model, spt_event *event, spt_error *error)
{
    const sp_learner *learner = &model->contents.learner;
    size_t n = sp_named_count(event);
    if (event->model != model)
        return sp_say(error, SPT_ARGUMENT, "the event was made for another model");
    if (event->is_text) {
        sp_event_again(&event->event, &learner->index, learner->intercept);
        return SPT_OK;
    }
    size_t n_candidates = sp_candidates(event);
    if ((sp_ranks(model) && sp_event_candidates(&event->event, (ptrdiff_t)n_candidates) < 0)
        || sp_event_begin(&event->event, &learner->index, (ptrdiff_t)n, learner->intercept) < 0)
        return sp_say_memory(error);
    sp_writer writer = sp_event_writer(&event->event);
    const size_t *starts = (const size_t *)(const void *)event->starts.p;
    for (size_t i = 0, k = 0; k < n_candidates || i < n;) {
        size_t end = k + 1 < n_candidates ? starts[k + 1] : n;
        for (; i < end; i++) {
            const sp_named *feature = sp_named_at(event, i);
            if (feature->value != 0.0)
                sp_writer_add(&writer, sp_named_key(event, feature), feature->value);
        }
        if (k < n_candidates)
            sp_event_candidate_end(&event->event, (ptrdiff_t)k++, &writer);
    }
    sp_event_end(&event->event, &writer);
    return SPT_OK;
}

SP_PRIVATE int sp_unfit(const spt_event *event, spt_error *error)
{
    if (event->event.unfit == SP_UNFIT_NUMBER)
        return sp_say(error, SPT_ARGUMENT,
                      "the event makes more pairs of features than max_pairs; raise max_pairs, "
                      "pair only some fields by interactions, or give fewer features");
    if (event->event.unfit == SP_UNFIT_SIZE)
        return sp_say(error, SPT_ARGUMENT,
                      "the event makes a pair of features whose product is more than 1e+50 in "
                      "size; scale the values first");
    return sp_say_memory(error);
}
