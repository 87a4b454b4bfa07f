#include "library/sides.h"

#include "exchange/delta.h"
#include "exchange/join.h"
#include "file/counts.h"
#include "file/write.h"
#include "json/plain.h"
#include "json/values.h"
#include "memory/heap.h"
#include "path/path.h"

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
    sp_contents_free(&side->whole);
}

SP_PRIVATE int sp_side_begin(sp_side *side, const spt_model *model, const sp_contents *contents,
                             spt_error *error)
{
    static const sp_bytes none = {.failed = false};
    sp_fault fault;
    int failed = 0;
    if (model != NULL && model->at != NULL) {
        failed = sp_contents_open(&side->whole, model->at, model->n_at, false, &fault);
        contents = &side->whole;
    }
    if (failed)
        return sp_say_fault(error, &fault, model->path);
    const sp_learner *learner = &contents->learner;
    const sp_part *objects = &contents->parts[SP_PART_OBJECTS];
    side->contents = contents;
    side->shard.learner = learner;
    side->shard.n_objects = contents->n_objects;
    side->shard.n_slots = learner->index.n_slots;
    side->shard.first = learner->index.n_slots;
    failed = sp_labels_part(contents, model == NULL ? &none : &model->labels.more, &side->labels,
                            &fault);
    if (!failed)
        failed = sp_part_of(&side->objects, objects->text, objects->n, &fault);
    return failed ? sp_say_fault(error, &fault, NULL) : SPT_OK;
}

SP_PRIVATE void sp_side_since(sp_side *side, const sp_side *base)
{
    side->shard.base = &base->contents->learner.index;
    side->shard.n = (double)(side->contents->learner.n_seen - base->contents->learner.n_seen);
}

/* Whether a list begins with the values of another one. */
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

SP_PRIVATE int sp_side_went_on(const sp_side *side, const sp_side *base, sp_fault *fault)
{
    if (!sp_list_begins(&side->labels.json, &base->labels.json))
        return sp_fault_strange(fault, side->name, "its first labels are not those of since");
    if (!sp_list_begins(&side->objects.json, &base->objects.json))
        return sp_fault_strange(fault, side->name,
                                "its first feature names are not those of since");
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

/* --- All of them */

/* Fill in the sides, with all their labels and odd names. 0, or a kind of fault; then nothing is
   left. */
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
    sp_joined *joined = (sp_joined *)sp_calloc((size_t)n, sizeof(sp_joined));
    if (joined == NULL)
        return sp_fault_memory(fault);
    for (int k = 0; k < n; k++) {
        const uint32_t n_labels = sp_list_length(&sides[k].labels.json);
        const sp_joined one = {sides[k].shard, sides[k].name, own, n_labels, odd};
        joined[k] = one;
        joined[k].shard.n_objects = sp_list_length(&sides[k].objects.json);
        own += n_labels;
        odd += joined[k].shard.n_objects;
    }
    failed = sp_contents_like(to, like, &labels->text, &objects->text, &n_outputs, fault);
    if (!failed) {
        const bool listed = sp_json_type(&to->parts[SP_PART_LABELS].json, 0) == SP_JSON_LIST;
        failed = sp_learner_expect_outputs(&to->learner, n_outputs) < 0
                     ? sp_fault_memory(fault)
                     : sp_sides_join(&to->learner, joined, n, listed ? (ptrdiff_t)labels->n : -1,
                                     fault);
        if (failed)
            sp_contents_free(to);
    }
    sp_free(joined);
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
