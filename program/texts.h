/* Texts as Python writes and cuts them: UTF-8, quotes, lines. */

#ifndef SPT_PROGRAM_TEXTS_H
#define SPT_PROGRAM_TEXTS_H

#include "bytes.h"

#include <stdint.h>

/* The character at p, of n bytes that are left, and how many it has. A lone surrogate is one; -1: a
   byte that begins none, and n is 1. */
int32_t character_at(const char *p, size_t n, size_t *length);

void character_add(bytes *to, uint32_t character);

bool is_utf8(const char *p, size_t n); /* without lone surrogates */

/* A text in one line: as Python's " ".join(text.splitlines()), in UTF-8, where a lone surrogate is
   written as a question mark. */
void add_in_line(bytes *to, const char *p, size_t n);

/* As Python's repr, cut to a width with "...": of a text, or of bytes. */
void add_shown(bytes *to, const char *p, size_t n, bool is_bytes, size_t width);

/* A text cut to a width with "...". */
void add_cut(bytes *to, const bytes *whole, size_t width);

/* As Python's json.dumps, with its quotes. */
void add_json(bytes *to, const char *p, size_t n);

/* As Python's repr. */
void add_number(bytes *to, double number);

/* How many columns a text has, as Python counts them: its characters. */
size_t columns_of(const char *p, size_t n);

#endif
