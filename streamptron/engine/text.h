/* The tokens that text.pxd puts in place of numbers and addresses. */

#ifndef STREAMPTRON_TEXT_H
#define STREAMPTRON_TEXT_H

#include "compiler.h"

/* With sixteen bytes before each that may be read (see key_text). */
static const uint8_t sp_folded[] = "................<num>...........<hex>...........<ip>";

#endif
