"""The plain-Python twin of merging: what several twins make of one feature, said slowly.

A feature's row is all that is kept of it, for all labels. T are the models whose row differs from
the base's; the others abstain. n_k are the events that model k has seen since the base, N their
sum. Sums start at 0.0 and run in the models' order.
"""

import copy
import math

from tests.twin import labels
from tests.twin.adaptive import AdaptiveClassifier, Column
from tests.twin.arithmetic import float32
from tests.twin.learners import AROW, INTERCEPT
from tests.twin.serving import Best, MulticlassCalibrator, Pocket


def merge(models, since=None, untrained=None):
    """One twin of several. `untrained`: what stands for a base where they have none in common."""
    if since is not None:
        models = [model for model in models if model.n_seen > since.n_seen]
        if not models:
            return copy.deepcopy(since)
    if len(models) == 1:
        return copy.deepcopy(models[0])
    base = untrained if since is None else since
    if isinstance(base, labels.MultiLabelClassifier):
        return mixed_sets(models, base)
    return (mixed_adaptive if isinstance(base, AdaptiveClassifier) else mixed)(models, base)


def since_base(model, base):
    return float(model.n_seen - base.n_seen)


def added(models, base, name):
    return getattr(base, name) + sum(getattr(m, name) - getattr(base, name) for m in models)


def mean(weights, numbers):
    """The mean of numbers that count as often as the weights say."""
    total = all_weights = 0.0
    for weight in weights:
        all_weights += weight
    for weight, number in zip(weights, numbers, strict=True):
        total += weight / all_weights * number
    return total


# --- Perceptrons and AROW: vectors by output

VECTORS = ("w", "u", "exponential", "pocketed", "q")


def mixed(models, base):
    to = copy.deepcopy(base)
    unite_labels(to, models)
    models, base = [seen_as(to, m) for m in models], seen_as(to, base)
    n = [since_base(m, base) for m in models]
    N = math.fsum(n)
    for name in ("n_seen", "n_updates", "n_mistakes"):
        setattr(to, name, added(models, base, name))
    to.c = base.c + N
    mix_serving(to, models, n)
    holder = max(models, key=lambda m: m.pocket_rule.record)  # the first of equals
    to.pocket_rule = Pocket()
    to.pocket_rule.record = holder.pocket_rule.record

    to.slots = dict.fromkeys(f for m in [base, *models] for f in m.ceiling.places)
    for output in to.w:
        for name in VECTORS:
            getattr(to, name, {}).setdefault(output, {})
    for feature in [INTERCEPT, *to.slots]:
        T = [k for k, m in enumerate(models) if touched(m, base, feature)]
        for output in to.w if T else ():
            mix_row(to, base, [models[k] for k in T], [n[k] for k in T], N, output, feature)
            to.pocketed[output][feature] = holder.pocketed[output].get(feature, 0.0)
    mix_ceiling(to, models, base)
    return to


def number(model, name, output, feature):
    return getattr(model, name, {}).get(output, {}).get(feature, 0.0)


def touched(model, base, feature):
    """Whether a model's row differs from the base's; what it has let go says nothing."""
    if feature is not INTERCEPT and feature not in model.slots:
        return False
    # u is there with every average; without one nobody would see it
    kept = (
        {"none": ("w",)}.get(model.average, ("w", "u")) if not hasattr(model, "q") else ("w", "q")
    )
    return any(
        number(model, name, output, feature) != number(base, name, output, feature)
        for name in kept
        for output in model.w
    )


def mix_row(to, base, models, n, N, output, feature):
    """One weight of a row that these models have touched."""
    w0, u0 = (number(base, name, output, feature) for name in ("w", "u"))
    ws = [number(m, "w", output, feature) for m in models]
    seen = total = sums = averages = 0.0
    S0 = base.c * w0 - u0
    for m, w, n_k in zip(models, ws, n, strict=True):
        total += w
        seen += n_k
        sums += (m.c * w - number(m, "u", output, feature)) - S0
        averages += n_k * number(m, "exponential", output, feature)
    w = ws[0] if len(models) == 1 else total / len(models)
    if isinstance(base, AROW):
        w = mix_precise(to, base, models, output, feature, ws, w0)
    to.w[output][feature] = w
    to.u[output][feature] = to.c * w - (S0 + (N * sums) / seen) if seen else 0.0
    to.exponential[output][feature] = averages / seen if seen else w


def mix_precise(to, base, models, output, feature, ws, w0):
    """q gains the mean of what it gained; w goes the mean of the ways, weighted by these gains."""
    q0 = number(base, "q", output, feature)
    qs = [number(m, "q", output, feature) for m in models]
    if len(models) == 1:
        to.q[output][feature] = qs[0]
        return ws[0]
    gains = ways = total = 0.0
    for w_k, q_k in zip(ws, qs, strict=True):
        gains += q_k - q0
        ways += (q_k - q0) * (w_k - w0)
        total += w_k
    to.q[output][feature] = q0 + gains / len(models)
    return w0 + ways / gains if gains > 0 else total / len(models)


# --- Labels


def unite_labels(to, models):
    """The base's labels, then each model's new ones."""
    if isinstance(to, AROW):
        united = list(dict.fromkeys([*to.labels, *(y for m in models for y in m.labels)]))
        if united and not to.labels:
            to.positive = 0 if united[0] == True else 1  # noqa: E712
        to.labels = united
        to.two = len(united) <= 2
        if not to.two:
            to.w = {label: {} for label in united}
        to.calibrators["current"] = to.calibrator() if to.two else MulticlassCalibrator()
        return
    for m in models:
        for output in m.w:
            if output not in to.w:
                to.add_output(output)


def seen_as(to, model):
    """A model whose outputs are those of the merged one."""
    model = copy.deepcopy(model)
    if isinstance(model, AROW) and model.two:
        w, q = model.w.pop(True), model.q.pop(True)
        fit = model.calibrators["current"]
        if to.two:
            sides = {True: 1.0}
            if model.labels:
                ours = to.labels.index(model.labels[0]) == to.positive
                sides = {True: 1.0 if ours == (model.positive == 0) else -1.0}
            fit.B *= sides[True]
        else:
            sides = {
                label: 1.0 if k == model.positive else -1.0 for k, label in enumerate(model.labels)
            }
            many = MulticlassCalibrator()
            many.beta = max(0.5 * fit.A, 0.015625)
            model.calibrators["current"] = many
        for output, sign in sides.items():
            model.w[output] = {feature: sign * weight for feature, weight in w.items()}
            model.q[output] = dict(q)
    for output in to.w:
        for name in VECTORS:
            getattr(model, name, {}).setdefault(output, {})
    return model


def mix_serving(to, models, n):
    """Scales, calibrators and tallies are means by events; who leads is put to the vote."""
    to.best = Best()
    if any(n):
        theirs = [m.best for m in models]
        to.best.T = [[mean(n, [b.T[k][c] for b in theirs]) for c in (0, 1)] for k in (0, 1)]
        to.best.G = [mean(n, [b.G[k] for b in theirs]) for k in (0, 1)]
        to.best.lead = [int(mean(n, [b.lead[c] for b in theirs]) > 0.5) for c in (0, 1)]
    for kind in to.contestants:
        for what in (to.scales, to.calibrators):
            for name in vars(what[kind]) if any(n) else ():
                theirs = [vars(getattr(m, what_of(to, what))[kind])[name] for m in models]
                setattr(what[kind], name, mean(n, theirs))


def what_of(to, what):
    return "scales" if what is to.scales else "calibrators"


# --- A ceiling


def mix_ceiling(to, models, base):
    """The names that a model still has; of too many those of the largest size^2 / age."""
    if to.ceiling.max_features is None:
        to.ceiling.places = list(to.slots)
        return
    to.ceiling.clock = base.ceiling.clock + sum(
        m.ceiling.clock - base.ceiling.clock for m in models
    )
    to.ceiling.n_evicted = base.ceiling.n_evicted + sum(
        m.ceiling.n_evicted - base.ceiling.n_evicted for m in models
    )
    ages = {
        feature: min(
            m.ceiling.clock - m.ceiling.seen[feature] for m in models if feature in m.slots
        )
        for feature in to.slots
        if any(feature in m.slots for m in models)
    }
    losses = {f: to.size(f) * to.size(f) / (1.0 + age) for f, age in ages.items()}
    stay = sorted(ages, key=lambda feature: -losses[feature])[: to.ceiling.max_features]
    to.ceiling.n_evicted += len(ages) - len(stay)
    for feature in [feature for feature in to.slots if feature not in stay]:
        to.forget(feature)
    to.ceiling.places = list(to.slots)
    to.ceiling.seen = {feature: to.ceiling.clock - ages[feature] for feature in to.slots}
    to.ceiling.hand = base.ceiling.hand if base.ceiling.hand < len(to.slots) else 0


# --- AdaptiveClassifier: counts add up


def mixed_adaptive(models, base):
    to = copy.deepcopy(base)
    for label in [label for m in [base, *models] for label in m.labels]:
        if label not in to.place:
            to.meet(label)
    n = [since_base(m, base) for m in models]
    models, base = [places_as(to, m) for m in models], places_as(to, base)
    for name in ("n_seen", "n_updates", "n_mistakes"):
        setattr(to, name, added(models, base, name))
    to.T = base.T
    nm = base.nm
    for m in models:
        to.T += m.T - base.T
        nm += m.nm - base.nm
    to.nm = min(max(nm, 0.0), 1024.0)
    to.m = mixed_usual_odds(to, models, n)
    tau, to.Gtau = mixed_weight(base.tau, base.Gtau, [(m.tau, m.Gtau) for m in models])
    to.tau = min(max(tau, 0.2), 5.0)
    if to.watch:
        each = zip(*[m.watch.numbers for m in models], strict=True)
        to.watch.numbers = [mean(n, numbers) for numbers in each]
    for place in range(to.n_places):
        D = base.D.get(place, 0.0)
        for m in models:
            D += m.D.get(place, 0.0) - base.D.get(place, 0.0)
        to.D[place] = D
    for k in to.outputs:
        to.w0[k], to.G0[k] = mixed_weight(
            base.w0.get(k, 0.0),
            base.G0.get(k, 0.0),
            [(m.w0[k], m.G0[k]) for m in models if k in m.w0],
        )
    to.wn, to.Gn = mixed_weight(base.wn, base.Gn, [(m.wn, m.Gn) for m in models])
    for feature in dict.fromkeys(f for m in [base, *models] for f in m.slots):
        T = [m for m in models if feature in m.slots and row(m, feature) != row(base, feature)]
        if len(T) == 1:
            to.slots[feature] = only_told(to, copy.deepcopy(T[0].slots[feature]))
        elif T:
            to.slots[feature] = mixed_slot(to, base.slot(feature), [m.slots[feature] for m in T])
        else:
            to.slots[feature] = copy.deepcopy(base.slot(feature))
    to.ceiling.places = list(to.slots)
    to.find_columns()
    return to


def mixed_usual_odds(to, models, n):
    """m. Of more than two labels it is of those alone that know what it is: nm is 0 of others."""
    if not to.two and any(m.nm > 0 for m in models):
        n = [n_k if m.nm > 0 else 0.0 for n_k, m in zip(n, models, strict=True)]
    return mean(n, [m.m for m in models])


def only_told(to, slot):
    """A slot; if there are more than two labels, without entries that say nothing."""
    if not to.two:
        slot.sift()
        if slot.column:
            slot.column.sift()
    return slot


def row(model, feature):
    slot = model.slots.get(feature)
    return slot and vars(slot)


def places_as(to, model):
    """A model whose labels have the merged one's places, and outputs likewise."""
    model = copy.deepcopy(model)
    places = {place: to.place[label] for label, place in model.place.items()}
    if to.two:
        first = next(iter(places), None)
        same = first is None or (first == model.positive) == (places[first] == to.positive)
        sides = {1: (1, 1.0 if same else -1.0)}
    else:
        if model.two:
            model.split()
        sides = {places[k]: (k, 1.0) for k in places}
    for slot in model.slots.values():
        slot.c = {places[k]: c for k, c in slot.c.items() if k in places}
        if slot.column:
            slot.column.e = {places[k]: e for k, e in slot.column.e.items() if k in places}
        w, G = slot.w, slot.G
        slot.w = {k: float32(sign * w[o]) for k, (o, sign) in sides.items() if o in w}
        slot.G = {k: G[o] for k, (o, sign) in sides.items() if o in G}
    model.D = {places[k]: D for k, D in model.D.items() if k in places}
    w0, G0 = model.w0, model.G0
    model.w0 = {k: sign * w0[o] for k, (o, sign) in sides.items()}
    model.G0 = {k: G0[o] for k, (o, _) in sides.items()}
    return model


def mixed_weight(w0, G0, others):
    """w goes the mean of the ways from w0, weighted by what G has gained; G gains the mean."""
    gains = way = plain = 0.0
    for w, G in others:
        gain = max(G - G0, 0.0)
        gains += gain
        way += gain * (w - w0)
        plain += w - w0
    if not others:
        return w0, G0
    return w0 + (way / gains if gains > 0 else plain / len(others)), G0 + gains / len(others)


def mixed_slot(to, base, slots):
    slot = copy.deepcopy(base)
    # what was halved since the base is doubled again, so that gains can be added
    times = []
    for its in slots:
        by = 1.0
        while 0 < its.cnt * by < base.cnt:
            by *= 2.0
        times.append(by)
    cnt, ax = base.cnt, base.s * base.cnt
    for its, by in zip(slots, times, strict=True):
        cnt += its.cnt * by - base.cnt
        ax += its.s * (its.cnt * by) - base.s * base.cnt
        slot.negative = slot.negative or its.negative
    halved = to.halved(cnt, any(its.cnt >= to.always for its in [base, *slots]))
    alike = {its.s for its in slots} | ({base.s} if base.cnt else set())
    slot.s = slots[0].s if len(alike) == 1 or cnt <= 0 else ax / cnt
    slot.cnt = float32(cnt * halved)
    for place in range(to.n_places):
        c0 = base.c.get(place, 0.0)
        c = c0
        for its, by in zip(slots, times, strict=True):
            c += its.c.get(place, 0.0) * by - c0
        slot.c[place] = float32(c * halved)
    for k in to.outputs:
        w, G = mixed_weight(
            base.w.get(k, 0.0),
            base.G.get(k, 0.0),
            [(its.w.get(k, 0.0), its.G.get(k, 0.0)) for its in slots],
        )
        slot.w[k], slot.G[k] = float32(w), float32(G)
    slot.column = mixed_column(to, base.column, [its.column for its in slots])
    only_told(to, slot)
    slot.om = float32(to.weight_by_chi2(slot))
    return slot


def mixed_column(to, base, columns):
    """n, since and e gain what each has gained, or all of a column that has begun anew.

    Mean and variance are those of the models, by how many values they have seen.
    """
    gains, sinces, pasts = [], [], []
    for its in columns:
        on = base and its and its.since >= base.since
        pasts.append(base if on else None)
        gains.append(max((its.n - base.n if on else its.n) if its else 0.0, 0.0))
        sinces.append((its.since - base.since if on else its.since) if its else 0.0)
    start = base if any(pasts) else None
    column = Column(0.0)
    column.n, column.since = (start.n, start.since) if start else (0.0, 0.0)
    total = 0.0
    for gain in gains:
        total += gain
    for its, gain, since in zip(columns, gains, sinces, strict=True):
        column.since += since
        column.n += gain
        if its and total > 0:
            column.a += gain / total * its.a
    for its, gain in zip(columns, gains, strict=True):
        if gain > 0:
            way = its.a - column.a
            column.b += gain / total * (its.b + way * way)
    known = [its for its in columns if its]
    if known and total == 0:
        column.a, column.b = known[0].a, known[0].b
    if not known or 4.0 * column.n < column.since + 1.0:
        return None
    halved = 1.0
    while column.since * halved >= to.most:
        halved *= 0.5
    column.since *= halved
    column.n *= halved
    for place in range(to.n_places):
        e = start.e.get(place, 0.0) if start else 0.0
        for its, past in zip(columns, pasts, strict=True):
            if its:
                e += its.e.get(place, 0.0) - (past.e.get(place, 0.0) if past else 0.0)
        column.e[place] = float32(e * halved)
    return column


# --- MultiLabelClassifier: what is known of a label, and of a feature and a label


def mixed_sets(models, base):
    to = copy.deepcopy(base)
    for y in [y for m in models for y in m.labels]:
        if y not in to.place:
            to.place[y] = len(to.kept)
            to.kept.append(labels.Label(0.0, 0.0))
    n = [since_base(m, base) for m in models]
    for name in ("n_seen", "n_updates", "n_mistakes"):
        setattr(to, name, added(models, base, name))
    nm = base.nm
    for m in models:
        to.T += m.T - base.T
        nm += m.nm - base.nm
    to.nm = min(max(nm, 0.0), 1024.0)
    if any(n):
        to.m = mean(n, [m.m for m in models])
        to.positives = mean(n, [m.positives for m in models])
        to.there = [mean(n, each) for each in zip(*[m.there for m in models], strict=True)]
        to.said = [mean(n, each) for each in zip(*[m.said for m in models], strict=True)]
    for y, kept in zip(to.place, to.kept, strict=True):
        D, left = kept.D, kept.left
        theirs = [m.kept[m.place[y]] for m in models if y in m.place]
        for its in theirs:
            kept.D += its.D - D
            kept.left += its.left - left
        for w, G in (("w0", "G0"), ("wn", "Gn")):
            pairs = [(getattr(its, w), getattr(its, G)) for its in theirs]
            mixed_w, mixed_G = mixed_weight(getattr(kept, w), getattr(kept, G), pairs)
            setattr(kept, w, mixed_w)
            setattr(kept, G, mixed_G)
    slots = dict.fromkeys(f for m in [base, *models] for f in m.ceiling.places)
    for f in slots:
        ours = set_row(to, base, f)
        T = [its for m in models if f in m.slots and (its := set_row(to, m, f)) != ours]
        slots[f] = T[0] if len(T) == 1 else mixed_set_row(to, ours, T) if T else ours
    to.slots = {f: set_slot(row) for f, row in slots.items()}
    mix_ceiling(to, models, base)
    return to


def set_row(to, model, feature):
    """(s, negative, cnt, N, {place in the merged model: (c, w, G)})"""
    slot = model.slot(feature)
    place = {k: to.place[y] for y, k in model.place.items()}
    row = {place[k]: (entry.c, entry.w, entry.G) for k, entry in slot.row.items()}
    return slot.s, slot.negative, slot.cnt, slot.N, row


def set_slot(row):
    slot = labels.Slot()
    slot.s, slot.negative, slot.cnt, slot.N, entries = row
    for k, (c, w, G) in sorted(entries.items()):
        slot.row[k] = labels.Entry()
        slot.row[k].c, slot.row[k].w, slot.row[k].G = c, w, G
    return slot


def mixed_set_row(to, base, rows):
    s0, negative, cnt0, N0, entries = base
    times = []
    for _, _, its, _, _ in rows:
        by = 1.0
        while 0 < its * by < cnt0:
            by *= 2.0
        times.append(by)
    cnt, ax, N = cnt0, s0 * cnt0, N0
    for (s, its_negative, its_cnt, its_N, _), by in zip(rows, times, strict=True):
        cnt += its_cnt * by - cnt0
        ax += s * (its_cnt * by) - s0 * cnt0
        N += its_N * by - N0
        negative = negative or its_negative
    halved = to.halved(cnt, any(row[2] >= to.most / 2 for row in [base, *rows]))
    alike = {row[0] for row in rows} | ({s0} if cnt0 else set())
    s = rows[0][0] if len(alike) == 1 or cnt <= 0 else ax / cnt
    mixed = {}
    for k in {k for row in [base, *rows] for k in row[4]}:
        c0, w0, G0 = entries.get(k, (0.0, 0.0, 0.0))
        theirs = [row[4].get(k, (0.0, 0.0, 0.0)) for row in rows]
        c = c0
        for (its, _, _), by in zip(theirs, times, strict=True):
            c += its * by - c0
        w, G = mixed_weight(w0, G0, [(w, G) for _, w, G in theirs])
        mixed[k] = float32(c * halved), float32(w), float32(G)
    return s, negative, float32(cnt * halved), N * halved, mixed
