/* The charsets, and the tables of their letters; see mail/charset.h. */

#ifndef STREAMPTRON_MAIL_CHARSETS_H
#define STREAMPTRON_MAIL_CHARSETS_H

#include "memory/compiler.h"

enum {
    SP_CHARSET_UNKNOWN = -1,
    /* from 0 on: charsets of the table */
    SP_CHARSET_UTF7 = 'a' - 'A',
    SP_CHARSET_UTF16BE,
    SP_CHARSET_UTF16LE,
    SP_CHARSET_ESCAPED,
    SP_CHARSET_SJIS,
    SP_CHARSET_EUC_JP,
    SP_CHARSET_BIG5,
    SP_CHARSET_KOREAN,
    SP_CHARSET_GB,

    SP_CHARSET_BLOCK_BITS = 3,
    SP_CHARSET_NAME_MOST = 24, /* letters and digits of the longest name */

    SP_SET_APART = 0xF0000,           /* from here on: characters that are only kept distinct */
    SP_SET_APART_BYTES = 0x10FE00,    /* and of these, + a byte of no known charset */
    SP_NO_CHARACTER = 0xFFFD,     /* no character, or a sign */
    SP_CHARSET_LONGEST = 4,       /* bytes that one byte may become */
};

SP_DATA const char sp_charset_names[];      /* of each: A + its charset, and a pattern */
SP_DATA const uint8_t sp_charset_rows[];    /* a charset's blocks: bytes from 0x80 on, by eights */
SP_DATA const uint8_t sp_charset_blocks[];  /* of each: a base, in sixteens, and eight offsets */
SP_DATA const uint16_t sp_charset_far[];    /* for offsets of 255: places, and code points */
SP_DATA const uint8_t sp_hangul_rows[];     /* the number of the mask of 28 Hangul, one per final */
SP_DATA const uint32_t sp_hangul_masks[];   /* a bit for each one in KS X 1001 */
SP_DATA const uint16_t sp_hangul_before[];  /* how many come before each sixteenth of the rows */

#endif
