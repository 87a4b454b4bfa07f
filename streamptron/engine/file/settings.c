#include "file/settings.h"

#include "file/bytes.h"
#include "file/values.h"

#include <string.h>

SP_PRIVATE int sp_fault_add_value(sp_fault *fault, const sp_json *json, uint32_t node)
{
    sp_bytes shown = {.failed = false};
    sp_value_show(json, node, true, &shown);
    bool cut = shown.n > SP_WHY_SHOWN;
    if (!shown.failed)
        sp_fault_add_bytes(fault, shown.p, cut ? SP_WHY_SHOWN - 3 : shown.n);
    if (cut)
        sp_fault_add(fault, "...");
    sp_bytes_free(&shown);
    return fault->kind;
}

SP_PRIVATE int sp_setting_fault(const char *name, const sp_given *given, uint32_t node,
                                const char *want, sp_fault *fault)
{
    sp_fault_say(fault, SP_WHY_PARAMETER, name);
    sp_fault_add(fault, "=");
    sp_fault_add_value(fault, given->json, node);
    sp_fault_add(fault, "; it must be ");
    return sp_fault_add(fault, want);
}

/* The length of the first of some words between bars. */
static size_t sp_first_word(const char *words)
{
    return strcspn(words, "|");
}

/* Which of the words between bars a string is; -1: none. */
static int sp_word_number(const sp_json *json, uint32_t node, const char *words)
{
    char word[32];
    for (int i = 0; *words; i++) {
        size_t n = sp_first_word(words);
        memcpy(word, words, n);
        word[n] = 0;
        if (sp_json_is(json, node, word))
            return i;
        words += n + (words[n] == '|');
    }
    return -1;
}

static int sp_word_fault(const sp_setting *setting, const sp_given *given, uint32_t node,
                         sp_fault *fault)
{
    const char *words = setting->want;
    sp_setting_fault(setting->name, given, node, "one of ", fault);
    while (*words) {
        size_t n = sp_first_word(words);
        sp_fault_add(fault, words == setting->want ? "'" : ", '");
        sp_fault_add_bytes(fault, words, n);
        sp_fault_add(fault, "'");
        words += n + (words[n] == '|');
    }
    return fault->kind;
}

static int sp_setting_take(const sp_setting *setting, const sp_given *given, uint32_t node,
                           void *to, sp_fault *fault)
{
    const sp_json *json = given->json;
    int type = sp_json_type(json, node);
    bool truth = type == SP_JSON_TRUE || type == SP_JSON_FALSE;
    uint8_t *place = (uint8_t *)to + setting->place;
    double number;
    uint64_t whole;
    int word;
    switch (setting->type) {
    case SP_SETTING_REAL:
        if (truth || !sp_value_number(json, node, given->plain, &number)
            || !(setting->low <= number && number <= setting->high))
            break;
        memcpy(place, &number, sizeof(number));
        return 0;
    case SP_SETTING_TRUTH:
        if (!truth)
            break;
        truth = type == SP_JSON_TRUE;
        memcpy(place, &truth, sizeof(truth));
        return 0;
    case SP_SETTING_WORD:
        word = sp_word_number(json, node, setting->want);
        if (word < 0)
            return sp_word_fault(setting, given, node, fault);
        memcpy(place, &word, sizeof(word));
        return 0;
    case SP_SETTING_NODE:
    case SP_SETTING_VALUE:
        node = type == SP_JSON_NULL && setting->type == SP_SETTING_NODE ? 0 : node;
        memcpy(place, &node, sizeof(node));
        return 0;
    default:
        whole = 0;
        if (!(type == SP_JSON_NULL && setting->type == SP_SETTING_MAYBE)
            && (!sp_value_whole(json, node, &whole)
                || !(setting->low <= (double)whole && (double)whole <= setting->high)))
            break;
        memcpy(place, &whole, sizeof(whole));
        return 0;
    }
    return sp_setting_fault(setting->name, given, node, setting->want, fault);
}

SP_PRIVATE int sp_settings_read(const sp_setting *table, size_t n, const char *owner, char letter,
                                const sp_given *given, void *to, sp_fault *fault)
{
    const sp_json *json = given->json;
    if (sp_json_type(json, given->object) != SP_JSON_OBJECT)
        return sp_fault_say(fault, SP_WHY_PARAMETER, "the parameters are not a JSON object");
    uint32_t name = given->object + 1;
    for (uint32_t k = 0; k < json->nodes[given->object].n; k++) {
        size_t i = 0;
        while (i < n
               && !(strchr(table[i].of, letter) != NULL && sp_json_is(json, name, table[i].name)))
            i++;
        if (i == n) {
            sp_fault_say(fault, SP_WHY_PARAMETER, owner);
            sp_fault_add(fault, " has no parameter ");
            return sp_fault_add_value(fault, json, name);
        }
        int failed = sp_setting_take(&table[i], given, name + 1, to, fault);
        if (failed)
            return failed;
        name = json->nodes[name + 1].next;
    }
    return 0;
}
