/* Charsets: the bytes of a text as UTF-8.

       charset=Windows-1251   EE F2 E5 F7        отеч            by name, then by table
       charset=iso-2022-jp    ESC $ B 24 22      あ              mail/double.h
       none, or none known    EE F2 E5 F7        a letter each   of which nothing more is known

   What is declared is believed, as mail programs do: by a table if each letter is one byte, and
   UTF-16 and UTF-7. A mark at the beginning (U+FEFF) outranks it. Where nothing is declared, or
   UTF-8, or ASCII, or what is not known, a text is UTF-8, unless more of its bytes are none than
   it has characters that are: then it is of a charset that cannot be known, so each byte is a
   letter of its own, U+10FE00 + the byte, which nothing makes equal to another one. Bytes that are
   signs in all charsets of Windows with one byte a letter are spaces there.

   The tables know letters, and what is not seen; signs are all alike. tools/charsets.py writes
   charsets.c. */

#ifndef STREAMPTRON_MAIL_CHARSET_H
#define STREAMPTRON_MAIL_CHARSET_H

#include "memory/compiler.h"

enum {
    SP_CHARSET_UNKNOWN = -1,
    /* 0 and on: of the table */
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
    SP_CHARSET_NAME_MOST = 24, /* letters and digits of a name that count */

    SP_KEPT_APART = 0xF0000,           /* from here on: characters that are only kept apart */
    SP_KEPT_APART_BYTES = 0x10FE00,    /* of them: + a byte of no known charset */
    SP_NO_CHARACTER = 0xFFFD,     /* no character, or a sign */
    SP_CHARSET_LONGEST = 4,       /* bytes that may become of one */
};

SP_DATA const char sp_charset_names[];      /* of each A + its charset, and a pattern */
SP_DATA const uint8_t sp_charset_rows[];    /* a charset's blocks: bytes from 0x80 on, by eights */
SP_DATA const uint8_t sp_charset_blocks[];  /* of each a base, in sixteens, and eight offsets */
SP_DATA const uint16_t sp_charset_far[];    /* of offsets of 255 the places, and the code points */
SP_DATA const uint8_t sp_hangul_rows[];     /* which mask has 28 Hangul, with all their finals */
SP_DATA const uint32_t sp_hangul_masks[];   /* a bit for each that KS X 1001 has */
SP_DATA const uint16_t sp_hangul_before[];  /* how many it has before each sixteenth of the rows */

/* Which charset a name means. */
SP_PRIVATE int sp_charset_of(const uint8_t *name, size_t n);

/* Whether n bytes in a charset are UTF-8 as they stand. */
SP_PRIVATE bool sp_charset_is_plain(int charset, const uint8_t *p, size_t n);

/* Write n bytes in a charset to `to` as UTF-8, where there is room for SP_CHARSET_LONGEST times as
   many. Returns how many there are. */
SP_PRIVATE size_t sp_charset_write(int charset, const uint8_t *p, size_t n, uint8_t *to);

#endif
