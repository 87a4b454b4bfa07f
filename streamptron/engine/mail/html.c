#include "mail/html.h"

#include "mail/entities.h"
#include "mail/glob.h"
#include "mail/parameter.h"
#include "mail/tags.h"
#include "names/key.h"

#include <string.h>

enum { SP_OPEN_MOST = 64 };

typedef struct sp_page {
    /* A page that is being read, and its open elements, the innermost last. */
    const uint8_t *end;
    uint8_t *to;
    size_t o;
    uint8_t tags[SP_OPEN_MOST];
    uint8_t hides[SP_OPEN_MOST];
    size_t n_open;
    bool lost; /* there were too many elements: from then on everything is visible */
} sp_page;

typedef struct sp_attributes {
    const uint8_t *style; /* NULL: it has none */
    size_t n_style;
    bool hidden;
    bool size;
} sp_attributes;

static bool sp_html_space(uint8_t c)
{
    return c <= ' ' && (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f');
}

/* Whether a name ends here. An attribute's name ends at =, too. */
static bool sp_html_ends(uint8_t c, bool attribute)
{
    return c <= '>' && (c == '>' || c == '/' || (attribute && c == '=') || sp_html_space(c));
}

static bool sp_html_letter(uint8_t c)
{
    c |= 32;
    return c >= 'a' && c <= 'z';
}

static const uint8_t *sp_html_skip(const uint8_t *p, const uint8_t *end)
{
    while (p < end && sp_html_space(*p))
        p++;
    return p;
}

/* What hides the innermost element. */
static uint8_t sp_page_hides(const sp_page *page)
{
    return page->n_open == 0 || page->lost ? 0 : page->hides[page->n_open - 1];
}

/* Whether text is visible here. Text between the cells of a table is shown before the table. */
static bool sp_page_shows(const sp_page *page)
{
    size_t n = page->n_open;
    uint8_t place = 0;
    if (sp_page_hides(page) == 0)
        return true;
    while (n && place != SP_PLACE_TABLE) {
        place = sp_html_tags[page->tags[n - 1]].place;
        if (place != SP_PLACE_TABLE && place != SP_PLACE_ROWS && place != SP_PLACE_ROW)
            break;
        n--;
    }
    return n == 0 || page->hides[n - 1] == 0;
}

static void sp_page_space(sp_page *page, uint8_t tag, uint8_t hides)
{
    if (!(sp_html_tags[tag].look & SP_TAG_NOTHING) && (hides == 0 || page->lost))
        page->to[page->o++] = ' ';
}

/* Read the attributes of a tag, after its name; returns where it ends. */
static const uint8_t *sp_html_attributes(const uint8_t *p, const uint8_t *end,
                                         sp_attributes *found)
{
    memset(found, 0, sizeof(*found));
    while (p < end) {
        while (p < end && (sp_html_space(*p) || *p == '/'))
            p++;
        if (p < end && *p == '>')
            return p + 1;
        const uint8_t *name = p;
        p += p < end && *p == '=';
        while (p < end && !sp_html_ends(*p, true))
            p++;
        size_t n_name = (size_t)(p - name);
        const uint8_t *value = p;
        size_t n = 0;
        p = sp_html_skip(p, end);
        if (p < end && *p == '=') {
            p = value = sp_html_skip(p + 1, end);
            if (p < end && (*p == '"' || *p == '\'')) {
                value = p + 1;
                p = (const uint8_t *)memchr(value, *p, (size_t)(end - value));
                if (p == NULL)
                    return end;
                n = (size_t)(p - value);
                p++;
            } else {
                while (p < end && *p != '>' && !sp_html_space(*p))
                    p++;
                n = (size_t)(p - value);
            }
        }
        if (n_name == 5 && found->style == NULL && sp_begins_with(name, 5, "style")) {
            found->style = value;
            found->n_style = n;
        } else if (n_name == 6 && sp_begins_with(name, 6, "hidden")) {
            found->hidden = true;
        } else if (n_name == 4 && sp_begins_with(name, 4, "size")) {
            found->size = true;
        }
    }
    return end;
}

/* Close the elements that the start of this tag closes. */
static void sp_page_end_before(sp_page *page, uint8_t tag)
{
    const sp_tag_rule *rule = &sp_tag_rules[sp_html_tags[tag].rule];
    for (size_t i = rule->ends ? page->n_open : 0; i > 0; i--) {
        uint32_t place = sp_tag_place(page->tags[i - 1]);
        if (place & rule->ends)
            page->n_open = i - 1;
        else if (place & rule->walls)
            break;
    }
}

/* The end of raw text, which is not HTML, in a tag whose name has n bytes. */
static const uint8_t *sp_html_raw_end(const uint8_t *p, const uint8_t *end, const uint8_t *name,
                                      size_t n)
{
    while ((size_t)(end - p) > n + 2) {
        size_t i = 0;
        p = (const uint8_t *)memchr(p, '<', (size_t)(end - p) - n - 2);
        if (p == NULL)
            return end;
        while (i < n && sp_ascii_lower(p[2 + i]) == sp_ascii_lower(name[i]))
            i++;
        if (p[1] == '/' && i == n && sp_html_ends(p[n + 2], false))
            return p;
        p++;
    }
    return end;
}

/* Read the tag at p; returns where the text continues. */
static const uint8_t *sp_page_tag(sp_page *page, const uint8_t *p)
{
    const uint8_t *end = page->end;
    bool closes = p[1] == '/';
    const uint8_t *name = p + 1 + closes;
    sp_attributes given;
    for (p = name; p < end && !sp_html_ends(*p, false);)
        p++;
    size_t n_name = (size_t)(p - name);
    uint8_t tag = sp_tag_of(name, n_name);
    uint8_t look = sp_html_tags[tag].look;
    p = sp_html_attributes(p, end, &given);
    if (closes) {
        sp_page_space(page, tag, sp_page_hides(page));
        for (size_t i = page->n_open; i > 0; i--) {
            if (page->tags[i - 1] == tag) {
                page->n_open = i - 1;
                break;
            }
        }
        return p;
    }
    sp_page_end_before(page, tag);
    uint8_t hides = sp_page_hides(page);
    if (sp_html_tags[tag].place == SP_PLACE_TABLE
        || (given.size && sp_is_word(name, n_name, "font")))
        hides &= (uint8_t)~SP_HIDES_TINY;
    if (given.style != NULL || given.hidden)
        hides = sp_style_hides(hides, given.style, given.n_style, given.hidden);
    sp_page_space(page, tag, hides);
    if (look & SP_TAG_RAW)
        return sp_html_raw_end(p, end, name, n_name);
    if (look & SP_TAG_VOID)
        return p;
    if (page->n_open == SP_OPEN_MOST) {
        page->lost = true;
        return p;
    }
    page->tags[page->n_open] = tag;
    page->hides[page->n_open] = hides;
    page->n_open++;
    return p;
}

/* The end of the comment at p: at -->, even in <!-->, or at --!>. */
static const uint8_t *sp_html_comment_end(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *start = p;
    p += 2;
    while (end - p > 2) {
        p = (const uint8_t *)memchr(p, '-', (size_t)(end - p) - 2);
        if (p == NULL)
            return end;
        if (p[1] == '-' && p[2] == '>')
            return p + 3;
        if (p[1] == '-' && p[2] == '!' && end - p > 3 && p[3] == '>' && p - start >= 4)
            return p + 4;
        p++;
    }
    return end;
}

/* Read the markup at p, which begins with <, if it is markup; returns where the text continues. */
static const uint8_t *sp_page_markup(sp_page *page, const uint8_t *p)
{
    const uint8_t *end = page->end;
    uint8_t next = end - p > 1 ? p[1] : 0;
    if (next == '!' && end - p > 3 && p[2] == '-' && p[3] == '-')
        return sp_html_comment_end(p, end);
    if (sp_html_letter(next) || (next == '/' && end - p > 2 && sp_html_letter(p[2])))
        return sp_page_tag(page, p);
    if (next != '!' && next != '?' && next != '/')
        return p;
    p = (const uint8_t *)memchr(p, '>', (size_t)(end - p));
    return p == NULL ? end : p + 1;
}

static void sp_page_write(sp_page *page, const uint8_t *p, const uint8_t *end)
{
    size_t n = (size_t)(end - p);
    memmove(page->to + page->o, p, n);
    page->o += n;
}

/* Read the text at p, up to the next tag; returns where that begins. */
static const uint8_t *sp_page_text(sp_page *page, const uint8_t *p)
{
    const uint8_t *end = (const uint8_t *)memchr(p + 1, '<', (size_t)(page->end - p) - 1);
    end = end == NULL ? page->end : end;
    if (!sp_page_shows(page))
        return end;
    while (p < end) {
        size_t length;
        const uint8_t *mark = (const uint8_t *)memchr(p, '&', (size_t)(end - p));
        sp_page_write(page, p, mark == NULL ? end : mark);
        if (mark == NULL)
            break;
        uint32_t c = sp_entity(mark, end, &length);
        if (c == 0) {
            length = 1;
            c = '&';
        }
        page->o += sp_utf8_encode(c, page->to + page->o);
        p = mark + length;
    }
    return end;
}

SP_PRIVATE size_t sp_html_seen(const uint8_t *p, size_t n, uint8_t *to)
{
    sp_page page;
    const uint8_t *end = p + n;
    page.end = end;
    page.to = to;
    page.o = page.n_open = 0;
    page.lost = false;
    while (p < end) {
        if (*p == '<') {
            const uint8_t *next = sp_page_markup(&page, p);
            if (next != p) {
                p = next;
                continue;
            }
        }
        p = sp_page_text(&page, p);
    }
    return page.o;
}
