/* wide/: rows of weights against blocks of them. Two learners of each kind learn the same; one
   of them turns at some event, and every score of each kept vector is the same bits ever after. */

#include "kit.h"

#include "wide/arrays.h"
#include "wide/machine.h"

enum { EVENTS = 700, NAMES = 60, LABELS = SP_WIDE_FROM };

static const kit_kind kinds[] = {
    {"plain", {.kind = SP_RULE_MULTICLASS}, SP_AVERAGE_NONE, false, 0, 0, 0, 1, 0, LABELS},
    {"averaged",
     {.kind = SP_RULE_MULTICLASS, .margin = 0.5, .violators = SP_VIOLATORS_PROPORTIONAL},
     SP_AVERAGE_UNIFORM, false, SP_SERVE_BEST, 0, 0, 1, 0, LABELS},
    {"fading", {.kind = SP_RULE_MULTICLASS}, SP_AVERAGE_EXPONENTIAL, true, SP_SERVE_BEST, 0, 0, 1,
     0, LABELS},
    {"fading, hashed", {.kind = SP_RULE_MIRA, .C = 0.5}, SP_AVERAGE_EXPONENTIAL, false,
     SP_SERVE_BEST, 0, 5, 1, 0, LABELS},
    {"pocket, limited", {.kind = SP_RULE_MULTICLASS}, SP_AVERAGE_UNIFORM, true, SP_SERVE_BEST, 30,
     0, 1, 0, LABELS},
    {"mira, limited", {.kind = SP_RULE_MIRA, .C = 1.0, .violators = SP_VIOLATORS_UNIFORM},
     SP_AVERAGE_NONE, true, SP_SERVE_BEST, 20, 0, 1, 0, LABELS},
    {"arow", {.kind = SP_RULE_AROW, .r = 1.0, .intercept = true}, SP_AVERAGE_NONE, false, 0, 0, 0,
     1, 0, LABELS},
    {"arow, hashed, limited", {.kind = SP_RULE_AROW, .r = 0.1, .intercept = true},
     SP_AVERAGE_NONE, false, 0, 25, 0, 1, 0, LABELS},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

/* A half-life of 1/2: the terms fold every 128 events. */
static void begin(sp_learner *learner, const kit_kind *kind)
{
    CHECK_SAME(kit_learner(learner, kind), 0);
    if (kind->average == SP_AVERAGE_EXPONENTIAL)
        learner->table.fade = 0.25;
}

static bool turns(const sp_learner *learner)
{
    return learner->answer == SP_ANSWER_LABELS && !sp_learner_is_wide(learner);
}

static void check_scores(sp_learner *a, sp_learner *b, sp_event *first, sp_event *second,
                         const kit_sample *sample)
{
    CHECK_SAME(kit_write(a, first, sample), 0);
    CHECK_SAME(kit_write(b, second, sample), 0);
    CHECK_SAME(sp_learner_score(a, first), 0);
    CHECK_SAME(sp_learner_score(b, second), 0);
    CHECK_SAME(first->n_scores, second->n_scores);
    for (int kind = 0; kind < SP_KEPT_KINDS; kind++) {
        if (sp_table_keeps(&a->table, kind))
            CHECK(memcmp(first->scores + kind * first->n_scores,
                         second->scores + kind * first->n_scores,
                         (size_t)first->n_scores * sizeof(double))
                  == 0);
    }
    sp_event_settle(first, &a->index);
    sp_event_settle(second, &b->index);
}

static void check_weights(const sp_learner *a, const sp_learner *b)
{
    CHECK_SAME(a->index.n_slots, b->index.n_slots);
    for (sp_slot_type slot = 0; slot < a->index.n_slots; slot++) {
        double sizes[2];
        sp_table_sizes(&a->table, &slot, 1, sizes);
        sp_table_sizes(&b->table, &slot, 1, sizes + 1);
        CHECK(sizes[0] == sizes[1]);
        for (ptrdiff_t k = 0; k < a->table.n_outputs; k++) {
            for (int kind = 0; kind < SP_KEPT_KINDS; kind++)
                CHECK(!sp_table_keeps(&a->table, kind)
                      || sp_learner_weight(a, slot, k, kind)
                             == sp_learner_weight(b, slot, k, kind));
        }
    }
}

/* Both learn the same; now and then a step is not learned after all. */
static void check_kind(const kit_kind *kind)
{
    sp_learner dense, wide, copy;
    sp_event first, second;
    const int from = (int)check_below(40);
    begin(&dense, kind);
    begin(&wide, kind);
    sp_event_init(&first);
    sp_event_init(&second);
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random(0, NAMES, kind->labels);
        sample.u = check_below(5) ? 1.0 : check_below(3) / 2.0;
        if (i >= from && turns(&wide))
            CHECK_SAME(sp_wide_reform_now(&wide), 0);
        check_scores(&dense, &wide, &first, &second, &sample);
        CHECK_SAME(kit_learn(&dense, &first, &sample), 0);
        CHECK_SAME(kit_learn(&wide, &second, &sample), 0);
        if (i % 50 == 0) {
            KIT_SOUND(&wide);
            check_weights(&dense, &wide);
        }
    }
    CHECK(!sp_learner_is_wide(&dense) && sp_learner_is_wide(&wide));
    CHECK_SAME(sp_learner_copy(&copy, &wide), 0);
    KIT_SOUND(&copy);
    CHECK_SAME(kit_digest(&copy), kit_digest(&wide));
    check_weights(&dense, &copy);
    sp_learner_free(&copy);
    sp_learner_free(&dense);
    sp_learner_free(&wide);
    sp_event_free(&first);
    sp_event_free(&second);
}

/* The label with which there are many may find no memory anywhere: then nothing has changed. */
static void check_no_memory(const kit_kind *kind)
{
    sp_learner learner;
    sp_event event;
    begin(&learner, kind);
    sp_event_init(&event);
    for (int i = 0; i < 60; i++) {
        kit_sample sample = kit_random(0, NAMES, kind->labels + 3);
        const ptrdiff_t y = kit_label(&learner, &sample);
        for (int n = 1;; n++) {
            const uint64_t before = kit_digest(&learner);
            const bool was = sp_learner_is_wide(&learner);
            sp_heap_fail_at(n, n % 2);
            const int failed = kit_write(&learner, &event, &sample) < 0
                               || sp_learner_learn(&learner, &event, y, 1.0) < 0;
            const int64_t left = sp_heap_fail_at(0, false);
            KIT_SOUND(&learner);
            if (!failed)
                break;
            CHECK(left <= 0);
            CHECK_SAME(kit_digest(&learner), before);
            CHECK_SAME(sp_learner_is_wide(&learner), was);
        }
        sp_event_settle(&event, &learner.index);
    }
    sp_learner_free(&learner);
    sp_event_free(&event);
}

int main(int argc, char **argv)
{
    kit_begin(argc, argv);
    for (int k = 0; k < KINDS; k++) {
        check_about = kinds[k].name;
        for (int turn = 0; turn < 3; turn++)
            check_kind(&kinds[k]);
        check_no_memory(&kinds[k]);
    }
    return 0;
}
