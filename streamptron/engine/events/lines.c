#include "events/lines.h"

#include <string.h>

SP_API size_t sp_line_ends(const uint8_t *p, size_t n)
{
    size_t count = 0;
    for (size_t from = 0; from < n; from += 240) {
        uint8_t few = 0; /* one byte, so that a compiler counts sixteen side by side */
        size_t to = from + 240 < n ? from + 240 : n;
        for (size_t i = from; i < to; i++)
            few = (uint8_t)(few + (p[i] == 10));
        count += few;
    }
    return count;
}

static bool sp_starts_label(const uint8_t *p, size_t n)
{
    return n >= 9 && memcmp(p, "__label__", 9) == 0;
}

SP_API bool sp_line_next(sp_line *line, int kind)
{
    const uint8_t *p = line->p;
    const uint8_t *end;
    const uint8_t *tab;
    if (p == line->end)
        return false;
    end = (const uint8_t *)memchr(p, 10, (size_t)(line->end - p));
    if (end == NULL) {
        end = line->end;
        line->p = end;
    } else
        line->p = end + 1;
    if (end > p && *(end - 1) == 13)
        end--;
    line->label = NULL;
    line->n_label = 0;
    line->text = p;
    line->n_text = (size_t)(end - p);
    line->fault = SP_LINE_GOOD;
    if (end == p)
        line->fault = SP_LINE_BLANK;
    else if (kind == SP_LINES_LABELLED || kind == SP_LINES_EITHER) {
        tab = (const uint8_t *)memchr(p, 9, (size_t)(end - p));
        if (tab != NULL) {
            line->label = p;
            line->n_label = (size_t)(tab - p);
            line->text = tab + 1;
            line->n_text = (size_t)(end - tab - 1);
            if (tab == p)
                line->fault = SP_LINE_NO_LABEL;
        } else if (kind == SP_LINES_LABELLED)
            line->fault = SP_LINE_NO_TAB;
    } else if (kind == SP_LINES_FASTTEXT) {
        if (!sp_starts_label(p, (size_t)(end - p))) {
            line->fault = SP_LINE_NO_PREFIX;
            return true;
        }
        p += 9;
        line->label = p;
        while (p < end && *p != 32 && *p != 9)
            p++;
        line->n_label = (size_t)(p - line->label);
        while (p < end && (*p == 32 || *p == 9))
            p++;
        line->text = p;
        line->n_text = (size_t)(end - p);
        if (line->n_label == 0)
            line->fault = SP_LINE_NO_LABEL;
        else if (sp_starts_label(p, (size_t)(end - p)))
            line->fault = SP_LINE_SEVERAL;
    }
    return true;
}
