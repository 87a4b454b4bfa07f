#include "events/question.h"
#include "names/key.h"
#include "names/scan.h"

#include <string.h>

typedef struct sp_asking {
    const uint8_t *p;
    const uint8_t *end; /* of the line */
    uint8_t *room; /* where texts and ids are written */
} sp_asking;

static void sp_asked_blanks(sp_asking *q)
{
    while (q->p < q->end && (*q->p == ' ' || *q->p == '\t' || *q->p == '\r'))
        q->p++;
}

/* Whether this character comes next, after blanks. If so, skip it. */
static bool sp_asked_pass(sp_asking *q, uint8_t c)
{
    sp_asked_blanks(q);
    if (q->p == q->end || *q->p != c)
        return false;
    q->p++;
    return true;
}

/* Copy printable ASCII up to a quote, a backslash or the line's end. Bytes behind the copy may be
   overwritten. */
static void sp_asked_plain(sp_asking *q)
{
#ifdef __SSE2__
    while (q->end - q->p >= 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)q->p);
        /* as signed bytes, those beyond ASCII are below the blank, too */
        __m128i other = _mm_or_si128(_mm_cmplt_epi8(x, _mm_set1_epi8(' ')),
                                     _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')),
                                                  _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'))));
        uint32_t mask = (uint32_t)_mm_movemask_epi8(other);
        int n = mask ? sp_zeros_below(mask) : 16;
        _mm_storeu_si128((__m128i *)q->room, x);
        q->p += n;
        q->room += n;
        if (mask)
            return;
    }
#endif
    while (q->p < q->end && *q->p >= ' ' && *q->p < 0x80 && *q->p != '"' && *q->p != '\\')
        *q->room++ = *q->p++;
}

static bool sp_asked_digits(sp_asking *q, uint32_t *c)
{
    *c = 0;
    if (q->end - q->p < 4)
        return false;
    for (int i = 0; i < 4; i++, q->p++) {
        uint8_t low = *q->p | 32;
        if (*q->p >= '0' && *q->p <= '9')
            *c = *c << 4 | (uint32_t)(*q->p - '0');
        else if (low >= 'a' && low <= 'f')
            *c = *c << 4 | (uint32_t)(low - 'a' + 10);
        else
            return false;
    }
    return true;
}

/* Read an escape, whose backslash has been skipped, as UTF-8. */
static bool sp_asked_escape(sp_asking *q)
{
    uint32_t c, low;
    if (q->p == q->end)
        return false;
    uint8_t letter = *q->p++;
    if (letter == 'n') {
        *q->room++ = '\n';
        return true;
    }
    if (letter != 'u') {
        static const char named[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
        const char *found = (const char *)memchr(named, letter, sizeof(named) - 1);
        if (found != NULL)
            *q->room++ = (uint8_t)meant[found - named];
        return found != NULL;
    }
    if (!sp_asked_digits(q, &c))
        return false;
    if (c >> 10 == 0x36) {
        if (q->end - q->p < 6 || q->p[0] != '\\' || q->p[1] != 'u')
            return false;
        q->p += 2;
        if (!sp_asked_digits(q, &low) || low >> 10 != 0x37)
            return false;
        c = 0x10000 + ((c & 0x3FF) << 10 | (low & 0x3FF));
    } else if (c >> 10 == 0x37)
        return false;
    q->room += sp_utf8_encode(c, q->room);
    return true;
}

/* Read a string, whose first quote has been skipped, as UTF-8. */
static bool sp_asked_string(sp_asking *q, const uint8_t **text, size_t *n)
{
    *text = q->room;
    for (;;) {
        size_t length;
        sp_asked_plain(q);
        if (q->p == q->end || *q->p < ' ')
            return false;
        if (*q->p >= 0x80) {
            uint32_t c = sp_utf8_decode(q->p, (size_t)(q->end - q->p), false, &length);
            if (c == SP_REPLACEMENT && (length != 3 || memcmp(q->p, "\xEF\xBF\xBD", 3) != 0))
                return false;
            memcpy(q->room, q->p, length);
            q->room += length;
            q->p += length;
        } else if (*q->p++ == '"') {
            *n = (size_t)(q->room - *text);
            return true;
        } else if (!sp_asked_escape(q))
            return false;
    }
}

static bool sp_asked_name(sp_asking *q, const char *name, size_t n)
{
    if ((size_t)(q->end - q->p) <= n || memcmp(q->p, name, n) != 0 || q->p[n] != '"')
        return false;
    q->p += n + 1;
    return true;
}

static bool sp_asked_id(sp_asking *q, sp_question *line)
{
    line->id = q->room;
    sp_asked_plain(q);
    line->n_id = (size_t)(q->room - line->id);
    return line->n_id > 0 && line->n_id <= SP_QUESTION_ID_MOST && q->p < q->end && *q->p++ == '"'
           && memchr(line->id, 0x7F, line->n_id) == NULL;
}

SP_API bool sp_question_read(sp_question *line, const uint8_t *p, const uint8_t *end,
                             uint8_t **room)
{
    sp_asking q = {p, end, *room};
    line->text = line->id = NULL;
    line->n_text = line->n_id = 0;
    if (!sp_asked_pass(&q, '{'))
        return false;
    do {
        if (!sp_asked_pass(&q, '"'))
            return false;
        if (line->text == NULL && sp_asked_name(&q, "text", 4)) {
            if (!sp_asked_pass(&q, ':') || !sp_asked_pass(&q, '"')
                || !sp_asked_string(&q, &line->text, &line->n_text))
                return false;
        } else if (line->id == NULL && sp_asked_name(&q, "id", 2)) {
            if (!sp_asked_pass(&q, ':') || !sp_asked_pass(&q, '"') || !sp_asked_id(&q, line))
                return false;
        } else
            return false;
    } while (sp_asked_pass(&q, ','));
    if (line->text == NULL || !sp_asked_pass(&q, '}'))
        return false;
    sp_asked_blanks(&q);
    *room = q.room;
    return q.p == q.end;
}
