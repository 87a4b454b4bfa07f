/* linear/: rules and tables against the formula in a loop over all names, to the last bit. */

#include "kit.h"

#include "math/powers.h"
#include "learner/rule.h"
#include "math/top.h"

#include <math.h>

enum { EVENTS = 400, NAMES = 40 };

/* Weights by name, all of them; name NAMES is the intercept. */
typedef struct slow {
    double w[NAMES + 1];
    double v[NAMES + 1]; /* the sum of all vectors so far is c w - v */
    double c;
    uint64_t mistakes;
} slow;

static double slow_score(const double *w, const kit_sample *sample)
{
    double score = w[NAMES];
    for (int i = 0; i < sample->n; i++)
        score += w[sample->names[i]] * sample->values[i];
    return score;
}

/* Rosenblatt's rule: a step at y score <= margin, for y = +1 and -1. */
static void slow_learn(slow *s, const kit_sample *sample, double margin)
{
    double score = slow_score(s->w, sample);
    double y = sample->y ? 1.0 : -1.0;
    s->mistakes += (score > 0.0) != (sample->y == 1);
    if (y * score <= margin) {
        for (int i = 0; i <= sample->n; i++) {
            uint32_t name = i < sample->n ? sample->names[i] : NAMES;
            double step = y * (i < sample->n ? sample->values[i] : 1.0);
            s->w[name] += step;
            s->v[name] += s->c * step;
        }
    }
    s->c += 1.0;
}

static sp_slot_type slot_of(const sp_learner *learner, uint32_t name)
{
    sp_key key = kit_key(name);
    if (name == NAMES)
        return SP_SLOT_INTERCEPT;
    return sp_index_find(&learner->index, &key, sp_key_hash(&learner->index.seed, &key));
}

/* Each weight of the perceptron and of its average is the formula's. */
static void test_perceptron(double margin)
{
    sp_rule rule = {.kind = SP_RULE_PERCEPTRON, .margin = margin};
    sp_learner learner;
    sp_event event;
    static slow s;
    memset(&s, 0, sizeof(s));
    s.c = 1.0;
    sp_event_init(&event);
    sp_vectors averaged = {SP_AVERAGE_UNIFORM, 1.0, false, SP_KEPT_CURRENT};
    CHECK_SAME(sp_learner_init(&learner, rule, &averaged, true, 0, 0, 1), 0);
    for (int i = 0; i < EVENTS; i++) {
        double score;
        kit_sample sample = kit_random(0, NAMES, 2);
        kit_predict(&learner, &event, &sample, &score);
        CHECK_EQUAL(score, slow_score(s.w, &sample));
        CHECK_SAME(kit_learn(&learner, &event, &sample), 0);
        slow_learn(&s, &sample, margin);
        for (uint32_t name = 0; name <= NAMES; name++) {
            sp_slot_type slot = slot_of(&learner, name);
            CHECK_EQUAL(sp_table_read(&learner.table, slot, 0, SP_KEPT_CURRENT), s.w[name]);
            CHECK_EQUAL(sp_table_read(&learner.table, slot, 0, SP_KEPT_AVERAGE),
                        s.w[name] - s.v[name] / s.c);
        }
    }
    CHECK_SAME(learner.n_mistakes, s.mistakes);
    sp_event_free(&event);
    sp_learner_free(&learner);
}

/* What a rule moves: the right label up and one or several others down, by as much in all. */
static void test_steps(int kind, int violators)
{
    sp_rule rule = {.kind = kind, .C = 1.0, .violators = violators};
    sp_step step;
    double x[] = {1.0, 2.0};
    memset(&step, 0, sizeof(step));
    for (int turn = 0; turn < 500; turn++) {
        double scores[6];
        double sum = 0.0, length = 0.0;
        ptrdiff_t n = 2 + (ptrdiff_t)check_below(5), y = (ptrdiff_t)check_below((uint32_t)n);
        bool right = true;
        for (ptrdiff_t k = 0; k < n; k++)
            scores[k] = (double)check_below(9) - 4.0;
        CHECK_SAME(sp_step_reserve(&step, n + 2), 0);
        sp_step_begin(&step);
        sp_rule_step(&rule, SP_ANSWER_LABELS, scores, n, y, 1.0, x, 2, false, &step);
        for (ptrdiff_t k = 0; k < n; k++)
            right &= k == y || scores[k] < scores[y] - (kind == SP_RULE_MIRA ? 0.5 : 0.0);
        CHECK(right == (step.n == 0));
        for (int i = 0; i < step.n; i++) {
            CHECK(i == 0 || step.moves[i].output > step.moves[i - 1].output);
            CHECK((step.moves[i].a > 0.0) == (step.moves[i].output == y));
            sum += step.moves[i].a;
            length += fabs(step.moves[i].a);
        }
        CHECK(fabs(sum) < 1e-12 && (step.n == 0 || length > 0.0));
        if (kind == SP_RULE_MULTICLASS && step.n)
            CHECK(fabs(length - 2.0) < 1e-12);
    }
    sp_step_free(&step);
}

/* One output that becomes two: w and -w, and every answer as before. */
static void test_split(void)
{
    sp_table one, two;
    sp_slot_type slots[] = {SP_SLOT_INTERCEPT, 2, 3, 700};
    sp_move move = {.output = 0};
    sp_table_init(&one, &sp_current_alone, SP_KEEP_NONE, false, false);
    CHECK_SAME(sp_table_add_outputs(&one, 1), 0);
    CHECK_SAME(sp_table_reserve(&one, slots, 4, 701, &move, 1), 0);
    for (int i = 0; i < 4; i++)
        sp_table_write(&one, slots[i], 0, i + 0.5);
    int failed = -1;
    for (int64_t n = 1; failed; n++) {
        check_fail_at(n);
        failed = sp_table_split(&two, &one, 1);
        CHECK(check_has_failed() || !failed);
        if (failed)
            sp_table_free(&two);
    }
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(sp_table_read(&two, slots[i], 1, SP_KEPT_CURRENT), i + 0.5);
        CHECK_EQUAL(sp_table_read(&two, slots[i], 0, SP_KEPT_CURRENT), -(i + 0.5));
    }
    CHECK_SOUND(sp_table_fault(&one, 701));
    CHECK_SOUND(sp_table_fault(&two, 701));
    sp_table_free(&one);
    sp_table_free(&two);
}

/* From 0 to 1. */
static double check_unit(void)
{
    return (double)(check_random() >> 11) * 0x1p-53;
}

/* Powers are those of the C library, but for the last digit, which is the same on every machine. */
static void test_powers(void)
{
    static const double known[][2] = {
        {-0x1.8p-1, 0x1.e3b40ebefcd7ep-2},
        {-0x1.9p+6, 0x1.a8c1f14e2af5dp-145},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        CHECK_EQUAL(sp_e_to(known[i][0]), known[i][1]);
    CHECK_EQUAL(sp_e_to(0.0), 1.0);
    CHECK_EQUAL(sp_e_to(-512.0), exp(-512.0));
    CHECK_EQUAL(sp_two_to(-1.0), 0.5);
    for (int i = 0; i < 100000; i++) {
        double most = i % 3 == 0 ? 512.0 : i % 3 == 1 ? 8.0 : 0x1p-20;
        double x = -most * check_unit(), y = 3.0 * check_unit() - 1.5, z = check_unit() * 0x1p-9;
        CHECK(fabs(sp_e_to(x) - exp(x)) <= 0x1p-52 * exp(x));
        CHECK(fabs(sp_two_to(x) - exp2(x)) <= 0x1p-52 * exp2(x));
        CHECK_EQUAL(sp_fused_exactly(x, y, z), fma(x, y, z));
        CHECK_EQUAL(sp_fused_exactly(y, y, -(y * y)), fma(y, y, -(y * y)));
    }
}

/* Of whole numbers, the nearest double: what it is off is half of a unit in the last place. */
static void test_logarithms(void)
{
    CHECK_EQUAL(sp_log_of(1.0), 0.0);
    CHECK_EQUAL(sp_log_of(9170.0), 0x1.23f54a1c504c1p+3);
    CHECK_EQUAL(sp_log_of(277862.0), 0x1.911dbc61c3609p+3);
    for (int i = 2; i < 200000; i++) {
        double n = i % 2 ? i : floor(0x1p32 * check_unit()) + 2.0;
        double log_n = sp_log_of(n), unit = nextafter(log_n, 64.0) - log_n;
        CHECK(fabsl((long double)log_n - logl(n)) <= 0.501L * unit);
    }
}

/* The largest by looking at all again and again. */
static void test_top(void)
{
    double numbers[40];
    uint32_t places[40];
    for (int round = 0; round < 2000; round++) {
        const ptrdiff_t n = (ptrdiff_t)(41.0 * check_unit());
        const ptrdiff_t most = (ptrdiff_t)(41.0 * check_unit());
        bool taken[40] = {false};
        for (ptrdiff_t k = 0; k < n; k++)
            numbers[k] = floor(8.0 * check_unit());
        const ptrdiff_t found = sp_top(numbers, n, most, places);
        CHECK(found == (n < most ? n : most));
        for (ptrdiff_t i = 0; i < found; i++) {
            ptrdiff_t best = -1;
            for (ptrdiff_t k = 0; k < n; k++) {
                if (!taken[k] && (best < 0 || numbers[k] > numbers[best]))
                    best = k;
            }
            CHECK(places[i] == (uint32_t)best);
            taken[best] = true;
        }
    }
}

int main(int argc, char **argv)
{
    kit_begin(argc, argv);
    test_perceptron(0.0);
    test_perceptron(1.0);
    test_steps(SP_RULE_MULTICLASS, SP_VIOLATORS_BEST);
    test_steps(SP_RULE_MULTICLASS, SP_VIOLATORS_UNIFORM);
    test_steps(SP_RULE_MULTICLASS, SP_VIOLATORS_PROPORTIONAL);
    test_steps(SP_RULE_MIRA, SP_VIOLATORS_BEST);
    test_split();
    test_powers();
    test_logarithms();
    test_top();
    return 0;
}
