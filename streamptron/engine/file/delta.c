#include "file/delta.h"

#include "file/counts.h"
#include "json/values.h"
#include "machine/arrays.h"
#include "memory/heap.h"
#include "path/path.h"
#include "rows/marks.h"

#include <string.h>

static int sp_sent_wrong(sp_fault *fault, const char *words)
{
    return sp_fault_say(fault, SP_WHY_DAMAGED, words);
}

SP_PRIVATE void sp_sent_drop(sp_sent *sent)
{
    sp_contents_free(&sent->made);
    sp_delta_free(&sent->delta);
}

SP_PRIVATE void sp_sent_free(sp_sent *sent)
{
    sp_sent_drop(sent);
    sp_part_free(&sent->parameters);
    sp_part_free(&sent->labels);
    sp_part_free(&sent->objects);
    sp_header_free(&sent->header);
}

/* A part that must exist. */
static int sp_sent_part(const sp_sent *sent, const char *name, sp_part *part, sp_fault *fault)
{
    int failed = sp_part_read(&sent->header, name, part, fault);
    if (failed || part->there)
        return failed;
    sp_sent_wrong(fault, "it has no part ");
    return sp_fault_add(fault, name);
}

/* Parts with a number or a short text; only this is kept of them. */
static int sp_sent_small(sp_sent *sent, sp_fault *fault)
{
    sp_part base, shard, counters;
    int failed = sp_sent_part(sent, "base", &base, fault);
    if (!failed
        && (sp_json_type(&base.json, 0) != SP_JSON_STRING
            || sp_json_length(&base.json, 0) > SP_DIGEST_DIGITS))
        failed = sp_sent_wrong(fault, "its base is not a digest");
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

/* The article before a class's name. */
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

SP_API void sp_delta_shapes(const sp_delta *d, const sp_learner *learner, sp_array *shapes)
{
    const bool exact = !learner->index.bits, limited = sp_index_is_limited(&learner->index);
    const bool sets = sp_learner_can(learner, SP_CAN_SET);
    const sp_array all[SP_DELTA_ARRAYS] = {
        [SP_DELTA_ROWS] = {.there = true, .n = d->n_rows},
        [SP_DELTA_MARKED] = {.there = sets, .n = (size_t)learner->multilabel.n_labels},
        [SP_DELTA_KEYS] = {.there = exact, .n = d->n_keys},
        [SP_DELTA_SLOTS] = {.there = true, .n = d->n_rows},
        [SP_DELTA_BLOCKS] = {.there = true, .n = d->n_blocks},
        [SP_DELTA_RENAMED] = {.there = limited, .n = d->n_renamed},
        [SP_DELTA_STAMPS] = {.there = limited, .n = d->n_stamps},
        [SP_DELTA_MARKS] = {.there = learner->machine->rows != SP_ROWS_NONE,
                            .n = d->n_marks},
        [SP_DELTA_SHAPES] = {.there = d->n_shapes && learner->adaptive.shapes.n_layers,
                             .n = d->n_shapes},
        [SP_DELTA_TEXTS] = {.there = exact, .n = d->n_texts},
    };
    memset(shapes, 0, sizeof(all));
    for (int i = 0; i < SP_DELTA_ARRAYS; i++) {
        const sp_array_kind *kind = sp_delta_kind_of(i);
        if (!all[i].there)
            continue;
        shapes[i] = all[i];
        shapes[i].width = i == SP_DELTA_ROWS ? (size_t)learner->table.width : kind->width;
        shapes[i].end = shapes[i].n * SP_MAX(shapes[i].width, (size_t)1) * kind->size;
    }
}

SP_API const char *sp_delta_use(sp_delta *d, const sp_learner *learner, void *const *p,
                                const size_t *n)
{
    sp_array shapes[SP_DELTA_ARRAYS];
    d->n_shapes = n[SP_DELTA_SHAPES];
    sp_delta_shapes(d, learner, shapes);
    for (int i = 0; i < SP_DELTA_ARRAYS; i++) {
        if ((p[i] != NULL) != shapes[i].there)
            return "the arrays are not those of such a model";
    }
    d->rows = (double *)p[SP_DELTA_ROWS];
    d->marked = (double *)p[SP_DELTA_MARKED];
    d->keys = (sp_key *)p[SP_DELTA_KEYS];
    d->slots = (uint32_t *)p[SP_DELTA_SLOTS];
    d->blocks = (uint32_t *)p[SP_DELTA_BLOCKS];
    d->renamed = (uint32_t *)p[SP_DELTA_RENAMED];
    d->stamps = (uint32_t *)p[SP_DELTA_STAMPS];
    d->marks = (uint32_t *)p[SP_DELTA_MARKS];
    d->shapes = (uint32_t *)p[SP_DELTA_SHAPES];
    d->texts = (uint8_t *)p[SP_DELTA_TEXTS];
    d->n_rows = n[SP_DELTA_ROWS];
    d->n_blocks = n[SP_DELTA_BLOCKS];
    d->n_keys = n[SP_DELTA_KEYS];
    d->n_texts = n[SP_DELTA_TEXTS];
    d->n_renamed = n[SP_DELTA_RENAMED];
    d->n_stamps = n[SP_DELTA_STAMPS];
    d->n_marks = n[SP_DELTA_MARKS];
    if (n[SP_DELTA_SLOTS] != d->n_rows)
        return "the numbers of slots and rows differ";
    if (d->keys != NULL && d->n_keys < SP_SLOTS_RESERVED)
        return "the number of names is invalid";
    if (d->marked != NULL && n[SP_DELTA_MARKED] != (size_t)learner->multilabel.n_labels)
        return "what is kept for each label does not fit the labels";
    return NULL;
}

SP_API const char *sp_delta_words(int wrong)
{
    return wrong == SP_SHARD_NAMES ? "a feature name is invalid"
                                   : "its numbers contradict themselves";
}

/* Find the arrays in the bytes. NULL, or what is wrong. */
static const char *sp_sent_find(sp_sent *sent, const sp_learner *learner)
{
    void *p[SP_DELTA_ARRAYS];
    size_t n[SP_DELTA_ARRAYS];
    for (int i = 0; i < SP_DELTA_ARRAYS; i++) {
        const sp_array *shape = &sent->header.arrays[i];
        const uint8_t *start = sent->header.file + sent->header.size + shape->start;
        p[i] = shape->there ? (void *)(uintptr_t)start : NULL; /* never written through */
        n[i] = shape->n;
    }
    if (sent->header.arrays[SP_DELTA_ROWS].width != (size_t)learner->table.width)
        return "the arrays are not those of such a model";
    return sp_delta_use(&sent->delta, learner, p, n);
}

SP_PRIVATE int sp_sent_overlay(sp_sent *sent, const sp_contents *base, const sp_part *labels,
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
    int wrong = sent->header.arrays[SP_DELTA_MARKS].there ? sp_learner_expect_rows(learner) : 0;
    if (wrong == SP_MARKS_MEMORY)
        return sp_fault_memory(fault);
    if (wrong)
        return sp_sent_wrong(fault, "the arrays are not those of such a model");
    failed = sp_counts_open(&sent->header, learner, fault);
    if (failed)
        return failed;
    if (learner->n_seen <= base->learner.n_seen)
        return sp_sent_wrong(fault, "it has seen no events");
    const char *words = sp_sent_find(sent, learner);
    if (words != NULL)
        return sp_sent_wrong(fault, words);
    wrong = sp_delta_overlay(&sent->delta, learner, &base->learner, n_outputs, sent->made.n_objects,
                             SP_DELTA_DEPTH, shard);
    if (wrong == SP_SHARD_MEMORY)
        return sp_fault_memory(fault);
    return wrong ? sp_sent_wrong(fault, sp_delta_words(wrong)) : 0;
}
