/* A line in, a line out, at once:

       read what is there -> whole lines -> answer, and learn -> write -> wait

   Exactly one line is written for each line that is read. A blank or bad line gets an answer with
   neither label nor probability. */

#include "commands.h"

#include "answers.h"
#include "create.h"
#include "input.h"
#include "keeper.h"
#include "mails.h"
#include "options.h"
#include "output.h"
#include "records.h"
#include "say.h"
#include "signals.h"
#include "spool.h"
#include "texts.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { WRITE = 1 << 20 }; /* bytes of answers that are written without waiting for more */
enum { POSITIVE, OTHER, UNSURE, ERROR }; /* exit codes, with --exit-code */

typedef struct predicting {
    keeper keeper;
    answers answers;
    spool spool;
    bool assumed; /* no option says otherwise: the lines are as in training */
    bool has_spool, learns, exits, whole; /* `whole`: the whole input is one text */
    const char *positive;
    const char *kind, *format, *text, *label; /* as they were given */
    form form;
    record_reader reader;
    input input;
    choice *likeliest;
    bytes out, lacked, first_bad, why;
    size_t n_lines, n_bad, n_texts, n_replaced;
    char first_replaced[300];
    int code;     /* the exit code; below 0: go on */
    int verdict;  /* with --exit-code: that of the answer */
    bool has_run; /* errors of the command line or the model are reported by now */
    bool is_gone; /* the reader of the answers */
} predicting;

/* --- What comes out */

static void write_out(predicting *p)
{
    put how = p->out.failed ? PUT_DONE : output_flush(&p->out);
    if (p->out.failed)
        p->code = fail_memory();
    else if (how == PUT_FAILED)
        p->code = output_failed(errno);
    p->is_gone = p->is_gone || how == PUT_GONE;
    if (how == PUT_GONE && p->code < 0)
        p->code = DONE;
}

static void note_bad(predicting *p, const char *why)
{
    p->n_bad++;
    if (p->first_bad.n == 0)
        bytes_print(&p->first_bad, "%s:%zu: %s", p->input.name, p->input.line, why);
    if (p->exits)
        p->code = fail("%s:%zu: %s", p->input.name, p->input.line, why);
}

/* Report, once for each field, that a template names a field that a line does not have. */
static void note_lack(predicting *p, const char *field)
{
    for (size_t at = 0; at < p->lacked.n; at += strlen(p->lacked.p + at) + 1) {
        if (strcmp(p->lacked.p + at, field) == 0)
            return;
    }
    bytes_add(&p->lacked, field, strlen(field) + 1);
    say("warning: %s:%zu: the line has no '%s', which --template names; it is left empty",
        p->input.name, p->input.line, field);
}

/* The text of a line as a template shows it. */
static void show_text(predicting *p, answered *its, const record *found, bool is_event,
                      bytes *shown)
{
    its->text = found->text;
    its->n = found->n;
    if (p->reader.kind != LINE_OBJECT && !p->whole)
        return;
    its->text = NULL;
    if (!is_event || !p->answers.has_text)
        return;
    add_in_line(shown, found->text, found->n);
    its->text = shown->n ? shown->p : "";
    its->n = shown->n;
}

/* --- A line */

/* Learn what has just been answered. */
static void teach(predicting *p, const record *found, const choice *answer)
{
    spt_error error = SPT_ERROR;
    model *m = &p->keeper.model;
    bool unsure = true;
    p->why.n = 0;
    if (!model_may_learn(m, found->label, found->n_label, &p->why)) {
        note_bad(p, bytes_text(&p->why));
        return;
    }
    int failed = SPT_OK;
    if (p->keeper.margin >= 0.0 && model_labels(m) >= 2)
        failed = model_is_unsure(m, answer, found->label, found->n_label, p->keeper.margin,
                                 &unsure, &error);
    if (!failed && unsure)
        failed = model_learn(m, NULL, 0, found->label, found->n_label, &p->why, &error);
    if (failed == SPT_FULL || failed == SPT_ARGUMENT)
        note_bad(p, bytes_text(&p->why) == NULL ? error.words : p->why.p);
    else if (failed)
        p->code = fail_of(p->keeper.path, &error);
    else if (unsure)
        keeper_learned(&p->keeper, found->label, found->n_label, found->text, found->n);
}

/* With --exit-code: set the verdict from the answer to the only line. */
static void decide(predicting *p, bool is_event, const choice *answer)
{
    size_t n;
    if (p->code >= 0)
        return;
    if (p->n_lines > 1)
        p->code = fail("there is more than one line, but --exit-code is for one event; give one, "
                       "or leave out --exit-code");
    else if (!is_event)
        p->code = fail("the line is blank; give an event");
    else if (answer->label < 0 || answer->probability < p->answers.least)
        p->verdict = UNSURE;
    else {
        const char *name = model_name(&p->keeper.model, (size_t)answer->label, &n);
        bool is_it = strlen(p->positive) == n && memcmp(p->positive, name, n) == 0;
        p->verdict = is_it ? POSITIVE : OTHER;
    }
}

static void note_replaced(predicting *p, const record *found)
{
    p->n_texts++;
    if (p->reader.kind == LINE_OBJECT || p->reader.kind == LINE_MAIL || p->whole
        || is_utf8(found->text, found->n))
        return;
    if (p->n_replaced++ == 0)
        snprintf(p->first_replaced, sizeof(p->first_replaced), "%s:%zu", p->input.name,
                 p->input.line);
}

/* Answer a line, and learn it. `bad`: why it could not be read; NULL: it was read. */
static void take_line(predicting *p, const char *line, size_t n, const char *bad)
{
    spt_error error = SPT_ERROR;
    model *m = &p->keeper.model;
    record found = {0};
    answered its = {.answer = {-1, 0.0}, .likeliest = p->likeliest};
    bytes shown = {0};
    const char *lacks = NULL;
    p->n_lines++;
    p->why.n = 0;
    record_is is = bad != NULL ? RECORD_BAD : record_read(&p->reader, line, n, &found, &p->why);
    if (is == RECORD_BAD)
        note_bad(p, bad != NULL ? bad : bytes_text(&p->why) == NULL ? "no memory" : p->why.p);
    if (is == RECORD_EVENT) {
        int failed = model_answer(m, found.text, found.n, &its.answer, p->answers.top,
                                  p->likeliest, &its.n_likeliest, &error);
        if (failed == SPT_ARGUMENT) {
            p->why.n = 0;
            add_reason(&p->why, error.words);
            note_bad(p, bytes_text(&p->why) == NULL ? "no memory" : p->why.p);
            is = RECORD_BAD;
        } else if (failed) {
            p->code = fail_of(p->keeper.path, &error);
            return;
        }
    }
    if (bad == NULL)
        show_text(p, &its, &found, is == RECORD_EVENT, &shown);
    if (found.has_object)
        its.object = &p->reader.object;
    its.line = line;
    its.n_line = n;
    answer_add(&p->answers, m, &its, &p->out, &lacks);
    p->out.failed = p->out.failed || shown.failed;
    bytes_free(&shown);
    if (lacks != NULL && is == RECORD_EVENT)
        note_lack(p, lacks);
    if (is == RECORD_EVENT) {
        if (p->learns && found.label != NULL)
            teach(p, &found, &its.answer);
        note_replaced(p, &found);
    }
    if (p->exits)
        decide(p, is == RECORD_EVENT, &its.answer);
    else if (p->out.n >= WRITE && p->code < 0)
        write_out(p);
}

/* --- What signals and clocks trigger */

static int check_form(const predicting *p, const model *m, spt_error *error);

/* The one that is reloading; the keeper's callback has no other way to get it. */
static const predicting *reloading;

static int check_next(const model *now, const model *next, const char *path, spt_error *error)
{
    int failed = check_form(reloading, next, error);
    bytes one = {0}, other = {0};
    if (failed || reloading->reader.kind == LINE_TEXT || reloading->reader.kind == LINE_EITHER)
        return failed;
    json_show(&next->lines, json_path(&next->lines, "reading"), &one);
    json_show(&now->lines, json_path(&now->lines, "reading"), &other);
    bool alike = one.n == other.n && memcmp(one.p, other.p, one.n) == 0;
    if (!alike && bytes_text(&one) != NULL && bytes_text(&other) != NULL) {
        failed = error->code = SPT_ARGUMENT;
        snprintf(error->words, sizeof(error->words),
                 "%s: it reads lines as %.200s, and the model that answers as %.200s; start anew "
                 "to answer by it", path, one.p, other.p);
    }
    bytes_free(&one);
    bytes_free(&other);
    return failed;
}

static void reload(predicting *p, bool asked)
{
    reloading = p;
    keeper_reload(&p->keeper, check_next, asked);
    if (p->reader.kind == LINE_OBJECT && p->text == NULL)
        p->reader.text_field = p->keeper.model.text;
    if (p->reader.kind == LINE_OBJECT && p->label == NULL && p->learns)
        p->reader.label_field = p->keeper.model.label;
    p->spool.reader.text_field = p->reader.text_field;
    p->spool.reader.label_field = p->reader.label_field;
}

static void look(predicting *p)
{
    if (signals_stop()) {
        if (p->exits)
            p->code = fail("a signal came before the end of the input");
        return;
    }
    if (signals_hangup())
        reload(p, true);
    if (keeper_is_replaced(&p->keeper))
        reload(p, false);
    keeper_save_if_due(&p->keeper);
    if (p->has_spool)
        spool_look(&p->spool);
}

/* Write the answers, and wait until there is more input. */
static bool wait_for(void *owner, int number)
{
    predicting *p = owner;
    if (!p->exits)
        write_out(p);
    while (p->code < 0) {
        look(p);
        double left = keeper_left(&p->keeper);
        if (p->has_spool)
            left = sooner(left, spool_left(&p->spool));
        if (signals_stop() || signals_wait(number, false, left))
            break;
    }
    return p->code < 0;
}

/* --- All of it */

static void take_mails(predicting *p, const char *data, size_t n)
{
    mail_box box = {.mail = {0}};
    const char *mail;
    size_t length;
    box_begin(&box, data, n);
    while (p->code < 0 && box_next(&box, &mail, &length)) {
        if (length > p->input.max_line)
            take_line(p, NULL, 0, "a mail of more bytes than --max-line allows");
        else
            take_line(p, mail, length, NULL);
    }
    if (box.mail.failed)
        p->code = fail_memory();
    box_end(&box);
}

/* Take the whole input as one text. */
static void take_whole(predicting *p, bytes *text, const char *data, size_t n)
{
    bytes_add(text, data, n);
    if (text->n > p->input.max_line)
        p->code = fail("the text has more than %zu bytes; give --max-line", p->input.max_line);
    if (text->failed)
        p->code = fail_memory();
}

static void take_all(predicting *p)
{
    const char *line;
    size_t n;
    bytes text = {0};
    found how = FOUND_LINE;
    bool by_lines = p->reader.kind != LINE_MAIL && !p->whole;
    while (p->code < 0 && how != FOUND_END) {
        how = by_lines ? input_line(&p->input, &line, &n) : input_whole(&p->input, &line, &n);
        if (p->code >= 0)
            break;
        if (how == FOUND_BAD)
            take_line(p, NULL, 0, p->input.wrong);
        else if (how == FOUND_LINE && by_lines)
            take_line(p, line, n, NULL);
        else if (how == FOUND_LINE && p->whole)
            take_whole(p, &text, line, n);
        else if (how == FOUND_LINE)
            take_mails(p, line, n);
        else if (how == FOUND_FAILED)
            p->code = FAILED;
        else if (how == FOUND_STOP)
            p->code = p->exits ? ERROR : signals_stop() == SIGINT ? INTERRUPTED : DONE;
    }
    if (p->code < 0 && text.n > 0) {
        p->input.line = 1;
        take_line(p, text.p, text.n, NULL);
    }
    bytes_free(&text);
}

static void warn_at_end(const predicting *p)
{
    if (p->n_replaced)
        say("warning: %zu of %zu texts have bytes that are not UTF-8, read as U+FFFD; the first: "
            "%s; give the file's encoding, as latin-1 or cp1252, or convert it",
            p->n_replaced, p->n_texts, p->first_replaced);
    if (p->n_bad && !p->exits)
        say("%zu of %zu lines are bad, the first: %s%s%s%s", p->n_bad, p->n_lines,
            p->first_bad.failed || p->first_bad.n == 0 ? "?" : p->first_bad.p,
            p->assumed ? "; lines are " : "", p->assumed ? form_names[p->form] : "",
            p->assumed ? ", as in the training; else give --input or --format" : "");
}

/* With --exit-code: the exit code of the answer. */
static int verdict(predicting *p)
{
    if (p->n_lines == 0 && p->code < 0)
        p->code = fail("there is no event in the input; give one");
    if (p->code < 0)
        write_out(p);
    return p->code >= 0 ? ERROR : p->verdict;
}

static int run(predicting *p)
{
    if (!signals_listen())
        return fail("no pipe: %s", strerror(errno));
    p->has_run = true;
    take_all(p);
    int code = p->exits ? verdict(p) : p->code;
    if (!p->exits) {
        if (!p->is_gone && (code <= DONE || code == INTERRUPTED)) {
            write_out(p);
            code = p->code > DONE ? p->code : code;
        }
        code = code < 0 ? DONE : code;
    }
    bytes_text(&p->first_bad);
    bool saved = keeper_save(&p->keeper, true);
    if (p->has_spool)
        spool_end(&p->spool);
    warn_at_end(p);
    return saved ? code : FAILED;
}

/* --- The format of the lines */

static const struct {
    const char *suffix, *format;
} suffixes[] = {
    {".tsv", "plain"},    {".txt", "plain"},     {".ft", "fasttext"},     {".fasttext", "fasttext"},
    {".vw", "vw"},        {".svm", "svmlight"},  {".svmlight", "svmlight"},
    {".libsvm", "svmlight"}, {".jsonl", "jsonl"}, {".ndjson", "jsonl"},   {".json", "jsonl"},
    {".csv", "csv"},      {".eml", "mail"},      {".mbox", "mail"},
};

static const char *format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (strcasecmp(dot, suffixes[i].suffix) == 0)
            return suffixes[i].format;
    }
    return "";
}

/* Whether the suffixes of all files mean the format that the model was trained on. */
static bool is_trained_on(const input *in, const model *m)
{
    const char *format = model_format(m);
    for (size_t i = 0; i < in->n_files && strcmp(format, "document") != 0; i++) {
        if (strcmp(format_of(in->files[i]), format) != 0)
            return false;
    }
    return true;
}

/* Check that a model can answer lines of this format. */
static int check_form(const predicting *p, const model *m, spt_error *error)
{
    bool plain = p->reader.kind != LINE_OBJECT && p->reader.kind != LINE_MAIL;
    const char *wrong = NULL;
    error->code = SPT_OK;
    if (plain && spt_input(m->spt) == SPT_MAIL)
        wrong = "the model learns from mails, and these are lines; give --format mail";
    else if (p->reader.kind == LINE_MAIL && spt_input(m->spt) != SPT_MAIL)
        wrong = "the model learns from texts, and this format gives mails";
    else if (p->reader.kind == LINE_OBJECT && spt_input(m->spt) == SPT_MAIL)
        wrong = "the model learns from mails, and this format gives texts; give --format mail";
    else if (p->answers.form == AS_MERGED && p->reader.kind != LINE_OBJECT)
        wrong = "--merge is for JSON lines; give --format jsonl, and --text or --features";
    if (wrong != NULL) {
        error->code = SPT_ARGUMENT;
        snprintf(error->words, sizeof(error->words), "%s", wrong);
    } else if (p->answers.field != NULL && p->reader.kind != LINE_OBJECT) {
        error->code = SPT_ARGUMENT;
        snprintf(error->words, sizeof(error->words),
                 "{%s} is not one of the template's placeholders, {label}, {probability} and "
                 "{text}; only JSON lines and CSV have fields, by their --format",
                 p->answers.field);
    }
    return error->code;
}

/* Find out the format of the lines. false: a message has said what is wrong. */
static bool settle_form(predicting *p, const model *m)
{
    form form = FORM_OTHER;
    bool plain_given = p->format != NULL && strcmp(p->format, "plain") == 0;
    if (p->format != NULL)
        form = plain_given                          ? FORM_PLAIN
               : strcmp(p->format, "jsonl") == 0 ? FORM_JSONL
                                                 : FORM_MAIL;
    else if (p->kind == NULL && !p->input.endless && is_trained_on(&p->input, m)) {
        form = m->form;
        plain_given = form == FORM_PLAIN;
        if (form == FORM_OTHER) { /* their words would be those of another format */
            fail("%s: spt does not read %s; use the Python program: streamptron predict",
                 p->input.files[0], model_format(m));
            return false;
        }
    } else if (p->kind == NULL && p->input.endless
               && (m->form == FORM_MAIL || m->form == FORM_JSONL)) {
        form = m->form; /* a JSON object is not a text */
        p->assumed = true;
    }
    p->reader.kind = form == FORM_JSONL  ? LINE_OBJECT
                     : form == FORM_MAIL ? LINE_MAIL
                     : p->kind != NULL   ? (p->kind[0] == 't' ? LINE_TEXT : LINE_EITHER)
                                         : (p->learns || plain_given ? LINE_EITHER : LINE_TEXT);
    p->form = form == FORM_OTHER ? FORM_PLAIN : form;
    if (p->reader.kind != LINE_OBJECT)
        return true;
    bool same = m->form == FORM_JSONL;
    p->reader.text_field = p->text != NULL ? p->text : same ? m->text : NULL;
    const char *label = p->label != NULL ? p->label : same ? m->label : NULL;
    p->reader.label_field = p->learns && label != NULL && label[0] ? label : NULL;
    if (p->reader.text_field == NULL)
        fail("the format jsonl needs --text FIELD; for --features use the Python program: "
             "streamptron predict");
    return p->reader.text_field != NULL;
}

static int begin(predicting *p, creation *create, const char *corrections)
{
    spt_error error = SPT_ERROR;
    int code = keeper_begin(&p->keeper, "predict", create == NULL ? NULL : create_model,
                            create);
    if (code != DONE)
        return code;
    model *m = &p->keeper.model;
    if (!settle_form(p, m))
        return FAILED;
    if (check_form(p, m, &error))
        return fail("%s", error.words);
    p->whole = p->exits && p->kind == NULL && p->format == NULL && p->reader.kind == LINE_TEXT;
    if (p->exits && p->positive == NULL)
        p->positive = m->positive;
    bytes names = {0};
    add_names(m, &names);
    if (p->exits && p->positive == NULL)
        code = fail("--exit-code: give the label of exit code 0, as --positive spam; the model "
                    "knows %s", bytes_text(&names));
    else if (p->exits && model_labels(m) > 0 && !model_has_name(m, p->positive))
        code = fail("--positive '%s' has not been seen; the model knows %s", p->positive,
                    bytes_text(&names));
    bytes_free(&names);
    if (code == DONE && corrections != NULL) {
        p->spool = (spool){.folder = corrections, .keeper = &p->keeper, .number = -1};
        p->spool.max_line = p->input.max_line;
        p->spool.reader = p->reader;
        p->spool.reader.label_needed = true;
        if (p->reader.kind == LINE_EITHER)
            p->spool.reader.kind = LINE_LABELLED;
        p->has_spool = true;
        code = spool_begin(&p->spool) ? DONE : FAILED;
    }
    return code;
}

/* --- Options */

typedef struct given {
    const char *model, *corrections, *template;
    bool json, rsyslog, merge, create, exit_code;
    double least, save_seconds, reload_seconds, margin;
    size_t save_every, top;
} given;

static int check_given(const predicting *p, const given *g)
{
    static const char command[] = "predict";
    const char *form = g->json ? "json" : g->rsyslog ? "rsyslog" : g->merge ? "merge" : NULL;
    if (g->model == NULL)
        return misuse(command, "Missing option '--model' / '-m'");
    if (form != NULL && g->template != NULL)
        return misuse(command, "--%s and --template exclude each other; give one", form);
    if (p->kind != NULL && strcmp(p->kind, "text") && strcmp(p->kind, "labelled"))
        return misuse(command, "Invalid value for '--input': '%s' is not one of 'text', 'labelled'",
                      p->kind);
    if (p->format != NULL && strcmp(p->format, "plain") && strcmp(p->format, "jsonl")
        && strcmp(p->format, "mail"))
        return misuse(command, "spt reads the formats plain, jsonl and mail; for %s use the "
                               "Python program: streamptron predict", p->format);
    if (p->kind != NULL && strcmp(p->kind, "text") == 0 && p->learns)
        return misuse(command, "--learn needs labels; give --input labelled or a --format");
    if (!p->learns && (g->save_every || g->save_seconds >= 0.0))
        return misuse(command, "without --learn there is nothing to save");
    if (!p->learns && (p->keeper.known_labels || p->keeper.new_label))
        return misuse(command, "--known-labels and --new-label say what is learned; give --learn");
    if (p->keeper.known_labels && p->keeper.new_label)
        return misuse(command, "--known-labels and --new-label exclude each other; give one");
    if (!p->learns && g->margin >= 0.0)
        return misuse(command, "--learn-unsure says what is learned; give --learn too");
    if (!p->learns && g->corrections != NULL)
        return misuse(command, "--corrections are learned; give --learn too");
    if (g->exit_code && (p->learns || g->create || g->reload_seconds >= 0.0))
        return misuse(command, "--exit-code is for one event, and %s for many; give one",
                      p->learns ? "--learn" : g->create ? "--create" : "--reload-seconds");
    if (g->create && !p->learns && g->reload_seconds < 0.0)
        return misuse(command, "--create begins with a model that knows nothing: give --learn, or "
                               "--reload-seconds to wait for one that another process learns");
    if (p->kind != NULL && (p->format != NULL || p->text != NULL || p->label != NULL))
        return misuse(command, "--input cannot be given with the options of a format; give one");
    if ((p->text != NULL || p->label != NULL) && p->format != NULL
        && strcmp(p->format, "plain") == 0)
        return misuse(command, "the format plain has no %s", p->text ? "--text" : "--label");
    return -1;
}

static int check_created(const predicting *p, const given *g, creation *create)
{
    const char *one = create_given(create);
    if (g->create && p->format != NULL && strcmp(p->format, "mail") == 0)
        return misuse("predict", "to make a model of mails use the Python program: streamptron "
                                 "train --spam Junk --ham INBOX");
    if (g->create && p->format != NULL && strcmp(p->format, "jsonl") == 0
        && (p->label == NULL || p->text == NULL))
        return misuse("predict", "the format jsonl needs %s",
                      p->label == NULL ? "--label FIELD" : "--text FIELD or --features A,B");
    create->form = p->format == NULL ? "plain" : p->format;
    create->text = p->text;
    create->label = p->label;
    if (!g->create && one != NULL && !(g->exit_code && strcmp(one, "--positive") == 0))
        return misuse("predict", "%s is for a new model; give --create too", one);
    return -1;
}

static int take_answers(predicting *p, const given *g)
{
    answers *a = &p->answers;
    a->form = g->json       ? AS_JSON
              : g->rsyslog  ? AS_RSYSLOG
              : g->merge    ? AS_MERGED
              : g->template ? AS_TEMPLATE
                            : AS_LINE;
    a->template = g->template;
    a->top = g->top;
    a->least = g->least;
    const char *wrong = answers_begin(a);
    bytes shown = {0};
    int code = -1;
    if (wrong != NULL) {
        add_shown(&shown, g->template, strlen(g->template), false, SIZE_MAX);
        code = misuse("predict", "the template %s cannot be used: %s; give one line with {label}, "
                                 "{probability} or {text}, and {{ and }} for braces",
                      bytes_text(&shown), wrong);
    }
    bytes_free(&shown);
    if (code < 0 && g->top > 0) {
        if (g->top < SIZE_MAX / sizeof(choice))
            p->likeliest = malloc(g->top * sizeof(choice));
        if (p->likeliest == NULL)
            code = fail_memory();
    }
    return code;
}

static void finish(predicting *p)
{
    answers_free(&p->answers);
    input_free(&p->input);
    record_end(&p->reader);
    keeper_end(&p->keeper);
    bytes_free(&p->out);
    bytes_free(&p->lacked);
    bytes_free(&p->first_bad);
    bytes_free(&p->why);
    free(p->likeliest);
}

static int predict(predicting *p, given *g, creation *create, int n, char **words)
{
    option options[22 + CREATE_OPTIONS] = {
        {"--model", "-m", OPTION_TEXT, &g->model, 0, 0, false},
        {"--input", NULL, OPTION_TEXT, &p->kind, 0, 0, false},
        {"--format", NULL, OPTION_TEXT, &p->format, 0, 0, false},
        {"--text", NULL, OPTION_TEXT, &p->text, 0, 0, false},
        {"--label", NULL, OPTION_TEXT, &p->label, 0, 0, false},
        {"--json", NULL, OPTION_FLAG, &g->json, 0, 0, false},
        {"--rsyslog", NULL, OPTION_FLAG, &g->rsyslog, 0, 0, false},
        {"--merge", NULL, OPTION_FLAG, &g->merge, 0, 0, false},
        {"--top", NULL, OPTION_WHOLE, &g->top, 1, INFINITY, false},
        {"--min-probability", NULL, OPTION_NUMBER, &g->least, 0, 1, false},
        {"--template", NULL, OPTION_TEXT, &g->template, 0, 0, false},
        {"--exit-code", NULL, OPTION_FLAG, &g->exit_code, 0, 0, false},
        {"--learn", NULL, OPTION_FLAG, &p->learns, 0, 0, false},
        {"--learn-unsure", NULL, OPTION_NUMBER, &g->margin, 0, INFINITY, false},
        {"--known-labels", NULL, OPTION_FLAG, &p->keeper.known_labels, 0, 0, false},
        {"--new-label", NULL, OPTION_FLAG, &p->keeper.new_label, 0, 0, false},
        {"--save-every", NULL, OPTION_WHOLE, &g->save_every, 1, INFINITY, false},
        {"--save-seconds", NULL, OPTION_NUMBER, &g->save_seconds, 0, INFINITY, true},
        {"--corrections", NULL, OPTION_TEXT, &g->corrections, 0, 0, false},
        {"--reload-seconds", NULL, OPTION_NUMBER, &g->reload_seconds, 0, INFINITY, true},
        {"--create", NULL, OPTION_FLAG, &g->create, 0, 0, false},
        {"--max-line", NULL, OPTION_WHOLE, &p->input.max_line, 16, INFINITY, false},
    };
    create_options(create, options + 22);
    command_line line = {
        .command = "predict",
        .options = options,
        .n_options = 22 + CREATE_OPTIONS,
        .others = " --config --status --encoding --features --label-separator --delimiter --type "
                  "--label-by --class-weight --false-positive-rate --degree --interactions "
                  "--max-pairs --no-intercept --eta --forget --no-naive-bayes --shape --margin "
                  "--average --half-life --pocket --serve --C --no-headers --no-text --bytes "
                  "--no-fold --threshold ",
        .usage = usage_predict,
    };
    int code = options_read(&line, n, words);
    if (code < 0)
        code = check_given(p, g);
    if (code < 0)
        code = check_created(p, g, create);
    if (code < 0)
        code = take_answers(p, g);
    if (code >= 0)
        return code;
    if (g->reload_seconds >= 0.0 || g->save_seconds >= 0.0 || g->corrections != NULL)
        date_messages(); /* it runs for a long time */
    if (write(1, "", 0) < 0 && errno == EBADF)
        return output_failed(EBADF);
    p->positive = create->positive;
    p->exits = g->exit_code;
    p->keeper.path = g->model;
    p->keeper.learns = p->learns;
    p->keeper.save_every = g->save_every;
    p->keeper.save_seconds = g->save_seconds;
    p->keeper.reload_seconds = g->reload_seconds;
    p->keeper.margin = g->margin;
    bool is_pipe = line.n_words == 0
                   || (line.n_words == 1 && strcmp(line.words[0], "-") == 0);
    input_begin(&p->input, (const char *const *)line.words, is_pipe ? 0 : line.n_words);
    p->input.endless = is_pipe;
    p->input.wait = wait_for;
    p->input.owner = p;
    code = begin(p, g->create ? create : NULL, g->corrections);
    return code == DONE ? run(p) : code;
}

int command_predict(int n, char **words)
{
    predicting p = {.code = -1, .input = {.number = -1, .max_line = MAX_LINE}};
    given g = {.save_seconds = -1.0, .reload_seconds = -1.0, .margin = -1.0};
    creation create = {0};
    bool exits = words_have(n, words, "--exit-code");
    int code = predict(&p, &g, &create, n, words);
    finish(&p);
    return exits && !p.has_run && code != DONE ? ERROR : code;
}
