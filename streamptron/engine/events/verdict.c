#include "events/verdict.h"

SP_PRIVATE sp_verdict sp_verdict_of_several(const double *scores, ptrdiff_t n)
{
    sp_verdict verdict;
    double second = 0.0;
    verdict.best = -1;
    verdict.top = verdict.margin = verdict.size = 0.0;
    for (ptrdiff_t k = 0; k < n; k++) {
        if (verdict.best < 0 || scores[k] > verdict.top) {
            second = verdict.top;
            verdict.top = scores[k];
            verdict.best = k;
        } else if (k == 1 || scores[k] > second)
            second = scores[k];
    }
    if (n >= 2) {
        verdict.margin = verdict.top - second;
        for (ptrdiff_t k = 0; k < n; k++)
            verdict.size += verdict.top - scores[k];
        verdict.size /= (double)n;
    }
    return verdict;
}
