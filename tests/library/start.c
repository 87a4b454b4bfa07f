/* Functions that are compiled twice: which one runs is chosen before the program's own start, when
   what -fsanitize=thread, -pg and their like add to each function is not there yet. */

#include "memory/compiler.h"

#include <stdio.h>

SP_AVX2(double, sp_sum, (const double *x, int n), (x, n))
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

SP_FUSING(SP_UNSEEN, double, sp_line, (double a, double b, double c), (a, b, c))
{
    return a * b + c;
}

/* Of -fsanitize-coverage and -finstrument-functions, as fuzzers and profilers have them: they count
   by thread, which the C library makes possible when the program starts. */
#if defined(COUNTING)
    #define APART __attribute__((no_instrument_function, no_sanitize_coverage))
static __thread int calls;
APART void __sanitizer_cov_trace_pc(void);
APART void __cyg_profile_func_enter(void *function, void *caller);
APART void __cyg_profile_func_exit(void *function, void *caller);
APART void __sanitizer_cov_trace_pc(void)
{
    calls++;
}
APART void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)function;
    (void)caller;
    calls++;
}
APART void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function;
    (void)caller;
    calls++;
}
#endif

int main(void)
{
    const double x[] = {1.0, 2.0, 3.0};
    printf("%g %g\n", sp_sum(x, 3), sp_line(2.0, 3.0, 4.0));
    return 0;
}
