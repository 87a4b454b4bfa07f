#include "library/sides.h"

#include "file/counts.h"
#include "file/plain.h"
#include "file/values.h"
#include "file/write.h"
#include "linear/table.h"
#include "machine.h"
#include "memory/heap.h"
#include "path/path.h"
#include "whole/delta.h"
#include "whole/merge.h"

#include <string.h>

SP_PRIVATE void sp_side_called(char *name, const char *before, uint64_t number, const char *after)
{
    sp_fault text;
    sp_fault_say(&text, 0, before);
    sp_fault_add_number(&text, number);
    sp_fault_add(&text, after);
    memcpy(name, text.text, SP_SIDE_NAME - 1);
    name[SP_SIDE_NAME - 1] = 0;
}

SP_PRIVATE void sp_side_free(sp_side *side)
{
    sp_part_free(&side->labels);
    sp_part_free(&side->objects);
    sp_free(side->places);
    sp_free(side->signs);
    sp_free(side->ordinals);
}

SP_PRIVATE int sp_side_begin(sp_side *side, const spt_model *model, const sp_contents *contents,
                             sp_fault *fault)
{
    static const sp_bytes none = {.failed = false};
    const sp_learner *learner = &contents->learner;
    const sp_part *objects = &contents->parts[SP_PART_OBJECTS];
    side->contents = contents;
    side->shard.learner = learner;
    side->shard.n_objects = contents->n_objects;
    side->shard.n_slots = learner->index.n_slots;
    side->shard.first = learner->index.n_slots;
    side->shard.stamps = contents->stamps;
    int failed = sp_labels_part(contents, model == NULL ? &none : &model->labels.more,
                                &side->labels, fault);
    return failed ? failed : sp_part_of(&side->objects, objects->text, objects->n, fault);
}

SP_PRIVATE void sp_side_since(sp_side *side, const sp_side *base)
{
    side->shard.base = &base->contents->learner.index;
    side->shard.n = (double)(side->contents->learner.n_seen - base->contents->learner.n_seen);
}

/* Whether a list begins with another one. */
static bool sp_list_begins(const sp_json *json, const sp_json *base)
{
    uint32_t a = 1, b = 1;
    if (sp_list_length(json) < sp_list_length(base))
        return false;
    for (uint32_t i = 0; i < sp_list_length(base); i++) {
        if (!sp_values_equal(json, a, base, b))
            return false;
        a = json->nodes[a].next;
        b = base->nodes[b].next;
    }
    return true;
}

SP_PRIVATE int sp_side_strange(const char *name, const char *why, sp_fault *fault)
{
    sp_fault_say(fault, SP_WHY_PARAMETER, name);
    sp_fault_add(fault, " did not go on from since: ");
    return sp_fault_add(fault, why);
}

SP_PRIVATE int sp_side_went_on(const sp_side *side, const sp_side *base, sp_fault *fault)
{
    if (!sp_list_begins(&side->labels.json, &base->labels.json))
        return sp_side_strange(side->name, "its first labels are not those of since", fault);
    if (!sp_list_begins(&side->objects.json, &base->objects.json))
        return sp_side_strange(side->name, "its first feature names are not those of since", fault);
    return 0;
}

SP_PRIVATE int sp_side_digest(const sp_side *side, char *digits, sp_fault *fault)
{
    static const char figures[] = "0123456789abcdef";
    const char *name = sp_class_name(side->contents->kind);
    sp_bytes called = {.failed = false};
    uint64_t h[2];
    sp_bytes_word(&called, "[");
    sp_json_quote((const uint8_t *)name, strlen(name), &called);
    sp_bytes_word(&called, ",");
    sp_bytes_add(&called, side->labels.text, side->labels.n);
    sp_bytes_word(&called, ",");
    sp_bytes_add(&called, side->objects.text, side->objects.n);
    sp_bytes_word(&called, "]");
    bool failed = called.failed || sp_delta_digest(&side->shard, called.p, called.n, h) < 0;
    sp_bytes_free(&called);
    if (failed)
        return sp_fault_memory(fault);
    for (int i = 0; i < 32; i++)
        digits[i] = figures[h[i / 16] >> (60 - i % 16 * 4) & 15];
    digits[32] = 0;
    return 0;
}

/* --- The maps of one side */

static bool sp_is_pair(const sp_contents *contents)
{
    return sp_rule_answer(&contents->parameters.rule) == SP_ANSWER_PAIR;
}

/* By label of the merged model its number here, by output the output here and its sign, and whether
   they lie alike. There is room for two more than the n labels in either. */
static bool sp_side_outputs(const sp_side *side, const sp_contents *to, int32_t *places, int32_t n,
                            int32_t *outputs, double *signs)
{
    const sp_learner *its = side->shard.learner;
    int32_t none = sp_list_length(&side->labels.json) == 0, first = 0;
    bool alike = true;
    for (int32_t k = 0; k < n; k++) {
        alike &= places[k] == k || places[k] < 0;
        first = places[k] == 0 ? k : first;
        outputs[k] = places[k];
        signs[k] = 1.0;
    }
    if (sp_json_type(&to->parts[SP_PART_LABELS].json, 0) != SP_JSON_LIST) {
        places[0] = outputs[0] = 0; /* one output */
        places[1] = 1;
        signs[0] = 1.0;
        return true;
    }
    if (!sp_is_pair(to) || sp_learner_several(its)) {
        if (n == 0) {
            outputs[0] = -1;
            signs[0] = 1.0;
        }
        return alike;
    }
    if (!sp_learner_several(&to->learner)) {
        for (int32_t k = n; k < 2; k++)
            places[k] = -1;
        outputs[0] = 0;
        signs[0] = none || (its->two.positive == 0) == (to->learner.two.positive == first) ? 1.0
                                                                                           : -1.0;
        return signs[0] > 0.0;
    }
    for (int32_t k = 0; k < n; k++) {
        outputs[k] = places[k] >= 0 ? 0 : -1;
        signs[k] = places[k] == its->two.positive ? 1.0 : -1.0;
    }
    return false;
}

/* `labels` and `objects`: of its own the numbers in the merged model, which has n labels. 0, or a
   kind of fault. */
static int sp_side_map(sp_side *side, const sp_contents *to, uint32_t n, const uint32_t *labels,
                       const uint32_t *objects, sp_fault *fault)
{
    sp_shard *shard = &side->shard;
    uint32_t n_own = sp_list_length(&side->labels.json);
    uint32_t n_odd = sp_list_length(&side->objects.json);
    size_t room = (size_t)n + 2;
    side->places = (int32_t *)sp_calloc(2 * room, sizeof(int32_t));
    side->signs = (double *)sp_calloc(room, sizeof(double));
    side->ordinals = (uint64_t *)sp_calloc((size_t)n_odd + 1, sizeof(uint64_t));
    if (side->places == NULL || side->signs == NULL || side->ordinals == NULL)
        return sp_fault_memory(fault);
    for (uint32_t k = 0; k < n; k++)
        side->places[k] = -1;
    for (uint32_t k = 0; k < n_own; k++)
        side->places[labels[k]] = (int32_t)k;
    bool same = true;
    for (uint32_t k = 0; k < n_odd; k++) {
        side->ordinals[k] = objects[k];
        same &= objects[k] == k;
    }
    shard->labels = side->places;
    shard->outputs = side->places + room;
    shard->signs = side->signs;
    shard->plain = sp_side_outputs(side, to, side->places, (int32_t)n, side->places + room,
                                   side->signs);
    shard->n_objects = n_odd;
    shard->ordinals = same ? NULL : side->ordinals;
    return 0;
}

/* --- All of them */

/* That a model whose weights stand for one of two labels knows for which. */
static int sp_side_check(const sp_side *side, sp_fault *fault)
{
    if (sp_list_length(&side->labels.json) > 0 || !sp_is_pair(side->contents)
        || !sp_table_can_write(&side->shard.learner->table, SP_SLOT_INTERCEPT))
        return 0;
    sp_fault_say(fault, SP_WHY_PARAMETER, side->name);
    return sp_fault_add(fault, " has weights and has met no label, so which of the labels they are "
                               "for is not known, and together the models have more than two; "
                               "teach it the first two labels");
}

/* Why the engine could not merge them, in words. */
static int sp_sides_fault(const sp_side *sides, int wrong, int culprit, sp_fault *fault)
{
    const char *name = sides[culprit + 1].name;
    switch (wrong) {
    case SP_SHARD_MEMORY:
        return sp_fault_say(fault, SP_WHY_MEMORY, "no memory to merge the models");
    case SP_SHARD_NUMBER:
        return sp_fault_say(fault, SP_WHY_DAMAGED, "a weight is not finite");
    case SP_SHARD_KEY:
    case SP_SHARD_TWICE:
        sp_fault_say(fault, SP_WHY_DAMAGED, name);
        return sp_fault_add(fault, wrong == SP_SHARD_KEY ? " has an invalid feature name"
                                                         : " has a feature name twice");
    default:
        return sp_side_strange(name, "its first feature names are not those of since", fault);
    }
}

/* What is kept once, as a file that was read would have it. 0, or a kind of fault. */
static int sp_once_settle(sp_learner *learner, sp_fault *fault)
{
    sp_kept_once once = sp_machine_once(learner);
    if (once.name == NULL)
        return 0;
    double *numbers = (double *)sp_calloc(sp_once_numbers(&once) + 1, sizeof(double));
    if (numbers == NULL)
        return sp_fault_memory(fault);
    sp_machine_once_write(learner, numbers);
    const char *wrong = sp_machine_once_read(learner, numbers);
    sp_free(numbers);
    return wrong == NULL ? 0 : sp_fault_say(fault, SP_WHY_DAMAGED, wrong);
}

/* The engine's part, once all is mapped. */
static int sp_sides_mix(sp_side *sides, int n, sp_contents *to, sp_fault *fault)
{
    int culprit = 0;
    sp_shard *shards = (sp_shard *)sp_calloc((size_t)n, sizeof(sp_shard));
    if (shards == NULL)
        return sp_fault_memory(fault);
    for (int k = 1; k < n; k++)
        shards[k - 1] = sides[k].shard;
    int wrong = sp_learners_merge(&to->learner, &sides[0].shard, shards, n - 1, &culprit);
    sp_free(shards);
    return wrong ? sp_sides_fault(sides, wrong, culprit, fault)
                 : sp_once_settle(&to->learner, fault);
}

/* With what they are called together. 0, or a kind of fault: then nothing is left. */
static int sp_sides_fill(sp_side *sides, int n, const sp_contents *like, const sp_united *labels,
                         const sp_united *objects, sp_contents *to, sp_fault *fault)
{
    const uint32_t *own = labels->numbers, *odd = objects->numbers;
    ptrdiff_t n_outputs = 0;
    uint64_t most = like->parameters.max_labels;
    int failed = 0;
    if (most && labels->n > most) {
        sp_fault_say(fault, SP_WHY_PARAMETER, "together the models have ");
        sp_fault_add_number(fault, labels->n);
        sp_fault_add(fault, " labels, more than max_labels=");
        return sp_fault_add_number(fault, most);
    }
    for (int k = 0; k < n && labels->n > 2 && !failed; k++)
        failed = sp_side_check(&sides[k], fault);
    if (!failed)
        failed = sp_contents_like(to, like, &labels->text, &objects->text, &n_outputs, fault);
    if (failed)
        return failed;
    if (sp_learner_expect_outputs(&to->learner, n_outputs) < 0)
        failed = sp_fault_memory(fault);
    for (int k = 0; k < n && !failed; k++) {
        failed = sp_side_map(&sides[k], to, labels->n, own, odd, fault);
        own += sp_list_length(&sides[k].labels.json);
        odd += sp_list_length(&sides[k].objects.json);
    }
    if (!failed)
        failed = sp_sides_mix(sides, n, to, fault);
    if (failed)
        sp_contents_free(to);
    return failed;
}

SP_PRIVATE int sp_sides_merge(sp_side *sides, int n, const sp_contents *like, sp_contents *to,
                              sp_fault *fault)
{
    sp_united labels = {.n = 0}, objects = {.n = 0};
    const sp_json **lists = (const sp_json **)sp_calloc((size_t)n, sizeof(*lists));
    if (lists == NULL)
        return sp_fault_memory(fault);
    for (int k = 0; k < n; k++)
        lists[k] = &sides[k].labels.json;
    int failed = sp_lists_unite(&labels, lists, n, fault);
    for (int k = 0; k < n; k++)
        lists[k] = &sides[k].objects.json;
    if (!failed)
        failed = sp_lists_unite(&objects, lists, n, fault);
    sp_free(lists);
    if (!failed)
        failed = sp_sides_fill(sides, n, like, &labels, &objects, to, fault);
    sp_united_free(&labels);
    sp_united_free(&objects);
    return failed;
}
