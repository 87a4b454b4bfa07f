/* Opening a model file of any bytes: it is refused in words, or makes a model that is sound. An
   input changes a good file: in its header's parts, which get checksums that fit, or anywhere. */

#include "fuzz.h"

#include "file/crc.h"
#include "file/write.h"
#include "multilabel/targets.h"

enum { FILES = 4, FILE_MOST = 1 << 16 };

static const char *const learners[FILES] = {"adaptive", "multiclass", "voted", "multilabel"};

/* A small model's file. Returns its length. */
static size_t make_file(const char *learner, uint8_t *to)
{
    static const char text[] = "two words and one of more than fifteen bytes";
    sp_contents contents;
    sp_written written;
    sp_fault fault;
    sp_event event;
    sp_text scratch;
    sp_bytes more = {.failed = false};
    size_t n, at = 0;
    memset(&scratch, 0, sizeof(scratch));
    sp_event_init(&event);
    CHECK_SAME(sp_contents_new(&contents, learner, "{\"hash_seed\": 1}", "{\"fields\": \"a\"}",
                               NULL, 1, &fault),
               0);
    sp_learner *l = &contents.learner;
    if (l->answer == SP_ANSWER_TWO)
        CHECK_SAME(sp_learner_expect(l, 0, 1), 0);
    for (ptrdiff_t y = 0; y < 3; y++) {
        sp_piece piece = {(const uint8_t *)text, sizeof(text) - 1 - (size_t)(5 * y), false};
        CHECK_SAME(sp_text_write(&scratch, &event, &contents.tokens.rule, &l->index, l->intercept,
                                 contents.tokens.prefixes, &piece, 1),
                   0);
        const uint32_t labels[] = {(uint32_t)y, 0};
        if (l->answer == SP_ANSWER_MULTILABEL)
            CHECK_SAME(sp_multilabel_set_targets(&event, labels, y ? 2 : 1, 1, false,
                                                 l->multilabel.n_labels), 0);
        CHECK_SAME(sp_learner_learn(l, &event, y, 1.0), 0);
        sp_event_settle(&event, &l->index);
    }
    sp_bytes_word(&more, ",\"a\",\"b\",\"c\"");
    CHECK_SAME(sp_contents_write(&contents, "0", &more, &written, &fault), 0);
    const void *p;
    for (int i = 0; (p = sp_written_piece(&written, i, &n)) != NULL; i++) {
        CHECK(at + n <= FILE_MOST);
        memcpy(to + at, p, n);
        at += n;
    }
    sp_written_free(&written);
    sp_bytes_free(&more);
    sp_event_free(&event);
    sp_text_free(&scratch);
    sp_contents_free(&contents);
    return at;
}

static void put_digits(uint8_t *to, uint32_t crc)
{
    for (int i = 0; i < SP_CRC_DIGITS; i++)
        to[i] = (uint8_t)"0123456789abcdef"[crc >> (28 - 4 * i) & 15];
}

/* Where the digits behind a name are; NULL: it is not there any more. */
static uint8_t *digits_of(uint8_t *file, size_t n, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 8; i + length + SP_CRC_DIGITS < n; i++) {
        if (memcmp(file + i, name, length) == 0)
            return file + i + length;
    }
    return NULL;
}

/* Checksums that fit, where there are places for them. */
static void seal(uint8_t *file, size_t n)
{
    size_t size = 8 + sp_header_length(file);
    if (size > n)
        return;
    uint8_t *place = digits_of(file, size, "\"arrays_crc32\":\"");
    if (place != NULL)
        put_digits(place, sp_crc32(0, file + size, n - size));
    place = digits_of(file, size, "\"header_crc32\":\"");
    if (place != NULL) {
        memset(place, '0', SP_CRC_DIGITS);
        put_digits(place, sp_crc32(0, file, size));
    }
}

static void try_to_open(const uint8_t *file, size_t n, bool in_place)
{
    sp_contents contents;
    sp_fault fault;
    sp_event event;
    int failed = sp_contents_open(&contents, file, n, in_place, &fault);
    if (failed) {
        CHECK(fault.kind == failed && fault.n > 0 && fault.n < SP_WHY_ROOM);
        return;
    }
    if (!in_place)
        KIT_SOUND(&contents.learner);
    sp_event_init(&event);
    kit_sample sample = kit_random(0, 60, 2);
    double score;
    if (contents.learner.answer != SP_ANSWER_CANDIDATES)
        kit_predict(&contents.learner, &event, &sample, &score);
    sp_event_free(&event);
    sp_contents_free(&contents);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data)
{
    static uint64_t files[FILES][FILE_MOST / 8], changed[FILE_MOST / 8];
    static size_t lengths[FILES];
    fuzz_input input = {data, n_data};
    uint32_t first = fuzz_byte(&input);
    size_t which = first % FILES;
    if (lengths[which] == 0)
        lengths[which] = make_file(learners[which], (uint8_t *)files[which]);
    size_t n = lengths[which];
    uint8_t *file = (uint8_t *)changed;
    memcpy(file, files[which], n);
    while (input.n > 0) {
        size_t at = fuzz_byte(&input) << 8;
        at = (at | fuzz_byte(&input)) % n;
        file[at] = (uint8_t)fuzz_byte(&input);
    }
    if (first & 64)
        n -= first & 63;
    if (!(first & 128))
        seal(file, n);
    /* in memory of its own, so that an overrun is seen */
    uint64_t *copy = (uint64_t *)malloc(n + 8);
    memcpy(copy, file, n);
    try_to_open((uint8_t *)copy, n, false);
    try_to_open((uint8_t *)copy, n, true);
    free(copy);
    return 0;
}
