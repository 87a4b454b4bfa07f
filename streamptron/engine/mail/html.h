/* The visible text of HTML, as browsers show it.

       v<b></b>iagra <p>now&nbsp;<!-- x --><i style="display:none">not</i>!</p>
       viagra   now !

   A tag that only changes how letters look leaves nothing; any other tag leaves a space. So words
   that were cut by tags of the first kind are whole again, and words that tags of the second kind
   separate stay separate. Comments, scripts, styles, titles and frames are not visible, nor is what
   an element hides by its own style (display, visibility, opacity, a size of 0) or by its attribute
   `hidden`. For this the open elements are kept, up to 64 deep. If it is not clear whether a
   browser hides a text, it counts as visible. Style sheets, colours, and places outside the window
   are ignored. */

#ifndef STREAMPTRON_MAIL_HTML_H
#define STREAMPTRON_MAIL_HTML_H

#include "memory/compiler.h"

/* Write the text of n bytes of UTF-8 to `to`, which may be p, as it is never longer. Returns its
   length. What is not closed goes on to the end. */
SP_PRIVATE size_t sp_html_seen(const uint8_t *p, size_t n, uint8_t *to);

#endif
