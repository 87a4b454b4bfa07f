/* Allocation number SPT_FAIL of the environment fails; with SPT_FAIL_ON all that come after it,
   too. Linked with --wrap. */

#include <stdlib.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static long left = -1;

static int fails(void)
{
    if (left < 0) {
        const char *said = getenv("SPT_FAIL");
        left = said == NULL ? 0 : atol(said);
    }
    if (left > 1)
        left--;
    else if (left == 1) {
        left = getenv("SPT_FAIL_ON") != NULL;
        return 1;
    }
    return 0;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}
