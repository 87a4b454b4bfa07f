/* Signals are noted when they come: they do not interrupt work, but end every wait. */

#ifndef SPT_PROGRAM_SIGNALS_H
#define SPT_PROGRAM_SIGNALS_H

#include <stdbool.h>

/* Note SIGTERM, SIGINT and SIGHUP from now on. false: the system gave no pipe for this. */
bool signals_listen(void);

/* SIGTERM or SIGINT, if one has ever come. 0: none. */
int signals_stop(void);

/* Whether SIGHUP has come since the last call. */
bool signals_hangup(void);

/* Whether a signal is waiting to be looked at. */
bool signals_came(void);

/* Wait until a file can be read (or written, `to_write`); false if a signal comes or the time ends
   first. Below 0 seconds: no time limit. */
bool signals_wait(int number, bool to_write, double seconds);

/* A monotonic clock, in seconds. */
double seconds_now(void);

#endif
