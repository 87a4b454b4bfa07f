# The path of every event: index, score, judge, rule, update.
#
#     event (keys, values)
#       | pairs_write        with degree=2 or interactions: the pairs of its features
#       | learner_resolve    keys -> slots; an unknown feature is the null slot
#       | learner_score      W.x for every kept vector, in one pass
#       | learner_step       the rule: a mistake? how big a step?
#       | insert, reserve    the only part that can fail: then all of it is taken back
#       | watch              who would have been right? (serving, probabilities, the pocket)
#       | table_add          only the slots of this event
#       v table_tick         the averages' clock
#
# A feature gets its slot at the first update that touches it, not when it is first seen: a learner
# that makes few mistakes stores few features. An answer is made once per event (learner_answer),
# and so is each kept vector's verdict (learner_verdict).
#
# With one output a row of a matrix is scored and learned in place (learner_score_row,
# learner_commit_row). Its new features are written as an event, and get slots, only if the rule
# takes a step (learner_admit).
#
# What is scored, judged and moved are choices (engine/step.pxd): the outputs of one event, or
# candidates, which are events. Two labels may share one output until a third one comes
# (engine/two_labels.pxd). The learner changes its form before it scores that event again, and
# changes back if memory runs out (learner_step).
#
# Functions in this file: learner_init (may fail), learner_free; learner_votes, learner_adapts,
# learner_several, learner_labels; learner_learn: all of the path (it may fail), and its parts:
# learner_resolve, learner_score and learner_score_row (these two may fail), learner_decision,
# learner_verdict, learner_judge, learner_answer, learner_probabilities; learner_step,
# learner_admit, learner_commit (these three may fail), learner_commit_row.
#
# Other people's nogil code calls this; see docs/threads.md. Labels are numbers here: 1 and 0 for a
# rule whose answer is a sign, and 0, 1, 2.. in order of appearance for the others.

from libc.math cimport fabs
from streamptron.engine.heap cimport free, malloc
from libc.string cimport memset
from streamptron.engine.types cimport (
    CHUNK_BITS, SLOT_INTERCEPT, SLOT_NULL, slot_t, uint32_t, uint64_t)
from streamptron.engine.index cimport (
    Index, IndexMark, index_find, index_find_all, index_free, index_init, index_insert,
    index_is_limited, index_mark, index_rewind)
from streamptron.engine.ceiling cimport (
    Ceiling, ceiling_init, ceiling_insert, ceiling_rewind, ceiling_settle)
from streamptron.engine.event cimport Event, event_first, event_last, event_reserve_scores
from streamptron.engine.candidates cimport event_difference
from streamptron.engine.table cimport (
    KEPT_AVERAGE, KEPT_CURRENT, KEPT_KINDS, KEPT_POCKET, Entries, Table, entries_of, table_add,
    table_add_outputs, table_free, table_init, table_init_adaptive, table_keeps,
    table_reserve, table_reserve_blocks, table_reserve_places, table_scores, table_scores_through,
    table_second, table_snapshot, table_tick)
from streamptron.engine.tables cimport table_split
from streamptron.engine.adaptive cimport (
    Adaptive, adaptive_aim, adaptive_answer, adaptive_best, adaptive_blocks,
    adaptive_decide, adaptive_free, adaptive_init, adaptive_learn,
    adaptive_probabilities, adaptive_room, weighed_reserve)
from streamptron.engine.vote cimport ballot_reserve, voters_count
from streamptron.engine.voters cimport (
    Voters, mentions_take_back, voters_free, voters_init, voters_split, voters_take,
    voters_unsplit, voters_write)
from streamptron.engine.keep cimport KEEP_NONE
from streamptron.engine.two_labels cimport (
    TwoLabels, two_labels_answer, two_labels_init, two_labels_meet, two_labels_side)
from streamptron.engine.pairs cimport Pairs, pairs_write
from streamptron.engine.step cimport Move, Step, step_begin, step_reserve
from streamptron.engine.rule cimport (
    ANSWER_CANDIDATES, ANSWER_LABELS, ANSWER_PAIR, ANSWER_SIGN, RULE_ADAPTIVE, RULE_VOTED, Rule,
    rule_answer, rule_keeps, rule_settle, rule_step, squares)
from streamptron.engine.serve cimport (
    SERVE_BEST, Serve, scale_update, serve_can_answer, serve_challenge, serve_context, serve_init,
    serve_kind, serve_learn)
from streamptron.engine.verdict cimport Verdict, verdict_of
from streamptron.engine.calibrate cimport (
    Calibrator, calibrate_due, calibrate_many, calibrate_many_learn, calibrate_two,
    calibrate_two_learn, calibrator_init, calibrator_split)

cdef enum:
    KEPT_VOTE = KEPT_AVERAGE    # the vote answers, where others have an average
    VOTES_DUE = 3               # one in 2^3 is counted for the probabilities: it costs the most

cdef struct Learner:
    Index index
    Ceiling ceiling
    Table table
    Rule rule
    Serve serve
    Calibrator fits[KEPT_KINDS]
    Adaptive adaptive           # what AdaptiveClassifier keeps once
    Voters voters               # of VotedPerceptron
    const Pairs* pairs          # which features are paired; NULL: none. Its owner keeps it
    bint intercept              # whether an event begins with one
    int answer                  # what kind of answer it gives now
    TwoLabels two               # with one output for two labels: which have been met
    Table* before               # while a third label is being learned: what it was split from
    uint64_t n_seen
    uint64_t n_updates
    uint64_t n_mistakes
    uint64_t version            # counts changes, from 1: are an event's scores still true?


cdef inline void learner_free(Learner* learner) noexcept nogil:
    index_free(&learner.index)
    table_free(&learner.table)
    adaptive_free(&learner.adaptive)
    voters_free(&learner.voters)


cdef inline bint learner_votes(const Learner* learner) noexcept nogil:
    """Whether all vectors there have been vote; see engine/vote.pxd."""
    return learner.rule.kind == RULE_VOTED


cdef inline bint learner_adapts(const Learner* learner) noexcept nogil:
    """Whether it is AdaptiveClassifier's slots that are kept; see engine/adaptive.pxd."""
    return learner.rule.kind == RULE_ADAPTIVE


cdef inline bint learner_several(const Learner* learner) noexcept nogil:
    """Whether the best of several scores wins; else one score says which of two labels it is."""
    return learner.answer == ANSWER_LABELS or learner.answer == ANSWER_CANDIDATES


cdef inline Py_ssize_t learner_labels(const Learner* learner) noexcept nogil:
    """How many labels it can answer."""
    return learner.table.n_outputs if learner.answer == ANSWER_LABELS else learner.two.n


cdef inline int learner_init(Learner* learner, Rule rule, int average, double half_life,
                             bint pocket, int serve, bint intercept, slot_t max_features,
                             int hash_bits, uint64_t hash_seed) noexcept nogil:
    """An untrained learner; max_features = 0: no ceiling.

    Returns -1 without memory. Call learner_free in either case.
    """
    cdef int kind
    memset(learner, 0, sizeof(Learner))
    learner.rule = rule
    learner.intercept = intercept
    learner.answer = rule_answer(&rule)
    two_labels_init(&learner.two, 2 if learner.answer == ANSWER_SIGN else 0)
    learner.version = 1
    voters_init(&learner.voters, intercept)
    serve_init(&learner.serve, KEPT_VOTE if learner_votes(learner) else serve, average, pocket)
    for kind in range(KEPT_KINDS):
        calibrator_init(&learner.fits[kind])
    ceiling_init(&learner.ceiling)
    if index_init(&learner.index, hash_bits, hash_seed, max_features) < 0:
        return -1
    # slots that change hands lie side by side by chance only
    if learner_adapts(learner):
        if adaptive_init(&learner.adaptive, rule.eta, rule.forget, rule.naive_bayes,
                         rule.intercept) < 0 or (
                table_init_adaptive(&learner.table, max_features != 0) < 0):
            return -1
    else:
        table_init(&learner.table, average, half_life, pocket, rule_keeps(&rule),
                   learner.answer == ANSWER_LABELS, max_features != 0)
        if learner.answer != ANSWER_LABELS and table_add_outputs(&learner.table, 1) < 0:
            return -1
    if hash_bits and table_reserve_places(
            &learner.table, (<size_t> learner.index.n_slots >> CHUNK_BITS) + 1, True) < 0:
        return -1
    return 0


cdef inline void _resolve(Learner* learner, Event* event, Py_ssize_t n,
                          bint hashed) noexcept nogil:
    cdef Py_ssize_t k = event.n_found
    index_find_all(&learner.index, event.keys + k, n - k, event.hashes + k, event.starts + k,
                   event.slots + k, hashed)
    event.n_found = n


cdef inline void learner_resolve(Learner* learner, Event* event) noexcept nogil:
    """Find the slots of the entries that are not known yet."""
    if event.n_found < event.n_hashed:      # a text, without its pairs
        _resolve(learner, event, event.n_hashed, True)
    if event.n_found < event.n:
        _resolve(learner, event, event.n, False)


cdef inline int _weigh(Learner* learner, Event* event) noexcept nogil:
    """The scores of AdaptiveClassifier, and its verdict."""
    cdef Py_ssize_t n = learner.table.n_outputs
    if (event_reserve_scores(event, KEPT_KINDS, (KEPT_KINDS + 1) * max(n, <Py_ssize_t> 2)) < 0
            or weighed_reserve(&event.weighed, event.n, n + 2) < 0):
        return -1
    event.n_scores = n
    adaptive_answer(&learner.adaptive, &learner.table, event.slots, event.values, event.n,
                    &event.weighed)
    adaptive_decide(&learner.adaptive, &event.weighed, event.scores)
    event.verdicts[KEPT_CURRENT].best = adaptive_best(&learner.adaptive, &event.weighed)
    event.judged = 1 << KEPT_CURRENT
    event.scored_version = learner.version
    return 0


cdef inline void _count_votes(const Learner* learner, Event* event) noexcept nogil:
    """The votes on a scored event, and their verdict; of a kernel the scores, too."""
    cdef Py_ssize_t first = learner.intercept
    cdef double* votes = event.scores + KEPT_VOTE * event.n_scores
    voters_count(&learner.voters, event.slots + first, event.values + first, event.n - first,
                 &event.ballot, event.n_scores, event.scores, votes)
    event.verdicts[KEPT_VOTE] = verdict_of(
        votes, event.n_scores, learner_several(learner), &learner.two)
    event.judged |= 1 << KEPT_VOTE


cdef inline int learner_score(Learner* learner, Event* event) noexcept nogil:
    """Fill event.scores[kind * n_scores + choice], with room for one more kind. -1 without memory,
    or if its features cannot be paired: event.unfit says why.
    """
    cdef bint candidates = learner.answer == ANSWER_CANDIDATES
    cdef Py_ssize_t i, first, n = event.n_candidates if candidates else learner.table.n_outputs
    if learner.pairs != NULL and not event.paired and pairs_write(learner.pairs, event) < 0:
        return -1
    if event.scored_version == learner.version:
        return 0
    learner_resolve(learner, event)
    if learner_adapts(learner):
        return _weigh(learner, event)
    if event_reserve_scores(event, KEPT_KINDS, (KEPT_KINDS + 1) * max(n, <Py_ssize_t> 2)) < 0:
        return -1
    event.n_scores = n
    if learner_votes(learner) and ballot_reserve(&event.ballot, &learner.voters) < 0:
        return -1
    for i in range(n if candidates else 1 if learner.voters.degree == 1 else 0):
        first = event_first(event, i)
        table_scores(&learner.table, event.slots + first, event.values + first,
                     event_last(event, i) - first, n, event.scores + i)
    event.judged = 0
    event.scored_version = learner.version
    if learner_votes(learner) and learner.voters.degree > 1:
        _count_votes(learner, event)
    return 0


cdef inline int learner_score_row(Learner* learner, Event* event,
                                  const Entries* entries) noexcept nogil:
    """The same for one output and a matrix's row, read in place: entries of columns, without the
    intercept. Only the scores of the event are written.
    """
    if event_reserve_scores(event, KEPT_KINDS, KEPT_KINDS + 1) < 0:
        return -1
    table_scores_through(&learner.table, entries, learner.intercept, event.scores)
    event.n_scores = 1
    event.judged = 0
    event.scored_version = learner.version
    return 0


cdef inline const double* learner_decision(const Learner* learner, const Event* event,
                                           int kind) noexcept nogil:
    """The scores of one kept vector on a scored event, one for each choice."""
    return event.scores + kind * event.n_scores


cdef inline const Verdict* learner_verdict(const Learner* learner, Event* event,
                                           int kind) noexcept nogil:
    """What one kept vector says of a scored event."""
    if learner_votes(learner) and kind == KEPT_VOTE and not event.judged >> kind & 1:
        _count_votes(learner, event)
    if not event.judged >> kind & 1:
        event.verdicts[kind] = verdict_of(
            learner_decision(learner, event, kind), event.n_scores, learner_several(learner),
            &learner.two)
        event.judged |= 1 << kind
    return &event.verdicts[kind]


cdef inline void learner_judge(const Learner* learner, Event* event) noexcept nogil:
    """What each kept vector says of it."""
    cdef int kind
    for kind in range(KEPT_KINDS):
        if table_keeps(&learner.table, kind):
            learner_verdict(learner, event, kind)


cdef struct Answer:
    int kind                    # the kept vector that gives it
    const Verdict* verdict


cdef inline Answer learner_answer(const Learner* learner, Event* event) noexcept nogil:
    """Who answers a scored event, and what."""
    cdef Answer answer
    if learner.serve.mode == SERVE_BEST and learner.serve.rival != KEPT_CURRENT:
        learner_verdict(learner, event, KEPT_CURRENT)
        learner_verdict(learner, event, learner.serve.rival)
    answer.kind = serve_kind(&learner.serve, event.verdicts)
    answer.verdict = learner_verdict(learner, event, answer.kind)
    return answer


cdef inline void learner_probabilities(const Learner* learner, const Event* event, Answer answer,
                                       double* p) noexcept nogil:
    """p[choice] of an answered event; with one output, of each label there is."""
    cdef int kind = answer.kind
    cdef double sure
    cdef const double* scores = learner_decision(learner, event, kind)
    if learner_adapts(learner):
        adaptive_probabilities(&learner.adaptive, &event.weighed, p)
    elif learner_several(learner):
        calibrate_many(&learner.fits[kind], &learner.serve.scale[kind], answer.verdict.top, scores,
                       event.n_scores, p)
    elif learner.two.n == 2:
        sure = calibrate_two(&learner.fits[kind], &learner.serve.scale[kind], scores[0])
        p[learner.two.positive] = sure
        p[1 - learner.two.positive] = 1.0 - sure
    elif learner.two.n == 1:
        p[0] = 1.0


cdef inline bint _is_wrong(const Learner* learner, double score, Py_ssize_t y) noexcept nogil:
    """Whether one output's score means another label than y; never before the first label."""
    cdef Py_ssize_t answer = two_labels_answer(&learner.two, score)
    return answer >= 0 and answer != y


cdef inline void _watch_two(Learner* learner, const double* scores, Py_ssize_t y) noexcept nogil:
    """Before the event is learned: who would have been right, and how sure? For one output."""
    cdef Serve* serve = &learner.serve
    cdef int first = KEPT_CURRENT if serve.mode == SERVE_BEST else serve.mode
    cdef int rival = serve.rival
    cdef bint wrong = _is_wrong(learner, scores[KEPT_CURRENT], y)
    cdef bint side = two_labels_side(&learner.two, y)
    cdef bint votes = learner_votes(learner)
    cdef bint due = calibrate_due(learner.n_seen, VOTES_DUE if votes else 1)
    cdef bint fresh = calibrate_due(learner.n_seen, 5)
    learner.n_mistakes += wrong
    if rival != KEPT_CURRENT:
        serve_learn(serve, serve_context(serve, fabs(scores[KEPT_CURRENT]), fabs(scores[rival])),
                    wrong, _is_wrong(learner, scores[rival], y))
        if due:
            calibrate_two_learn(&learner.fits[rival], &serve.scale[rival], scores[rival], side,
                                fresh)
        scale_update(&serve.scale[rival], fabs(scores[rival]))
    if due:
        calibrate_two_learn(&learner.fits[first], &serve.scale[first], scores[first], side, fresh)
    if due or not votes:
        scale_update(&serve.scale[first], fabs(scores[first]))
    if table_keeps(&learner.table, KEPT_POCKET) and serve_challenge(
            serve, wrong, _is_wrong(learner, scores[KEPT_POCKET], y)):
        table_snapshot(&learner.table)


cdef inline void _watch_many(Learner* learner, const Event* event, Py_ssize_t y) noexcept nogil:
    """The same for any number of choices; event.n_scores of them when the event was judged."""
    cdef Py_ssize_t n = event.n_scores
    cdef Serve* serve = &learner.serve
    cdef const Verdict* verdict
    cdef const double* scores
    cdef bint wrong[KEPT_KINDS]
    cdef int kind
    cdef bint votes = learner_votes(learner)
    cdef bint due = calibrate_due(learner.n_seen, VOTES_DUE if votes else 3)
    for kind in range(KEPT_KINDS):
        if table_keeps(&learner.table, kind):
            verdict = &event.verdicts[kind]
            # without a label there is no prediction, and no mistake
            wrong[kind] = verdict.best != y and verdict.best >= 0
    learner.n_mistakes += wrong[KEPT_CURRENT]
    if serve.rival != KEPT_CURRENT:
        serve_learn(
            serve, serve_context(serve, event.verdicts[KEPT_CURRENT].margin,
                                 event.verdicts[serve.rival].margin),
            wrong[KEPT_CURRENT], wrong[serve.rival])
    for kind in range(KEPT_KINDS):
        if n >= 2 and serve_can_answer(serve, kind) and (due or not votes):
            verdict = &event.verdicts[kind]
            scores = event.scores + kind * n
            if due and y < n:
                calibrate_many_learn(&learner.fits[kind], &serve.scale[kind], verdict.top, scores,
                                     n, y)
            scale_update(&serve.scale[kind], verdict.size)
    if table_keeps(&learner.table, KEPT_POCKET) and serve_challenge(
            serve, wrong[KEPT_CURRENT], wrong[KEPT_POCKET]):
        table_snapshot(&learner.table)


cdef inline int _insert_missing(Learner* learner, Event* event, Py_ssize_t first, Py_ssize_t last,
                                bint* ticked) noexcept nogil:
    """Slots for the entries from first to last, not included. Returns -1 without memory."""
    cdef Py_ssize_t i
    if index_is_limited(&learner.index):
        return ceiling_insert(&learner.ceiling, &learner.index, &learner.table, event, first, last,
                              ticked)
    for i in range(first, last):
        if event.slots[i] == SLOT_NULL:
            # looked up again, for the event may name a feature twice
            event.slots[i] = index_find(&learner.index, &event.keys[i], event.hashes[i])
            if event.slots[i] == SLOT_NULL:
                event.slots[i] = index_insert(&learner.index, &event.keys[i], event.hashes[i])
                if event.slots[i] == SLOT_NULL:
                    return -1
    return 0


cdef inline void _watch(Learner* learner, const Event* event, Py_ssize_t y) noexcept nogil:
    if learner_several(learner):
        _watch_many(learner, event, y)
    else:
        _watch_two(learner, event.scores, y)
    learner.n_seen += 1


cdef inline void _add(Learner* learner, const Event* event) noexcept nogil:
    """Take the event's step, but for the features that the ceiling has refused a slot."""
    cdef const Step* step = &event.step
    cdef Entries entries
    cdef Py_ssize_t first = event_first(event, step.event), end = event_last(event, step.event)
    cdef Py_ssize_t last = end
    if learner.voters.degree > 1:       # a kernel has no weights
        return
    while first < end:
        if index_is_limited(&learner.index):
            last = first
            while last < end and event.slots[last] != SLOT_NULL:
                last += 1
        entries = entries_of(event.slots + first, event.values + first, last - first)
        table_add(&learner.table, &entries, False, step.moves, step.n, step.r)
        first = last + 1


cdef inline int _make_room(Learner* learner, Event* event) noexcept nogil:
    """Slots for the features that the step moves, and memory to write them. -1 without it."""
    cdef const Step* step = &event.step
    cdef Py_ssize_t first = event_first(event, step.event)
    cdef Py_ssize_t n = event_last(event, step.event) - first
    cdef Py_ssize_t own = first + learner.intercept     # votes count it apart
    cdef bint ticked = False
    if step.n and _insert_missing(learner, event, first, first + n, &ticked) < 0:
        return -1
    if learner_votes(learner) and voters_write(
            &learner.voters, event.slots + own, event.values + own, event.n - own, step,
            learner.table.n_outputs) < 0:
        return -1
    if step.n == 0 or learner.voters.degree > 1 or table_reserve(
            &learner.table, event.slots + first, n, learner.index.n_slots, step.moves,
            step.n) == 0:
        return 0
    if learner_votes(learner):
        mentions_take_back(&learner.voters, event.slots + own, event.n - own)
    return -1


cdef inline bint _has_new(const Event* event) noexcept nogil:
    """Whether there are entries without a slot. No branch, so that several are looked at at once.
    """
    cdef Py_ssize_t i
    cdef bint new = False
    for i in range(event.n):
        new |= event.slots[i] == SLOT_NULL
    return new


cdef inline int _prepare_adaptive(Learner* learner, Event* event, Py_ssize_t y) noexcept nogil:
    """The same as _prepare; but every event of weight above 0 is counted, even without a step."""
    cdef Adaptive* adaptive = &learner.adaptive
    cdef Table* table = &learner.table
    cdef bint ticked = False
    if (index_is_limited(&learner.index) or _has_new(event)) and (
            _insert_missing(learner, event, 0, event.n, &ticked) < 0):
        return -1
    if adaptive_room(adaptive, y + 1) < 0:
        return -1
    if y == adaptive.n_labels and y >= 2 and table_add_outputs(table, 2 if y == 2 else 1) < 0:
        return -1
    return table_reserve_blocks(table, event.slots, event.n, learner.index.n_slots,
                                event.weighed.blocks, adaptive_blocks(table, &event.weighed, y))


cdef inline int _prepare(Learner* learner, Event* event, Py_ssize_t y, double u) noexcept nogil:
    """All that can fail: slots for new features, an output for a new label, chunks for the step."""
    cdef Table* table = &learner.table
    if learner_adapts(learner):
        return _prepare_adaptive(learner, event, y) if u != 0.0 else 0
    if learner.answer == ANSWER_LABELS and y == table.n_outputs and table_add_outputs(table, 1) < 0:
        return -1
    return _make_room(learner, event)


cdef inline void _take_adaptive(Learner* learner, Event* event, Py_ssize_t y,
                                double u) noexcept nogil:
    """Count the answer, and learn what has been prepared."""
    cdef Py_ssize_t best = event.verdicts[KEPT_CURRENT].best
    learner.n_seen += 1
    learner.n_mistakes += best >= 0 and best != y
    if u == 0.0:
        return
    learner.n_updates += event.weighed.n_strides > 0
    adaptive_learn(&learner.adaptive, &learner.table, event.slots, event.values, event.n,
                   &event.weighed, y, u)
    if learner.adaptive.n_labels <= 2:
        two_labels_meet(&learner.two, y)
    else:
        learner.answer = ANSWER_LABELS


cdef inline void _take(Learner* learner, const Event* event, const Entries* row,
                       Py_ssize_t y, double u) noexcept nogil:
    """Judge who answers, and take the step; `row`: what was scored in place, or NULL."""
    _watch(learner, event, y)
    if learner.answer == ANSWER_PAIR:
        two_labels_meet(&learner.two, y)
    if learner_votes(learner):
        voters_take(&learner.voters, event.slots + learner.intercept,
                    event.n - learner.intercept, &event.step, u)
    if event.step.n:
        learner.n_updates += 1
        if row == NULL:
            _add(learner, event)
        else:
            table_add(&learner.table, row, learner.intercept, event.step.moves, 1, event.step.r)
    table_tick(&learner.table)


cdef inline void _undo(Learner* learner, Event* event, const IndexMark* mark) noexcept nogil:
    """The event's new features are unknown again, and the next event is not compared with it."""
    index_rewind(&learner.index, mark)
    event.n_found = learner.intercept   # slots that it has been given are not there
    event.n_known = 0
    event.scored_version = 0


cdef inline int _commit(Learner* learner, Event* event, Py_ssize_t y, double u) noexcept nogil:
    cdef Table* table = &learner.table
    cdef Py_ssize_t n_outputs = table.n_outputs     # before a new label
    cdef IndexMark mark = index_mark(&learner.index)
    cdef Ceiling ceiling = learner.ceiling
    if _prepare(learner, event, y, u) < 0:
        table.n_outputs = n_outputs
        ceiling_rewind(&learner.ceiling, &ceiling, &learner.index, event)
        _undo(learner, event, &mark)
        return -1

    # from here on nothing can fail
    if index_is_limited(&learner.index):
        ceiling_settle(&learner.ceiling, &learner.index, table, event)
    if learner_adapts(learner):
        _take_adaptive(learner, event, y, u)
    else:
        _take(learner, event, NULL, y, u)
    if event.n_candidates and event.step.n:
        event.n_found = 0           # some of the candidates' features may have slots only now
    learner.version += 1
    return 0


# --- A third label for two that have had one output

cdef inline int _split(Learner* learner) noexcept nogil:
    """Give each of two labels an output; no answer changes. -1 without memory, and no change.

    The old table is kept until the third label has been learned (_split_end).
    """
    cdef Table* before = <Table*> malloc(sizeof(Table))
    if before == NULL:
        return -1
    before[0] = learner.table
    if table_split(&learner.table, before, learner.two.positive) < 0 or (
            learner_votes(learner)
            and voters_split(&learner.voters, learner.two.positive) < 0):
        table_free(&learner.table)
        learner.table = before[0]
        free(before)
        return -1
    learner.before = before
    learner.answer = ANSWER_LABELS
    learner.version += 1
    return 0


cdef inline void _split_end(Learner* learner, Event* event, bint failed) noexcept nogil:
    """Drop the old form once the third label is learned; `failed`: go back to it."""
    cdef Table split = learner.table
    cdef int kind
    if failed:
        learner.table = learner.before[0]
        learner.answer = ANSWER_PAIR
        if learner_votes(learner):
            voters_unsplit(&learner.voters, learner.two.positive)
        learner.version += 1
        event.scored_version = 0
        table_free(&split)
    else:
        for kind in range(KEPT_KINDS):
            calibrator_split(&learner.fits[kind])
        table_free(learner.before)
    free(learner.before)
    learner.before = NULL


cdef inline int learner_commit(Learner* learner, Event* event, Py_ssize_t y,
                               double u) noexcept nogil:
    """Learn the label y of a scored event by the step that the rule has chosen.

    Returns -1 without memory; nothing has changed then.
    """
    cdef int failed = _commit(learner, event, y, u)
    if learner.before != NULL:
        _split_end(learner, event, failed)
    return failed


cdef inline int learner_admit(Learner* learner, Event* event) noexcept nogil:
    """See that the features of an event can be written, for one output and without a ceiling.

    Returns -1 without memory; nothing has changed then.
    """
    cdef IndexMark mark = index_mark(&learner.index)
    cdef bint ticked = False
    cdef Move move
    move.output = 0
    if _insert_missing(learner, event, 0, event.n, &ticked) < 0 or table_reserve(
            &learner.table, event.slots, event.n, learner.index.n_slots, &move, 1) < 0:
        _undo(learner, event, &mark)
        return -1
    return 0


cdef inline void learner_commit_row(Learner* learner, const Event* event, const Entries* entries,
                                    Py_ssize_t y) noexcept nogil:
    """As learner_commit, for one output and a row scored in place whose features all have weights.
    """
    _take(learner, event, entries, y, 1.0)
    learner.version += 1


cdef inline int _draw_difference(const Learner* learner, Event* event, double u) noexcept nogil:
    """Make one move of two candidates that move apart: by their difference. -1 without memory."""
    cdef Step* step = &event.step
    cdef Move* move = &step.moves[0]
    cdef bint right = move.a <= 0.0     # which of the two moves is the right choice's
    cdef Py_ssize_t n = event_difference(
        event, step.moves[right].output, step.moves[not right].output)
    if n < 0:
        return -1
    step.n = n > 0                  # of candidates that are alike nothing can be learned
    step.event = event.n_candidates
    move.output = 0
    move.a = fabs(move.a)
    move.second = squares(event.values + event.n, n, False)
    if n:
        rule_settle(&learner.rule, u, step)
    return 0


cdef inline int learner_step(Learner* learner, Event* event, const Entries* row, bint intercept,
                             Py_ssize_t y, double u) noexcept nogil:
    """Judge a scored event, and let the rule fill event.step. Returns -1 without memory.

    `row`: one scored in place (learner_score_row), but not with a third label; NULL: the
    event's own entries. `intercept`: as in table_add.
    """
    cdef Entries own
    cdef Step* step = &event.step
    if learner_adapts(learner):
        adaptive_aim(&learner.adaptive, &event.weighed, y, u)
        return 0
    if step_reserve(step, event.n_scores + 2) < 0:
        return -1
    if learner.answer == ANSWER_PAIR and y > 1:
        if _split(learner) < 0:
            return -1
        if learner_score(learner, event) < 0:
            _split_end(learner, event, True)
            return -1
    if learner_several(learner):
        learner_judge(learner, event)
    if learner_votes(learner) and calibrate_due(learner.n_seen, VOTES_DUE):
        learner_verdict(learner, event, KEPT_VOTE)
    step_begin(step)
    if not learner_several(learner):
        y = two_labels_side(&learner.two, y)
    if row == NULL:
        own = entries_of(event.slots, event.values, event.n)
        row = &own
    rule_step(&learner.rule, learner.answer, event.scores, event.n_scores, y, u, row.x, row.n,
              intercept, step)
    if step.n and learner.answer == ANSWER_CANDIDATES:
        return _draw_difference(learner, event, u)
    if step.n and learner.table.layout.keep != KEEP_NONE:
        table_second(&learner.table, row, intercept, step.moves, step.n)
        rule_settle(&learner.rule, u, step)
    return 0


cdef inline int learner_learn(Learner* learner, Event* event, Py_ssize_t y,
                              double u) noexcept nogil:
    """Learn the label y, with sample weight times class weight u. Returns -1 without memory."""
    if learner_score(learner, event) < 0 or (
            learner_step(learner, event, NULL, False, y, u) < 0):
        return -1
    return learner_commit(learner, event, y, u)
