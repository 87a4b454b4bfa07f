/* Signals, noted as they come: no work is interrupted, and every wait ends. */

#ifndef SPT_PROGRAM_SIGNALS_H
#define SPT_PROGRAM_SIGNALS_H

#include <stdbool.h>

/* From now on SIGTERM, SIGINT and SIGHUP are noted. false: the system has no pipe for it. */
bool signals_listen(void);

/* SIGTERM or SIGINT, if one has come: they stay. 0: none has. */
int signals_stop(void);

/* Whether SIGHUP has come since this was last asked. */
bool signals_hangup(void);

/* Whether there is one to look at. */
bool signals_came(void);

/* Wait until a file can be read (or written, `to_write`); false if a signal or the end of the time
   comes first. Below 0 seconds: for ever. */
bool signals_wait(int number, bool to_write, double seconds);

/* Seconds of a clock that never jumps. */
double seconds_now(void);

#endif
