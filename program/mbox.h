/* Where the mails of an mbox begin, as the Python program finds it (streamptron/files/mbox.py):

       From SENDER Www Mmm dd hh:mm:ss yyyy    begins one, wherever it stands; so does an ISO date
       From SENDER, or From, or hh:mm in it    begins one at the beginning or behind an empty line,
                                               if a field of a header follows

   A mail whose header says how long its text is (Content-Length) ends there, if the next one begins
   there, or the file ends. */

#ifndef SPT_PROGRAM_MBOX_H
#define SPT_PROGRAM_MBOX_H

#include "bytes.h"

/* How many bytes a line has, its end included. */
size_t line_length(const char *p, size_t n);

/* White space as Python's bytes have it. */
bool is_space(char c);

/* Where a mail's header ends: at its first empty line. */
size_t header_end(const char *mail, size_t n);

/* Whether a file that begins with this is an mbox. */
bool is_mbox(const char *p, size_t n);

/* Where the mail that begins with the bytes ends, and the next one begins. */
size_t mbox_cut(const char *p, size_t n);

#endif
