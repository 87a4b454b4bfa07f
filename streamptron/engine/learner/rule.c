#include "learner/rule.h"

static const sp_rule_names sp_rules[] = {
    [SP_RULE_PERCEPTRON] = {'P', "PERCEPTRON", "Perceptron", "perceptron", SP_ANSWER_SIGN},
    [SP_RULE_MULTICLASS] = {'M', "MULTICLASS", "MulticlassPerceptron", "multiclass",
                            SP_ANSWER_LABELS},
    [SP_RULE_MIRA] = {'I', "MIRA", "MIRA", "mira", SP_ANSWER_LABELS},
    [SP_RULE_AROW] = {'W', "AROW", "AROW", "arow", SP_ANSWER_TWO},
    [SP_RULE_ADAPTIVE] = {'A', "ADAPTIVE", "AdaptiveClassifier", "adaptive", SP_ANSWER_TWO},
    [SP_RULE_VOTED] = {'V', "VOTED", "VotedPerceptron", "voted", SP_ANSWER_TWO},
    [SP_RULE_RANKING] = {'R', "RANKING", "RankingPerceptron", "ranking", SP_ANSWER_CANDIDATES},
    [SP_RULE_MULTILABEL] = {'S', "SETS", "MultiLabelClassifier", "multilabel",
                            SP_ANSWER_MULTILABEL},
};

SP_API const sp_rule_names *sp_rule_names_of(int kind)
{
    return kind >= 0 && kind < (int)(sizeof(sp_rules) / sizeof(*sp_rules)) ? &sp_rules[kind] : NULL;
}

SP_API const char *sp_rule_name(int kind)
{
    const sp_rule_names *names = sp_rule_names_of(kind);
    return names == NULL ? NULL : names->name;
}

SP_API int sp_rule_answer(const sp_rule *rule)
{
    const sp_rule_names *names = sp_rule_names_of(rule->kind);
    return names == NULL ? -1 : names->answer;
}

/* Whether a step's length depends on the loss. */
static bool sp_rule_is_mira(const sp_rule *rule)
{
    return rule->kind == SP_RULE_MIRA
           || (rule->kind == SP_RULE_RANKING && rule->update != SP_UPDATE_PERCEPTRON);
}

/* The first of the best-scoring outputs other than `but`; -1 if there is none. */
static ptrdiff_t sp_best_output(const double *scores, ptrdiff_t n, ptrdiff_t but)
{
    ptrdiff_t best = -1;
    for (ptrdiff_t k = 0; k < n; k++) {
        if (k != but && (best < 0 || scores[k] > scores[best]))
            best = k;
    }
    return best;
}

/* y = +1 or -1;  if y score <= margin:  w += y u x
   Daume, A Course in Machine Learning, algorithm 5. A score of 0 is a mistake for either label. */
static void sp_perceptron(const sp_rule *rule, double score, bool y, double u, sp_step *step)
{
    if ((y ? score : -score) <= rule->margin && u != 0.0)
        sp_step_add(step, 0, y ? u : -u);
}

SP_HOT double sp_squares(const double *x, ptrdiff_t n, bool intercept)
{
    double xx = intercept ? 1.0 : 0.0;
    for (ptrdiff_t i = 0; i < n; i++)
        xx += x[i] * x[i];
    return xx;
}

/* A rule with a score for each choice takes a step against choice k if its score is above that of
   the true choice y, or too close below it. d_k is by how much:
       d_k = (score_k - score_y) + m,  m = margin, for MIRA 1
       due when d_k >= 0;  for MIRA when d_k > 0, and at mistakes only when score_k >= score_y
   CS188, lecture "Perceptrons"; Crammer et al. 2006, PA-I. */
static double sp_too_near(const sp_rule *rule, double score, double rival)
{
    return rival - score + (sp_rule_is_mira(rule) ? 1.0 : rule->margin);
}

static bool sp_due(const sp_rule *rule, double score, double rival)
{
    double d = sp_too_near(rule, score, rival);
    if (sp_rule_is_mira(rule))
        return d > 0.0 && !(rule->update == SP_UPDATE_MISTAKE && score > rival);
    return d >= 0.0;
}

/* The direction of a step: w_y += x, w_k -= s_k x. The violators, for which a step is due, have
   shares s_k of sum 1:
       best            the best other label has all of it
       uniform         s_k = 1 / their number
       proportional    s_k = d_k / the sum of their d; as uniform where that is 0
   Crammer & Singer 2003: any such shares have the perceptron's bound. Returns the loss, sum of
   s_k d_k, and writes the direction's length^2 in units of x.x, 1 + sum of s_k^2. */
static double sp_rule_aim(const sp_rule *rule, const double *scores, ptrdiff_t n_choices,
                          double score, ptrdiff_t y, ptrdiff_t guess, double *length, sp_step *step)
{
    ptrdiff_t n = 0;
    double total = 0.0;
    double loss = 0.0;
    double of_shares = 0.0;
    if (rule->violators == SP_VIOLATORS_BEST) {
        sp_step_add(step, SP_MIN(y, guess), y < guess ? 1.0 : -1.0);
        sp_step_add(step, SP_MAX(y, guess), y < guess ? -1.0 : 1.0);
        *length = 2.0;
        return sp_too_near(rule, score, scores[guess]);
    }
    for (ptrdiff_t k = 0; k < n_choices; k++) {
        if (k != y && sp_due(rule, score, scores[k])) {
            n++;
            total += sp_too_near(rule, score, scores[k]);
        }
    }
    bool even = rule->violators == SP_VIOLATORS_UNIFORM || total == 0.0;
    for (ptrdiff_t k = 0, end = SP_MAX(n_choices, y + 1); k < end; k++) {
        if (k == y)
            sp_step_add(step, k, 1.0);
        else if (sp_due(rule, score, scores[k])) {
            double d = sp_too_near(rule, score, scores[k]);
            double s = even ? 1.0 / (double)n : d / total;
            loss += s * d;
            of_shares += s * s;
            if (s != 0.0)
                sp_step_add(step, k, -s);
        }
    }
    *length = 1.0 + of_shares;
    return loss;
}

/* The length of the step: for the perceptron u; for MIRA tau u, with tau the least that brings the
   loss to 0, at most C:
       tau = min(loss / (length x.x), C) */
static void sp_apart(const sp_rule *rule, const double *scores, ptrdiff_t n_choices, ptrdiff_t y,
                     double u, const double *x, ptrdiff_t n, bool intercept, sp_step *step)
{
    double score = y < n_choices ? scores[y] : rule->newcomer;
    ptrdiff_t guess = sp_best_output(scores, n_choices, y);
    double xx = 1.0;
    double tau = 1.0;
    double length;
    if (guess < 0 || u == 0.0 || !sp_due(rule, score, scores[guess]))
        return;
    if (rule->kind == SP_RULE_MIRA) {
        xx = sp_squares(x, n, intercept);
        if (xx == 0.0)
            return;
    }
    double loss = sp_rule_aim(rule, scores, n_choices, score, y, guess, &length, step);
    if (rule->kind == SP_RULE_MIRA)
        tau = SP_MIN(loss / (length * xx), rule->C);
    tau *= u;
    if (tau == 0.0)
        step->n = 0;
    for (int i = 0; i < step->n; i++)
        step->moves[i].a *= tau;
}

/* Each output by itself: Y = +1 for its own label, else -1;  loss = 1 - Y score. If loss > 0, with
   v the variance of the score (its second sum) and r the label's noise, which u observations reduce
   to r / u:
       alpha = Y loss / (v + r / u);  w += alpha S x,  S -= S^2 x^2 / (v + r / u)
   Crammer, Kulesza & Dredze 2009, AROW, diagonal. engine/table/keep.h updates S. alpha is bounded,
   far above any useful value, so that no stream of finite values makes a weight infinite. */
static void sp_arow(const sp_rule *rule, int answer, const double *scores, ptrdiff_t n_choices,
                    ptrdiff_t y, double u, sp_step *step)
{
    bool one = answer == SP_ANSWER_TWO;
    if (u == 0.0)
        return;
    for (ptrdiff_t k = 0, end = one ? 1 : SP_MAX(n_choices, y + 1); k < end; k++) {
        double Y = y == (one ? 1 : k) ? 1.0 : -1.0;
        double loss = 1.0 - Y * (k < n_choices ? scores[k] : rule->newcomer);
        if (loss > 0.0)
            sp_step_add(step, k, Y * loss);
    }
}

/* The guess is the best *other* candidate. A step is due as for labels, and moves along the
   difference d = x_y - x_guess:
       perceptron: w += u d;  else, with the loss as above: w += min(loss / d.d, C) u d
   Collins 2002; Crammer et al. 2006. d is made only if there is a step (events/candidates.h). Until
   then the loss is stored in place of MIRA's factor (sp_rule_settle). */
static void sp_ranking(const sp_rule *rule, const double *scores, ptrdiff_t n_choices, ptrdiff_t y,
                       double u, sp_step *step)
{
    ptrdiff_t guess = sp_best_output(scores, n_choices, y);
    double length;
    if (guess < 0 || u == 0.0 || !sp_due(rule, scores[y], scores[guess]))
        return;
    double loss = sp_rule_aim(rule, scores, n_choices, scores[y], y, guess, &length, step);
    for (int i = 0, end = step->n; i < end; i++)
        step->moves[i].a *= sp_rule_is_mira(rule) ? loss : u;
}

/* Each output by itself: Y = +1 for its own label, else -1;
       if Y score <= 0:  w += Y u x
   A perceptron for each label, which learns it against all others. Two labels share one. */
static void sp_one_against_all(int answer, const double *scores, ptrdiff_t n_choices, ptrdiff_t y,
                               double u, sp_step *step)
{
    bool one = answer == SP_ANSWER_TWO;
    if (u == 0.0)
        return;
    for (ptrdiff_t k = 0, end = one ? 1 : SP_MAX(n_choices, y + 1); k < end; k++) {
        double Y = y == (one ? 1 : k) ? 1.0 : -1.0;
        if (Y * (k < n_choices ? scores[k] : 0.0) <= 0.0)
            sp_step_add(step, k, Y * u);
    }
}

SP_PRIVATE void sp_rule_step(const sp_rule *rule, int answer, const double *scores,
                             ptrdiff_t n_choices, ptrdiff_t y, double u, const double *x,
                             ptrdiff_t n, bool intercept, sp_step *step)
{
    if (n == 0 && !intercept)
        return;
    if (rule->kind == SP_RULE_PERCEPTRON)
        sp_perceptron(rule, *scores, y, u, step);
    else if (rule->kind == SP_RULE_AROW)
        sp_arow(rule, answer, scores, n_choices, y, u, step);
    else if (rule->kind == SP_RULE_RANKING)
        sp_ranking(rule, scores, n_choices, y, u, step);
    else if (rule->kind == SP_RULE_VOTED)
        sp_one_against_all(answer, scores, n_choices, y, u, step);
    else
        sp_apart(rule, scores, n_choices, y, u, x, n, intercept, step);
}

SP_PRIVATE void sp_rule_settle(const sp_rule *rule, double u, sp_step *step)
{
    double alpha;
    if (rule->kind == SP_RULE_RANKING) {
        if (sp_rule_is_mira(rule)) {
            alpha = step->moves[0].a / step->moves[0].second;
            step->moves[0].a = (alpha < rule->C ? alpha : rule->C) * u;
        }
        return;
    }
    step->r = rule->r / u;
    for (int i = 0, end = step->n; i < end; i++) {
        alpha = step->moves[i].a / (step->moves[i].second + step->r);
        step->moves[i].a = SP_MAX(-1e100, SP_MIN(alpha, 1e100));
    }
}
