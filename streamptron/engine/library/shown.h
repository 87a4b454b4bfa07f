/* Names of features as texts. */

#ifndef STREAMPTRON_LIBRARY_SHOWN_H
#define STREAMPTRON_LIBRARY_SHOWN_H

#include "file/open.h"
#include "json/bytes.h"
#include "names/key.h"

/* Write a name as Python's str() does: a text as it is, a number, ('new', 'york'). */
SP_PRIVATE void sp_key_show(const sp_key *key, const sp_contents *contents, sp_bytes *to);

#endif
