/* Bytes as calls on a learner: whatever is called in whichever order, and whatever allocation
   fails, the learner stays sound. */

#include "fuzz.h"

#include "multilabel/targets.h"

static const kit_kind sets = {
    "sets", {.kind = SP_RULE_MULTILABEL, .eta = 1.0, .forget = 0.001}, SP_AVERAGE_NONE, false, 0,
    40, 0, 1, 0, 9,
};

static kit_sample read_sample(fuzz_input *input, uint32_t labels)
{
    static const double values[] = {1.0, -1.0, 0.5, 1e50, -1e-50, 3.0, 1e-300, 7.25};
    kit_sample sample = {.n = 0, .u = 1.0};
    int n = (int)(fuzz_byte(input) % KIT_MOST);
    uint32_t name = fuzz_byte(input);
    if (name >= 128)
        name = 0; /* which half of all events have: it may be a column */
    while (sample.n < n) {
        uint32_t byte = fuzz_byte(input);
        sample.names[sample.n] = name;
        sample.values[sample.n] = values[byte % 8];
        sample.n++;
        name += 1 + byte / 32;
    }
    sample.y = (ptrdiff_t)(fuzz_byte(input) % labels);
    sample.u = (double)(fuzz_byte(input) % 5) * 0.5;
    return sample;
}

/* A set of the label and the one before it; of even ones the others may be left open. */
static int learn_set(sp_learner *learner, sp_event *event, const kit_sample *sample)
{
    ptrdiff_t known = sp_learner_labels(learner);
    ptrdiff_t y = SP_MIN(sample->y, known);
    const uint32_t labels[] = {(uint32_t)y, (uint32_t)y - 1};
    ptrdiff_t n = y && sample->n % 2 ? 2 : 1;
    if (kit_write(learner, event, sample) < 0
        || sp_multilabel_set_targets(event, labels, n, y % 2 ? n : 1, y % 2 == 0, known) < 0)
        return -1;
    int failed = sp_learner_learn(learner, event, 0, sample->u);
    if (failed == 0)
        sp_event_settle(event, &learner->index);
    return failed;
}

/* Without memory nothing has changed. */
static void learn(sp_learner *learner, sp_event *event, const kit_sample *sample, int64_t fails)
{
    uint64_t digest = kit_digest(learner);
    check_fail_at(fails);
    int failed = learner->answer == SP_ANSWER_MULTILABEL ? learn_set(learner, event, sample)
                                                   : kit_learn(learner, event, sample);
    (void)sp_heap_fail_at(0, 0);
    CHECK(!failed || (fails && kit_digest(learner) == digest));
    if (failed) /* the door's way out: the event is written anew */
        event->n_known = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_input input = {data, n};
    uint32_t which = fuzz_byte(&input) % (KIT_KINDS + 1);
    const kit_kind *kind = which < KIT_KINDS ? &kit_kinds[which] : &sets;
    sp_learner learner, copy;
    sp_event event;
    double score, p[16];
    if (kit_texts[0][KIT_BEFORE] == 0)
        kit_begin(0, NULL);
    check_about = kind->name;
    sp_event_init(&event);
    CHECK_SAME(kit_learner(&learner, kind), 0);
    while (input.n > 0) {
        uint32_t call = fuzz_byte(&input);
        kit_sample sample = read_sample(&input, kind->labels);
        switch (call % 8) {
        case 0:
            kit_predict(&learner, &event, &sample, &score);
            break;
        case 1:
            CHECK_SAME(kit_write(&learner, &event, &sample), 0);
            CHECK_SAME(sp_learner_score(&learner, &event), 0);
            sp_answer answer = sp_learner_answer(&learner, &event);
            sp_learner_probabilities(&learner, &event, answer, p);
            sp_event_settle(&event, &learner.index);
            break;
        case 2:
            CHECK_SAME(sp_learner_copy(&copy, &learner), 0);
            sp_event_free(&event); /* it knows names by where the learner keeps them */
            sp_learner_free(&learner);
            learner = copy;
            break;
        case 3:
            learn(&learner, &event, &sample, 1 + call / 8);
            break;
        case 4:
            sp_event_free(&event);
            break;
        default:
            learn(&learner, &event, &sample, 0);
            break;
        }
    }
    KIT_SOUND(&learner);
    sp_learner_free(&learner);
    sp_event_free(&event);
    return 0;
}
