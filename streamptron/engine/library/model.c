#include "library/model.h"

#include "file/write.h"
#include "memory/heap.h"
#include "path/path.h"

#include <string.h>

#if !defined(STREAMPTRON_VERSION)
    #error "STREAMPTRON_VERSION is the version of the package, as a string"
#endif

/* --- Errors */

SP_PRIVATE int sp_say_more(spt_error *error, int code, const void *p, size_t n)
{
    /* a smaller one than ours does not belong to any version */
    if (error == NULL || error->size < sizeof(spt_error) || n == 0)
        return code;
    size_t at = strlen(error->words);
    size_t room = sizeof(error->words) - 1 - at;
    n = n < room ? n : room;
    memcpy(error->words + at, p, n);
    error->words[at + n] = 0;
    return code;
}

SP_PRIVATE int sp_say(spt_error *error, int code, const char *words)
{
    if (error == NULL || error->size < sizeof(spt_error))
        return code;
    error->code = code;
    error->system = 0;
    error->words[0] = 0;
    return sp_say_more(error, code, words, strlen(words));
}

static int sp_say_word(spt_error *error, int code, const char *word)
{
    return sp_say_more(error, code, word, strlen(word));
}

SP_PRIVATE int sp_say_memory(spt_error *error)
{
    return sp_say(error, SPT_MEMORY, "no memory");
}

/* Write a file's name as Python shows it. */
static void sp_say_path(spt_error *error, int code, const char *path)
{
    sp_say(error, code, path == NULL ? "the file" : "'");
    if (path != NULL) {
        sp_say_word(error, code, path);
        sp_say_word(error, code, "'");
    }
}

SP_PRIVATE int sp_say_fault(spt_error *error, const sp_fault *fault, const char *path)
{
    switch (fault->kind) {
    case SP_WHY_MEMORY:
        return sp_say(error, SPT_MEMORY, fault->text);
    case SP_WHY_FOREIGN:
        sp_say_path(error, SPT_FOREIGN, path);
        sp_say_word(error, SPT_FOREIGN, " ");
        return sp_say_word(error, SPT_FOREIGN, fault->text);
    case SP_WHY_DAMAGED:
        sp_say_path(error, SPT_DAMAGED, path);
        sp_say_word(error, SPT_DAMAGED, " is damaged: ");
        sp_say_word(error, SPT_DAMAGED, fault->text);
        return sp_say_word(error, SPT_DAMAGED,
                           "; take another copy of the file, or an older checkpoint");
    default:
        return sp_say(error, SPT_ARGUMENT, fault->text);
    }
}

SP_PRIVATE int sp_say_system(spt_error *error, int system, const char *what, const char *path)
{
    if (system == SP_DISK_MEMORY)
        return sp_say_memory(error);
    sp_say_path(error, SPT_SYSTEM, path);
    if (system == SP_DISK_ODD)
        return sp_say_word(error, SPT_SYSTEM, " is not a regular file");
    sp_say_word(error, SPT_SYSTEM, " cannot be ");
    sp_say_word(error, SPT_SYSTEM, what);
    if (error != NULL && error->size >= sizeof(spt_error))
        error->system = system;
    return SPT_SYSTEM;
}

SPT_API const char *spt_message(int code)
{
    static const char messages[] = "no error\0"
                                   "there is no memory\0"
                                   "the system cannot open, read or write the file\0"
                                   "not a model file, or one that this version cannot use\0"
                                   "the file is damaged\0"
                                   "an invalid argument\0"
                                   "the model was opened in place, read only\0"
                                   "a new label, and the model has max_labels";
    const char *message = messages;
    if (code < 0 || code > SPT_FULL)
        return "an unknown error";
    while (code-- > 0)
        message += strlen(message) + 1;
    return message;
}

SPT_API const char *spt_version(void)
{
    return STREAMPTRON_VERSION;
}

SPT_API unsigned spt_interface(void)
{
    return SPT_INTERFACE;
}

/* --- Opening */

SPT_API void spt_close(spt_model *model)
{
    if (model == NULL)
        return;
    sp_labels_free(&model->labels);
    sp_contents_free(&model->contents);
    sp_disk_close(&model->file);
    sp_free(model->path);
    sp_free(model);
}

/* Make a model from a file's bytes, which stay the caller's until there is a model. */
static int sp_model_open(const uint8_t *p, size_t n, bool in_place, const char *path,
                         spt_model **model, spt_error *error)
{
    sp_fault fault;
    spt_model *made = (spt_model *)sp_calloc(1, sizeof(spt_model));
    if (made == NULL)
        return sp_say_memory(error);
    if (path != NULL) {
        made->path = (char *)sp_malloc(strlen(path) + 1);
        if (made->path == NULL) {
            spt_close(made);
            return sp_say_memory(error);
        }
        memcpy(made->path, path, strlen(path) + 1);
    }
    int failed = sp_contents_open(&made->contents, p, n, in_place, &fault);
    if (failed)
        failed = sp_say_fault(error, &fault, path);
    else if (sp_labels_begin(&made->labels, &made->contents) < 0)
        failed = sp_say_memory(error);
    made->read_only = in_place;
    made->at = in_place ? p : NULL;
    made->n_at = n;
    if (failed)
        spt_close(made);
    else
        *model = made;
    return failed;
}

static int sp_check_open(unsigned flags, spt_model **model, spt_error *error)
{
    if (model == NULL)
        return sp_say(error, SPT_ARGUMENT, "model is NULL; give the address of a pointer");
    *model = NULL;
    if (flags & ~(unsigned)SPT_MAPPED)
        return sp_say(error, SPT_ARGUMENT, "flags must be 0 or SPT_MAPPED");
    return 0;
}

SPT_API int spt_open(const char *path, unsigned flags, spt_model **model, spt_error *error)
{
    sp_disk_file file;
    bool mapped = flags & SPT_MAPPED;
    int failed = sp_check_open(flags, model, error);
    if (failed)
        return failed;
    if (path == NULL)
        return sp_say(error, SPT_ARGUMENT, "path is NULL");
    failed = sp_disk_open(path, mapped, &file);
    if (failed)
        return sp_say_system(error, failed, "opened", path);
    failed = sp_model_open(file.p, file.n, mapped, path, model, error);
    if (failed || !mapped)
        sp_disk_close(&file);
    if (!failed) {
        (*model)->mark = file.mark;
        if (mapped)
            (*model)->file = file;
    }
    return failed;
}

SPT_API int spt_open_memory(const void *p, size_t n, unsigned flags, spt_model **model,
                            spt_error *error)
{
    uint8_t *copy = NULL;
    int failed = sp_check_open(flags, model, error);
    if (failed)
        return failed;
    if (p == NULL && n > 0)
        return sp_say(error, SPT_ARGUMENT, "p is NULL, but n is not 0");
    if ((uintptr_t)p % 8 != 0) {
        if (flags & SPT_MAPPED)
            return sp_say(error, SPT_ARGUMENT,
                          "p is not at a multiple of eight, where SPT_MAPPED needs it");
        copy = (uint8_t *)sp_malloc(n + 1);
        if (copy == NULL)
            return sp_say_memory(error);
        memcpy(copy, p, n);
    }
    failed = sp_model_open(copy == NULL ? (const uint8_t *)p : copy, n, flags & SPT_MAPPED, NULL,
                           model, error);
    sp_free(copy);
    return failed;
}

static int sp_model_new(const char *learner, const char *parameters, const char *tokenizer,
                        const char *mail, spt_model **model, spt_error *error)
{
    sp_fault fault;
    uint64_t seed = 0;
    int failed = sp_check_open(0, model, error);
    if (failed)
        return failed;
    if (learner == NULL)
        return sp_say(error, SPT_ARGUMENT, "learner is NULL; give its name, such as \"adaptive\"");
    failed = sp_disk_random(&seed, sizeof(seed));
    if (failed)
        return sp_say_system(error, failed, "given a random seed", NULL);
    spt_model *made = (spt_model *)sp_calloc(1, sizeof(spt_model));
    if (made == NULL)
        return sp_say_memory(error);
    failed = sp_contents_new(&made->contents, learner, parameters == NULL ? "{}" : parameters,
                             tokenizer, mail, seed, &fault);
    if (failed)
        failed = sp_say_fault(error, &fault, NULL);
    else if (made->contents.learner.answer == SP_ANSWER_TWO
             && sp_learner_expect(&made->contents.learner, 0, 1) < 0)
        failed = sp_say_memory(error);
    else if (sp_labels_begin(&made->labels, &made->contents) < 0)
        failed = sp_say_memory(error);
    if (failed)
        spt_close(made);
    else
        *model = made;
    return failed;
}

SPT_API int spt_new(const char *learner, const char *parameters, const char *tokenizer,
                    spt_model **model, spt_error *error)
{
    return sp_model_new(learner, parameters, tokenizer, NULL, model, error);
}

SPT_API int spt_new_mail(const char *learner, const char *parameters, const char *mail,
                         spt_model **model, spt_error *error)
{
    return sp_model_new(learner, parameters, NULL, mail == NULL ? "{}" : mail, model, error);
}

/* --- Saving */

static int sp_model_write(const spt_model *model, sp_written *written, spt_error *error)
{
    sp_fault fault;
    if (model->read_only)
        return sp_say(error, SPT_READ_ONLY,
                      "the model was opened with SPT_MAPPED, read only; copy its file instead");
    int failed = sp_contents_write(&model->contents, STREAMPTRON_VERSION, &model->labels.more,
                                   written, &fault);
    if (failed) {
        failed = sp_say_fault(error, &fault, NULL);
        sp_written_free(written);
    }
    return failed;
}

static const void *sp_model_piece(const void *owner, int i, size_t *n)
{
    return sp_written_piece((const sp_written *)owner, i, n);
}

SPT_API int spt_save(const spt_model *model, const char *path, spt_error *error)
{
    sp_written written;
    sp_disk_identity mark;
    if (path == NULL)
        return sp_say(error, SPT_ARGUMENT, "path is NULL");
    int failed = sp_model_write(model, &written, error);
    if (failed)
        return failed;
    failed = sp_disk_replace(path, sp_model_piece, &written, &mark);
    sp_written_free(&written);
    return failed ? sp_say_system(error, failed, "written", path) : 0;
}

SPT_API int spt_save_memory(const spt_model *model, void **p, size_t *n, spt_error *error)
{
    sp_written written;
    sp_bytes whole = {.failed = false};
    const void *piece;
    size_t length;
    int failed = sp_model_write(model, &written, error);
    if (failed)
        return failed;
    for (int i = 0; (piece = sp_written_piece(&written, i, &length)) != NULL; i++)
        sp_bytes_add(&whole, piece, length);
    sp_written_free(&written);
    if (whole.failed) {
        sp_bytes_free(&whole);
        return sp_say_memory(error);
    }
    *p = whole.p;
    *n = whole.n;
    return 0;
}

SPT_API void spt_free(void *p)
{
    sp_free(p);
}

/* --- Properties */

SPT_API int spt_is_hashed(const spt_model *model)
{
    return model->contents.learner.index.bits != 0;
}

SPT_API int spt_input(const spt_model *model)
{
    if (!model->contents.has_tokens)
        return SPT_FEATURES;
    return model->contents.parts[SP_PART_MAIL].there ? SPT_MAIL : SPT_TEXT;
}

SPT_API const char *spt_lines(const spt_model *model, size_t *n)
{
    const sp_part *lines = &model->contents.parts[SP_PART_LINES];
    if (n != NULL)
        *n = lines->there ? lines->n : 0;
    return lines->there ? (const char *)lines->text : NULL;
}

SPT_API int spt_put_lines(spt_model *model, const char *json, size_t n, spt_error *error)
{
    sp_fault fault;
    if (model->read_only)
        return sp_say(error, SPT_READ_ONLY, "the model was opened with SPT_MAPPED, read only");
    if (json == NULL)
        return sp_say(error, SPT_ARGUMENT, "json is NULL; give an object");
    int failed = sp_contents_put_lines(&model->contents, json, n, &fault);
    return failed ? sp_say_fault(error, &fault, NULL) : SPT_OK;
}

SPT_API int spt_is_stale(const spt_model *model)
{
    return model->path != NULL && sp_disk_is_other(model->path, &model->mark);
}

SPT_API int spt_is_read_only(const spt_model *model)
{
    return model->read_only;
}

SPT_API const char *spt_learner(const spt_model *model)
{
    return sp_class_name(model->contents.kind);
}

SPT_API int spt_count(const spt_model *model, spt_counts *counts)
{
    const sp_learner *learner = &model->contents.learner;
    if (counts == NULL || counts->size < sizeof(spt_counts))
        return SPT_ARGUMENT;
    counts->seen = learner->n_seen;
    counts->updates = learner->n_updates;
    counts->mistakes = learner->n_mistakes;
    counts->features = (learner->index.bits ? sp_index_numbers(&learner->index)
                                            : learner->index.n_slots)
                       - SP_SLOTS_RESERVED;
    counts->bytes = sp_learner_bytes(learner) + sizeof(spt_model);
    return SPT_OK;
}

SPT_API size_t spt_labels(const spt_model *model)
{
    return model->labels.n;
}

SPT_API const char *spt_label(const spt_model *model, size_t label, size_t *n)
{
    if (label >= model->labels.n)
        return NULL;
    if (n != NULL)
        *n = model->labels.labels[label].n;
    return model->labels.labels[label].p;
}

SPT_API ptrdiff_t spt_label_find(const spt_model *model, const char *text, size_t n)
{
    return sp_labels_find(&model->labels, text, n);
}

SPT_API size_t spt_fields(const spt_model *model)
{
    const sp_tokens *tokens = &model->contents.tokens;
    return model->contents.has_tokens && tokens->named ? (size_t)tokens->n_pieces : 0;
}

SPT_API const char *spt_field(const spt_model *model, size_t field, size_t *n)
{
    if (field >= spt_fields(model))
        return NULL;
    const sp_piece *prefix = &model->contents.tokens.prefixes[field];
    if (n != NULL)
        *n = prefix->n - 1; /* without the colon */
    return (const char *)prefix->p;
}
