/* What text.pxd reads. */

#ifndef STREAMPTRON_TEXT_H
#define STREAMPTRON_TEXT_H

#include "compiler.h"

/* Texts that stand for numbers and addresses, with room to read before them (see key_text). */
static const uint8_t sp_folded[] = "................<num>...........<hex>...........<ip>";

#endif
