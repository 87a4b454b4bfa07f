/* How answers are written: a template, filled for each line. */

#ifndef SPT_PROGRAM_ANSWERS_H
#define SPT_PROGRAM_ANSWERS_H

#include "model.h"

/* How a probability is written; a test defines it to get all bits. */
#ifndef PROBABILITY
#define PROBABILITY "%.4f"
#endif

typedef enum answer_form { AS_LINE, AS_JSON, AS_RSYSLOG, AS_MERGED, AS_TEMPLATE } answer_form;

typedef struct answers {
    answer_form form;
    const char *template;
    size_t top;
    double least; /* below this probability the label is `unsure` */
    bytes pieces; /* a template's literals and names of fields, each zero-terminated */
    size_t n_pieces;
    bool has_text;     /* the template has {text} */
    const char *field; /* one of its fields that is a field of lines; NULL: none */
} answers;

/* A line and its answer. */
typedef struct answered {
    const char *text; /* NULL: the line could not be read */
    size_t n;
    const json *object;     /* JSON lines: the line as JSON; NULL: not JSON */
    const char *line;       /* and its bytes */
    size_t n_line;
    choice answer;          /* label -1: no answer */
    const choice *likeliest; /* of answers->top */
    size_t n_likeliest;
} answered;

/* Parse a template. NULL, or what is wrong with it. */
const char *answers_begin(answers *a);

/* Write the answer to a line, with its line end. `lacks` gets the name of a field that the line
   does not have. */
void answer_add(const answers *a, const model *m, const answered *its, bytes *to,
                const char **lacks);

void answers_free(answers *a);

#endif
