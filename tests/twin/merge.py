"""The plain-Python twin of merging: what several twins make of one feature, said slowly.

A feature's row is all that is kept of it, for all labels. T are the models whose row differs from
the base's; the others abstain. n_k are the events that model k has seen since the base, N their
sum. Sums start at 0.0 and run in the models' order.
"""

import copy
import math

from tests.twin import labels
from tests.twin.adaptive import AdaptiveClassifier, Column
from tests.twin.arithmetic import MEAN_MOST, float32
from tests.twin.counts import counted, floored, summed, told_apart, unhalved, within
from tests.twin.learners import AROW, INTERCEPT
from tests.twin.serving import Best, MulticlassCalibrator, Pocket
from tests.twin.shapes import Cell, Gate, Surfaces


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
    return counted(getattr(base, name), [getattr(m, name) for m in models])


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
        if not T and to.average == "exponential":
            age(to, N, feature)
    mix_ceiling(to, models, base, to.forget)
    return to


def age(to, N, feature):
    """Let the average of a feature that no model has touched see all events."""
    for output, w in to.w.items():
        now, average = w.get(feature, 0.0), number(to, "exponential", output, feature)
        to.exponential[output][feature] = now + (average - now) * 2.0 ** (-N / to.half_life)


def number(model, name, output, feature):
    return getattr(model, name, {}).get(output, {}).get(feature, 0.0)


def touched(model, base, feature):
    """Whether a model's row differs from the base's; what it has let go says nothing."""
    if feature is not INTERCEPT and feature not in model.slots:
        return False
    # u is there with every average; without one it would not be seen
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
    to.q[output][feature] = max(0.0, q0 + gains / len(models))
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


def mix_ceiling(to, models, base, forget):
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
        forget(feature)
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
    nm = base.nm
    for m in models:
        nm += m.nm - base.nm
    to.nm = min(max(nm, 0.0), 1024.0)
    to.m = mixed_usual_odds(to, models, n)
    to.b = mixed_usual_score(models, base, n)
    tau, to.Gtau = mixed_weight(base.tau, base.Gtau, [(m.tau, m.Gtau) for m in models])
    to.tau = min(max(tau, 0.2), 5.0)
    if to.watch:
        each = zip(*[m.watch.numbers for m in models], strict=True)
        to.watch.numbers = [mean(n, numbers) for numbers in each]
    for label in to.alarms.q:
        knows = [n_k if label in m.place else 0.0 for n_k, m in zip(n, models, strict=True)]
        q = [m.alarms.q[label] for m in models]
        to.alarms.q[label] = mean(knows, q) if any(knows) else base.alarms.q[label]
    mix_events(to, models, base)
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
            gained = [m.T - base.T for m in T]
            slots = [m.slots[feature] for m in T]
            on = [goes_on(m, base, feature) for m in T]
            to.slots[feature] = mixed_slot(to, base.slot(feature), slots, gained, on)
        else:
            to.slots[feature] = copy.deepcopy(base.slot(feature))
    mix_ceiling(to, models, base, to.slots.pop)
    to.find_columns()
    if to.shapes:
        mix_shapes(to, models, base, n)
    return to


def mix_events(to, models, base):
    """T and D. What several took back counts once; T loses what the labels have lost."""
    to.T = added(models, base, "T")
    lost = any(m.T < base.T for m in models)
    T = base.T
    for place in range(to.n_places):
        D, theirs = base.D.get(place, 0.0), [m.D.get(place, 0.0) for m in models]
        lost = lost or min(theirs) < D
        to.D[place] = counted(D, theirs)
        T += to.D[place] - D
    if lost:
        to.T = max(T, 0.0)


def mixed_usual_odds(to, models, n):
    """m. Of more than two labels it is of those alone that know what it is: nm is 0 of others."""
    if not to.two and any(m.nm > 0 for m in models):
        n = [n_k if m.nm > 0 else 0.0 for n_k, m in zip(n, models, strict=True)]
    return mean(n, [m.m for m in models])


def goes_on(model, base, feature):
    """Whether a feature is where the base has it: if not, a ceiling has dropped it since."""
    if model.ceiling.max_features is None or feature not in base.ceiling.places:
        return True
    return model.ceiling.places.index(feature) == base.ceiling.places.index(feature)


def mixed_usual_score(models, base, n):
    """b. It is of those alone that have had more than two labels."""
    n = [0.0 if m.two else n_k for n_k, m in zip(n, models, strict=True)]
    return mean(n, [m.b for m in models]) if any(n) else base.b


def only_told(to, slot):
    """A slot; if there are more than two labels, without entries that say nothing."""
    if not to.two:
        slot.sift()
        if slot.column:
            slot.column.sift()
    return slot


def mix_shapes(to, models, base, n):
    """Hats and cells as features: counts gain what each has gained, w goes by what G has gained.

    Gates do as tau. Parts are those of any model or of the base, if their columns are columns of
    the merged model; a model that has let a part go says nothing of it. A pair is in the order in
    which the merged model has its columns. Columns are chosen anew: those that have a surface
    count as chosen before, however many they are.
    """
    columns = to.shapes.columns(to)
    for m in [base, *models]:
        for layer in m.shapes.layers:
            only_columns(layer, columns)
    theirs = zip(*(m.shapes.layers for m in models), strict=True)
    for layer, before, layers in zip(to.shapes.layers, base.shapes.layers, theirs, strict=True):
        mix_gate(layer.tau, before.tau, [its.tau for its in layers])
        if layer.watch:
            each = zip(*[its.watch.numbers for its in layers], strict=True)
            layer.watch.numbers = [mean(n, numbers) for numbers in each]
        layer.cells, layer.gates = {}, {}
        for part in dict.fromkeys(part for its in [before, *layers] for part in its.gates):
            start = before.gates.get(part, Gate(4.0))
            layer.gates[part] = copy.deepcopy(start)
            known = [its for its in layers if part in its.gates]
            mix_gate(layer.gates[part], start, [its.gates[part] for its in known])
            cells = [its.cells[part] for its in known]
            first = before.cells.get(part, {})
            layer.cells[part] = {
                place: mixed_cell(to, layer, *[its.get(place, Cell()) for its in [first, *cells]])
                for place in sorted({place for its in [first, *cells] for place in its})
            }
    surfaces = to.shapes.surfaces
    if surfaces:
        surfaces.chosen = [a for a in columns if any(a in pair for pair in surfaces.gates)]
        surfaces.n_choices = max(m.shapes.surfaces.n_choices for m in models)
        surfaces.next = 0.0
        surfaces.choose(to, columns, to.shapes.curves, True)


def only_columns(layer, columns):
    """The parts of these columns, pairs in their order: cells turn with the pair."""
    at = {a: place for place, a in enumerate(columns)}
    for part in list(layer.gates):
        cells, gate = layer.cells.pop(part), layer.gates.pop(part)
        pair = isinstance(layer, Surfaces)
        if not (at.keys() >= set(part) if pair else part in at):
            continue
        if pair and at[part[0]] > at[part[1]]:
            part, cells = part[::-1], {place[::-1]: cell for place, cell in cells.items()}
        layer.cells[part], layer.gates[part] = cells, gate


def mix_gate(gate, before, others):
    value, gamma = mixed_weight(
        before.value, before.gamma, [(its.value, its.gamma) for its in others]
    )
    gate.put(value, gamma)


def numbers_of_cell(cell):
    """All of a cell but om, which goes by what else its model has seen."""
    return [{k: number for k, number in its.items() if number} for its in (cell.c, cell.w, cell.G)]


def mixed_cell(to, layer, base, *cells):
    """What several models make of a hat or cell; those that are as the base has it say nothing."""
    cells = [cell for cell in cells if numbers_of_cell(cell) != numbers_of_cell(base)]
    if not cells:
        return copy.deepcopy(base)
    if len(cells) == 1:
        cell = copy.deepcopy(cells[0])
    else:
        cell = Cell()
        for place in range(to.n_places):
            theirs = [its.c.get(place, 0.0) for its in cells]
            c = max(counted(base.c.get(place, 0.0), theirs), 0.0)
            if c > 0:
                cell.c[place] = c
        for k in to.outputs:
            known = [(its.w.get(k, 0.0), its.G.get(k, 0.0)) for its in cells]
            w, G = mixed_weight(base.w.get(k, 0.0), base.G.get(k, 0.0), known)
            if w != 0 or G != 0:
                cell.w[k], cell.G[k] = float32(w), float32(G)
    layer.keep(to, cell)
    return cell


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
    for layer in model.shapes.layers if model.shapes else ():
        for cell in [cell for cells in layer.cells.values() for cell in cells.values()]:
            w, G = cell.w, cell.G
            cell.c = {places[k]: c for k, c in cell.c.items() if k in places}
            cell.w = {k: float32(sign * w[o]) for k, (o, sign) in sides.items() if o in w}
            cell.G = {k: G[o] for k, (o, sign) in sides.items() if o in G}
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


def mixed_slot(to, base, slots, gained, goes_on):
    slot = copy.deepcopy(base)
    for k in to.outputs:
        w, G = mixed_weight(
            base.w.get(k, 0.0),
            base.G.get(k, 0.0),
            [(its.w.get(k, 0.0), its.G.get(k, 0.0)) for its in slots],
        )
        slot.w[k], slot.G[k] = float32(w), float32(G)
    counts = [its.cnt for its in slots]
    times = times_of(to, counts, base.cnt, gained, goes_on)
    lost = [
        on and cnt * by <= base.cnt and since_of(its) <= since_of(base)
        for its, cnt, by, on in zip(slots, counts, times, goes_on, strict=True)
    ]
    kept = told_apart([numbers_of(its) for its in slots], lost)
    slots, gained, times, on = ([each[i] for i in kept] for each in (slots, gained, times, goes_on))
    cnt, most = summed(base.cnt, [its.cnt * by for its, by in zip(slots, times, strict=True)], on)
    sizes = [its.s * (its.cnt * by) for its, by in zip(slots, times, strict=True)]
    ax, _ = summed(base.s * base.cnt, sizes, on)
    slot.negative = slot.negative or any(its.negative for its in slots)
    c = {}
    for place in range(to.n_places):
        theirs = [its.c.get(place, 0.0) * by for its, by in zip(slots, times, strict=True)]
        c[place], _ = summed(base.c.get(place, 0.0), theirs, on)
    cnt = floored(c, cnt, most, slot.negative)
    alike = {its.s for its in slots} | ({base.s} if base.cnt else set())
    slot.s = mixed_mean(slots[0].s, alike, ax, cnt)
    halved = to.halved(cnt, any(its.cnt >= to.always for its in [base, *slots]))
    slot.cnt = float32(cnt * halved)
    slot.c = {place: within(float32(c[place] * halved), slot.cnt) for place in c}
    slot.column = mixed_column(to, base.column, [its.column for its in slots], gained, on)
    only_told(to, slot)
    slot.om = float32(to.weight_by_chi2(slot))
    return slot


def times_of(to, counts, base, gained, goes_on):
    """What was halved since the base is doubled again."""
    return [
        unhalved(cnt, base, more, to.most / 8) if on else 1.0
        for cnt, more, on in zip(counts, gained, goes_on, strict=True)
    ]


def numbers_of(slot):
    """All of a slot but om, which goes by what else its model has seen."""

    def told(by_label):
        return {k: number for k, number in by_label.items() if number != 0}

    column = slot.column
    record = column and (column.a, column.b, column.n, column.since, told(column.e))
    numbers = (slot.s, slot.negative, slot.cnt, record)
    return (*numbers, *(told(by_label) for by_label in (slot.c, slot.w, slot.G)))


def since_of(slot):
    return slot.column.since if slot.column else 0.0


def mixed_mean(first, alike, ax, cnt):
    """The mean of |x|: that of all values, unless it is the same in all models."""
    if len(alike) == 1 or cnt <= 0 or not 0.0 <= ax / cnt <= MEAN_MOST:
        return first
    return ax / cnt


def mixed_column(to, base, columns, gained, goes_on):
    """n, since and e gain what each has gained, or all of a column that has begun anew.

    Mean and variance are those of the models, by how many values they have seen. A column that
    goes on has lost no more events than its model has.
    """
    known, times, pasts, gains = [], [], [], []
    for its, more, on in zip(columns, gained, goes_on, strict=True):
        if not its:
            continue
        by = unhalved(its.since, base.since, more, to.most / 2) if base else 1.0
        grown = its.since * by - base.since if base else 0.0
        on = on and base and (grown >= 0.0 or grown >= more * (1.0 + 2.0**-16))
        known.append(its)
        times.append(by)
        pasts.append(base if on else None)
        gains.append(its.n * by - (base.n if on else 0.0))
    start = base if any(pasts) else None
    column = Column(0.0)
    column.n, column.since = (start.n, start.since) if start else (0.0, 0.0)
    total = 0.0
    for gain in gains:
        total += max(gain, 0.0)
    for its, by, past, gain in zip(known, times, pasts, gains, strict=True):
        column.since += its.since * by - (past.since if past else 0.0)
        column.n += gain
        if total > 0:
            column.a += max(gain, 0.0) / total * its.a
    for its, gain in zip(known, gains, strict=True):
        if gain > 0:
            way = its.a - column.a
            column.b += gain / total * (its.b + way * way)
    if known and total == 0:
        column.a, column.b = known[0].a, known[0].b
    column.n = min(column.n, column.since)
    if not known or 4.0 * column.n < column.since + 1.0:
        return None
    halved = 1.0
    while column.since * halved >= to.most:
        halved *= 0.5
    column.since *= halved
    column.n *= halved
    for place in range(to.n_places):
        e = start.e.get(place, 0.0) if start else 0.0
        for its, by, past in zip(known, times, pasts, strict=True):
            e += its.e.get(place, 0.0) * by - (past.e.get(place, 0.0) if past else 0.0)
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
        nm += m.nm - base.nm
    to.nm = min(max(nm, 0.0), 1024.0)
    if any(n):
        to.m = mean(n, [m.m for m in models])
        to.positives = mean(n, [m.positives for m in models])
        to.there = [mean(n, each) for each in zip(*[m.there for m in models], strict=True)]
        to.said = [mean(n, each) for each in zip(*[m.said for m in models], strict=True)]
    for y, kept in zip(to.place, to.kept, strict=True):
        theirs = [m.kept[m.place[y]] for m in models if y in m.place]
        kept.D = counted(kept.D, [its.D for its in theirs])
        kept.left = counted(kept.left, [its.left for its in theirs])
        for w, G in (("w0", "G0"), ("wn", "Gn")):
            pairs = [(getattr(its, w), getattr(its, G)) for its in theirs]
            mixed_w, mixed_G = mixed_weight(getattr(kept, w), getattr(kept, G), pairs)
            setattr(kept, w, mixed_w)
            setattr(kept, G, mixed_G)
    mix_seen(to, models, base)
    slots = dict.fromkeys(f for m in [base, *models] for f in m.ceiling.places)
    for f in slots:
        ours = set_row(to, base, f)
        T = [m for m in models if f in m.slots and set_row(to, m, f) != ours]
        rows, gained = [set_row(to, m, f) for m in T], [m.T - base.T for m in T]
        on = [goes_on(m, base, f) for m in T]
        slots[f] = mixed_set_row(to, ours, rows, gained, on) if len(T) > 1 else [*rows, ours][0]
    to.slots = {f: set_slot(row) for f, row in slots.items()}
    mix_ceiling(to, models, base, to.forget)
    return to


def mix_seen(to, models, base):
    """T, which is at least what each label has, and left out at most."""
    to.T = max([added(models, base, "T"), *(kept.D for kept in to.kept)])
    for kept in to.kept:
        kept.left = min(kept.left, to.T)


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


def mixed_set_row(to, base, rows, gained, on):
    s0, negative, cnt0, N0, entries = base
    mixed = {}
    for k in {k for row in [base, *rows] for k in row[4]}:
        _, w0, G0 = entries.get(k, (0.0, 0.0, 0.0))
        theirs = [row[4].get(k, (0.0, 0.0, 0.0)) for row in rows]
        mixed[k] = mixed_weight(w0, G0, [(w, G) for _, w, G in theirs])
    times = times_of(to, [row[2] for row in rows], cnt0, gained, on)
    kept = told_apart(
        [(*row[:4], {k: entry for k, entry in row[4].items() if any(entry)}) for row in rows],
        [goes and row[2] * by <= cnt0 for row, by, goes in zip(rows, times, on, strict=True)],
    )
    rows, times, on = ([each[i] for i in kept] for each in (rows, times, on))
    cnt, most = summed(cnt0, [row[2] * by for row, by in zip(rows, times, strict=True)], on)
    N, _ = summed(N0, [row[3] * by for row, by in zip(rows, times, strict=True)], on)
    sizes = [row[0] * (row[2] * by) for row, by in zip(rows, times, strict=True)]
    ax, _ = summed(s0 * cnt0, sizes, on)
    negative = negative or any(row[1] for row in rows)
    c = {}
    for k in mixed:
        theirs = [row[4].get(k, (0.0, 0.0, 0.0))[0] for row in rows]
        c0 = entries.get(k, (0.0, 0.0, 0.0))[0]
        c[k], _ = summed(c0, [its * by for its, by in zip(theirs, times, strict=True)], on)
    cnt = floored(c, cnt, most, negative)
    s = mixed_mean(rows[0][0], {row[0] for row in rows} | ({s0} if cnt0 else set()), ax, cnt)
    halved = to.halved(cnt, any(row[2] >= to.most / 2 for row in [base, *rows]))
    cnt = float32(cnt * halved)
    N = (N if negative else max([N, 0.0, *c.values()])) * halved
    entries = {
        k: (within(float32(c[k] * halved), cnt), float32(w), float32(G))
        for k, (w, G) in mixed.items()
    }
    return s, negative, cnt, N if cnt > 0 else 0.0, entries
