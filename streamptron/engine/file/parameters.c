#include "file/parameters.h"

#include "file/values.h"
#include "machine.h"
#include "memory/heap.h"
#include "path/path.h"
#include "voted/vote.h"

#include <string.h>

typedef struct sp_class {
    char letter;
    char name[21];
    char command[11]; /* its name on the command line */
} sp_class;

/* In the order of the rules' numbers. */
static const sp_class sp_classes[] = {
    {'P', "Perceptron", "perceptron"},
    {'M', "MulticlassPerceptron", "multiclass"},
    {'I', "MIRA", "mira"},
    {'W', "AROW", "arow"},
    {'A', "AdaptiveClassifier", "adaptive"},
    {'V', "VotedPerceptron", "voted"},
    {'R', "RankingPerceptron", "ranking"},
    {'S', "MultiLabelClassifier", "multilabel"},
};
enum { SP_CLASSES = sizeof(sp_classes) / sizeof(*sp_classes) };

#define SP_AT(member) offsetof(sp_parameters, member)
#define SP_SIZE "of at least 0 and at most 1e+50"

static const sp_setting sp_learners_settings[] = {
    {"margin", "PMR", SP_SETTING_REAL, SP_AT(rule.margin), 0.0, 1e50, "a number " SP_SIZE},
    {"C", "IR", SP_SETTING_REAL, SP_AT(rule.C), 1e-50, 1e50, "a number above 0 and at most 1e+50"},
    {"update", "I", SP_SETTING_WORD, SP_AT(rule.update), 0, 0, "margin|mistake"},
    {"update", "R", SP_SETTING_WORD, SP_AT(rule.update), 0, 0, "margin|mistake|perceptron"},
    {"violators", "MI", SP_SETTING_WORD, SP_AT(rule.violators), 0, 0, "best|uniform|proportional"},
    {"r", "W", SP_SETTING_REAL, SP_AT(rule.r), 1e-50, 1e50, "a number above 0 and at most 1e+50"},
    {"eta", "AS", SP_SETTING_REAL, SP_AT(rule.eta), 1e-6, 1e6,
     "a number of at least 1e-06 and at most 1e+06"},
    {"forget", "AS", SP_SETTING_VALUE, SP_AT(forget), 0, 0, NULL},
    {"threshold", "S", SP_SETTING_VALUE, SP_AT(threshold), 0, 0, NULL},
    {"naive_bayes", "A", SP_SETTING_TRUTH, SP_AT(rule.naive_bayes), 0, 0, NULL},
    {"shape", "A", SP_SETTING_WORD, SP_AT(rule.shape), 0, 0, "line|curve|auto"},
    {"intercept", "PMIWAV", SP_SETTING_TRUTH, SP_AT(rule.intercept), 0, 0, NULL},
    {"average", "PMIR", SP_SETTING_WORD, SP_AT(average), 0, 0, "none|uniform|exponential"},
    {"half_life", "PMIR", SP_SETTING_REAL, SP_AT(half_life), 1.0, 1e10,
     "a number of at least 1 event and at most 1e+10"},
    {"pocket", "PMIR", SP_SETTING_TRUTH, SP_AT(pocket), 0, 0, NULL},
    {"serve", "PMIR", SP_SETTING_WORD, SP_AT(serve), 0, 0, "current|average|pocket|best"},
    {"class_weight", "PMIWAV", SP_SETTING_NODE, SP_AT(class_weight), 0, 0, NULL},
    {"false_positive_rate", "A", SP_SETTING_NODE, SP_AT(false_positive_rate), 0, 0, NULL},
    {"max_features", "PMIWARS", SP_SETTING_MAYBE, SP_AT(max_features), 1, 2147483648.0,
     "None or an int from 1 to 2147483648"},
    {"max_labels", "MIWAVS", SP_SETTING_MAYBE, SP_AT(max_labels), 1, 2147483648.0,
     "None or an int from 1 to 2147483648"},
    {"hash_bits", "PMIWAVRS", SP_SETTING_MAYBE, SP_AT(hash_bits), 1, 30,
     "None or an int from 1 to 30"},
    {"hash_seed", "PMIWAVRS", SP_SETTING_NODE, SP_AT(seed), 0, 0, NULL},
    {"degree", "PMIWARS", SP_SETTING_WHOLE, SP_AT(degree), 1, 2,
     "1, for features alone, or 2, for their pairs too"},
    {"degree", "V", SP_SETTING_WHOLE, SP_AT(degree), 1, SP_DEGREE_MOST, "an int from 1 to 16"},
    {"budget", "V", SP_SETTING_MAYBE, SP_AT(budget), 1, 2147483648.0,
     "None or an int from 1 to 2147483648"},
    {"interactions", "PMIWARS", SP_SETTING_NODE, SP_AT(interactions), 0, 0, NULL},
    {"max_pairs", "PMIWARS", SP_SETTING_WHOLE, SP_AT(max_pairs), 1, 2147483648.0,
     "an int from 1 to 2147483648"},
    {"missing", "PMIWAVRS", SP_SETTING_WORD, SP_AT(missing), 0, 0, "skip|skip_nan|refuse"},
};

#undef SP_AT

SP_PRIVATE int sp_class_of(const sp_json *json, uint32_t node)
{
    for (int kind = 0; kind < SP_CLASSES; kind++) {
        if (sp_json_is(json, node, sp_classes[kind].name))
            return kind;
    }
    return -1;
}

SP_PRIVATE int sp_class_named(const char *name)
{
    for (int kind = 0; kind < SP_CLASSES; kind++) {
        if (strcmp(name, sp_classes[kind].name) == 0 || strcmp(name, sp_classes[kind].command) == 0)
            return kind;
    }
    return -1;
}

SP_PRIVATE const char *sp_class_name(int kind)
{
    return sp_classes[kind].name;
}

/* What a constructor has where nothing is given. */
static void sp_parameters_default(sp_parameters *p, int kind)
{
    bool weights = strchr("PMIR", sp_classes[kind].letter) != NULL;
    memset(p, 0, sizeof(*p));
    p->rule.kind = kind;
    p->rule.C = p->rule.r = p->rule.eta = 1.0;
    p->rule.update = sp_rule_answer(&p->rule) == SP_ANSWER_CANDIDATES ? SP_UPDATE_PERCEPTRON
                                                                      : SP_UPDATE_MARGIN;
    p->rule.forget = sp_classes[kind].letter == 'S' ? 0.0009765625 : 0.0;
    p->rule.watches = p->rule.naive_bayes = sp_classes[kind].letter == 'A';
    p->rule.shape = p->rule.naive_bayes ? SP_SHAPE_AUTO : SP_SHAPE_LINE;
    p->rule.intercept = strchr("RS", sp_classes[kind].letter) == NULL;
    p->above = 0.5;
    p->average = weights ? SP_AVERAGE_UNIFORM : SP_AVERAGE_NONE;
    p->half_life = weights ? 1000.0 : 1.0;
    p->serve = weights ? SP_SERVE_BEST : SP_KEPT_CURRENT;
    p->degree = 1;
    p->max_pairs = 1000000;
}

/* What no two parameters may say together. */
static int sp_parameters_agree(const sp_parameters *p, sp_fault *fault)
{
    const int kind = SP_WHY_PARAMETER;
    if (p->serve == SP_KEPT_AVERAGE && p->average == SP_AVERAGE_NONE)
        return sp_fault_say(fault, kind,
                            "serve='average' needs an average: give average='uniform' or "
                            "'exponential', or serve='current' to do without one");
    if (p->serve == SP_KEPT_POCKET && !p->pocket)
        return sp_fault_say(fault, kind, "serve='pocket' needs pocket=True");
    if (p->max_features && p->hash_bits)
        return sp_fault_say(fault, kind,
                            "max_features and hash_bits are both given; a hashed table has a "
                            "fixed size: choose one");
    if (sp_rule_answer(&p->rule) != SP_ANSWER_CANDIDATES)
        return 0;
    if (p->rule.update == SP_UPDATE_PERCEPTRON && p->rule.C != 1.0)
        return sp_fault_say(fault, kind,
                            "C bounds the steps of update='margin' and 'mistake'; leave it out "
                            "with update='perceptron'");
    if (p->rule.update != SP_UPDATE_PERCEPTRON && p->rule.margin != 0.0)
        return sp_fault_say(fault, kind,
                            "margin is for update='perceptron'; leave it out: with another update "
                            "the margin is 1");
    return 0;
}

/* --- Numbers by label: a list of pairs, or one behind "dict"; as people write it an object, too */

typedef struct sp_weight_list {
    const sp_json *json;
    uint32_t left;
    uint32_t at;
    bool object;
} sp_weight_list;

static sp_weight_list sp_weight_list_begin(const sp_given *given, uint32_t node)
{
    sp_weight_list weights = {given->json, 0, node + 1, false};
    if (node != 0) {
        bool named = given->json->nodes[node].n > 0 && sp_json_is(given->json, node + 1, "dict")
                     && sp_json_type(given->json, node) == SP_JSON_LIST;
        weights.left = given->json->nodes[node].n - named;
        weights.at += named;
        weights.object = sp_json_type(given->json, node) == SP_JSON_OBJECT;
    }
    return weights;
}

/* The next label and its weight, two nodes. False: there is none. */
static bool sp_weight_list_next(sp_weight_list *weights, uint32_t *label, uint32_t *weight)
{
    if (weights->left == 0)
        return false;
    weights->left--;
    *label = weights->at + !weights->object;
    *weight = weights->json->nodes[*label].next;
    weights->at = weights->json->nodes[*weight].next;
    return true;
}

/* Whether a list is one of pairs, all but the first `from` that it has. */
static bool sp_are_pairs(const sp_json *json, uint32_t list, uint32_t from)
{
    uint32_t pair = list + 1 + from;
    for (uint32_t i = from; i < json->nodes[list].n; i++, pair = json->nodes[pair].next) {
        if (sp_json_type(json, pair) != SP_JSON_LIST || json->nodes[pair].n != 2)
            return false;
    }
    return true;
}

/* Whether a node is one of numbers by label, or there is none. */
static bool sp_are_by_label(const sp_given *given, uint32_t node)
{
    const int type = node ? sp_json_type(given->json, node) : SP_JSON_NULL;
    return type == SP_JSON_NULL || (given->plain && type == SP_JSON_OBJECT)
           || (type == SP_JSON_LIST && sp_are_pairs(given->json, node, 0));
}

static int sp_class_weight_check(const sp_parameters *p, const sp_given *given, sp_fault *fault)
{
    const sp_json *json = given->json;
    uint32_t node = p->class_weight, label, weight;
    double number, truth;
    if (!sp_are_by_label(given, node))
        return sp_setting_fault("class_weight", given, node, "None or a dict of label to weight",
                                fault);
    sp_weight_list weights = sp_weight_list_begin(given, node);
    while (sp_weight_list_next(&weights, &label, &weight)) {
        bool two = sp_rule_answer(&p->rule) == SP_ANSWER_SIGN;
        if (!sp_is_label(json, label)
            || (two
                && !(sp_value_number(json, label, false, &truth)
                     && (truth == 0.0 || truth == 1.0)))) {
            sp_fault_say(fault, SP_WHY_PARAMETER, "class_weight has an invalid label: ");
            return sp_fault_add_value(fault, json, label);
        }
        if (sp_json_type(json, weight) == SP_JSON_TRUE
            || sp_json_type(json, weight) == SP_JSON_FALSE
            || !sp_value_number(json, weight, given->plain, &number)
            || !(number >= 0.0 && number <= 1e50))
            return sp_setting_fault("class_weight", given, weight, "a number " SP_SIZE, fault);
    }
    return 0;
}

SP_PRIVATE double sp_class_weight(const sp_parameters *parameters, const sp_given *given,
                                  const sp_json *json, uint32_t label)
{
    double weight = 1.0;
    uint32_t its, number;
    sp_weight_list weights = sp_weight_list_begin(given, parameters->class_weight);
    while (sp_weight_list_next(&weights, &its, &number)) {
        if (sp_values_equal(given->json, its, json, label))
            sp_value_number(given->json, number, given->plain, &weight); /* the last one counts */
    }
    return weight;
}

/* --- false_positive_rate: a rate by label, each label once */

static bool sp_is_share(const sp_given *given, uint32_t node, double *number)
{
    int type = sp_json_type(given->json, node);
    return type != SP_JSON_TRUE && type != SP_JSON_FALSE
           && sp_value_number(given->json, node, given->plain, number) && 0.0 < *number
           && *number < 1.0;
}

/* The number of such a label; -1: there is none, up to the pair `end`. */
static ptrdiff_t sp_rate_of(const sp_parameters *p, const sp_given *given, const sp_json *json,
                            uint32_t label, ptrdiff_t end)
{
    uint32_t its, number;
    sp_weight_list rates = sp_weight_list_begin(given, p->false_positive_rate);
    for (ptrdiff_t i = 0; i < end && sp_weight_list_next(&rates, &its, &number); i++) {
        if (sp_values_equal(given->json, its, json, label))
            return i;
    }
    return -1;
}

static int sp_rates_check(const sp_parameters *p, const sp_given *given, sp_fault *fault)
{
    static const char name[] = "false_positive_rate";
    const sp_json *json = given->json;
    const uint32_t node = p->false_positive_rate;
    uint32_t label, rate;
    double number;
    if (!sp_are_by_label(given, node))
        return sp_setting_fault(name, given, node, "None or a dict of label to rate", fault);
    sp_weight_list rates = sp_weight_list_begin(given, node);
    for (ptrdiff_t i = 0; sp_weight_list_next(&rates, &label, &rate); i++) {
        if (!sp_is_label(json, label) || sp_rate_of(p, given, json, label, i) >= 0) {
            sp_fault_say(fault, SP_WHY_PARAMETER, name);
            sp_fault_add(fault, sp_is_label(json, label) ? " has a label twice: "
                                                         : " has an invalid label: ");
            return sp_fault_add_value(fault, json, label);
        }
        if (!sp_is_share(given, rate, &number))
            return sp_setting_fault(name, given, rate, "a number above 0 and below 1", fault);
    }
    return 0;
}

static int sp_rates_apply(const sp_parameters *p, const sp_given *given, sp_alarms *alarms)
{
    uint32_t label, rate;
    ptrdiff_t n = 0;
    sp_weight_list rates = sp_weight_list_begin(given, p->false_positive_rate);
    if (sp_alarms_begin(alarms, (ptrdiff_t)rates.left) < 0)
        return -1;
    while (sp_weight_list_next(&rates, &label, &rate))
        sp_value_number(given->json, rate, given->plain, &alarms->of[n++].rate);
    return 0;
}

SP_PRIVATE void sp_alarms_name(const sp_parameters *parameters, const sp_given *given,
                               const sp_json *json, uint32_t label, ptrdiff_t k,
                               sp_learner *learner)
{
    sp_alarms *alarms = &learner->adaptive.alarms;
    if (alarms->n)
        sp_alarms_bind(alarms, sp_rate_of(parameters, given, json, label, alarms->n), k);
}

/* --- threshold: a number, "f1", or numbers by label */

static int sp_threshold_fault(const sp_given *given, uint32_t node, sp_fault *fault)
{
    double number;
    int type = sp_json_type(given->json, node);
    if (type == SP_JSON_STRING)
        return sp_setting_fault("threshold", given, node,
                                "a number above 0 and below 1, {label: number}, or 'f1'", fault);
    sp_setting_fault("threshold", given, node, "a number above 0 and below 1", fault);
    if (type == SP_JSON_TRUE || type == SP_JSON_FALSE
        || !sp_value_number(given->json, node, given->plain, &number))
        return fault->kind;
    return sp_fault_add(fault, ": a label is answered if its probability is above it");
}

static int sp_threshold_read(sp_parameters *p, const sp_given *given, sp_fault *fault)
{
    const sp_json *json = given->json;
    uint32_t node = p->threshold, label, its;
    int type = sp_json_type(json, node);
    double number;
    bool plain = given->plain && (type == SP_JSON_LIST || type == SP_JSON_OBJECT);
    bool named = !given->plain && type == SP_JSON_LIST && json->nodes[node].n > 0
                 && sp_json_is(json, node + 1, "dict");
    p->threshold = 0;
    p->best = sp_json_is(json, node, "f1");
    if (p->best || sp_is_share(given, node, &p->above))
        return 0;
    if (!(named || plain) || (type == SP_JSON_LIST && !sp_are_pairs(json, node, named)))
        return sp_threshold_fault(given, node, fault);
    p->threshold = node;
    p->above = 0.5;
    sp_weight_list numbers = sp_weight_list_begin(given, node);
    while (sp_weight_list_next(&numbers, &label, &its)) {
        if (!sp_is_label(json, label)) {
            sp_fault_say(fault, SP_WHY_PARAMETER, "threshold has an invalid label: ");
            return sp_fault_add_value(fault, json, label);
        }
        if (!sp_is_share(given, its, &number))
            return sp_threshold_fault(given, its, fault);
    }
    return 0;
}

SP_PRIVATE double sp_threshold_of(const sp_parameters *parameters, const sp_given *given,
                                  const sp_json *json, uint32_t label)
{
    double above = parameters->above;
    uint32_t its, number;
    sp_weight_list numbers = sp_weight_list_begin(given, parameters->threshold);
    while (sp_weight_list_next(&numbers, &its, &number)) {
        if (sp_values_equal(given->json, its, json, label))
            sp_value_number(given->json, number, given->plain, &above); /* the last one counts */
    }
    return above;
}

/* --- All of them */

/* How fast a learner forgets: a number; of AdaptiveClassifier also "auto". */
static int sp_forget_read(sp_parameters *p, const sp_given *given, sp_fault *fault)
{
    const sp_json *json = given->json;
    int type = sp_json_type(json, p->forget);
    bool can_watch = sp_rule_can(p->rule.kind) & SP_CAN_WATCH;
    p->rule.watches = can_watch && sp_json_is(json, p->forget, "auto");
    p->rule.forget = 0.0;
    if (p->rule.watches)
        return 0;
    if (type != SP_JSON_TRUE && type != SP_JSON_FALSE
        && sp_value_number(json, p->forget, given->plain, &p->rule.forget) && 0.0 <= p->rule.forget
        && p->rule.forget <= 1.0)
        return 0;
    return sp_setting_fault("forget", given, p->forget,
                            can_watch ? "a number of at least 0 (or 'auto') and at most 1"
                                      : "a number of at least 0 and at most 1",
                            fault);
}

SP_PRIVATE int sp_parameters_read(sp_parameters *parameters, int kind, const sp_given *given,
                                  sp_fault *fault)
{
    sp_parameters_default(parameters, kind);
    int failed = sp_settings_read(
        sp_learners_settings, sizeof(sp_learners_settings) / sizeof(*sp_learners_settings),
        sp_classes[kind].name, sp_classes[kind].letter, given, parameters, fault);
    if (!failed && parameters->forget)
        failed = sp_forget_read(parameters, given, fault);
    if (!failed && parameters->threshold)
        failed = sp_threshold_read(parameters, given, fault);
    if (!failed && parameters->seed) {
        parameters->seeded = true;
        if (!sp_value_whole(given->json, parameters->seed, &parameters->hash_seed))
            failed = sp_setting_fault("hash_seed", given, parameters->seed,
                                      "None or an int from 0 to 18446744073709551615", fault);
    }
    if (!failed)
        failed = sp_parameters_agree(parameters, fault);
    if (!failed)
        failed = sp_class_weight_check(parameters, given, fault);
    return failed ? failed : sp_rates_check(parameters, given, fault);
}

SP_PRIVATE int sp_parameters_alike(int kind, const sp_given *given, const sp_parameters *its,
                                   const char *name, const sp_given *others,
                                   const sp_parameters *theirs, const char *other, sp_fault *fault)
{
    const sp_setting *setting = sp_settings_differ(
        sp_learners_settings, sizeof(sp_learners_settings) / sizeof(*sp_learners_settings),
        sp_classes[kind].letter, given, its, others, theirs);
    if (setting == NULL)
        return 0;
    sp_fault_say(fault, SP_WHY_PARAMETER, name);
    sp_fault_add(fault, " has ");
    sp_fault_add_setting(fault, setting, given, its);
    sp_fault_add(fault, " and ");
    sp_fault_add(fault, other);
    sp_fault_add(fault, " ");
    sp_fault_add_setting(fault, setting, others, theirs);
    return sp_fault_add(fault, "; only models of the same parameters can be merged");
}

/* --- Pairs */

SP_PRIVATE void sp_pairing_free(sp_pairing *pairing)
{
    sp_free(pairing->fields);
    sp_arena_free(&pairing->names);
    memset(pairing, 0, sizeof(*pairing));
}

/* The number of the field with this name, which may be new; -1 without memory, -2: too many. */
static int sp_pairing_field(sp_pairing *pairing, const sp_json *json, uint32_t node)
{
    uint8_t *name = sp_arena_alloc(&pairing->names, sp_json_length(json, node) + 1);
    if (name == NULL)
        return -1;
    size_t n = sp_json_string(json, node, name);
    for (int i = 0; i < pairing->rule.n_fields; i++) {
        if (pairing->fields[i].n == n && memcmp(pairing->fields[i].p, name, n) == 0)
            return i;
    }
    if (pairing->rule.n_fields == SP_PAIR_FIELDS_MOST)
        return -2;
    pairing->fields[pairing->rule.n_fields].p = name;
    pairing->fields[pairing->rule.n_fields].n = n;
    return pairing->rule.n_fields++;
}

/* The first half of a pair of fields, the other one follows it; 0: it is none. `list`: after the
   kind, as a file has it. */
static uint32_t sp_pair_at(const sp_json *json, uint32_t node, bool plain)
{
    uint32_t first = node + 1 + !plain;
    if (sp_json_type(json, node) != SP_JSON_LIST || json->nodes[node].n != (plain ? 2U : 3U)
        || !(plain || sp_json_is(json, node + 1, "tuple")))
        return 0;
    for (uint32_t at = first; at < first + 2; at++) {
        if (sp_json_type(json, at) != SP_JSON_STRING || sp_json_length(json, at) == 0)
            return 0;
    }
    return first;
}

static int sp_pairing_fields(sp_pairing *pairing, const sp_parameters *p, const sp_given *given,
                             sp_fault *fault)
{
    static const char want[] = "None or a list of pairs of fields, such as [('user', 'ad')]";
    const sp_json *json = given->json;
    uint32_t list = p->interactions;
    uint32_t skip = !given->plain;
    if (sp_json_type(json, list) != SP_JSON_LIST || json->nodes[list].n <= skip
        || !(given->plain || sp_json_is(json, list + 1, "tuple")))
        return sp_setting_fault("interactions", given, list, want, fault);
    pairing->fields = (sp_field *)sp_calloc(SP_PAIR_FIELDS_MOST, sizeof(sp_field));
    if (pairing->fields == NULL)
        return sp_fault_memory(fault);
    pairing->rule.fields = pairing->fields;
    uint32_t pair = list + 1 + skip;
    for (uint32_t i = skip; i < json->nodes[list].n; i++, pair = json->nodes[pair].next) {
        uint32_t first = sp_pair_at(json, pair, given->plain);
        if (first == 0)
            return sp_setting_fault("interactions", given, list, want, fault);
        int f = sp_pairing_field(pairing, json, first);
        int g = f < 0 ? f : sp_pairing_field(pairing, json, first + 1);
        if (g == -1)
            return sp_fault_memory(fault);
        if (g == -2)
            return sp_fault_say(fault, SP_WHY_PARAMETER,
                                "interactions has more than 64 different fields");
        if (pairing->fields[f].partners >> g & 1)
            return sp_fault_say(fault, SP_WHY_PARAMETER,
                                "interactions: a pair of fields occurs twice");
        pairing->fields[f].partners |= UINT64_C(1) << g;
        pairing->fields[g].partners |= UINT64_C(1) << f;
    }
    return 0;
}

SP_PRIVATE int sp_pairing_read(sp_pairing *pairing, const sp_parameters *parameters,
                               const sp_given *given, sp_fault *fault)
{
    memset(pairing, 0, sizeof(*pairing));
    sp_arena_init(&pairing->names);
    pairing->rule.most = parameters->max_pairs;
    if (!(sp_rule_can(parameters->rule.kind) & SP_CAN_PAIR))
        return 0;
    pairing->on = parameters->degree == 2 || parameters->interactions != 0;
    if (parameters->interactions == 0)
        return 0;
    if (parameters->degree == 2)
        return sp_fault_say(fault, SP_WHY_PARAMETER,
                            "degree=2 and interactions are both given; degree=2 pairs all "
                            "features: choose one");
    return sp_pairing_fields(pairing, parameters, given, fault);
}

/* --- The learner */

SP_PRIVATE int sp_parameters_apply(const sp_parameters *parameters, const sp_given *given,
                                   const sp_pairing *pairing, uint64_t seed, sp_learner *learner,
                                   sp_fault *fault)
{
    int can = sp_rule_can(parameters->rule.kind);
    bool leads = parameters->rule.intercept && (can & SP_CAN_LEAD);
    if (sp_learner_init(learner, parameters->rule, parameters->average, parameters->half_life,
                        parameters->pocket, parameters->serve, leads,
                        (sp_slot_type)parameters->max_features, (int)parameters->hash_bits, seed)
            < 0
        || sp_rates_apply(parameters, given, &learner->adaptive.alarms) < 0)
        return sp_fault_memory(fault);
    if (can & SP_CAN_VOTE) {
        learner->voters.degree = (int)parameters->degree;
        learner->voters.budget = (uint32_t)parameters->budget;
    }
    learner->pairs = pairing->on ? &pairing->rule : NULL;
    return 0;
}
