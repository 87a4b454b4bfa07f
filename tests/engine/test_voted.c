/* voted/: the vote against every vector there has been, kept and asked one by one; and updates
   as flat arrays. */

#include "kit.h"

enum { EVENTS = 150, NAMES = 40 };

/* The vectors of one perceptron, by name; name NAMES is the intercept. */
typedef struct slow {
    int n;
    double vectors[EVENTS + 1][NAMES + 1];
    double times[EVENTS + 1]; /* from when on it stood */
    double now;
} slow;

static double slow_score(const double *w, const kit_sample *sample)
{
    double score = w[NAMES];
    for (int i = 0; i < sample->n; i++)
        score += w[sample->names[i]] * sample->values[i];
    return score;
}

/* The share of time for which there were vectors that said yes, less that of no. */
static double slow_vote(const slow *s, const kit_sample *sample)
{
    double votes = 0.0;
    for (int k = 0; k <= s->n; k++) {
        double time = (k < s->n ? s->times[k + 1] : s->now) - s->times[k];
        votes += slow_score(s->vectors[k], sample) > 0.0 ? time : -time;
    }
    return s->now > 0.0 ? votes / s->now : 0.0;
}

static void slow_learn(slow *s, const kit_sample *sample)
{
    double Y = sample->y == 1 ? 1.0 : -1.0;
    if (Y * slow_score(s->vectors[s->n], sample) <= 0.0) {
        s->n++;
        memcpy(s->vectors[s->n], s->vectors[s->n - 1], sizeof(*s->vectors));
        s->times[s->n] = s->now;
        for (int i = 0; i < sample->n; i++)
            s->vectors[s->n][sample->names[i]] += Y * sample->values[i];
        s->vectors[s->n][NAMES] += Y;
    }
    s->now += 1.0;
}

static void test_vote(void)
{
    static slow s;
    sp_rule rule = {.kind = SP_RULE_VOTED};
    sp_learner learner;
    sp_event event;
    double vote;
    memset(&s, 0, sizeof(s));
    sp_event_init(&event);
    CHECK_SAME(sp_learner_init(&learner, rule, &sp_current_alone, true, 0, 0, 1), 0);
    CHECK_SAME(sp_learner_expect(&learner, 2, 1), 0);
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random(0, NAMES, 2);
        for (int k = 0; k < sample.n; k++) /* whole numbers, so that no sum is rounded */
            sample.values[k] = 1.0 + check_below(3);
        kit_predict(&learner, &event, &sample, &vote);
        CHECK_EQUAL(vote, slow_vote(&s, &sample));
        CHECK_SAME(kit_learn(&learner, &event, &sample), 0);
        slow_learn(&s, &sample);
        CHECK_SAME(sp_voters_updates(&learner.voters), s.n);
    }
    KIT_SOUND(&learner);
    sp_event_free(&event);
    sp_learner_free(&learner);
}

/* Updates as flat arrays, and what is read of them; of damaged ones what is sound, or nothing. */
static void test_flat(const kit_kind *kind)
{
    sp_learner learner;
    sp_voters other;
    sp_event event;
    sp_voted flat;
    sp_event_init(&event);
    CHECK_SAME(kit_learner(&learner, kind), 0);
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random((uint32_t)i, NAMES, kind->labels);
        CHECK_SAME(kit_learn(&learner, &event, &sample), 0);
    }
    KIT_SOUND(&learner);
    const sp_voters *v = &learner.voters;
    ptrdiff_t n = learner.table.n_outputs;
    sp_voters_measure(&flat, v, n);
    size_t sizes[] = {flat.n_mentions * 8, flat.n_updates * 8, flat.n_turns * 8, (size_t)n * 8,
                      flat.n_mentions * 4, flat.n_updates * 4, flat.n_turns * 4, (size_t)n * 8};
    void *arrays[8];
    for (int i = 0; i < 8; i++)
        arrays[i] = malloc(sizes[i]);
    flat.values = (double *)arrays[0];
    flat.times = (double *)arrays[1];
    flat.steps = (double *)arrays[2];
    flat.starts = (double *)arrays[3];
    flat.slots = (uint32_t *)arrays[4];
    flat.sizes = (uint32_t *)arrays[5];
    flat.updates = (uint32_t *)arrays[6];
    flat.turns = (uint32_t *)arrays[7];
    CHECK_SAME(sp_voters_flatten(&flat, v, &learner.index, n), 0);
    for (int turn = 0; turn < 600; turn++) {
        uint32_t i = check_below(8), at = sizes[i] ? check_below((uint32_t)sizes[i]) : 0;
        uint8_t *byte = (uint8_t *)arrays[i] + at, before = sizes[i] ? *byte : 0;
        int fault = SP_VOTED_MEMORY;
        for (int64_t fails = turn ? 0 : 1; fault == SP_VOTED_MEMORY; fails++) {
            if (turn && sizes[i])
                *byte = (uint8_t)check_random();
            sp_voters_init(&other, learner.intercept);
            other.degree = v->degree;
            other.budget = v->budget;
            other.now = v->now;
            other.since = v->since;
            check_fail_at(fails);
            sp_index *names = &learner.index; /* a damaged number of a hashed one may be new */
            fault = sp_voters_read(&other, &flat, n, names, &learner.table);
            (void)sp_heap_fail_at(0, 0);
            CHECK(turn || fault != SP_VOTED_WRONG);
            if (fault == 0)
                CHECK_SOUND(sp_voters_fault(&other, n, learner.index.n_slots));
            sp_voters_free(&other);
        }
        if (sizes[i])
            *byte = before;
    }
    for (int i = 0; i < 8; i++)
        free(arrays[i]);
    sp_event_free(&event);
    sp_learner_free(&learner);
}

int main(int argc, char **argv)
{
    kit_begin(argc, argv);
    test_vote();
    for (int k = 0; k < KIT_KINDS; k++) {
        check_about = kit_kinds[k].name;
        if (kit_kinds[k].rule.kind == SP_RULE_VOTED)
            test_flat(&kit_kinds[k]);
    }
    return 0;
}
