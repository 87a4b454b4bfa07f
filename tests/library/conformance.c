/* What the library answers and learns, in hexadecimal: conformance MODEL EVENTS [SAVED [undo]], or
   stored for undo.

   MODEL is a file, or NAME:PARAMETERS|TOKENIZER of a new model, the last two JSON, or left out;
   with mail: before it the last one is a Mail's.
   "mapped" for SAVED opens the file where it lies. A line of EVENTS is a label or nothing, a weight
   as C's %a writes it, and either the texts of the fields or names and numbers, all behind TABs:

       label \t weight \t T \t text \t text ...
       label \t weight \t N \t name \t value \t name \t value ...

   Candidates begin with a field | each, and the label is the number of the right one.

   In texts and names %xx stands for a byte. For each line it prints the number of the answer, its
   score and probability, all scores, all probabilities, the three most probable labels and the
   parts of the first label's score. Then it learns the line, if there is a label; at the end it
   saves the model.

   Of a MultiLabelClassifier the label is a set of them: =,a,b has these and no others, = has none,
   and ?,+a,-b says of two whether they are there. Its answer begins with the labels that are there
   and their probabilities.

   With undo every third event that is learned is taken back two events later, and learned once more
   with the label of that later one; with stored, too, from bytes. */

#include "streamptron.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 12 };

static spt_error error = SPT_ERROR;

static void check(int code)
{
    if (code != SPT_OK) {
        printf("error %d: %s\n", code, error.words);
        exit(1);
    }
}

/* Put the bytes in place of their digits. Returns how many. */
static size_t plain(char *text)
{
    char *to = text;
    for (char *p = text; *p; p++) {
        if (*p == '%') {
            char digits[3] = {p[1], p[2], 0};
            *to++ = (char)strtol(digits, NULL, 16);
            p += 2;
        } else
            *to++ = *p;
    }
    *to = 0;
    return (size_t)(to - text);
}

/* The next field of a line; NULL: there is none. */
static char *field(char **line)
{
    char *start = *line;
    if (start == NULL)
        return NULL;
    char *end = strchr(start, '\t');
    *line = end == NULL ? NULL : end + 1;
    if (end != NULL)
        *end = 0;
    return start;
}

static void read_event(spt_event *event, int ranks, char *line)
{
    static const char *texts[MOST];
    static size_t lengths[MOST];
    char *kind = field(&line), *p;
    size_t n = 0;
    spt_event_clear(event);
    while ((p = field(&line)) != NULL) {
        if (strcmp(p, "|") == 0) {
            check(spt_event_candidate(event, &error));
            continue;
        }
        size_t length = plain(p);
        if (*kind == 'T' && ranks)
            check(spt_event_text(event, p, length, &error));
        else if (*kind == 'N') {
            char *value = field(&line);
            check(spt_event_add(event, p, length, value ? strtod(value, NULL) : 0.0, &error));
        } else {
            texts[n] = p;
            lengths[n++] = length;
        }
    }
    if (*kind == 'T' && !ranks)
        check(spt_event_texts(event, texts, lengths, n, &error));
}

static void print_numbers(const char *what, const double *numbers, size_t n)
{
    printf(" %s", what);
    for (size_t i = 0; i < n; i++)
        printf(" %a", numbers[i]);
}

static void print_name(const char *name, size_t n)
{
    printf(" ");
    for (size_t i = 0; i < n; i++) {
        if (isalnum((unsigned char)name[i]))
            printf("%c", name[i]);
        else
            printf("%%%02x", (unsigned char)name[i]);
    }
}

static void print_choices(const spt_choice *choices, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf(" %zu %a", choices[i].label, choices[i].probability);
}

static void answer(const spt_model *model, spt_event *event)
{
    static double numbers[MOST];
    static spt_part parts[MOST];
    static spt_choice choices[MOST];
    spt_answer a = SPT_ANSWER;
    size_t n;
    if (spt_is_multilabel(model)) {
        check(spt_predict_set(model, event, choices, MOST, &n, &error));
        printf("set");
        print_choices(choices, n);
        a.label = spt_labels(model) ? 0 : -1;
    } else {
        check(spt_predict(model, event, &a, &error));
        printf("%td %a %a", a.label, a.score, a.probability);
    }
    check(spt_scores(model, event, numbers, MOST, &n, &error));
    print_numbers("scores", numbers, n);
    check(spt_probabilities(model, event, numbers, MOST, &error));
    print_numbers("p", numbers, spt_is_ranking(model) ? n : spt_labels(model));
    check(spt_top(model, event, choices, 3, &n, &error));
    printf(" top");
    print_choices(choices, n);
    size_t first = spt_is_ranking(model) ? (size_t)a.label : 0;
    if (a.label >= 0 && spt_explain(model, event, first, parts, MOST, &n, &error) == SPT_OK) {
        printf(" parts");
        for (size_t i = 0; i < n; i++) {
            if (parts[i].name == NULL)
                printf(" -");
            else
                print_name(parts[i].name, parts[i].n);
            printf(" %a", parts[i].share);
        }
    }
    printf("\n");
}

/* Learn a line's labels; empty: there is nothing to learn. */
static void learn(spt_model *model, spt_event *event, char *labels, double weight)
{
    static const char *texts[MOST];
    static size_t lengths[MOST];
    static int there[MOST];
    size_t n = 0;
    int open = *labels == '?';
    if (*labels == 0)
        return;
    if (spt_is_ranking(model)) {
        check(spt_learn(model, event, (size_t)atoi(labels), weight, &error));
        return;
    }
    if (!spt_is_multilabel(model)) {
        n = plain(labels);
        check(spt_learn_as(model, event, labels, n, weight, &error));
        return;
    }
    for (char *p = labels[1] ? labels + 2 : NULL, *end; p != NULL; p = end) {
        end = strchr(p, ',');
        if (end != NULL)
            *end++ = 0;
        there[n] = *p != '-';
        texts[n] = p + open;
        lengths[n] = plain(p + open);
        n++;
    }
    check(spt_learn_set_as(model, event, texts, lengths, open ? there : NULL, n, weight, &error));
}

static spt_step *kept;

/* A step that has been bytes meanwhile. None of them can be missing. */
static spt_step *stored(const spt_model *model, spt_step *step)
{
    void *p;
    size_t n;
    spt_step *again;
    check(spt_step_save_memory(step, &p, &n, &error));
    spt_step_free(step);
    for (size_t i = 0; i < n; i += 1 + n / 8) {
        if (spt_step_open_memory(model, p, i, &again, &error) != SPT_DAMAGED)
            exit(5);
        ((char *)p)[i] ^= 8;
        if (spt_step_open_memory(model, p, n, &again, &error) != SPT_DAMAGED)
            exit(6);
        ((char *)p)[i] ^= 8;
    }
    check(spt_step_open_memory(model, p, n, &again, &error));
    spt_free(p);
    return again;
}

/* Keep the step of the event that has been learned; take back the one of two events before, and
   learn its event with this label. */
static void relearn(spt_model *model, spt_event *event, const char *labels, double weight,
                    int is_stored)
{
    static int n_learned;
    static char copy[1 << 16];
    spt_step *step = spt_event_step(event);
    if (step == NULL)
        exit(3);
    if (n_learned % 3 == 2 && kept != NULL) {
        check(spt_undo(model, event, kept, &error));
        if (spt_undo(model, event, kept, &error) != SPT_ARGUMENT)
            exit(4);
        spt_step_free(kept);
        kept = NULL;
        strncpy(copy, labels, sizeof(copy) - 1);
        check(spt_event_keep(event, 0, &error));
        learn(model, event, copy, weight);
        check(spt_event_keep(event, 1, &error));
    }
    if (n_learned % 3 == 0) {
        spt_step_free(kept);
        kept = is_stored ? stored(model, step) : step;
    } else
        spt_step_free(step);
    n_learned++;
}

static void open_model(char *name, int mapped, spt_model **model)
{
    int mail = strncmp(name, "mail:", 5) == 0;
    name += 5 * mail;
    char *parameters = strchr(name, ':'), *tokenizer;
    if (parameters == NULL) {
        check(spt_open(name, mapped ? SPT_MAPPED : 0, model, &error));
        return;
    }
    *parameters++ = 0;
    tokenizer = strrchr(parameters, '|');
    if (tokenizer != NULL)
        *tokenizer++ = 0;
    check((mail ? spt_new_mail : spt_new)(name, *parameters ? parameters : NULL, tokenizer, model,
                                          &error));
}

int main(int argc, char **argv)
{
    static char line[1 << 20], labels[1 << 16];
    spt_model *model;
    spt_event *event;
    spt_counts counts = SPT_COUNTS;
    if (argc < 3)
        return 2;
    const char *saved = argc > 3 ? argv[3] : NULL;
    int mapped = saved != NULL && strcmp(saved, "mapped") == 0, undo = argc > 4;
    open_model(argv[1], mapped, &model);
    check(spt_event_new(model, &event, &error));
    if (undo)
        check(spt_event_keep(event, 1, &error));
    FILE *events = fopen(argv[2], "rb");
    if (events == NULL)
        return 2;
    while (fgets(line, sizeof(line), events) != NULL) {
        char *rest = line;
        line[strcspn(line, "\n")] = 0;
        char *label = field(&rest);
        double weight = strtod(field(&rest), NULL);
        read_event(event, spt_is_ranking(model), rest);
        answer(model, event);
        if (undo)
            strncpy(labels, label, sizeof(labels) - 1);
        if (!mapped)
            learn(model, event, label, weight);
        if (undo)
            relearn(model, event, labels, weight, strcmp(argv[4], "stored") == 0);
    }
    fclose(events);
    check(spt_count(model, &counts));
    printf("seen %llu updates %llu mistakes %llu\n", (unsigned long long)counts.seen,
           (unsigned long long)counts.updates, (unsigned long long)counts.mistakes);
    if (saved != NULL && !mapped)
        check(spt_save(model, saved, &error));
    spt_step_free(kept);
    spt_event_free(event);
    spt_close(model);
    return 0;
}
