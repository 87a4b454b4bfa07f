/* Learns the labels of mails. */

#include "commands.h"

#include "header.h"
#include "input.h"
#include "keeper.h"
#include "known.h"
#include "mails.h"
#include "options.h"
#include "say.h"

#include <math.h>
#include <string.h>

typedef struct learning {
    const char *model, *label;
    double margin;
    double wait;
    keeper keeper;
    header header; /* its journal has the mails learned in other ways */
    known marks;
    size_t learned, known, sure;
} learning;

/* Whether a JSON string is this text. */
static bool says(const json *j, size_t node, const char *text)
{
    return j->nodes[node].type == JSON_STRING && json_is(j, node, text);
}

/* Whether the journal remembers a mail by its id, a tuple of two texts: 1: with this label, -1:
   with another one. */
static int in_journal(const learning *l, const mail_identity *its)
{
    json j = {0};
    journal_entry entry;
    int found = 0;
    for (size_t at = 0; found == 0 && l->header.has_journal
                        && journal_next(&l->header, &at, &entry);) {
        if (!json_read(&j, entry.id, entry.n_id) || j.nodes[0].type != JSON_LIST
            || j.nodes[0].n != 3)
            continue;
        if (says(&j, 1, "tuple") && says(&j, 2, its->id) && says(&j, 3, its->digits))
            found = json_read(&j, entry.label, entry.n_label) && says(&j, 0, l->label) ? 1 : -1;
    }
    json_free(&j);
    return found;
}

/* Whether a mail must be learned: -1: yes, 0: it is known already; otherwise the exit code. */
static int is_new(learning *l, const char *mail, size_t n, mail_identity *its)
{
    if (!mail_identify(mail, n, its))
        return fail_memory();
    int found = in_journal(l, its);
    if (found < 0)
        return fail("a mail was learned with another label, and spt cannot take that back; use the "
                    "Python program: streamptron learn --as %s", l->label);
    return found > 0 || known_has(&l->marks, its, l->label, strlen(l->label)) ? DONE : -1;
}

/* Learn a mail. -1: go on; otherwise the exit code. */
static int learn_mail(learning *l, const char *mail, size_t n)
{
    spt_error error = SPT_ERROR;
    model *m = &l->keeper.model;
    mail_identity its;
    int new = is_new(l, mail, n, &its);
    if (new >= 0) {
        l->known += new == DONE;
        return new == DONE ? -1 : new;
    }
    choice answer;
    bytes why = {0};
    bool unsure = true;
    int code = -1, failed = model_answer(m, mail, n, &answer, 0, NULL, NULL, &error);
    if (!failed && l->margin >= 0.0)
        failed = model_is_unsure(m, &answer, l->label, strlen(l->label), l->margin, &unsure,
                                 &error);
    if (!failed && unsure)
        failed = model_learn(m, NULL, 0, l->label, strlen(l->label), &why, &error);
    if (failed)
        code = why.n > 0 ? fail("%s", bytes_text(&why)) : fail_of(l->model, &error);
    else if (unsure) {
        l->learned++;
        l->keeper.unsaved++;
        if (!known_add(&l->marks, m, &its, l->label, strlen(l->label)))
            code = fail_memory();
    } else
        l->sure++;
    bytes_free(&why);
    return code;
}

static int learn_file(learning *l, const char *data, size_t n, const char *name)
{
    mail_box box = {.mail = {0}};
    const char *mail;
    int code = -1;
    box_begin(&box, data, n);
    size_t end = strlen(name);
    if (!box.is_mbox && end > 5 && strcmp(name + end - 5, ".mbox") == 0)
        return fail("%s:1: an mbox begins with a line `From `, but this file does not", name);
    while (code < 0 && box_next(&box, &mail, &n))
        code = learn_mail(l, mail, n);
    if (box.mail.failed)
        code = fail_memory();
    box_end(&box);
    return code;
}

/* Read what the model's file says about other mails. */
static int remember(learning *l)
{
    int failed = header_read(&l->header, l->model);
    if (failed)
        return fail("%s: %s", l->model, strerror(failed));
    return known_read(&l->marks, &l->keeper.model) ? DONE : fail_memory();
}

static int learn(learning *l, char **files, size_t n_files)
{
    input in = {.number = -1, .max_line = MAX_LINE};
    const char *data;
    size_t n;
    l->keeper.wait = l->wait;
    l->keeper.path = l->model;
    l->keeper.learns = true;
    l->keeper.save_seconds = l->keeper.reload_seconds = l->keeper.margin = -1.0;
    int code = keeper_begin(&l->keeper, "learn", NULL, NULL);
    if (code == DONE && spt_input(l->keeper.model.spt) != SPT_MAIL)
        code = fail("the model does not learn from mails; train one with --format mail");
    if (code == DONE)
        code = remember(l);
    code = code == DONE ? -1 : code;
    input_begin(&in, (const char *const *)files, n_files);
    found how = FOUND_LINE;
    while (code < 0 && how != FOUND_END) {
        how = input_whole(&in, &data, &n);
        if (how == FOUND_LINE && n > 0)
            code = learn_file(l, data, n, in.name);
        else if (how == FOUND_FAILED)
            code = FAILED;
    }
    input_free(&in);
    if (code >= 0)
        return code;
    spt_error error = SPT_ERROR;
    if (l->learned && !lock_is_known(&l->keeper.lock))
        return fail("'%s' was replaced by a program that did not take the lock; it is left as it "
                    "is",
                    l->model);
    if (l->learned)
        known_keep(&l->marks, &l->keeper.model);
    if (l->learned && model_save(&l->keeper.model, l->model, &error))
        return fail_of(l->model, &error);
    bytes said = {0};
    bytes_print(&said, "%zu learned, 0 corrected, %zu known already", l->learned, l->known);
    if (l->margin >= 0.0)
        bytes_print(&said, ", %zu left out", l->sure);
    if (bytes_text(&said) != NULL)
        say("%s", said.p);
    bytes_free(&said);
    return DONE;
}

int command_learn(int n, char **words)
{
    learning l = {.margin = -1.0, .wait = 10.0};
    const option options[] = {
        {"--model", "-m", OPTION_TEXT, &l.model, 0, 0, false},
        {"--as", NULL, OPTION_TEXT, &l.label, 0, 0, false},
        {"--learn-unsure", NULL, OPTION_NUMBER, &l.margin, 0, INFINITY, false},
        {"--new-label", NULL, OPTION_FLAG, &l.keeper.new_label, 0, 0, false},
        {"--wait", NULL, OPTION_NUMBER, &l.wait, 0, INFINITY, false},
    };
    command_line line = {.command = "learn",
                         .options = options,
                         .n_options = sizeof(options) / sizeof(options[0]),
                         .others = " --config ",
                         .usage = usage_learn};
    int code = options_read(&line, n, words);
    if (code >= 0)
        return code;
    if (l.model == NULL)
        return misuse("learn", "Missing option '--model' / '-m'");
    if (l.label == NULL)
        return misuse("learn", "Missing option '--as'");
    code = learn(&l, line.words, line.n_words);
    keeper_end(&l.keeper);
    header_free(&l.header);
    known_free(&l.marks);
    return code;
}
