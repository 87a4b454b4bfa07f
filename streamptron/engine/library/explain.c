#include "library/answer.h"
#include "library/event.h"
#include "library/shown.h"

#include "events/candidates.h"
#include "machine/machine.h"
#include "path/path.h"
#include "table/arrays.h"
#include "table/table.h"

#include <math.h>

SP_PRIVATE ptrdiff_t sp_output_of(const sp_learner *learner, size_t label, double *sign)
{
    *sign = 1.0;
    if (sp_learner_by_label(learner))
        return (ptrdiff_t)label;
    *sign = (int)label == learner->two.positive ? 1.0 : -1.0;
    return 0;
}

SP_PRIVATE int sp_say_damaged(spt_error *error, const spt_model *model, const char *why)
{
    sp_fault fault;
    sp_fault_say(&fault, SP_WHY_DAMAGED, why);
    return sp_say_fault(error, &fault, model->path);
}

/* The entry that has the value of a part; -1: its value is 1, as for the intercept and for
   surfaces. */
static ptrdiff_t sp_part_entry(const sp_learner *learner, const sp_event *scored, ptrdiff_t i)
{
    const sp_share part = sp_machine_share_at(learner, scored, i);
    return part.other == SP_SLOT_NULL ? part.entry : -1;
}

/* If two columns are also paired, they have a weight and a surface. Add both up as the pair's
   share, in the place of the weight. -1 if out of memory. */
static int sp_parts_join(const sp_learner *learner, const sp_event *scored, double *shares)
{
    const ptrdiff_t n = learner->pairs == NULL ? 0 : sp_machine_n_shares(learner, scored);
    for (ptrdiff_t i = 0; i < n; i++) {
        sp_key key;
        sp_key other;
        if (shares[i] == 0.0 || sp_machine_share_at(learner, scored, i).other == SP_SLOT_NULL)
            continue;
        const int named = sp_machine_share_key(learner, scored, i, &key);
        if (named < 0)
            return -1;
        for (ptrdiff_t j = 0; j < i && named; j++) {
            if (sp_machine_share_at(learner, scored, j).other == SP_SLOT_NULL
                && sp_machine_share_key(learner, scored, j, &other) > 0
                && sp_key_equal(&key, &other)) {
                shares[j] += shares[i];
                shares[i] = 0.0;
                break;
            }
        }
    }
    return 0;
}

/* The intercept's share, with those of all parts that have no names. */
static double sp_part_always(const sp_learner *learner, const sp_event *scored,
                             const double *shares, double sign)
{
    ptrdiff_t n = sp_machine_n_shares(learner, scored);
    double always = sign * shares[n];
    sp_key key;
    for (ptrdiff_t i = 0; i < n; i++) {
        if (sp_machine_share_key(learner, scored, i, &key) == 0)
            always += sign * shares[i];
    }
    return always;
}

SP_PRIVATE int sp_parts_named(spt_event *event, spt_part *parts, size_t n, spt_error *error)
{
    if (event->shown.failed || event->values.failed) {
        event->shown.failed = event->values.failed = false;
        return sp_say_memory(error);
    }
    for (size_t i = 0; i < n; i++) {
        if (parts[i].name != NULL)
            parts[i].name = (const char *)event->shown.p + ((uintptr_t)parts[i].name - 1);
    }
    return SPT_OK;
}

static int sp_parts_end(spt_event *event, spt_part *parts, size_t room, size_t count, size_t *n,
                        spt_error *error)
{
    int failed = sp_parts_named(event, parts, count < room ? count : room, error);
    if (!failed)
        *n = count;
    return failed;
}

/* Write down the event's value of a listed part; 1 for the intercept. */
static void sp_part_worth(spt_event *event, double value)
{
    sp_bytes_add(&event->values, &value, sizeof(value));
}

/* List the parts that are not 0, with their names. The first is the intercept. */
static int sp_parts_list(const spt_model *model, spt_event *event, const double *shares,
                         double sign, spt_part *parts, size_t room, size_t *n, spt_error *error)
{
    const sp_learner *learner = &model->contents.learner;
    const sp_event *scored = &event->event;
    ptrdiff_t n_parts = sp_machine_n_shares(learner, scored);
    size_t count = 0;
    event->shown.n = event->values.n = 0;
    for (ptrdiff_t i = -1; i < n_parts; i++) {
        sp_key key;
        double share = i < 0 ? sp_part_always(learner, scored, shares, sign) : sign * shares[i];
        size_t at = event->shown.n;
        const int named = i < 0 || share == 0.0
                              ? i < 0
                              : sp_machine_share_key(learner, scored, i, &key);
        if (named < 0)
            return sp_say_memory(error);
        if (named == 0)
            continue;
        if (!isfinite(share))
            return sp_say_damaged(error, model, "a weight is not finite");
        /* names in a file have not been checked */
        if (i >= 0 && learner->index.lookup != NULL
            && !sp_is_stored_key(&key, model->contents.n_objects))
            return sp_say_damaged(error, model, "a feature name is invalid");
        const ptrdiff_t entry = i < 0 ? -1 : sp_part_entry(learner, scored, i);
        if (i >= 0)
            sp_key_show(&key, &model->contents, &event->shown);
        sp_part_worth(event, entry < 0 ? 1.0 : scored->values[entry]);
        if (count < room) { /* an offset until the end: writing more names may move them */
            parts[count].name = i < 0 ? NULL : (const char *)(uintptr_t)(at + 1);
            parts[count].n = event->shown.n - at;
            parts[count].share = share;
        }
        count++;
    }
    return sp_parts_end(event, parts, room, count, n, error);
}

/* The share of each feature in a candidate's lead over the best other one. The intercept's is 0. */
static int sp_lead_list(const spt_model *model, spt_event *event, sp_answer its, size_t candidate,
                        spt_part *parts, size_t room, size_t *n, spt_error *error)
{
    const sp_learner *learner = &model->contents.learner;
    sp_event *scored = &event->event;
    const double *scores = sp_learner_decision(scored, its.kind);
    ptrdiff_t rival = -1;
    size_t count = 1;
    for (ptrdiff_t k = 0; k < scored->n_scores; k++) {
        if (k != (ptrdiff_t)candidate && (rival < 0 || scores[k] > scores[rival]))
            rival = k;
    }
    if (sp_event_difference(scored, (ptrdiff_t)candidate, rival) < 0)
        return sp_say_memory(error);
    event->shown.n = event->values.n = 0;
    sp_part_worth(event, 1.0);
    if (room > 0)
        parts[0] = (spt_part){NULL, 0, 0.0};
    for (ptrdiff_t i = scored->n; i < scored->ends[scored->n_candidates]; i++) {
        double share = scored->values[i]
                       * sp_table_read(&learner->table, scored->slots[i], 0, its.kind);
        size_t at = event->shown.n;
        if (share == 0.0)
            continue;
        sp_key_show(&scored->keys[i], &model->contents, &event->shown);
        sp_part_worth(event, scored->values[i]);
        if (count < room) {
            parts[count].name = (const char *)(uintptr_t)(at + 1);
            parts[count].n = event->shown.n - at;
            parts[count].share = share;
        }
        count++;
    }
    return sp_parts_end(event, parts, room, count, n, error);
}

SPT_API int spt_explain(const spt_model *model, spt_event *event, size_t label, spt_part *parts,
                        size_t room, size_t *n, spt_error *error)
{
    sp_answer its;
    const sp_learner *learner = &model->contents.learner;
    double sign;
    *n = 0;
    if (label >= (sp_ranks(model) ? sp_candidates(event) : spt_labels(model)))
        return sp_say(error, SPT_ARGUMENT,
                      "label is not the number of one of the labels or candidates");
    if (sp_learner_can(learner, SP_CAN_VOTE) && learner->voters.degree > 1)
        return sp_say(error, SPT_ARGUMENT,
                      "no part of a kernel's score is due to one feature alone, so there is "
                      "nothing to explain; take degree=1 for explanations");
    int failed = sp_answer_of(model, event, &its, error);
    if (failed)
        return failed;
    if (sp_ranks(model)) {
        failed = sp_lead_list(model, event, its, label, parts, room, n, error);
        sp_event_settle(&event->event, &learner->index);
        return failed;
    }
    event->shares.n = 0;
    size_t size = (size_t)(sp_machine_n_shares(learner, &event->event) + 1) * sizeof(double);
    double *shares = (double *)(void *)sp_bytes_room(&event->shares, size);
    ptrdiff_t output = sp_output_of(learner, label, &sign);
    if (shares == NULL
        || learner->machine->shares(learner, &event->event, output, its.kind, shares) < 0
        || sp_parts_join(learner, &event->event, shares) < 0) {
        event->shares.failed = false;
        failed = sp_say_memory(error);
    } else
        failed = sp_parts_list(model, event, shares, sign, parts, room, n, error);
    sp_event_settle(&event->event, &learner->index);
    return failed;
}

SPT_API double spt_part_value(const spt_event *event, size_t part)
{
    if (part >= event->values.n / sizeof(double))
        return 0.0;
    return ((const double *)(const void *)event->values.p)[part];
}
