/* HTML's tags: how each of them shows, and which styles hide a text. */

#ifndef STREAMPTRON_MAIL_TAGS_H
#define STREAMPTRON_MAIL_TAGS_H

#include "memory/compiler.h"

enum {
    /* its look */
    SP_TAG_NOTHING = 1, /* it only changes how letters look, and leaves nothing in its place */
    SP_TAG_VOID = 2,    /* it has neither text nor an end tag */
    SP_TAG_RAW = 4,     /* its content is not HTML, and is not shown */

    /* its place: the number of a bit */
    SP_PLACE_P = 1,
    SP_PLACE_HEADING,
    SP_PLACE_LI,
    SP_PLACE_DD,
    SP_PLACE_CELL,
    SP_PLACE_ROW,
    SP_PLACE_ROWS,
    SP_PLACE_TABLE,
    SP_PLACE_LIST,
    SP_PLACE_DL,
    SP_PLACE_OBJECT,
    SP_PLACE_OPTION,
    SP_PLACE_SELECT,
    SP_PLACE_BUTTON,
    SP_PLACE_A,
    SP_PLACE_NOBR,

    SP_HIDES_GONE = 1,   /* with everything in it */
    SP_HIDES_UNSEEN = 2, /* but what is in it may be visible again */
    SP_HIDES_TINY = 4,   /* but what is in it may be larger */
};

typedef struct sp_tag {
    uint8_t look : 3;
    uint8_t rule : 5; /* of sp_tag_rules */
    uint8_t place;
} sp_tag;

typedef struct sp_tag_rule {
    /* At a tag's start. */
    uint32_t ends;  /* open elements in these places end, with everything in them, */
    uint32_t walls; /* but none outside an open element in these */
} sp_tag_rule;

SP_DATA const sp_tag sp_html_tags[]; /* in the order of their names; 0 is any other tag */
SP_DATA const sp_tag_rule sp_tag_rules[];

/* The bit of a tag's place; 0 if it has none. */
static inline uint32_t sp_tag_place(uint8_t tag)
{
    return UINT32_C(1) << sp_html_tags[tag].place & ~UINT32_C(1);
}

/* The number of a tag, by the n bytes of its name. */
SP_PRIVATE uint8_t sp_tag_of(const uint8_t *name, size_t n);

/* What hides the text of an element. `hides`: what hides the element around it; `style`: its style,
   of n bytes; `hidden`: whether it has the attribute of that name. An unclear style hides nothing,
   or a spammer could write a text that readers see and we do not. */
SP_PRIVATE uint8_t sp_style_hides(uint8_t hides, const uint8_t *style, size_t n, bool hidden);

#endif
