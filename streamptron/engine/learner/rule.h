/* The rules: is this event a mistake, and how big is the step?

   A rule gets the scores of the current weights for each choice, and the right choice. It returns a
   step: for each (k, a) in it, w_k += a x. It knows neither keys nor tables. Each rule says what
   kind of answer it gives (sp_rule_answer) and what it keeps beside a weight (sp_rule_keeps), and
   has one function, with its formula above it. `u` is the sample weight times the class weight. It
   scales what is added, so a weight of 2 counts as taking the same step twice. Ties between labels
   go to the one seen first.

   A rule that keeps something needs the second sums of the choices that it moves (table/keep.h),
   and then says how far they move (sp_rule_settle). */

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
    SP_RULE_VOTED = 5,    /* a step of the current vectors; see voted/vote.h */
    SP_RULE_RANKING = 6,
    SP_RULE_MULTILABEL = 7, /* see multilabel/multilabel.h */

    SP_UPDATE_MARGIN = 0,     /* MIRA's step whenever there is a loss */
    SP_UPDATE_MISTAKE = 1,    /* only at a mistake */
    SP_UPDATE_PERCEPTRON = 2, /* the perceptron's */

    SP_VIOLATORS_BEST = 0,         /* losing what the true label gains: the best other one, */
    SP_VIOLATORS_UNIFORM = 1,      /* all that are too near, in equal shares, or */
    SP_VIOLATORS_PROPORTIONAL = 2, /* by how much each is too near */

    SP_ANSWER_SIGN = 0,       /* one output; True where its score is above 0 */
    SP_ANSWER_LABELS = 1,     /* an output per label; the best score wins */
    SP_ANSWER_TWO = 2,       /* one output for two labels; SP_ANSWER_LABELS from the third */
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
    bool intercept; /* whether there is an intercept */
    double newcomer; /* intercept of a new label once each label has an output */
    /* of SP_RULE_ADAPTIVE */
    double eta;
    double forget;
    bool watches; /* forget follows the stream's drift */
    bool naive_bayes;
    int shape; /* SP_SHAPE_: curves and surfaces of columns */
} sp_rule;

/* The names of a rule, and its kind of answer. */
typedef struct sp_rule_names {
    char letter;         /* in file/parameters_table.h */
    char name[12];       /* which doors use */
    char class_name[21]; /* also in model files */
    char command[11];    /* on the command line */
    uint8_t answer;      /* SP_ANSWER_, at first */
} sp_rule_names;

/* NULL: an unknown rule. */
SP_API const sp_rule_names *sp_rule_names_of(int kind);

/* The kind of answer that the scores give; -1: an unknown rule. */
SP_API int sp_rule_answer(const sp_rule *rule);

/* The name of a rule, as doors use it; NULL: an unknown rule. */
SP_API const char *sp_rule_name(int kind);

/* What the rule keeps beside each weight for its own use. */
static inline int sp_rule_keeps(int kind)
{
    return kind == SP_RULE_AROW ? SP_KEEP_PRECISION : SP_KEEP_NONE;
}

/* The first intercept of a new label (a newcomer). With AROW it is below 0, so that the label is
   far from every event until a feature favours it; from 0 it would take a step on each event of
   another label. With MIRA, from 0, the label would score best on many events after its first one,
   as MIRA's steps go as far as they must. But where weights are averaged, one step hardly moves
   them, and a label that starts below 0 would not be answered for a long time. */
static inline double sp_rule_newcomer(const sp_rule *rule, bool averaged)
{
    const bool low = rule->kind == SP_RULE_AROW
                     || (rule->kind == SP_RULE_MIRA && !averaged);
    return low && rule->intercept ? -1.0 : 0.0;
}

/* x.x, in the order of the event. */
SP_HOT double sp_squares(const double *x, ptrdiff_t n, bool intercept);

/* Write the step for an event whose right choice is y.

   With one output for two labels, y says whether a positive score is right. y may be n_choices: a
   label seen for the first time, which scores rule->newcomer. x, n: the event's values;
   `intercept`: a value of 1 comes before them. The step has been begun, with room for one more
   choice than there are. */
SP_PRIVATE void sp_rule_step(const sp_rule *rule, int answer, const double *scores,
                             ptrdiff_t n_choices, ptrdiff_t y, double u, const double *x,
                             ptrdiff_t n, bool intercept, sp_step *step);

/* Finish a step once its second sums are known. They are sums over what the rule keeps or, if it
   chooses among candidates, of the squares of d. */
SP_PRIVATE void sp_rule_settle(const sp_rule *rule, double u, sp_step *step);

#endif
