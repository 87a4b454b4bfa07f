/* A mail passes through a pipe, and gets a header field with the verdict. The first duty is to pass
   the mail on. Whatever is wrong with the command line, the model, the memory, the disk or the mail
   itself, what came in goes out. */

#include "commands.h"

#include "mails.h"
#include "mbox.h"
#include "model.h"
#include "options.h"
#include "parts.h"
#include "say.h"
#include "texts.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { SPAM, HAM, UNSURE, ERROR, NOT_WRITTEN = 75 }; /* EX_TEMPFAIL: deliver it again later */

enum {
    READ = 1 << 16,
    WORDS = 5,      /* words in the header that counted most */
    WORD_MOST = 40, /* characters of one */
};

static const char ours[] = "X-Streamptron:";

/* --- Passing the mail through */

static char piece[READ]; /* a mail goes through this if there is no memory for it */

/* false: it cannot be written. */
static bool write_all(const char *p, size_t n)
{
    while (n > 0) {
        ssize_t done = write(1, p, n);
        if (done < 0 && errno == EAGAIN) {
            struct pollfd out = {1, POLLOUT, 0};
            poll(&out, 1, -1);
        } else if (done < 0 && errno != EINTR)
            return false;
        p += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

static ssize_t read_some(char *to, size_t most)
{
    for (;;) {
        ssize_t n = read(0, to, most);
        if (n >= 0 || (errno != EINTR && errno != EAGAIN))
            return n;
        struct pollfd in = {0, POLLIN, 0};
        poll(&in, 1, -1);
    }
}

/* Read the mail on standard input. If memory runs out, the bytes read last are in `piece`. Returns
   how many bytes are there; below 0: it cannot be read. */
static ssize_t read_mail(bytes *mail)
{
    for (;;) {
        ssize_t n = read_some(piece, sizeof(piece));
        if (n <= 0)
            return n;
        bytes_add(mail, piece, (size_t)n);
        if (mail->failed)
            return n;
    }
}

/* Pass on all of it, unchanged. */
static bool pass_on(const bytes *mail, ssize_t in_piece)
{
    bool good = write_all(mail->p, mail->n);
    for (ssize_t n = in_piece; n > 0 && good; n = read_some(piece, sizeof(piece)))
        good = write_all(piece, (size_t)n);
    return good;
}

/* Remove fields with our field's name. */
static void leave_ours_out(bytes *mail)
{
    size_t end = header_end(mail->p, mail->n), to = 0;
    bool leaving = false;
    if (mail->n == 0)
        return;
    for (size_t at = 0, length; at < end; at += length) {
        const char *line = mail->p + at, *stop = memchr(line, '\n', end - at);
        length = stop == NULL ? end - at : (size_t)(stop - line) + 1;
        leaving = (leaving && (line[0] == ' ' || line[0] == '\t'))
                  || (length >= sizeof(ours) - 1
                      && strncasecmp(line, ours, sizeof(ours) - 1) == 0);
        if (!leaving) {
            memmove(mail->p + to, line, length);
            to += length;
        }
    }
    if (mail->n > end)
        memmove(mail->p + to, mail->p + end, mail->n - end);
    mail->n -= end - to;
}

/* --- The verdict */

/* The largest first; those that are equal stay in order. */
static int by_share(const void *a, const void *b)
{
    const part *one = a, *other = b;
    if (one->share != other->share)
        return one->share > other->share ? -1 : 1;
    return one->at < other->at ? -1 : one->at > other->at;
}

/* Add a feature to the field, in ASCII and not too long. */
static void add_word(bytes *to, const part *its)
{
    bytes word = {0};
    add_described(&word, its->name, its->n, true);
    bytes_add(to, word.p, word.n < WORD_MOST ? word.n : WORD_MOST);
    to->failed = to->failed || word.failed;
    bytes_free(&word);
}

/* The words that contributed most to the answer. */
static int add_words(model *m, size_t label, bytes *to, spt_error *error)
{
    parts found;
    size_t n = 0, written = 0;
    int failed = parts_find(m, label, &found, error);
    for (size_t i = 0; i < found.n; i++) {
        const char *name = found.p[i].name;
        /* runs of bytes mean nothing to a reader; no word has a quote */
        bool is_bytes = name != NULL && name[0] == 'b' && (name[1] == '\'' || name[1] == '"');
        if (name != NULL && !is_bytes && found.p[i].share > 0.0) {
            found.p[n] = found.p[i];
            found.p[n++].at = i;
        }
    }
    if (n > 1)
        qsort(found.p, n, sizeof(part), by_share);
    for (; written < n && written < WORDS; written++) {
        bytes_word(to, written ? ", " : " (");
        add_word(to, &found.p[written]);
    }
    bytes_word(to, written ? ")" : "");
    parts_free(&found);
    return failed;
}

/* Judge a mail, and write the text of the field. ERROR: `error` says what is wrong. */
static int judge(model *m, const bytes *mail, const char *positive, double least, bytes *field,
                 spt_error *error)
{
    choice answer;
    size_t n;
    int failed = model_answer(m, mail->n ? mail->p : "", mail->n, &answer, 0, NULL, NULL, error);
    if (failed)
        return ERROR;
    if (answer.label < 0) {
        bytes_word(field, "unsure");
        return UNSURE;
    }
    /* a model that knows only ham may still learn it */
    if (model_labels(m) > 1 && !model_has_name(m, positive)) {
        bytes why = {0};
        bytes_print(&why, "--positive %s is not a label of the model: ", positive);
        add_names(m, &why);
        error->code = SPT_ARGUMENT;
        strncpy(error->words, bytes_text(&why) == NULL ? "no memory" : why.p,
                sizeof(error->words) - 1);
        bytes_free(&why);
        return ERROR;
    }
    const char *name = model_name(m, (size_t)answer.label, &n);
    bool unsure = answer.probability < least;
    bool is_it = strlen(positive) == n && memcmp(positive, name, n) == 0;
    if (unsure)
        bytes_word(field, "unsure");
    else
        add_in_line(field, name, n);
    bytes_print(field, " %.4f", answer.probability);
    /* a hashed model has no names */
    if (!spt_is_hashed(m->spt) && add_words(m, (size_t)answer.label, field, error) != SPT_OK)
        return ERROR;
    return unsure ? UNSURE : is_it ? SPAM : HAM;
}

typedef struct filtering {
    const char *model, *positive;
    double least;
    bool passes;
} filtering;

/* Write the mail with its field, after the `From ` line of an mbox if there is one. */
static bool write_with_field(const bytes *mail, const bytes *field)
{
    const char *line_end = mail->n ? memchr(mail->p, '\n', mail->n) : NULL;
    size_t at = 0;
    if (mail->n >= 5 && memcmp(mail->p, "From ", 5) == 0 && line_end != NULL)
        at = (size_t)(line_end - mail->p) + 1;
    line_end = mail->n > at ? memchr(mail->p + at, '\n', mail->n - at) : NULL;
    bool crlf = line_end != NULL && line_end > mail->p + at && line_end[-1] == '\r';
    return write_all(mail->p, at) && write_all(ours, sizeof(ours) - 1) && write_all(" ", 1)
           && write_all(field->p, field->n) && write_all(crlf ? "\r\n" : "\n", crlf ? 2 : 1)
           && (mail->n == at || write_all(mail->p + at, mail->n - at));
}

static void unjudged(const char *path, const spt_error *error)
{
    const char *end = "the mail is passed on unclassified";
    if (error->code == SPT_SYSTEM && error->system)
        fail("%s: %s; %s", path, strerror(error->system), end);
    else
        fail("%s; %s", error->words[0] ? error->words : "no memory", end);
}

/* Judge a mail that is completely in memory. Returns the exit code. */
static int filter(const filtering *f, bytes *mail)
{
    spt_error error = SPT_ERROR;
    model m;
    bytes field = {0};
    leave_ours_out(mail);
    int code = ERROR, failed = model_open(&m, f->model, OPEN_ANSWERS, &error);
    if (!failed && spt_input(m.spt) != SPT_MAIL) {
        error.code = SPT_ARGUMENT;
        strcpy(error.words, "the model learns from texts, and this format gives mails");
        model_close(&m);
    } else if (!failed) {
        code = judge(&m, mail, f->positive, f->least, &field, &error);
        model_close(&m);
    }
    if (field.failed && code != ERROR) {
        code = ERROR;
        error.code = SPT_MEMORY;
    }
    if (code == ERROR)
        unjudged(f->model, &error);
    bool good = code == ERROR ? write_all(mail->p, mail->n) : write_with_field(mail, &field);
    bytes_free(&field);
    return good ? code : NOT_WRITTEN;
}

static int read_options(filtering *f, int n, char **words)
{
    const option options[] = {
        {"--model", "-m", OPTION_TEXT, &f->model, 0, 0, false},
        {"--positive", NULL, OPTION_TEXT, &f->positive, 0, 0, false},
        {"--min-probability", NULL, OPTION_NUMBER, &f->least, 0, 1, false},
        {"--pass", NULL, OPTION_FLAG, &f->passes, 0, 0, false},
    };
    command_line line = {.command = "filter",
                         .options = options,
                         .n_options = sizeof(options) / sizeof(options[0]),
                         .others = " --config ",
                         .usage = usage_filter};
    int code = options_read(&line, n, words);
    if (code < 0 && line.n_words > 0)
        code = misuse("filter", "Got unexpected extra argument (%s)", line.words[0]);
    if (code < 0 && f->model == NULL)
        code = misuse("filter", "Missing option '--model' / '-m'");
    return code;
}

int command_filter(int n, char **words)
{
    filtering f = {.positive = "spam"};
    bytes mail = {0};
    bool passes = words_have(n, words, "--pass");
    misuse_ends = "; the mail is passed on unclassified";
    int code = read_options(&f, n, words);
    if (code == DONE) /* --help */
        return DONE;
    signal(SIGPIPE, SIG_IGN);
    ssize_t in_piece = read_mail(&mail);
    int system = errno;
    if (in_piece < 0)
        fail("the mail cannot be read: %s", system == EBADF
                 ? "the standard input is closed; give the mail there" : strerror(system));
    if (code < 0 && in_piece == 0)
        code = filter(&f, &mail);
    else {
        if (in_piece == 0)
            leave_ours_out(&mail);
        if (in_piece > 0)
            fail("no memory; the mail is passed on unclassified");
        code = in_piece >= 0 && pass_on(&mail, in_piece) ? ERROR : NOT_WRITTEN;
    }
    if (code == NOT_WRITTEN && in_piece >= 0)
        fail("the mail cannot be written: %s", strerror(errno));
    bytes_free(&mail);
    return code != NOT_WRITTEN && passes ? DONE : code;
}
