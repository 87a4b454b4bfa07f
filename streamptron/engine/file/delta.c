#include "file/delta.h"

#include "file/counts.h"
#include "file/values.h"
#include "memory/heap.h"
#include "path/path.h"
#include "rows/marks.h"
#include "sets/flat.h"
#include "wide/flat.h"

#include <string.h>

static int sp_sent_wrong(sp_fault *fault, const char *words)
{
    return sp_fault_say(fault, SP_WHY_DAMAGED, words);
}

SP_PRIVATE void sp_sent_drop(sp_sent *sent)
{
    sp_contents_free(&sent->made);
    sp_free(sent->keys);
    sent->keys = NULL;
}

SP_PRIVATE void sp_sent_free(sp_sent *sent)
{
    sp_sent_drop(sent);
    sp_part_free(&sent->parameters);
    sp_part_free(&sent->labels);
    sp_part_free(&sent->objects);
    sp_header_free(&sent->header);
}

/* A part that must be there. */
static int sp_sent_part(const sp_sent *sent, const char *name, sp_part *part, sp_fault *fault)
{
    int failed = sp_part_read(&sent->header, name, part, fault);
    if (failed || part->there)
        return failed;
    sp_sent_wrong(fault, "it has no part ");
    return sp_fault_add(fault, name);
}

/* Parts that are a number or a short text, of which no more is kept. */
static int sp_sent_small(sp_sent *sent, sp_fault *fault)
{
    sp_part base, shard, counters;
    int failed = sp_sent_part(sent, "base", &base, fault);
    if (!failed
        && (sp_json_type(&base.json, 0) != SP_JSON_STRING
            || sp_json_length(&base.json, 0) > SP_DIGEST_DIGITS))
        failed = sp_sent_wrong(fault, "its base is no digest");
    if (!failed)
        sp_json_string(&base.json, 0, (uint8_t *)sent->base);
    sp_part_free(&base);
    if (failed)
        return failed;
    failed = sp_sent_part(sent, "shard", &shard, fault);
    if (!failed && !sp_json_whole(&shard.json, 0, (UINT64_C(1) << 53) - 1, &sent->shard))
        failed = sp_sent_wrong(fault, "its shard is not an int of at least 0");
    sp_part_free(&shard);
    if (failed)
        return failed;
    failed = sp_sent_part(sent, "counters", &counters, fault);
    if (!failed
        && (sp_json_type(&counters.json, 0) != SP_JSON_LIST || counters.json.nodes[0].n != 3
            || !sp_json_whole(&counters.json, 1, UINT64_MAX, &sent->n_seen)))
        failed = sp_sent_wrong(fault, "the counters are invalid");
    sp_part_free(&counters);
    return failed;
}

SP_PRIVATE int sp_sent_read(sp_sent *sent, const uint8_t *p, size_t n, size_t *size,
                            sp_fault *fault)
{
    memset(sent, 0, sizeof(*sent));
    int failed = sp_delta_header_read(&sent->header, p, n, size, fault);
    if (!failed)
        failed = sp_class_read(&sent->header, &sent->kind, fault);
    if (!failed)
        failed = sp_sent_small(sent, fault);
    if (!failed)
        failed = sp_sent_part(sent, "parameters", &sent->parameters, fault);
    if (!failed)
        failed = sp_sent_part(sent, "labels", &sent->labels, fault);
    if (!failed)
        failed = sp_sent_part(sent, "objects", &sent->objects, fault);
    if (!failed && sp_json_type(&sent->objects.json, 0) != SP_JSON_LIST)
        failed = sp_sent_wrong(fault, "there is no list of odd names");
    return failed;
}

/* Whether a class is written with "an" before it. */
static const char *sp_article(const char *word)
{
    return strchr("AEIOU", *word) != NULL ? "an " : "a ";
}

SP_PRIVATE int sp_sent_alike(const sp_sent *sent, const sp_contents *base, const char *name,
                             sp_fault *fault)
{
    sp_given given = {&sent->parameters.json, 0, false};
    sp_parameters its;
    if (sent->kind != base->kind) {
        const char *theirs = sp_class_name(sent->kind), *ours = sp_class_name(base->kind);
        sp_fault_say(fault, SP_WHY_PARAMETER, name);
        sp_fault_add(fault, " is of ");
        sp_fault_add(fault, sp_article(theirs));
        sp_fault_add(fault, theirs);
        sp_fault_add(fault, ", and the model is ");
        sp_fault_add(fault, sp_article(ours));
        return sp_fault_add(fault, ours);
    }
    int failed = sp_parameters_read(&its, sent->kind, &given, fault);
    if (failed == SP_WHY_PARAMETER)
        failed = fault->kind = SP_WHY_DAMAGED;
    if (failed)
        return failed;
    return sp_parameters_alike(sent->kind, &given, &its, name, &base->given, &base->parameters,
                               "the model", fault);
}

/* A bit for each array that such a delta has. */
static uint32_t sp_sent_expected(const sp_learner *base, bool marks)
{
    uint32_t all = 1U << SP_DELTA_ROWS | 1U << SP_DELTA_SLOTS | 1U << SP_DELTA_BLOCKS;
    if (!base->index.bits)
        all |= 1U << SP_DELTA_KEYS | 1U << SP_DELTA_TEXTS;
    if (sp_index_is_limited(&base->index))
        all |= 1U << SP_DELTA_RENAMED | 1U << SP_DELTA_STAMPS;
    if (sp_learner_can(base, SP_CAN_SET))
        all |= 1U << SP_DELTA_MARKED;
    return all | (marks ? 1U << SP_DELTA_MARKS : 0);
}

static void *sp_sent_array(const sp_sent *sent, int array, size_t *n)
{
    const sp_array *shape = &sent->header.arrays[array];
    *n = shape->n;
    /* nobody writes through it */
    return shape->there ? (void *)(uintptr_t)(sent->header.file + sent->header.size + shape->start)
                        : NULL;
}

/* Point at the arrays. NULL, or what is wrong. */
static const char *sp_sent_find(sp_sent *sent, const sp_learner *base, bool marks)
{
    const sp_learner *learner = &sent->made.learner;
    sp_delta *d = &sent->delta;
    uint32_t found = 0;
    size_t n_slots, n_marked;
    for (int i = 0; i < SP_DELTA_ARRAYS; i++)
        found |= sent->header.arrays[i].there ? 1U << i : 0;
    if (found != sp_sent_expected(base, marks)
        || sent->header.arrays[SP_DELTA_ROWS].width != (size_t)learner->table.width)
        return "the arrays are not those of such a model";
    memset(d, 0, sizeof(*d));
    d->rows = (double *)sp_sent_array(sent, SP_DELTA_ROWS, &d->n_rows);
    d->slots = (uint32_t *)sp_sent_array(sent, SP_DELTA_SLOTS, &n_slots);
    d->blocks = (uint32_t *)sp_sent_array(sent, SP_DELTA_BLOCKS, &d->n_blocks);
    d->keys = (sp_key *)sp_sent_array(sent, SP_DELTA_KEYS, &d->n_keys);
    d->texts = (uint8_t *)sp_sent_array(sent, SP_DELTA_TEXTS, &d->n_texts);
    d->renamed = (uint32_t *)sp_sent_array(sent, SP_DELTA_RENAMED, &d->n_renamed);
    d->stamps = (uint32_t *)sp_sent_array(sent, SP_DELTA_STAMPS, &d->n_stamps);
    d->marks = (uint32_t *)sp_sent_array(sent, SP_DELTA_MARKS, &d->n_marks);
    d->marked = (double *)sp_sent_array(sent, SP_DELTA_MARKED, &n_marked);
    if (n_slots != d->n_rows)
        return "slots and rows are not as many";
    if (!base->index.bits && d->n_keys < SP_SLOTS_RESERVED)
        return "the number of names is invalid";
    if (d->marked != NULL && n_marked != (size_t)learner->sets.n_labels)
        return "what is kept for each label does not fit the labels";
    return NULL;
}

/* Give the learner the base's numbers and the delta's, and the shard its names. */
static int sp_sent_overlay(sp_sent *sent, const sp_learner *base, ptrdiff_t n_outputs,
                           sp_shard *shard, sp_fault *fault)
{
    sp_learner *learner = &sent->made.learner;
    sp_slot_type first = 0;
    memset(shard, 0, sizeof(*shard));
    int wrong = sp_delta_overlay(&sent->delta, learner, base, n_outputs, sent->made.n_objects,
                                 SP_DELTA_DEPTH, &shard->n_slots);
    if (wrong == SP_SHARD_MEMORY)
        return sp_fault_memory(fault);
    if (wrong)
        return sp_sent_wrong(fault, wrong == SP_SHARD_NAMES ? "a feature name is invalid"
                                                            : "its numbers contradict themselves");
    sent->keys = sp_delta_keys(&sent->delta, &base->index, &learner->index, shard->n_slots, &first);
    if (sent->keys == NULL)
        return sp_fault_memory(fault);
    shard->learner = learner;
    shard->n = (double)(learner->n_seen - base->n_seen);
    shard->first = shard->n_slots;
    shard->keys = sent->keys;
    shard->keys_from = first;
    shard->base = &base->index;
    shard->n_objects = sent->made.n_objects;
    shard->stamps = sent->delta.stamps;
    return 0;
}

SP_PRIVATE int sp_sent_lay(sp_sent *sent, const sp_contents *base, const sp_part *labels,
                           const sp_part *objects, sp_shard *shard, sp_fault *fault)
{
    sp_learner *learner = &sent->made.learner;
    const sp_bytes its = {labels->text, labels->n, labels->n, false};
    const sp_bytes odd = {objects->text, objects->n, objects->n, false};
    ptrdiff_t n_outputs = 0;
    int failed = sp_contents_like(&sent->made, base, &its, &odd, &n_outputs, fault);
    if (failed == SP_WHY_PARAMETER)
        failed = fault->kind = SP_WHY_DAMAGED;
    if (failed)
        return failed;
    bool own = sp_learner_can(&base->learner, SP_CAN_SET) || learner->adaptive.rows;
    bool wide = !own && sent->header.arrays[SP_DELTA_MARKS].there;
    int wrong = wide ? sp_learner_widen(learner) : 0;
    if (wrong == SP_MARKS_MEMORY)
        return sp_fault_memory(fault);
    if (wrong)
        return sp_sent_wrong(fault, "the arrays are not those of such a model");
    failed = sp_counts_read(&sent->header, learner, fault);
    if (failed)
        return failed;
    if (learner->n_seen <= base->learner.n_seen)
        return sp_sent_wrong(fault, "it has seen no events");
    const char *words = sp_sent_find(sent, &base->learner, own || wide);
    return words == NULL ? sp_sent_overlay(sent, &base->learner, n_outputs, shard, fault)
                         : sp_sent_wrong(fault, words);
}
