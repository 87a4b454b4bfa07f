/* What is wrong with a file, a parameter or a call, as a sentence.

   The sentences are in the code that finds the fault. So a file gives the same message in C and in
   Python: a door only adds the file's name, and what to do. */

#ifndef STREAMPTRON_JSON_WORDS_H
#define STREAMPTRON_JSON_WORDS_H

#include "memory/compiler.h"

enum {
    SP_WHY_NONE = 0,
    SP_WHY_MEMORY = 1,
    SP_WHY_FOREIGN = 2, /* the file is not one that this version can read */
    SP_WHY_DAMAGED = 3, /* the file is one of ours, but contradicts itself */
    SP_WHY_PARAMETER = 4,

    SP_WHY_ROOM = 384, /* bytes of a sentence */
    SP_WHY_SHOWN = 80, /* of a value in it */
};

typedef struct sp_fault {
    int kind;
    size_t n;
    char text[SP_WHY_ROOM]; /* ends with a zero; if too long, with "..." */
} sp_fault;

/* Begin a sentence. Returns the kind of fault. */
SP_PRIVATE int sp_fault_say(sp_fault *fault, int kind, const char *words);

/* Continue it. Returns the kind of fault. */
SP_PRIVATE int sp_fault_add(sp_fault *fault, const char *words);
SP_PRIVATE int sp_fault_add_bytes(sp_fault *fault, const void *p, size_t n);
SP_PRIVATE int sp_fault_add_number(sp_fault *fault, uint64_t number);

/* A fault that needs no words of its own. Returns its kind. */
SP_PRIVATE int sp_fault_memory(sp_fault *fault);

#endif
