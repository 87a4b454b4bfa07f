/* Charsets of Japan, China and Korea, whose characters have two bytes or more.

   Kana, Hangul, Greek, Cyrillic and wide Latin letters are in order there, and become their Unicode
   characters. Han characters are not in order, and tables of them would take a tenth of the
   library. So they are only kept distinct, each as a private-use code point in planes 15 and 16. A
   Han word is therefore the same in all charsets with the same list, but not the same as in UTF-8.

       JIS X 0208   F0000 + 94 * row + cell   ISO-2022-JP, EUC-JP, Shift_JIS
       JIS X 0212   F3000 + likewise          ISO-2022-JP, EUC-JP
       KS X 1001    F6000 + likewise          EUC-KR, ISO-2022-KR
       GBK          F9000 + its place         GB2312, GBK, GB18030
       Big5         100000 + its place
       GB18030      105000 + its number       of four bytes, below U+10000

   Signs become spaces, and bytes that are not a character become U+FFFD. */

#ifndef STREAMPTRON_MAIL_DOUBLE_H
#define STREAMPTRON_MAIL_DOUBLE_H

#include "memory/compiler.h"

/* As sp_charset_write: for charsets from SP_CHARSET_SJIS on; and for escape sequences (ISO
   2022). */
SP_PRIVATE size_t sp_two_bytes_write(int charset, const uint8_t *p, size_t n, uint8_t *to);

SP_PRIVATE size_t sp_escaped_write(const uint8_t *p, size_t n, uint8_t *to);

#endif
