/* Corrections: files with labelled lines, which are put into a folder and learned, each once. The
   folder, and what the model's file says of it, are those of the Python program:

       FOLDER/x.tsv            has come, by a rename; names that begin with a dot are still to come
       FOLDER/taken/ID.x.tsv   is being learned, under a name that no other file will ever have
       FOLDER/done/ID.x.tsv    is learned, and the model with it is saved
       FOLDER/bad/ID.x.tsv     is cut off or has a bad line: nothing of it is learned

   The model's file says which of the files in taken/ it has learned, so whenever the learner is
   killed and started again, each of them is learned once. */

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
    bytes tried; /* what the last save was of */
    bool is_gone;
} spool;

/* false: it has been said why not. */
bool spool_begin(spool *s);

/* How many seconds there are until the next look. */
double spool_left(const spool *s);

void spool_look(spool *s);
void spool_end(spool *s);

#endif
