/* Where the mails of an mbox begin, as the Python program finds it (streamptron/files/mbox.py):

       From SENDER Www Mmm dd hh:mm:ss yyyy    begins one anywhere; so does an ISO date
       From SENDER, or From, or hh:mm in it    begins one at the start or behind an empty line,
                                               if a header field follows

   A mail whose header gives the length of its text (Content-Length) ends there, if the next mail
   begins there or the file ends. */

#ifndef SPT_PROGRAM_MBOX_H
#define SPT_PROGRAM_MBOX_H

#include "bytes.h"

/* The bytes of a line, including its end. */
size_t line_length(const char *p, size_t n);

/* White space, as for Python's bytes. */
bool is_space(char c);

/* Where a mail's header ends: at its first empty line. */
size_t header_end(const char *mail, size_t n);

/* Whether a file that begins with this is an mbox. */
bool is_mbox(const char *p, size_t n);

/* Where the mail at the start of the bytes ends, and the next one begins. */
size_t mbox_cut(const char *p, size_t n);

#endif
