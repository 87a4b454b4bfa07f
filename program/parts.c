#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTIALS = 64, ROUNDS = 8 }; /* doubles enough to hold any sum of doubles exactly */
enum { USUAL = 8192 };              /* more parts than most mails have */

/* The sum of numbers, rounded once: Shewchuk's, as Python's math.fsum. */
typedef struct exact {
    double partials[PARTIALS];
    size_t n;
} exact;

static void exact_add(exact *sum, double x)
{
    size_t kept = 0;
    for (size_t i = 0; i < sum->n; i++) {
        double y = sum->partials[i];
        if (fabs(x) < fabs(y)) {
            double other = x;
            x = y;
            y = other;
        }
        volatile double high = x + y, rest = high - x;
        double low = y - rest;
        if (low != 0.0 && kept < PARTIALS - 1)
            sum->partials[kept++] = low;
        x = high;
    }
    sum->partials[kept] = x;
    sum->n = kept + 1;
}

static double exact_end(const exact *sum)
{
    size_t n = sum->n;
    volatile double high = 0.0, low = 0.0;
    if (n == 0)
        return 0.0;
    high = sum->partials[--n];
    while (n > 0) {
        double x = high, y = sum->partials[--n];
        high = x + y;
        volatile double rest = high - x;
        low = y - rest;
        if (low != 0.0)
            break;
    }
    /* a tie at the last bit is rounded by what follows */
    if (n > 0 && ((low < 0.0 && sum->partials[n - 1] < 0.0)
                  || (low > 0.0 && sum->partials[n - 1] > 0.0))) {
        double y = low * 2.0;
        volatile double x = high + y, rest = x - high;
        if (y == rest)
            high = x;
    }
    return high;
}

static int by_size(const void *a, const void *b)
{
    const part *one = a, *other = b;
    double first = fabs(one->share), second = fabs(other->share);
    if (first != second)
        return first > second ? -1 : 1;
    return one->at < other->at ? -1 : one->at > other->at;
}

/* Sort them; equal ones keep their order. */
static void sort(parts *found)
{
    for (size_t i = 0; i < found->n; i++)
        found->p[i].at = i;
    if (found->n > 1)
        qsort(found->p, found->n, sizeof(part), by_size);
}

/* The last part has changed: move it before those that are smaller now. */
static void move_last(parts *found)
{
    size_t i = found->n - 1;
    part moved = found->p[i];
    for (; i > 0 && fabs(found->p[i - 1].share) < fabs(moved.share); i--)
        found->p[i] = found->p[i - 1];
    found->p[i] = moved;
}

/* The score less the exact sum of the parts. */
static double excess(const parts *found, double score)
{
    exact sum = {.n = 0};
    exact_add(&sum, score);
    for (size_t i = 0; i < found->n; i++)
        exact_add(&sum, -found->p[i].share);
    return exact_end(&sum);
}

/* The score of a label to which the parts add up, from the model's scores: two labels have one
   score, for or against a label. */
static double score_of(const double *scores, size_t n, size_t label, const parts *found)
{
    double sum = 0.0;
    if (n > 1)
        return scores[label];
    for (size_t i = 0; i < found->n; i++)
        sum += found->p[i].share;
    return fabs(sum - scores[0]) <= fabs(sum + scores[0]) ? scores[0] : -scores[0];
}

/* Get the library's list; call it again if there are more parts than most events have. */
static int list(model *m, size_t label, parts *found, spt_error *error)
{
    spt_part *listed = NULL;
    size_t n = USUAL, room = 0;
    int failed = SPT_OK;
    while (!failed && n > room) {
        free(listed);
        room = n;
        listed = malloc(room * sizeof(spt_part));
        failed = listed == NULL ? error->code = SPT_MEMORY
                                : spt_explain(m->spt, m->event, label, listed, room, &n, error);
    }
    found->p = failed ? NULL : malloc((n + 1) * sizeof(part));
    if (!failed && found->p == NULL)
        failed = error->code = SPT_MEMORY;
    found->n = failed ? 0 : n;
    for (size_t i = 0; i < found->n; i++)
        found->p[i] = (part){listed[i].name, listed[i].n, listed[i].share,
                             spt_part_value(m->event, i), i};
    free(listed);
    return failed;
}

int parts_find(model *m, size_t label, parts *found, spt_error *error)
{
    size_t n = model_labels(m), count;
    double few[2], *scores = n > 2 ? malloc(n * sizeof(double)) : few;
    *found = (parts){NULL, 0};
    if (scores == NULL)
        return error->code = SPT_MEMORY;
    /* before the parts, whose names are valid until the event is used again */
    int failed = spt_scores(m->spt, m->event, scores, n > 2 ? n : 2, &count, error);
    if (!failed)
        failed = list(m, label, found, error);
    double score = failed ? 0.0 : score_of(scores, count, label, found);
    if (scores != few)
        free(scores);
    if (failed)
        return failed;
    sort(found);
    for (int i = 0; i < ROUNDS && found->n > 0; i++) {
        double lacks = excess(found, score);
        if (lacks == 0.0)
            break;
        found->p[found->n - 1].share += lacks;
        move_last(found);
    }
    return SPT_OK;
}

void parts_free(parts *found)
{
    free(found->p);
    *found = (parts){NULL, 0};
}
