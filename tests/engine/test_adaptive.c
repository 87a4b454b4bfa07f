/* adaptive/: logarithms, probabilities, and what must not change an answer. */

#include "kit.h"

#include "adaptive/adaptive.h"
#include "math/logs.h"

#include <math.h>

enum { EVENTS = 200, NAMES = 50 };

static const sp_rule rule = {
    .kind = SP_RULE_ADAPTIVE, .eta = 1.0, .naive_bayes = true, .intercept = true};

static void begin(sp_learner *learner, sp_event *event)
{
    sp_event_init(event);
    CHECK_SAME(sp_learner_init(learner, rule, &sp_current_alone, false, 0, 0, 1), 0);
}

/* log and exp are ours, so that every machine has the same bits; they are the C library's but for
   the last. */
static void test_logs(void)
{
    for (int i = 0; i < 20000; i++) {
        double x = ldexp(1.0 + (double)check_below(1u << 30) / (double)(1u << 30),
                         (int)check_below(1800) - 900);
        double found = sp_log(x), right = log(x);
        CHECK(fabs(found - right) <= 1e-15 * fabs(right) + 5e-16);
        double y = -700.0 * (double)check_below(1u << 30) / (double)(1u << 30);
        CHECK(fabs(sp_exp(y) - exp(y)) <= 1e-15 * exp(y));
    }
    CHECK_EQUAL(sp_log(1.0), 0.0);
    CHECK_EQUAL(sp_exp(0.0), 1.0);
}

/* Probabilities are between 0 and 1, sum to 1, and the label that is answered has the largest. */
static void test_probabilities(uint32_t labels)
{
    sp_learner learner;
    sp_event event;
    double p[16];
    begin(&learner, &event);
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random(0, NAMES, labels);
        CHECK_SAME(kit_write(&learner, &event, &sample), 0);
        CHECK_SAME(sp_learner_score(&learner, &event), 0);
        sp_answer answer = sp_learner_answer(&learner, &event);
        ptrdiff_t n = sp_learner_labels(&learner);
        sp_learner_probabilities(&learner, &event, answer, p);
        double sum = 0.0;
        for (ptrdiff_t k = 0; k < n; k++) {
            CHECK(p[k] >= 0.0 && p[k] <= 1.0 && p[k] <= p[answer.verdict->best]);
            sum += p[k];
        }
        CHECK(n == 0 || fabs(sum - 1.0) < 1e-12);
        sp_event_settle(&event, &learner.index);
        CHECK_SAME(kit_learn(&learner, &event, &sample), 0);
        CHECK(!sp_learner_slots_fault(&learner));
    }
    sp_event_free(&event);
    sp_learner_free(&learner);
}

/* A feature whose values are all 1024 times as large tells the same, to the last bit. */
static void test_scale(void)
{
    sp_learner one, two;
    sp_event event, other;
    double score, its;
    begin(&one, &event);
    begin(&two, &other);
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random(0, NAMES, 3), scaled;
        scaled = sample;
        for (int k = 0; k < sample.n; k++)
            scaled.values[k] *= sample.names[k] % 2 ? 1024.0 : 1.0;
        CHECK_SAME(kit_predict(&one, &event, &sample, &score),
                   kit_predict(&two, &other, &scaled, &its));
        CHECK_EQUAL(score, its);
        CHECK_SAME(kit_learn(&one, &event, &sample), 0);
        CHECK_SAME(kit_learn(&two, &other, &scaled), 0);
    }
    sp_event_free(&event);
    sp_event_free(&other);
    sp_learner_free(&one);
    sp_learner_free(&two);
}

/* Numbers that every event has become columns, and stay what they are in a copy; a feature that is
   hardly there any more is none. A column that an event lacks is 0 there. */
static void test_columns(uint32_t labels)
{
    sp_learner learner, copy;
    sp_event event, other;
    double score, its;
    begin(&learner, &event);
    sp_event_init(&other);
    for (int i = 0; i < 3 * EVENTS; i++) {
        kit_sample sample = kit_random(0, NAMES, labels);
        sample.n = i < EVENTS ? 4 : 2;
        for (int k = 0; k < sample.n; k++) {
            sample.names[k] = (uint32_t)(sample.n * 5 + k);
            sample.values[k] = (double)(1000 + check_below(100)) * (k % 2 ? -1e-9 : 1e30);
        }
        CHECK_SAME(kit_learn(&learner, &event, &sample), 0);
        CHECK_SOUND(sp_learner_fault(&learner));
        CHECK(!sp_learner_slots_fault(&learner));
        if (i == EVENTS - 1)
            CHECK_SAME(learner.adaptive.columns.n, 4);
    }
    CHECK_SAME(learner.adaptive.columns.n, 6); /* the four are in a third of the events yet */
    CHECK_SAME(sp_learner_copy(&copy, &learner), 0);
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random(0, NAMES, 3);
        CHECK_SAME(kit_predict(&learner, &event, &sample, &score),
                   kit_predict(&copy, &other, &sample, &its));
        CHECK_EQUAL(score, its);
        CHECK_SAME(kit_learn(&learner, &event, &sample), 0);
        CHECK_SAME(kit_learn(&copy, &other, &sample), 0);
        CHECK(kit_digest(&learner) == kit_digest(&copy));
    }
    sp_event_free(&event);
    sp_event_free(&other);
    sp_learner_free(&learner);
    sp_learner_free(&copy);
}

/* An event of weight 0 is counted, and nothing else of it. */
static void test_no_weight(void)
{
    sp_learner learner, before;
    sp_event event;
    begin(&learner, &event);
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random(0, NAMES, 3);
        sample.u = check_below(3) ? 1.0 : 0.0;
        CHECK_SAME(sp_learner_copy(&before, &learner), 0);
        CHECK_SAME(kit_learn(&learner, &event, &sample), 0);
        if (sample.u == 0.0) {
            before.n_seen = learner.n_seen;
            before.n_mistakes = learner.n_mistakes;
            CHECK(kit_digest(&before) == kit_digest(&learner));
        }
        sp_learner_free(&before);
    }
    sp_event_free(&event);
    sp_learner_free(&learner);
}

int main(int argc, char **argv)
{
    kit_begin(argc, argv);
    test_logs();
    test_probabilities(2);
    test_probabilities(7);
    test_scale();
    test_columns(2);
    test_columns(9);
    test_no_weight();
    return 0;
}
