#include "header.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STEP_HEAD = 16, /* bytes of a step before its parts */
    STEP_NUMBERS = 26, /* bytes of its first part before the label */
};

/* Read n bytes of a file at a place. 0, or the system's error. */
static int read_at(int number, uint64_t at, size_t n, bytes *to)
{
    to->n = 0;
    if (!bytes_room(to, n + 1))
        return ENOMEM;
    while (to->n < n) {
        ssize_t got = pread(number, to->p + to->n, n - to->n, (off_t)(at + to->n));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : EIO;
        to->n += (size_t)got;
    }
    return 0;
}

static int read_journal(header *h, int number)
{
    size_t offsets = json_path(&h->all, "journal.data_offsets");
    if (offsets == 0 || h->all.nodes[offsets].n != 2)
        return 0;
    uint64_t from = strtoull(h->text.p + h->all.nodes[offsets + 1].start, NULL, 10);
    uint64_t to = strtoull(h->text.p + h->all.nodes[offsets + 2].start, NULL, 10);
    uint64_t begin = 8 + h->text.n;
    if (from > to || to > h->size - begin)
        return EIO;
    h->has_journal = true;
    return read_at(number, begin + from, (size_t)(to - from), &h->journal);
}

int header_read(header *h, const char *path)
{
    struct stat status;
    uint64_t n = 0;
    memset(h, 0, sizeof(*h));
    int number = open(path, O_RDONLY | O_CLOEXEC);
    int failed = number < 0 || fstat(number, &status) < 0 ? errno : 0;
    h->size = failed ? 0 : (uint64_t)status.st_size;
    if (!failed)
        failed = read_at(number, 0, 8, &h->text);
    for (int i = 7; i >= 0 && !failed; i--)
        n = n << 8 | (unsigned char)h->text.p[i];
    if (!failed && (h->size < 8 || n > h->size - 8))
        failed = EIO; /* the file was replaced by an invalid one since it was checked */
    if (!failed)
        failed = read_at(number, 8, (size_t)n, &h->text);
    if (!failed && !json_read(&h->all, h->text.p, h->text.n))
        failed = h->all.wrong == NULL ? ENOMEM : EIO;
    h->said = failed ? 0 : json_path(&h->all, "__metadata__");
    if (!failed)
        failed = h->said ? read_journal(h, number) : EIO;
    if (number >= 0)
        close(number);
    if (failed)
        header_free(h);
    return failed;
}

void header_free(header *h)
{
    json_free(&h->all);
    bytes_free(&h->text);
    bytes_free(&h->journal);
}

const char *header_text(const header *h, const char *name)
{
    size_t n, node = json_get(&h->all, h->said, name, strlen(name));
    return node == 0 ? "" : json_string(&h->all, node, &n);
}

bool header_part(const header *h, const char *name, json *part)
{
    size_t n, node = json_get(&h->all, h->said, name, strlen(name));
    if (node == 0)
        return false;
    const char *p = json_string(&h->all, node, &n);
    return json_read(part, p, n);
}

/* Read a number of the journal: seven bits a byte, the lowest first. false: it does not fit. */
static bool packed(const char *p, size_t n, size_t *at, size_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < 63 && *at < n; shift += 7) {
        unsigned char byte = (unsigned char)p[(*at)++];
        *number |= (size_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

/* Read bytes that follow their number. */
static bool sized(const char *p, size_t n, size_t *at, const char **part, size_t *length)
{
    if (!packed(p, n, at, length) || *length > n - *at)
        return false;
    *part = p + *at;
    *at += *length;
    return true;
}

bool journal_next(const header *h, size_t *at, journal_entry *entry)
{
    const bytes *j = &h->journal;
    const char *step, *first;
    size_t n_step, n_first, most, within = STEP_HEAD;
    if (*at == 0 && !packed(j->p, j->n, at, &most)) /* how many it may remember */
        return false;
    if (!sized(j->p, j->n, at, &entry->id, &entry->n_id)
        || !sized(j->p, j->n, at, &step, &n_step))
        return false;
    if (n_step < STEP_HEAD || !sized(step, n_step, &within, &first, &n_first)
        || n_first < STEP_NUMBERS)
        return false;
    entry->label = first + STEP_NUMBERS;
    entry->n_label = n_first - STEP_NUMBERS;
    return true;
}
