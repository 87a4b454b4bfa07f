/* What a model file says of itself, of which the library tells only what answers need: its header
   (docs/format.md), and the ids that its journal remembers. The library has checked the file. */

#ifndef SPT_PROGRAM_HEADER_H
#define SPT_PROGRAM_HEADER_H

#include "json.h"

#include <stdint.h>

typedef struct header {
    bytes text;
    json all;
    uint64_t size; /* of the file */
    size_t said;   /* the node of __metadata__ */
    bytes journal; /* its bytes; none: there is no journal */
    bool has_journal;
} header;

/* Read it. 0, or the system's error. */
int header_read(header *h, const char *path);

/* A part of the header, which is JSON in a string. false: it has none of this name. */
bool header_part(const header *h, const char *name, json *part);

/* The same as it is. "": there is none. */
const char *header_text(const header *h, const char *name);

void header_free(header *h);

/* An event that the journal remembers. */
typedef struct journal_entry {
    const char *id, *label; /* as JSON */
    size_t n_id, n_label;
} journal_entry;

/* The next one; begin with *at = 0. false: there is none, or what comes is none. */
bool journal_next(const header *h, size_t *at, journal_entry *entry);

#endif
