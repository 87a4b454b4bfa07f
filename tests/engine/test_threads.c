/* Learners in threads of their own, and one that is not taught, answering in all of them. */

#include "kit.h"

#include <pthread.h>

enum { THREADS = 4, EVENTS = 120, NAMES = 200 };

typedef struct job {
    sp_learner *shared; /* read only: it keeps nothing of an answer but in the event */
    const kit_kind *kind;
    const kit_sample *samples;
    uint64_t digest;
    double sum;
} job;

static void *work(void *p)
{
    job *j = (job *)p;
    sp_learner own;
    sp_event event, asked;
    double score;
    sp_event_init(&event);
    sp_event_init(&asked);
    CHECK_SAME(kit_learner(&own, j->kind), 0);
    for (int i = 0; i < EVENTS; i++) {
        kit_predict(j->shared, &asked, &j->samples[i], &score);
        j->sum += score;
        CHECK_SAME(kit_learn(&own, &event, &j->samples[i]), 0);
    }
    j->digest = kit_digest(&own);
    sp_learner_free(&own);
    sp_event_free(&event);
    sp_event_free(&asked);
    return NULL;
}

static void test_kind(const kit_kind *kind)
{
    static kit_sample samples[EVENTS];
    pthread_t threads[THREADS];
    job jobs[THREADS];
    sp_learner shared;
    sp_event event;
    sp_event_init(&event);
    CHECK_SAME(kit_learner(&shared, kind), 0);
    for (int i = 0; i < EVENTS; i++) {
        samples[i] = kit_random(0, NAMES, kind->labels);
        CHECK_SAME(kit_learn(&shared, &event, &samples[i]), 0);
    }
    uint64_t digest = kit_digest(&shared);
    for (int t = 0; t < THREADS; t++) {
        jobs[t] = (job){.shared = &shared, .kind = kind, .samples = samples};
        CHECK_SAME(pthread_create(&threads[t], NULL, work, &jobs[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        CHECK_SAME(pthread_join(threads[t], NULL), 0);
    for (int t = 0; t < THREADS; t++) {
        CHECK_EQUAL(jobs[t].sum, jobs[0].sum);
        CHECK(jobs[t].digest == digest);
    }
    CHECK(kit_digest(&shared) == digest);
    sp_learner_free(&shared);
    sp_event_free(&event);
}

int main(int argc, char **argv)
{
    kit_begin(argc, argv);
    for (int k = 0; k < KIT_KINDS; k++) {
        check_about = kit_kinds[k].name;
        test_kind(&kit_kinds[k]);
    }
    return 0;
}
