#include "mail/glob.h"

SP_PRIVATE bool sp_glob(const char *pattern, const uint8_t *p, size_t n)
{
    const char *star = NULL; /* behind the last * so far */
    size_t from = 0;         /* where in the bytes the pattern behind * is tried */
    size_t i = 0;
    while (i < n) {
        if (*pattern == '*') {
            star = ++pattern;
            from = i;
        } else if ((uint8_t)*pattern == sp_ascii_lower(p[i])) {
            pattern++;
            i++;
        } else if (star != NULL) {
            pattern = star;
            i = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == 0;
}
