#include "input.h"

#include "say.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ = 1 << 17 }; /* the most that is read at a time */

void input_begin(input *in, const char *const *files, size_t n)
{
    static const char *const standard[] = {"-"};
    in->files = n ? files : standard;
    in->n_files = n ? n : 1;
    in->at_file = 0;
    in->number = -1;
}

/* Open the next file. FOUND_LINE: opened. */
static found open_next(input *in)
{
    struct stat status;
    const char *path = in->files[in->at_file];
    bool standard = strcmp(path, "-") == 0;
    in->name = standard ? "<stdin>" : path;
    in->number = standard ? 0 : open(path, O_RDONLY | O_CLOEXEC);
    if (in->number < 0 && errno == EINTR && signals_stop())
        return FOUND_STOP;
    if (in->number < 0) {
        fail("%s: %s", path, strerror(errno));
        return FOUND_FAILED;
    }
    if (!standard && fstat(in->number, &status) == 0 && S_ISDIR(status.st_mode)) {
        fail("%s: it is a folder, and spt reads only files; use the Python program, "
             "streamptron", path);
        return FOUND_FAILED;
    }
    in->data.n = in->from = 0;
    in->began = in->ended = in->too_long = false;
    in->next_line = 1;
    return FOUND_LINE;
}

static void close_file(input *in)
{
    if (in->number > 0)
        close(in->number);
    in->number = -1;
    in->at_file++;
}

/* Read what is available. FOUND_LINE: some bytes, or `ended` is set. */
static found read_more(input *in)
{
    bytes_drop(&in->data, in->from);
    in->from = 0;
    for (;;) {
        if ((in->wait != NULL && !in->wait(in->owner, in->number)) || signals_stop())
            return FOUND_STOP;
        if (!bytes_room(&in->data, READ)) {
            fail_memory();
            return FOUND_FAILED;
        }
        ssize_t n = read(in->number, in->data.p + in->data.n, READ);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0) {
            if (errno == EBADF)
                fail("the standard input is closed; give it, or files");
            else
                fail("%s: %s", in->name, strerror(errno));
            return FOUND_FAILED;
        }
        in->data.n += (size_t)n;
        in->ended = n == 0;
        return FOUND_LINE;
    }
}

static bool begins(const bytes *data, const char *with, size_t n)
{
    return data->n >= n && memcmp(data->p, with, n) == 0;
}

/* Look at the start of a whole file: skip a UTF-8 mark, and refuse kinds of files that spt cannot
   read. */
static found look_at_head(input *in)
{
    static const struct {
        const char *mark;
        size_t n;
        const char *what;
    } marks[] = {{"\x1f\x8b\x08", 3, "gzip"},         {"\xfd" "7zXZ", 5, "xz"},
                 {"\x28\xb5\x2f\xfd", 4, "zstd"},     {"BZh", 3, "bzip2"},
                 {"\xff\xfe", 2, "UTF-16 or UTF-32"}, {"\xfe\xff", 2, "UTF-16"}};
    found how = FOUND_LINE;
    while (how == FOUND_LINE && !in->ended && in->data.n < 8)
        how = read_more(in);
    in->began = true;
    if (how != FOUND_LINE)
        return how;
    if (begins(&in->data, "\xef\xbb\xbf", 3))
        in->from = 3;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        bool bzip = marks[i].mark[0] == 'B'; /* which may also begin a text, so "1AY" must follow */
        if (begins(&in->data, marks[i].mark, marks[i].n)
            && (!bzip || (in->data.n > 6 && memcmp(in->data.p + 4, "1AY", 3) == 0))) {
            fail("%s: the file is %s, which spt does not read; give it as UTF-8 text in a pipe, or "
                 "use the Python program, streamptron", in->name, marks[i].what);
            return FOUND_FAILED;
        }
    }
    return FOUND_LINE;
}

static found long_line(input *in)
{
    snprintf(in->wrong, sizeof(in->wrong),
             "longer than %zu bytes; check that the file has line ends, LF or CRLF", in->max_line);
    return FOUND_BAD;
}

/* The last line of a file, if it has no line end. FOUND_END: there is none. */
static found last_line(input *in, const char **line, size_t *n)
{
    size_t rest = in->data.n - in->from, bare = rest;
    const char *p = rest ? in->data.p + in->from : "";
    bool too_long = in->too_long;
    close_file(in);
    if (rest == 0 || too_long)
        return FOUND_END;
    in->line = in->next_line;
    while (bare > 0 && p[bare - 1] == '\r')
        bare--;
    if (in->line == 1 && memchr(p, '\r', bare) != NULL) {
        snprintf(in->wrong, sizeof(in->wrong),
                 "the file's line ends are CR alone, as on old Macs, which makes it one line; "
                 "convert it first, for example by tr '\\r' '\\n'");
        return FOUND_BAD;
    }
    if (rest > in->max_line)
        return long_line(in);
    *line = p;
    *n = rest;
    return FOUND_LINE;
}

/* A complete line, or one that is already too long. FOUND_END: neither, so far. */
static found line_here(input *in, const char **line, size_t *n)
{
    for (;;) {
        size_t rest = in->data.n - in->from;
        const char *p = rest ? in->data.p + in->from : "";
        const char *end = rest ? memchr(p, '\n', rest) : NULL;
        size_t length = end == NULL ? rest : (size_t)(end - p);
        bool was_too_long = in->too_long;
        if (end == NULL) {
            in->too_long = was_too_long || length > in->max_line;
            in->from += in->too_long ? rest : 0;
        } else {
            in->from += length + 1;
            in->too_long = false;
        }
        in->line = in->next_line;
        in->next_line += end != NULL;
        if (!was_too_long && length > in->max_line)
            return long_line(in);
        if (end == NULL)
            return FOUND_END;
        if (was_too_long) /* the rest of it */
            continue;
        *line = p;
        *n = length;
        return FOUND_LINE;
    }
}

found input_line(input *in, const char **line, size_t *n)
{
    for (;;) {
        found how = FOUND_LINE;
        if (in->number < 0) {
            if (in->at_file == in->n_files)
                return FOUND_END;
            how = open_next(in);
            if (how == FOUND_LINE && !in->endless)
                how = look_at_head(in);
            if (how != FOUND_LINE)
                return how;
        }
        how = line_here(in, line, n);
        if (how == FOUND_END && in->ended)
            how = last_line(in, line, n);
        if (how == FOUND_END && in->number >= 0) {
            how = read_more(in);
            if (how == FOUND_LINE)
                continue;
        }
        if (how != FOUND_END)
            return how;
    }
}

found input_whole(input *in, const char **data, size_t *n)
{
    found how = FOUND_LINE;
    if (in->at_file == in->n_files)
        return FOUND_END;
    if (in->number < 0)
        how = open_next(in);
    while (how == FOUND_LINE && !in->ended)
        how = read_more(in);
    if (how != FOUND_LINE)
        return how;
    *data = in->data.n ? in->data.p : "";
    *n = in->data.n;
    in->line = 1;
    close_file(in);
    return FOUND_LINE;
}

int read_file(const char *path, bytes *to)
{
    int number = open(path, O_RDONLY | O_CLOEXEC), failed = number < 0 ? errno : 0;
    to->n = 0;
    while (!failed) {
        if (!bytes_room(to, READ)) {
            failed = ENOMEM;
            break;
        }
        ssize_t n = read(number, to->p + to->n, READ);
        if (n < 0 && errno != EINTR)
            failed = errno;
        if (n == 0)
            break;
        to->n += n > 0 ? (size_t)n : 0;
    }
    if (number >= 0)
        close(number);
    return failed;
}

void input_free(input *in)
{
    if (in->number > 0)
        close(in->number);
    bytes_free(&in->data);
}
