#include "mail/tags.h"

#include "mail/glob.h"
#include "mail/parameter.h"

#include <string.h>

enum {
    SP_TAG_NAME_MOST = 10,

    SP_ENDS_BLOCK = 1,
    SP_ENDS_HEADING,
    SP_ENDS_LI,
    SP_ENDS_DD,
    SP_ENDS_CELL,
    SP_ENDS_ROW,
    SP_ENDS_ROWS,
    SP_ENDS_OPTION,
    SP_ENDS_A,
    SP_ENDS_NOBR,
    SP_ENDS_BUTTON,
    SP_ENDS_SELECT,
};

#define SP_AT(place) (UINT32_C(1) << SP_PLACE_##place)
#define SP_WALLS (SP_AT(CELL) | SP_AT(TABLE))
#define SP_WALLS_BLOCK (SP_WALLS | SP_AT(BUTTON) | SP_AT(OBJECT))

const sp_tag_rule sp_tag_rules[] = {
    [SP_ENDS_BLOCK] = {SP_AT(P), SP_WALLS_BLOCK},
    [SP_ENDS_HEADING] = {SP_AT(P) | SP_AT(HEADING), SP_WALLS_BLOCK},
    [SP_ENDS_LI] = {SP_AT(P) | SP_AT(LI), SP_WALLS | SP_AT(LIST)},
    [SP_ENDS_DD] = {SP_AT(P) | SP_AT(DD), SP_WALLS | SP_AT(DL)},
    [SP_ENDS_CELL] = {SP_AT(CELL), SP_AT(TABLE)},
    [SP_ENDS_ROW] = {SP_AT(ROW), SP_AT(TABLE)},
    [SP_ENDS_ROWS] = {SP_AT(ROWS), SP_AT(TABLE)},
    [SP_ENDS_OPTION] = {SP_AT(OPTION), SP_AT(SELECT)},
    [SP_ENDS_A] = {SP_AT(A), SP_WALLS},
    [SP_ENDS_NOBR] = {SP_AT(NOBR), SP_WALLS},
    [SP_ENDS_BUTTON] = {SP_AT(BUTTON), SP_WALLS},
    [SP_ENDS_SELECT] = {SP_AT(SELECT), SP_WALLS},
};

#undef SP_AT

/* The names in alphabetical order; then, for each letter, where its names begin, and the first
   one's number. */
static const char sp_html_names[] =
    "a abbr acronym address area article aside b base basefont bdi bdo bgsound big blockquote "
    "body br button center cite code col dd del details dfn dir div dl dt em embed fieldset "
    "figcaption figure font footer form frame h1 h2 h3 h4 h5 h6 head header hr html i iframe "
    "img input ins kbd keygen label li link main map mark menu meta nav nobr noembed noframes "
    "o:p object ol optgroup option p param pre s samp script section select small source span "
    "strike strong style sub sup table tbody td tfoot th thead title tr track tt u ul var wbr ";

static const uint16_t sp_html_starts[27] = {
    0, 42, 104, 125, 158, 167, 217, 217, 255, 278, 278, 289, 303, 327, 353, 383, 395, 395, 395, 470,
    518, 523, 527, 531, 531, 531, 531,
};

static const uint8_t sp_html_firsts[26] = {
    1, 8, 19, 23, 31, 33, 40, 40, 50, 55, 55, 57, 60, 65, 69, 74, 77, 77, 77, 90, 100, 102, 103,
    104, 104, 104,
};

const sp_tag sp_html_tags[] = {
    {0, 0, 0}, /* any other one */
    {SP_TAG_NOTHING, SP_ENDS_A, SP_PLACE_A}, /* a */
    {SP_TAG_NOTHING, 0, 0}, /* abbr */
    {SP_TAG_NOTHING, 0, 0}, /* acronym */
    {0, SP_ENDS_BLOCK, 0}, /* address */
    {SP_TAG_VOID, 0, 0}, /* area */
    {0, SP_ENDS_BLOCK, 0}, /* article */
    {0, SP_ENDS_BLOCK, 0}, /* aside */
    {SP_TAG_NOTHING, 0, 0}, /* b */
    {SP_TAG_VOID, 0, 0}, /* base */
    {SP_TAG_VOID, 0, 0}, /* basefont */
    {SP_TAG_NOTHING, 0, 0}, /* bdi */
    {SP_TAG_NOTHING, 0, 0}, /* bdo */
    {SP_TAG_VOID, 0, 0}, /* bgsound */
    {SP_TAG_NOTHING, 0, 0}, /* big */
    {0, SP_ENDS_BLOCK, 0}, /* blockquote */
    {0, 0, 0}, /* body */
    {SP_TAG_VOID, 0, 0}, /* br */
    {0, SP_ENDS_BUTTON, SP_PLACE_BUTTON}, /* button */
    {0, SP_ENDS_BLOCK, 0}, /* center */
    {SP_TAG_NOTHING, 0, 0}, /* cite */
    {SP_TAG_NOTHING, 0, 0}, /* code */
    {SP_TAG_VOID, 0, 0}, /* col */
    {0, SP_ENDS_DD, SP_PLACE_DD}, /* dd */
    {SP_TAG_NOTHING, 0, 0}, /* del */
    {0, SP_ENDS_BLOCK, 0}, /* details */
    {SP_TAG_NOTHING, 0, 0}, /* dfn */
    {0, SP_ENDS_BLOCK, 0}, /* dir */
    {0, SP_ENDS_BLOCK, 0}, /* div */
    {0, SP_ENDS_BLOCK, SP_PLACE_DL}, /* dl */
    {0, SP_ENDS_DD, SP_PLACE_DD}, /* dt */
    {SP_TAG_NOTHING, 0, 0}, /* em */
    {SP_TAG_VOID, 0, 0}, /* embed */
    {0, SP_ENDS_BLOCK, 0}, /* fieldset */
    {0, SP_ENDS_BLOCK, 0}, /* figcaption */
    {0, SP_ENDS_BLOCK, 0}, /* figure */
    {SP_TAG_NOTHING, 0, 0}, /* font */
    {0, SP_ENDS_BLOCK, 0}, /* footer */
    {0, SP_ENDS_BLOCK, 0}, /* form */
    {SP_TAG_VOID, 0, 0}, /* frame */
    {0, SP_ENDS_HEADING, SP_PLACE_HEADING}, /* h1 */
    {0, SP_ENDS_HEADING, SP_PLACE_HEADING}, /* h2 */
    {0, SP_ENDS_HEADING, SP_PLACE_HEADING}, /* h3 */
    {0, SP_ENDS_HEADING, SP_PLACE_HEADING}, /* h4 */
    {0, SP_ENDS_HEADING, SP_PLACE_HEADING}, /* h5 */
    {0, SP_ENDS_HEADING, SP_PLACE_HEADING}, /* h6 */
    {0, 0, 0}, /* head */
    {0, SP_ENDS_BLOCK, 0}, /* header */
    {SP_TAG_VOID, SP_ENDS_BLOCK, 0}, /* hr */
    {0, 0, 0}, /* html */
    {SP_TAG_NOTHING, 0, 0}, /* i */
    {SP_TAG_RAW, 0, 0}, /* iframe */
    {SP_TAG_VOID, 0, 0}, /* img */
    {SP_TAG_VOID, 0, 0}, /* input */
    {SP_TAG_NOTHING, 0, 0}, /* ins */
    {SP_TAG_NOTHING, 0, 0}, /* kbd */
    {SP_TAG_VOID, 0, 0}, /* keygen */
    {SP_TAG_NOTHING, 0, 0}, /* label */
    {0, SP_ENDS_LI, SP_PLACE_LI}, /* li */
    {SP_TAG_VOID, 0, 0}, /* link */
    {0, SP_ENDS_BLOCK, 0}, /* main */
    {0, 0, 0}, /* map */
    {SP_TAG_NOTHING, 0, 0}, /* mark */
    {0, SP_ENDS_BLOCK, 0}, /* menu */
    {SP_TAG_VOID, 0, 0}, /* meta */
    {0, SP_ENDS_BLOCK, 0}, /* nav */
    {SP_TAG_NOTHING, SP_ENDS_NOBR, SP_PLACE_NOBR}, /* nobr */
    {SP_TAG_RAW, 0, 0}, /* noembed */
    {SP_TAG_RAW, 0, 0}, /* noframes */
    {SP_TAG_NOTHING, 0, 0}, /* o:p */
    {0, 0, SP_PLACE_OBJECT}, /* object */
    {0, SP_ENDS_BLOCK, SP_PLACE_LIST}, /* ol */
    {0, 0, 0}, /* optgroup */
    {0, SP_ENDS_OPTION, SP_PLACE_OPTION}, /* option */
    {0, SP_ENDS_BLOCK, SP_PLACE_P}, /* p */
    {SP_TAG_VOID, 0, 0}, /* param */
    {0, SP_ENDS_BLOCK, 0}, /* pre */
    {SP_TAG_NOTHING, 0, 0}, /* s */
    {SP_TAG_NOTHING, 0, 0}, /* samp */
    {SP_TAG_RAW, 0, 0}, /* script */
    {0, SP_ENDS_BLOCK, 0}, /* section */
    {0, SP_ENDS_SELECT, SP_PLACE_SELECT}, /* select */
    {SP_TAG_NOTHING, 0, 0}, /* small */
    {SP_TAG_VOID, 0, 0}, /* source */
    {SP_TAG_NOTHING, 0, 0}, /* span */
    {SP_TAG_NOTHING, 0, 0}, /* strike */
    {SP_TAG_NOTHING, 0, 0}, /* strong */
    {SP_TAG_RAW, 0, 0}, /* style */
    {SP_TAG_NOTHING, 0, 0}, /* sub */
    {SP_TAG_NOTHING, 0, 0}, /* sup */
    {0, SP_ENDS_BLOCK, SP_PLACE_TABLE}, /* table */
    {0, SP_ENDS_ROWS, SP_PLACE_ROWS}, /* tbody */
    {0, SP_ENDS_CELL, SP_PLACE_CELL}, /* td */
    {0, SP_ENDS_ROWS, SP_PLACE_ROWS}, /* tfoot */
    {0, SP_ENDS_CELL, SP_PLACE_CELL}, /* th */
    {0, SP_ENDS_ROWS, SP_PLACE_ROWS}, /* thead */
    {SP_TAG_RAW, 0, 0}, /* title */
    {0, SP_ENDS_ROW, SP_PLACE_ROW}, /* tr */
    {SP_TAG_VOID, 0, 0}, /* track */
    {SP_TAG_NOTHING, 0, 0}, /* tt */
    {SP_TAG_NOTHING, 0, 0}, /* u */
    {0, SP_ENDS_BLOCK, SP_PLACE_LIST}, /* ul */
    {SP_TAG_NOTHING, 0, 0}, /* var */
    {SP_TAG_NOTHING | SP_TAG_VOID, 0, 0}, /* wbr */
};

SP_PRIVATE uint8_t sp_tag_of(const uint8_t *name, size_t n)
{
    char lower[SP_TAG_NAME_MOST];
    uint32_t letter = n ? (uint32_t)(*name & 31) - 1 : 26;
    if (letter >= 26 || n > SP_TAG_NAME_MOST)
        return 0;
    for (size_t i = 0; i < n; i++)
        lower[i] = (char)sp_ascii_lower(name[i]);
    const char *p = sp_html_names + sp_html_starts[letter];
    const char *end = sp_html_names + sp_html_starts[letter + 1];
    for (uint8_t tag = sp_html_firsts[letter]; p < end; tag++) {
        size_t i = 0;
        while (i < n && p[i] == lower[i])
            i++;
        if (i == n && p[i] == ' ')
            return tag;
        for (p += i; *p != ' ';)
            p++;
        p++;
    }
    return 0;
}

enum {
    SP_STYLE_DISPLAY = 1,
    SP_STYLE_VISIBILITY = 2,
    SP_STYLE_OPACITY = 4,
    SP_STYLE_SIZE = 8,
    SP_STYLE_ALL = 15,
};

/* What a style sets: a bit for each of the properties above. */
typedef struct sp_style {
    uint8_t given;
    uint8_t hides;
    uint8_t sure; /* marked !important: only other important ones can change it */
} sp_style;

static bool sp_style_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f';
}

/* Remove white space from both ends. */
static void sp_style_trim(const uint8_t **p, size_t *n)
{
    while (*n && sp_style_space(**p)) {
        *p += 1;
        *n -= 1;
    }
    while (*n && sp_style_space((*p)[*n - 1]))
        *n -= 1;
}

/* Whether a value is 0, with one of these units or none. */
static bool sp_style_zero(const uint8_t *p, size_t n, const char *units)
{
    size_t i = n && (*p == '+' || *p == '-');
    size_t first = i;
    while (i < n && p[i] == '0')
        i++;
    if (i < n && p[i] == '.') {
        first = ++i;
        while (i < n && p[i] == '0')
            i++;
    }
    if (i == first)
        return false;
    if (i == n)
        return true;
    for (; *units; units += strlen(units) + 1) {
        if (sp_is_word(p + i, n - i, units))
            return true;
    }
    return false;
}

/* The property with this name; SP_STYLE_ALL means all of them. */
static uint8_t sp_style_property(const uint8_t *p, size_t n)
{
    return sp_is_word(p, n, "display")                                    ? SP_STYLE_DISPLAY
           : sp_is_word(p, n, "visibility")                               ? SP_STYLE_VISIBILITY
           : sp_is_word(p, n, "opacity")                                  ? SP_STYLE_OPACITY
           : sp_is_word(p, n, "font-size") || sp_is_word(p, n, "font")    ? SP_STYLE_SIZE
           : sp_is_word(p, n, "all")                                      ? SP_STYLE_ALL
                                                                          : 0;
}

/* Whether this value of a property hides the element. */
static bool sp_style_value_hides(uint8_t what, size_t n_name, const uint8_t *p, size_t n)
{
    if (what == SP_STYLE_DISPLAY)
        return sp_is_word(p, n, "none");
    if (what == SP_STYLE_VISIBILITY)
        return sp_is_word(p, n, "hidden") || sp_is_word(p, n, "collapse");
    if (what == SP_STYLE_OPACITY)
        return sp_style_zero(p, n, "%\0");
    return what == SP_STYLE_SIZE && n_name > 4
           && sp_style_zero(p, n, "px\0pt\0em\0rem\0ex\0%\0pc\0in\0cm\0mm\0");
}

/* Read one declaration. */
static void sp_style_declare(sp_style *style, const uint8_t *p, size_t n)
{
    static const char important[] = "important";
    const uint8_t *value = (const uint8_t *)memchr(p, ':', n);
    size_t n_name = value == NULL ? n : (size_t)(value - p);
    size_t n_value = value == NULL ? 0 : n - n_name - 1;
    value = value == NULL ? p : value + 1;
    sp_style_trim(&p, &n_name);
    uint8_t what = sp_style_property(p, n_name);
    if (what == 0)
        return;
    sp_style_trim(&value, &n_value);
    size_t k = sizeof(important) - 1;
    bool sure = n_value > k && sp_begins_with(value + n_value - k, k, important);
    if (sure) {
        k = n_value - k;
        while (k && sp_style_space(value[k - 1]))
            k--;
        sure = k && value[k - 1] == '!';
        if (sure) {
            n_value = k - 1;
            sp_style_trim(&value, &n_value);
        }
    }
    bool hides = sp_style_value_hides(what, n_name, value, n_value);
    if (!sure)
        what &= (uint8_t)~style->sure;
    style->given |= what;
    style->hides = (uint8_t)((style->hides & ~what) | (hides ? what : 0));
    style->sure |= sure ? what : 0;
}

/* Skip the quoted or bracketed text at p; NULL if it is not clear where it ends. */
static const uint8_t *sp_style_skip(const uint8_t *p, const uint8_t *end)
{
    uint8_t last = *p == '(' ? ')' : *p;
    if (*p == ')')
        return NULL;
    for (p++; p < end && *p != last; p++) {
        if (last == ')' ? *p == '(' : *p == '\n')
            return NULL;
    }
    return p < end ? p + 1 : NULL;
}

/* Read a style; false if its meaning is not clear. */
static bool sp_style_read(sp_style *style, const uint8_t *p, const uint8_t *end)
{
    bool quotes = false, brackets = false;
    memset(style, 0, sizeof(*style));
    for (const uint8_t *at = p; at < end; at++) {
        quotes |= *at == '"' || *at == '\'';
        brackets |= *at == '(';
        if (*at == '&' || *at == '\\' || *at == '{' || *at == '}' || *at == '[' || *at == ']'
            || (*at == '/' && end - at > 1 && at[1] == '*'))
            return false;
    }
    if (quotes && brackets)
        return false;
    const uint8_t *start = p;
    while (p < end) {
        if (*p == '"' || *p == '\'' || *p == '(' || *p == ')') {
            p = sp_style_skip(p, end);
            if (p == NULL)
                return false;
            continue;
        }
        if (*p == ';') {
            sp_style_declare(style, start, (size_t)(p - start));
            start = p + 1;
        }
        p++;
    }
    sp_style_declare(style, start, (size_t)(end - start));
    return true;
}

SP_PRIVATE uint8_t sp_style_hides(uint8_t hides, const uint8_t *style, size_t n, bool hidden)
{
    sp_style found = {0, 0, 0};
    if (n && !sp_style_read(&found, style, style + n))
        memset(&found, 0, sizeof(found));
    if (found.given & SP_STYLE_VISIBILITY)
        hides = (uint8_t)((hides & ~SP_HIDES_UNSEEN)
                          | (found.hides & SP_STYLE_VISIBILITY ? SP_HIDES_UNSEEN : 0));
    if (found.given & SP_STYLE_SIZE)
        hides = (uint8_t)((hides & ~SP_HIDES_TINY)
                          | (found.hides & SP_STYLE_SIZE ? SP_HIDES_TINY : 0));
    if (found.given & SP_STYLE_DISPLAY ? found.hides & SP_STYLE_DISPLAY : hidden)
        hides |= SP_HIDES_GONE;
    return found.hides & SP_STYLE_OPACITY ? hides | SP_HIDES_GONE : hides;
}
