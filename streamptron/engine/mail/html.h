/* What is seen of HTML: its text, as browsers show it.

       v<b></b>iagra <p>now&nbsp;<!-- x --><i style="display:none">not</i>!</p>
       viagra   now !

   A tag that only changes how letters look leaves nothing, any other one a space: so words that
   were cut by the first are whole again, and words that the second puts apart stay apart. Comments,
   scripts, styles, titles and frames are not seen, nor what an element's own style hides: display,
   visibility, opacity, a size of 0; or its attribute `hidden`. For this the open elements are kept,
   64 deep; where it is not plain whether a browser hides a text, it counts as seen. Style sheets,
   colours, and places outside of the window are not looked at. */

#ifndef STREAMPTRON_MAIL_HTML_H
#define STREAMPTRON_MAIL_HTML_H

#include "memory/compiler.h"

/* Write the text of n bytes of UTF-8 to `to`, which may be p: it is never longer. Returns the
   length. What is not closed goes to the end. */
SP_PRIVATE size_t sp_html_seen(const uint8_t *p, size_t n, uint8_t *to);

#endif
