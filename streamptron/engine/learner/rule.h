/* The rules: is this event a mistake, and how big is the step?

   A rule gets the scores of the current weights for each choice, and the right choice. It answers
   with a step: for each (k, a) in it, w_k += a x. It knows neither keys nor tables. Each rule says
   what kind of answer it gives (sp_rule_answer) and what it keeps beside a weight (sp_rule_keeps),
   and has one function, with its formula above it. `u` is the sample weight times the class weight.
   It scales what is added, so a weight of 2 counts as two of the same step. Ties between labels go
   to the one seen first.

   A rule that keeps something asks for the second sums of the choices that it moves
   (table/keep.h), and with these says how far they move (sp_rule_settle). */

#ifndef STREAMPTRON_LEARNER_RULE_H
#define STREAMPTRON_LEARNER_RULE_H

#include "events/step.h"
#include "table/keep.h"

enum {
    SP_RULE_PERCEPTRON = 0,
    SP_RULE_MULTICLASS = 1,
    SP_RULE_MIRA = 2,
    SP_RULE_AROW = 3,
    SP_RULE_ADAPTIVE = 4, /* see adaptive/adaptive.h */
    SP_RULE_VOTED = 5,    /* the current vectors' step; see voted/vote.h */
    SP_RULE_RANKING = 6,
    SP_RULE_MULTILABEL = 7, /* see multilabel/multilabel.h */

    SP_UPDATE_MARGIN = 0,     /* MIRA's step whenever there is a loss */
    SP_UPDATE_MISTAKE = 1,    /* only at a mistake */
    SP_UPDATE_PERCEPTRON = 2, /* the perceptron's */

    SP_VIOLATORS_BEST = 0,         /* who loses what the true label gains: the best other one, */
    SP_VIOLATORS_UNIFORM = 1,      /* all that are too near, by equal shares, or */
    SP_VIOLATORS_PROPORTIONAL = 2, /* by how much each is too near */

    SP_ANSWER_SIGN = 0,       /* one output; True where its score is above 0 */
    SP_ANSWER_LABELS = 1,     /* an output per label; the best score wins */
    SP_ANSWER_TWO = 2,       /* one output for two labels; from the third on SP_ANSWER_LABELS */
    SP_ANSWER_CANDIDATES = 3, /* one output, several events; the best score wins */
    SP_ANSWER_MULTILABEL = 4, /* an output per label; each is answered by itself */
};

typedef struct sp_rule {
    int kind;
    double margin;
    double C;
    int update;
    int violators;
    double r;
    bool intercept; /* whether there is one */
    double newcomer; /* where that of a label begins which comes when others have an output each */
    /* of SP_RULE_ADAPTIVE */
    double eta;
    double forget;
    bool watches; /* forget is chosen by what the stream does */
    bool naive_bayes;
    int shape; /* SP_SHAPE_: what columns say beside a straight line */
} sp_rule;

/* What a rule is called, and what it answers. */
typedef struct sp_rule_names {
    char letter;         /* in file/parameters_table.h */
    char name[12];       /* by which doors ask for it */
    char class_name[21]; /* also in model files */
    char command[11];    /* on the command line */
    uint8_t answer;      /* SP_ANSWER_, at first */
} sp_rule_names;

/* NULL: an unknown rule. */
SP_API const sp_rule_names *sp_rule_names_of(int kind);

/* What kind of answer is made of the scores; -1: an unknown rule. */
SP_API int sp_rule_answer(const sp_rule *rule);

/* The name by which a rule is asked for; NULL: there is none of this kind. */
SP_API const char *sp_rule_name(int kind);

/* What is kept beside each weight for the rule's own use. */
static inline int sp_rule_keeps(int kind)
{
    return kind == SP_RULE_AROW ? SP_KEEP_PRECISION : SP_KEEP_NONE;
}

/* Where a newcomer's intercept begins. AROW's is far from every event until a feature favours
   it; from 0 it would step on each event that is not its own. MIRA's would be the best of many
   events after its first, for a step goes as far as it must. Where weights are averaged, one step
   hardly moves them, and from below 0 a label would not be met for long. */
static inline double sp_rule_newcomer(const sp_rule *rule, bool averaged)
{
    const bool low = rule->kind == SP_RULE_AROW
                     || (rule->kind == SP_RULE_MIRA && !averaged);
    return low && rule->intercept ? -1.0 : 0.0;
}

/* x.x, in the order of the event. */
SP_HOT double sp_squares(const double *x, ptrdiff_t n, bool intercept);

/* Write the step where choice y is right.

   With one output for two labels, y is whether it stands for the right one. y may be n_choices: a
   label met for the first time, which scores rule->newcomer. x, n: the event's values;
   `intercept`: a value of 1 comes before them. The step has been begun, with room for one more
   choice than there are. */
SP_PRIVATE void sp_rule_step(const sp_rule *rule, int answer, const double *scores,
                             ptrdiff_t n_choices, ptrdiff_t y, double u, const double *x,
                             ptrdiff_t n, bool intercept, sp_step *step);

/* Finish a step once its second sums are known. For a rule that keeps something: sums over
   what is kept; for one that chooses among candidates: of the squares of d. */
SP_PRIVATE void sp_rule_settle(const sp_rule *rule, double u, sp_step *step);

#endif
