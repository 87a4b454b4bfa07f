/* What a model has learned since another one, as bytes; and learning from such bytes. */

#include "library/sides.h"

#include "exchange/join.h"
#include "file/delta.h"
#include "file/write.h"
#include "memory/grow.h"
#include "memory/heap.h"
#include "path/path.h"

#include <string.h>

/* --- Making one */

/* The bytes of a side, which is known to continue from its base. 0, or a kind of fault. */
static int sp_delta_make(sp_side *side, const sp_side *base, const char *digits, uint64_t shard,
                         sp_bytes *to, sp_fault *fault)
{
    sp_delta_said said = {digits, shard, {.failed = false}, {.failed = false}};
    sp_delta delta;
    memset(&delta, 0, sizeof(delta));
    int wrong = sp_delta_measure(&delta, &side->shard, &base->shard);
    int failed = 0;
    if (wrong == SP_SHARD_MEMORY)
        failed = sp_fault_memory(fault);
    else if (wrong == SP_SHARD_KEY)
        failed = sp_fault_say(fault, SP_WHY_DAMAGED, "a feature name is invalid");
    else if (wrong)
        failed = sp_fault_strange(fault, side->name,
                                  "its first feature names are not those of since");
    if (!failed) {
        sp_list_write(&side->labels.json, sp_list_length(&base->labels.json), &said.labels);
        sp_list_write(&side->objects.json, sp_list_length(&base->objects.json), &said.objects);
        failed = said.labels.failed || said.objects.failed
                     ? sp_fault_memory(fault)
                     : sp_delta_bytes(side->contents, &delta, &side->shard, &base->shard, &said, to,
                                      fault);
    }
    sp_bytes_free(&said.labels);
    sp_bytes_free(&said.objects);
    sp_delta_free(&delta);
    return failed;
}

SPT_API int spt_delta(const spt_model *model, const spt_model *since, uint64_t shard, void **p,
                      size_t *n, spt_error *error)
{
    sp_side side = {.contents = NULL}, base = {.contents = NULL};
    char digits[SP_DIGEST_ROOM];
    sp_bytes bytes = {.failed = false};
    sp_fault fault;
    bool awake;
    if (shard >= UINT64_C(1) << 53)
        return sp_say(error, SPT_ARGUMENT, "shard is too large; it must be below 2 to the 53");
    int failed = sp_check_alike(model, "the model", since, "since", error);
    if (failed)
        return failed;
    strcpy(side.name, "the model");
    strcpy(base.name, "since");
    failed = sp_side_begin(&side, model, &model->contents, error);
    if (!failed)
        failed = sp_side_begin(&base, since, &since->contents, error);
    if (!failed) {
        failed = sp_side_awake(&side, &base, &awake, &fault);
        if (!failed)
            failed = sp_side_went_on(&side, &base, &fault);
        if (!failed)
            failed = sp_side_digest(&base, digits, &fault);
        if (!failed)
            failed = sp_delta_make(&side, &base, digits, shard, &bytes, &fault);
        if (failed)
            failed = sp_say_fault(error, &fault, NULL);
    }
    sp_side_free(&side);
    sp_side_free(&base);
    if (failed) {
        sp_bytes_free(&bytes);
        return failed;
    }
    *p = bytes.p;
    *n = bytes.n;
    return SPT_OK;
}

/* --- Those that arrived */

typedef struct sp_inbox {
    sp_sent *sent;  /* as they arrived; later sorted by shard */
    uint8_t **held; /* copies of those whose address is not a multiple of eight */
    size_t n_held;
    int n, room;
} sp_inbox;

static void sp_inbox_free(sp_inbox *inbox)
{
    for (int k = 0; k < inbox->n; k++)
        sp_sent_free(&inbox->sent[k]);
    for (size_t k = 0; k < inbox->n_held; k++)
        sp_free(inbox->held[k]);
    sp_free(inbox->sent);
    sp_free(inbox->held);
}

/* Say in words what is wrong with a delta. Returns the code. */
static int sp_say_sent(spt_error *error, const sp_fault *fault, const char *name)
{
    static const char ask[] = "; the model has not changed. Ask for the delta again";
    const char *verb = fault->kind == SP_WHY_DAMAGED ? " is damaged: " : " ";
    if (fault->kind != SP_WHY_DAMAGED && fault->kind != SP_WHY_FOREIGN)
        return sp_say_fault(error, fault, NULL);
    int code = fault->kind == SP_WHY_DAMAGED ? SPT_DAMAGED : SPT_FOREIGN;
    sp_say(error, code, name);
    sp_say_more(error, code, verb, strlen(verb));
    sp_say_more(error, code, fault->text, fault->n);
    return sp_say_more(error, code, ask, code == SPT_DAMAGED ? sizeof(ask) - 1 : 0);
}

/* Room for one more delta. -1 if out of memory. */
static int sp_inbox_room(sp_inbox *inbox)
{
    if (inbox->n < inbox->room)
        return 0;
    int room = 2 * inbox->room + 4;
    if (SP_GROW(inbox->sent, room) < 0)
        return -1;
    inbox->room = room;
    return 0;
}

/* Read the deltas of one buffer. 0, or a kind of fault. */
static int sp_inbox_read(sp_inbox *inbox, const uint8_t *p, size_t n, sp_fault *fault)
{
    if ((uintptr_t)p % 8 != 0) {
        uint8_t *copy = (uint8_t *)sp_malloc(n + 8);
        if (copy == NULL)
            return sp_fault_memory(fault);
        memcpy(copy, p, n);
        inbox->held[inbox->n_held++] = copy;
        p = copy;
    }
    for (size_t at = 0, size = 0; at == 0 || at < n; at += size) {
        if (sp_inbox_room(inbox) < 0)
            return sp_fault_memory(fault);
        int failed = sp_sent_read(&inbox->sent[inbox->n++], p + at, n - at, &size, fault);
        if (failed)
            return failed;
    }
    return 0;
}

/* Sort them by the shards' numbers. SPT_OK, or a code: two of them conflict. */
static int sp_inbox_sort(sp_inbox *inbox, spt_error *error)
{
    char name[SP_SIDE_NAME];
    for (int k = 1; k < inbox->n; k++) {
        sp_sent one = inbox->sent[k];
        int at = k;
        for (; at > 0 && inbox->sent[at - 1].shard > one.shard; at--)
            inbox->sent[at] = inbox->sent[at - 1];
        inbox->sent[at] = one;
    }
    for (int k = 1; k < inbox->n; k++) {
        const char *why = NULL;
        if (inbox->sent[k].shard == inbox->sent[k - 1].shard)
            why = " occurs twice; give each shard its own number";
        else if (strcmp(inbox->sent[k].base, inbox->sent[k - 1].base) != 0)
            why = " continues another model than the one before it; combine only deltas of one "
                  "base";
        if (why == NULL)
            continue;
        sp_side_called(name, "shard ", inbox->sent[k].shard, "");
        sp_say(error, SPT_ARGUMENT, name);
        return sp_say_more(error, SPT_ARGUMENT, why, strlen(why));
    }
    return SPT_OK;
}

/* Drop those in which nothing was learned. */
static void sp_inbox_sift(sp_inbox *inbox, uint64_t n_seen)
{
    int n = 0;
    for (int k = 0; k < inbox->n; k++) {
        if (inbox->sent[k].n_seen == n_seen && inbox->sent[k].header.arrays[SP_DELTA_ROWS].n == 0)
            sp_sent_free(&inbox->sent[k]);
        else
            inbox->sent[n++] = inbox->sent[k];
    }
    inbox->n = n;
}

/* Check that they continue from this model as it is now. SPT_OK, or a code. */
static int sp_inbox_check(const sp_inbox *inbox, const spt_model *model, const sp_side *base,
                          spt_error *error)
{
    char name[SP_SIDE_NAME], digits[SP_DIGEST_ROOM];
    sp_fault fault;
    int failed = 0;
    for (int k = 0; k < inbox->n; k++) {
        sp_side_called(name, "the delta of shard ", inbox->sent[k].shard, "");
        failed = sp_sent_alike(&inbox->sent[k], &model->contents, name, &fault);
        if (failed)
            return sp_say_sent(error, &fault, name);
    }
    failed = sp_side_digest(base, digits, &fault);
    if (failed)
        return sp_say_fault(error, &fault, NULL);
    if (strcmp(digits, inbox->sent[0].base) == 0)
        return SPT_OK;
    sp_fault_say(&fault, SP_WHY_PARAMETER, "the delta continues the model ");
    sp_fault_add_bytes(&fault, inbox->sent[0].base, SP_MIN(strlen(inbox->sent[0].base), (size_t)8));
    sp_fault_add(&fault, ", and this one is ");
    sp_fault_add_bytes(&fault, digits, 8);
    sp_fault_add(&fault, ": it is another, or it has learned since, perhaps this very delta; "
                         "nothing has changed");
    return sp_say_fault(error, &fault, NULL);
}

/* --- Learning from them */

/* Turn a delta into a side. SPT_OK, or a code. */
static int sp_sent_side(sp_sent *sent, const spt_model *model, const sp_side *base, sp_side *side,
                        spt_error *error)
{
    sp_bytes labels = {.failed = false}, objects = {.failed = false};
    sp_fault fault;
    sp_side_called(side->name, "the delta of shard ", sent->shard, "");
    side->contents = &sent->made;
    sp_list_write(&sent->labels.json, 0, &labels);
    sp_list_write(&sent->objects.json, 0, &objects);
    int failed = labels.failed || objects.failed
                     ? sp_fault_memory(&fault)
                     : sp_part_joined(&side->labels, &base->labels, labels.p, labels.n, &fault);
    if (!failed)
        failed = sp_part_joined(&side->objects, &base->objects, objects.p, objects.n, &fault);
    if (!failed)
        failed = sp_sent_overlay(sent, &model->contents, &side->labels, &side->objects,
                                 &side->shard, &fault);
    sp_bytes_free(&labels);
    sp_bytes_free(&objects);
    return failed ? sp_say_sent(error, &fault, side->name) : SPT_OK;
}

/* Replace the model's contents with the merge, whose labels and odd names are the model's. -1 if
   out of memory; then nothing has changed. */
static int sp_model_exchange(spt_model *model, sp_contents *to)
{
    sp_contents *its = &model->contents;
    const sp_json *labels = &to->parts[SP_PART_LABELS].json;
    sp_label_point mark = sp_labels_savepoint(&model->labels);
    if (sp_json_type(labels, 0) == SP_JSON_LIST
        && sp_labels_add_all(&model->labels, its, labels) < 0) {
        sp_labels_rewind(&model->labels, mark);
        return -1;
    }
    sp_learner learner = its->learner;
    sp_part objects = its->parts[SP_PART_OBJECTS];
    its->learner = to->learner;
    its->learner.pairs = learner.pairs;
    its->learner.version = learner.version + 1;
    its->learner.index.generation = learner.index.generation + 1;
    its->parts[SP_PART_OBJECTS] = to->parts[SP_PART_OBJECTS];
    its->n_objects = to->n_objects;
    to->learner = learner;
    to->parts[SP_PART_OBJECTS] = objects;
    /* what was kept of earlier steps no longer matches */
    sp_part_free(&its->parts[SP_PART_PAST]);
    sp_bytes_free(&its->journal);
    its->has_journal = false;
    model->life++;
    return 0;
}

/* Merge them into a model. SPT_OK, or a code. */
static int sp_inbox_learn(sp_inbox *inbox, spt_model *model, sp_side *sides, spt_error *error)
{
    sp_contents to;
    sp_fault fault;
    int failed = 0;
    for (int k = 0; k < inbox->n && !failed; k++)
        failed = sp_sent_side(&inbox->sent[k], model, &sides[0], &sides[k + 1], error);
    if (failed)
        return failed;
    sp_side_since(&sides[0], &sides[0]);
    failed = sp_sides_merge(sides, inbox->n + 1, &model->contents, &to, &fault);
    if (failed)
        return sp_say_sent(error, &fault, inbox->n == 1 ? sides[1].name : "one of the deltas");
    failed = sp_model_exchange(model, &to);
    sp_contents_free(&to);
    return failed ? sp_say_memory(error) : SPT_OK;
}

/* Open the deltas of n buffers. SPT_OK, or a code. */
static int sp_inbox_open(sp_inbox *inbox, const void *const *deltas, const size_t *lengths,
                         size_t n, spt_error *error)
{
    char name[SP_SIDE_NAME];
    sp_fault fault;
    inbox->held = (uint8_t **)sp_calloc(n, sizeof(uint8_t *));
    if (inbox->held == NULL)
        return sp_say_memory(error);
    for (size_t k = 0; k < n; k++) {
        int failed = deltas[k] == NULL
                         ? sp_fault_say(&fault, SP_WHY_FOREIGN, "is NULL")
                         : sp_inbox_read(inbox, (const uint8_t *)deltas[k], lengths[k], &fault);
        sp_side_called(name, "deltas[", k, "]");
        if (failed)
            return sp_say_sent(error, &fault, name);
    }
    return sp_inbox_sort(inbox, error);
}

SPT_API int spt_apply(spt_model *model, const void *const *deltas, const size_t *lengths, size_t n,
                      spt_error *error)
{
    sp_inbox inbox = {.n = 0};
    sp_side *sides = NULL;
    int n_sides = 0;
    if (model->read_only)
        return sp_say(error, SPT_READ_ONLY,
                      "the model was opened with SPT_MAPPED, read only, and learns nothing");
    if (n == 0 || deltas == NULL || lengths == NULL)
        return sp_say(error, SPT_ARGUMENT, "there are no deltas; give at least one");
    int failed = sp_check_alike(model, "the model", model, "the model", error);
    if (!failed)
        failed = sp_inbox_open(&inbox, deltas, lengths, n, error);
    if (!failed) {
        n_sides = inbox.n + 1;
        sides = (sp_side *)sp_calloc((size_t)n_sides, sizeof(sp_side));
        failed = sides == NULL ? sp_say_memory(error) : SPT_OK;
        if (!failed) {
            strcpy(sides[0].name, "the model");
            failed = sp_side_begin(&sides[0], model, &model->contents, error);
        }
        if (!failed)
            failed = sp_inbox_check(&inbox, model, &sides[0], error);
    }
    if (!failed) {
        sp_inbox_sift(&inbox, model->contents.learner.n_seen);
        failed = inbox.n ? sp_inbox_learn(&inbox, model, sides, error) : SPT_OK;
    }
    for (int k = 0; sides != NULL && k < n_sides; k++)
        sp_side_free(&sides[k]);
    sp_free(sides);
    sp_inbox_free(&inbox);
    return failed;
}
