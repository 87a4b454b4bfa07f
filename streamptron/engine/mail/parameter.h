/* Parameters of a field (RFC 2045): boundary="x y". RFC 2231 has other forms for letters beyond
   ASCII and for long values: boundary*=utf-8''x%20y; or boundary*0="x"; boundary*1=" y". */

#ifndef STREAMPTRON_MAIL_PARAMETER_H
#define STREAMPTRON_MAIL_PARAMETER_H

#include "memory/compiler.h"

enum {
    SP_PARAMETER_MOST = 1000,
    SP_SECTIONS_MOST = 20,
};

/* Write the parameter of that name to `to`, where there is room for SP_PARAMETER_MOST bytes.
   Returns its length; 0 if there is none, or if it is longer. */
SP_PRIVATE size_t sp_parameter(const uint8_t *p, size_t n, const char *name, uint8_t *to);

/* The length of a value's first word: up to a semicolon or space. */
SP_PRIVATE size_t sp_value_word(const uint8_t *p, size_t n);

/* Whether n bytes begin with a word, or are that word, whatever their case. */
SP_PRIVATE bool sp_begins_with(const uint8_t *p, size_t n, const char *word);
SP_PRIVATE bool sp_is_word(const uint8_t *p, size_t n, const char *word);

/* The first place from i on that is not white space of a value. */
SP_PRIVATE size_t sp_skip_gap(const uint8_t *p, size_t i, size_t n);

#endif
