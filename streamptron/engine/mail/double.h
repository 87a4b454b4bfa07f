/* Charsets of Japan, China and Korea: characters of two bytes, and of more.

   Kana, Hangul, Greek, Cyrillic and wide Latin letters stand in order there, and become what they
   are. Han characters do not: tables of them would be a tenth of the library. They are only kept
   apart, each as a code point for private use of its own, in planes 15 and 16; so a word is itself
   in all charsets that have the same list, and another one than in UTF-8.

       JIS X 0208   F0000 + 94 * row + cell   ISO-2022-JP, EUC-JP, Shift_JIS
       JIS X 0212   F3000 + likewise          ISO-2022-JP, EUC-JP
       KS X 1001    F6000 + likewise          EUC-KR, ISO-2022-KR
       GBK          F9000 + its place         GB2312, GBK, GB18030
       Big5         100000 + its place
       GB18030      105000 + its number       of four bytes, below U+10000

   Signs are spaces, and what is not a character is U+FFFD. */

#ifndef STREAMPTRON_MAIL_DOUBLE_H
#define STREAMPTRON_MAIL_DOUBLE_H

#include "memory/compiler.h"

/* As sp_charset_write, of a charset from SP_CHARSET_SJIS on; and of escape sequences (ISO 2022). */
SP_PRIVATE size_t sp_two_bytes_write(int charset, const uint8_t *p, size_t n, uint8_t *to);

SP_PRIVATE size_t sp_escaped_write(const uint8_t *p, size_t n, uint8_t *to);

#endif
