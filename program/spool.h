/* Corrections: files with labelled lines, which are put into a folder, and each learned once. The
   folder, and what the model's file says about it, are the same as in the Python program:

       FOLDER/x.tsv            has come, by a rename; names that begin with a dot do not count yet
       FOLDER/taken/ID.x.tsv   is being learned, under a unique name
       FOLDER/done/ID.x.tsv    has been learned, and the model has been saved since
       FOLDER/bad/ID.x.tsv     is incomplete or has a bad line: nothing of it is learned

   The model's file says which of the files in taken/ it has learned. So each is learned exactly
   once, even if the program is killed and started again. */

#ifndef SPT_PROGRAM_SPOOL_H
#define SPT_PROGRAM_SPOOL_H

#include "keeper.h"
#include "records.h"

typedef struct spool {
    const char *folder;
    keeper *keeper;
    record_reader reader;
    size_t max_line;
    int number; /* of the folder, which is locked */
    double last_look, last_save;
    bytes tried; /* what the last save contained */
    bool is_gone;
} spool;

/* false: a message has said why not. */
bool spool_begin(spool *s);

/* Seconds until the next look into the folder. */
double spool_left(const spool *s);

void spool_look(spool *s);
void spool_end(spool *s);

#endif
