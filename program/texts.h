/* Texts as Python writes and shortens them: UTF-8, quotes, lines. */

#ifndef SPT_PROGRAM_TEXTS_H
#define SPT_PROGRAM_TEXTS_H

#include "bytes.h"

#include <stdint.h>

/* The character at p, where n bytes are left, and its length. A lone surrogate counts as a
   character; -1: a byte that begins no character, with length 1. */
int32_t character_at(const char *p, size_t n, size_t *length);

void character_add(bytes *to, uint32_t character);

bool is_utf8(const char *p, size_t n); /* without lone surrogates */

/* A text on one line, as Python's " ".join(text.splitlines()), in UTF-8, with a question mark for a
   lone surrogate. */
void add_in_line(bytes *to, const char *p, size_t n);

/* A text, or bytes, as Python's repr, shortened to a width with "...". */
void add_shown(bytes *to, const char *p, size_t n, bool is_bytes, size_t width);

/* A text shortened to a width with "...". */
void add_cut(bytes *to, const bytes *whole, size_t width);

/* As Python's json.dumps, with quotes. */
void add_json(bytes *to, const char *p, size_t n);

/* As Python's repr. */
void add_number(bytes *to, double number);

/* The width of a text, as Python counts it: its number of characters. */
size_t columns_of(const char *p, size_t n);

#endif
