#include "library/event.h"
#include "library/step.h"

#include "exchange/packed.h"
#include "file/crc.h"
#include "memory/heap.h"

#include <string.h>

/* A step as bytes. First come numbers of eight bytes, in this machine's byte order: the checksum of
   all that follows, and those listed here. Then come the parts of the changes, and the event's
   features as in exchange/packed.h. */
enum {
    SP_STORED_CRC,
    SP_STORED_MARK, /* differs on a machine with the other byte order */
    SP_STORED_HOW,
    SP_STORED_CHANGED,
    SP_STORED_LABEL,
    SP_STORED_OUTPUTS,
    SP_STORED_STEPPED,
    SP_STORED_PARTS,
    SP_STORED_SIZES,
    SP_STORED_FEATURES = SP_STORED_SIZES + SP_RECORD_PARTS, /* their number */
    SP_STORED_NUMBERS,
};
#define SP_STORED_VERSION UINT64_C(0x0001736574707073) /* "spptes", and the version */

static uint64_t sp_stored_crc(const void *p, size_t n)
{
    return sp_crc32(0, (const uint8_t *)p + sizeof(uint64_t), n - sizeof(uint64_t));
}

/* The features in the engine's form; keys and values share one block. NULL if out of memory. */
static sp_key *sp_stored_keys(const spt_step *step, size_t n, double **values)
{
    const sp_named *features = (const sp_named *)(void *)step->features.p;
    sp_key *keys = (sp_key *)sp_malloc(n * (sizeof(sp_key) + sizeof(double)) + 1);
    if (keys == NULL)
        return NULL;
    *values = (double *)(void *)(keys + n);
    for (size_t i = 0; i < n; i++) {
        const sp_named *its = &features[i];
        bool is_word = its->kind == SP_KEY_INT || its->kind == SP_KEY_FLOAT;
        keys[i] = is_word ? sp_key_word(its->kind, its->word)
                          : sp_key_text(its->kind, step->names.p + its->at, its->n);
        (*values)[i] = its->value;
    }
    return keys;
}

SPT_API int spt_step_save_memory(const spt_step *step, void **p, size_t *n, spt_error *error)
{
    uint64_t head[SP_STORED_NUMBERS];
    double *values;
    if (step == NULL || step->undone)
        return sp_say(error, SPT_ARGUMENT, "step is NULL, or has been taken back already");
    const sp_undo_record *taken = &step->taken;
    const size_t n_features = step->features.n / sizeof(sp_named);
    sp_event event = {.n = 0};
    event.keys = sp_stored_keys(step, n_features, &values);
    if (event.keys == NULL)
        return sp_say_memory(error);
    event.values = values;
    ptrdiff_t packed = sp_packed_size(&event, 0, (ptrdiff_t)n_features);
    size_t size = sizeof(head) + (packed < 0 ? 0 : (size_t)packed);
    for (int i = 0; i < taken->n_parts; i++)
        size += taken->n[i];
    uint8_t *made = (uint8_t *)sp_malloc(size), *at = made + sizeof(head);
    if (made == NULL || packed < 0) {
        sp_free(made);
        sp_free(event.keys);
        return made == NULL ? sp_say_memory(error)
                            : sp_say(error, SPT_ARGUMENT, "only Python can store such names");
    }
    memset(head, 0, sizeof(head));
    head[SP_STORED_MARK] = SP_STORED_VERSION;
    head[SP_STORED_HOW] = (uint64_t)taken->how;
    head[SP_STORED_CHANGED] = step->changed;
    head[SP_STORED_LABEL] = (uint64_t)taken->y;
    head[SP_STORED_OUTPUTS] = (uint64_t)taken->outputs;
    head[SP_STORED_STEPPED] = (uint64_t)taken->m;
    head[SP_STORED_PARTS] = (uint64_t)taken->n_parts;
    head[SP_STORED_FEATURES] = n_features;
    for (int i = 0; i < taken->n_parts; i++) {
        head[SP_STORED_SIZES + i] = taken->n[i];
        memcpy(at, taken->p[i], taken->n[i]);
        at += taken->n[i];
    }
    sp_packed_write(&event, 0, (ptrdiff_t)n_features, at);
    sp_free(event.keys);
    memcpy(made, head, sizeof(head));
    head[SP_STORED_CRC] = sp_stored_crc(made, size);
    memcpy(made, head, sizeof(head[SP_STORED_CRC]));
    *p = made;
    *n = size;
    return SPT_OK;
}

/* --- Reading */

/* Copy the parts, each to a multiple of eight. Returns 1 + their bytes in p; 0 if out of memory. */
static size_t sp_stored_parts(spt_step *step, const uint8_t *p)
{
    sp_undo_record *taken = &step->taken;
    size_t room = 0, n = 0;
    for (int i = 0; i < taken->n_parts; i++)
        room += (taken->n[i] + 7) & ~(size_t)7;
    step->parts = (uint8_t *)sp_calloc(1, room + 1);
    if (step->parts == NULL)
        return 0;
    room = 0;
    for (int i = 0; i < taken->n_parts; i++) {
        taken->p[i] = step->parts + room;
        memcpy(taken->p[i], p + n, taken->n[i]);
        room += (taken->n[i] + 7) & ~(size_t)7;
        n += taken->n[i];
    }
    return n + 1;
}

/* Read the features from p on. False: they are invalid. Out of memory is checked for later. */
static bool sp_stored_features(spt_step *step, const uint8_t *p, const uint8_t *end, uint64_t n)
{
    static const uint8_t before[SP_NAME_BEFORE] = {0};
    sp_packed entry;
    sp_bytes_add(&step->names, before, sizeof(before));
    for (uint64_t i = 0; i < n; i++) {
        p = sp_packed_next(p, end, &entry);
        if (p == NULL || entry.kind == SP_KEY_OBJECT)
            return false;
        sp_named feature = {
            .kind = (uint64_t)entry.kind, .at = step->names.n, .n = entry.n, .value = entry.value};
        if (entry.kind == SP_KEY_INT || entry.kind == SP_KEY_FLOAT) {
            feature.word = entry.key.lo;
            feature.n = 0;
        } else
            sp_bytes_add(&step->names, entry.name, entry.n);
        sp_bytes_add(&step->features, &feature, sizeof(feature));
    }
    return p == end;
}

/* Fill an empty step. NULL, or what is wrong. */
static const char *sp_stored_read(spt_step *step, const uint8_t *p, size_t n)
{
    uint64_t head[SP_STORED_NUMBERS], left;
    sp_undo_record *taken = &step->taken;
    if (n < sizeof(head))
        return "it was cut off";
    memcpy(head, p, sizeof(head));
    if (head[SP_STORED_MARK] != SP_STORED_VERSION)
        return "it is not a step, or one of another version or kind of machine";
    if (head[SP_STORED_CRC] != sp_stored_crc(p, n))
        return "it does not match its checksum";
    left = n - sizeof(head);
    if (head[SP_STORED_PARTS] > SP_RECORD_PARTS || head[SP_STORED_HOW] > SP_UNDO_LOG)
        return "it has other parts";
    taken->how = (sp_undo_kind)head[SP_STORED_HOW];
    step->changed = head[SP_STORED_CHANGED] != 0;
    taken->y = (ptrdiff_t)head[SP_STORED_LABEL];
    taken->outputs = (ptrdiff_t)head[SP_STORED_OUTPUTS];
    taken->m = (ptrdiff_t)head[SP_STORED_STEPPED];
    taken->n_parts = (int)head[SP_STORED_PARTS];
    for (int i = 0; i < taken->n_parts; i++) {
        if (head[SP_STORED_SIZES + i] > left)
            return "its parts were cut off";
        left -= head[SP_STORED_SIZES + i];
        taken->n[i] = (size_t)head[SP_STORED_SIZES + i];
    }
    size_t parts = sp_stored_parts(step, p + sizeof(head));
    if (parts > 0
        && !sp_stored_features(step, p + sizeof(head) + parts - 1, p + n,
                               head[SP_STORED_FEATURES]))
        return "its features are invalid";
    return NULL;
}

SPT_API int spt_step_open_memory(const spt_model *model, const void *p, size_t n, spt_step **step,
                                 spt_error *error)
{
    if (step == NULL || (p == NULL && n > 0))
        return sp_say(error, SPT_ARGUMENT, "step is NULL, or p is");
    *step = NULL;
    spt_step *made = (spt_step *)sp_calloc(1, sizeof(spt_step));
    if (made == NULL)
        return sp_say_memory(error);
    made->model = (spt_model *)(uintptr_t)model;
    made->life = model->life;
    const char *wrong = sp_stored_read(made, (const uint8_t *)p, n);
    int failed = SPT_OK;
    if (made->names.failed || made->features.failed || (wrong == NULL && made->parts == NULL))
        failed = sp_say_memory(error);
    else if (wrong != NULL) {
        sp_say(error, SPT_DAMAGED, "step is damaged: ");
        failed = sp_say_more(error, SPT_DAMAGED, wrong, strlen(wrong));
    }
    if (failed)
        spt_step_free(made);
    else
        *step = made;
    return failed;
}
