/* A model file's header (docs/format.md), and the ids that its journal remembers. The library gives
   access only to what answers need. It has checked the file before. */

#ifndef SPT_PROGRAM_HEADER_H
#define SPT_PROGRAM_HEADER_H

#include "json.h"

#include <stdint.h>

typedef struct header {
    bytes text;
    json all;
    uint64_t size; /* of the file */
    size_t said;   /* the node of __metadata__ */
    bytes journal; /* its bytes; empty: no journal */
    bool has_journal;
} header;

/* Read it. 0, or the system's error. */
int header_read(header *h, const char *path);

/* A part of the header, which is JSON in a string. false: there is no part of this name. */
bool header_part(const header *h, const char *name, json *part);

/* The text of a part. "": there is no such part. */
const char *header_text(const header *h, const char *name);

void header_free(header *h);

/* An event that the journal remembers. */
typedef struct journal_entry {
    const char *id, *label; /* as JSON */
    size_t n_id, n_label;
} journal_entry;

/* The next entry; begin with *at = 0. false: there is none, or it is invalid. */
bool journal_next(const header *h, size_t *at, journal_entry *entry);

#endif
