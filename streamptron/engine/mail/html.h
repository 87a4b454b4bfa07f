/* What is seen of HTML: its text, without comments, tags, scripts and styles.

       v<b></b>iagra <p>now&nbsp;<!-- x -->!</p>
       viagra   now !

   A tag that only changes how letters look leaves nothing, any other one a space: so words that
   were cut by the first are whole again, and words that the second puts apart stay apart. */

#ifndef STREAMPTRON_MAIL_HTML_H
#define STREAMPTRON_MAIL_HTML_H

#include "memory/compiler.h"

/* Write the text of n bytes to `to`, which may be p: it is never longer. Returns the length.

   What is not closed goes to the end. Entities of numbers and the best known names are written in
   UTF-8. */
SP_PRIVATE size_t sp_html_seen(const uint8_t *p, size_t n, uint8_t *to);

#endif
