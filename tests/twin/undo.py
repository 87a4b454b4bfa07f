"""The plain-Python twin of undoing: what a step has changed, and that change taken back.

A step of a perceptron or MIRA adds d = coefficient * value to a weight, at time t. What it leaves
in the averages is linear in d, so the same is subtracted, whatever came later. AdaptiveClassifier's
numbers come back by the difference that the step made, and what is not a sum is worked out again.

A feature that a ceiling has dropped since is left alone, also if it has come back: unless by chance
to the very place that it had, which is all that is known of it.

A curve or surface is known by its columns. One that was forgotten with the step or since, because a
column ended or was not chosen, is left alone; one that has been begun anew by then is taken for the
same. Where the step halved a cell's counts, these and om stay. Which columns have surfaces stays,
unless columns come or go with the undo: then they are chosen anew.

MultiLabelClassifier's numbers come back likewise. An entry that the step has made is taken away
again, if nothing has come to it since.
"""

import copy

from tests.twin.adaptive import AdaptiveClassifier, Column, Slot
from tests.twin.arithmetic import MEAN_MOST, float32
from tests.twin.counts import within
from tests.twin.labels import Entry, MultiLabelClassifier
from tests.twin.labels import Slot as SetSlot
from tests.twin.learners import INTERCEPT
from tests.twin.shapes import Cell, Gate


class Step:
    """What learning an event has changed."""


def learn(twin, x, y, w=1.0):
    """Learn an event; its step."""
    return ways_of(twin)[0](twin, x, y, w)


def undo(twin, step):
    ways_of(twin)[1](twin, step)


def ways_of(twin):
    if isinstance(twin, MultiLabelClassifier):
        return learn_sets, undo_sets
    if isinstance(twin, AdaptiveClassifier):
        return learn_adaptive, undo_adaptive
    return learn_sums, undo_sums


def places_of(twin, names):
    where = {name: place for place, name in enumerate(twin.ceiling.places)}
    return {name: where.get(name) for name in names}


def is_there(twin, step, name):
    """Whether a feature that the step moved is still where it was."""
    if name is INTERCEPT or twin.ceiling.max_features is None:
        return True
    place = step.places[name]
    return place is not None and twin.ceiling.places[place] == name


# --- Sums: perceptrons and MIRA


def learn_sums(twin, x, y, w):
    step = Step()
    step.adds = []
    step.time = twin.c
    add = twin.add

    def noted(output, coefficient, event):
        step.adds.append((output, coefficient, list(event)))
        add(output, coefficient, event)

    twin.add = noted
    twin.learn_one(x, y, w)
    del twin.add
    step.places = places_of(twin, [name for *_, event in step.adds for name, _ in event])
    return step


def undo_sums(twin, step):
    twin.n_updates -= bool(step.adds)
    ticks = twin.c - step.time
    kept = 2.0 ** (-ticks / twin.half_life)
    for output, coefficient, event in step.adds:
        for name, value in event:
            if not is_there(twin, step, name):
                continue
            d = -coefficient * value
            add_to(twin.w[output], name, d)
            add_to(twin.u[output], name, step.time * d)
            if twin.average == "exponential":
                add_to(twin.exponential[output], name, d * (1.0 - kept))


def add_to(vector, name, number):
    vector[name] = vector.get(name, 0.0) + number


# --- AdaptiveClassifier


def snapshot(twin, names):
    """Copies of the slots, and what is kept once."""
    slots = {name: copy.deepcopy(twin.slots.get(name, Slot())) for name in names}
    once = {name: dict(getattr(twin, name)) for name in ("w0", "G0")}
    drift = twin.watch.numbers if twin.watch else None
    sharper = twin.tau, twin.Gtau
    usual = twin.m, twin.nm, twin.b
    q = dict(twin.alarms.q)
    return slots, once, (twin.wn, twin.Gn), twin.T, dict(twin.D), usual, sharper, drift, q


def learn_adaptive(twin, x, y, w):
    step = Step()
    names = [name for name, value in x.items() if value != 0]
    names += [name for name in twin.columns if name not in names]
    a = twin.answer(x)
    names += a.hidden
    u = twin.weight_of(y, w)
    step.u = u
    step.heard = [heard.parts for heard in a.layers] if twin.shapes else []
    shapes, twin.shapes = twin.shapes, None
    before = copy.deepcopy(twin)
    before.shapes, twin.shapes = shapes_snapshot(shapes, step.heard), shapes
    step.shapes = [before.shapes]
    if u != 0:
        before.meet(y)  # as a new label's numbers, and those of two that split, begin
    step.before = snapshot(before, names)
    updates = twin.n_updates
    twin.learn_one(x, y, w)
    step.after = snapshot(twin, names)
    step.shapes.append(shapes_snapshot(twin.shapes, step.heard))
    step.changed = twin.n_updates != updates
    step.two = twin.two
    step.y = twin.place[y] if u != 0 else None
    step.names = [name for name in names if name in twin.slots]
    step.n_places = twin.n_places
    step.places = places_of(twin, step.names)
    return step


def shapes_snapshot(shapes, heard):
    """Copies of the curves and surfaces of an event, of those of their cells that it met."""
    its = copy.copy(shapes)
    if its:
        its.layers = [copy.copy(layer) for layer in shapes.layers]
        for layer, parts in zip(its.layers, heard, strict=True):
            layer.tau, layer.watch = copy.deepcopy((layer.tau, layer.watch))
            layer.gates = {
                part: copy.copy(layer.gates[part]) for part in parts if part in layer.gates
            }
            layer.cells = {
                part: {
                    at: copy.deepcopy(layer.cells[part][at])
                    for at in values
                    if at in layer.cells[part]
                }
                for part, values in parts.items()
                if part in layer.cells
            }
    return its


def back(now, before, after):
    return before if now == after else now - (after - before)


def back32(now, before, after):
    return before if now == after else float32(now - (after - before))


def parts_of(twin, step, k):
    """Where output k of the step is now, by what share."""
    if not step.two or twin.two:
        return [(k, 1.0)]
    return [(twin.positive, 0.5), (1 - twin.positive, -0.5)]


def undo_adaptive(twin, step):
    if step.y is None:
        return
    twin.n_updates -= step.changed
    slots, once, naive, T, D, usual, sharper, drift, q = step.before
    slots_after, once_after, naive_after, T_after, D_after, *rest_after = step.after
    usual_after, sharper_after, drift_after, q_after = rest_after
    twin.T = max(0.0, back(twin.T, T, T_after))
    twin.D[step.y] = max(0.0, back(twin.D[step.y], D[step.y], D_after[step.y]))
    if (twin.m, twin.nm, twin.b) == usual_after:
        twin.m, twin.nm, twin.b = usual
    twin.tau = min(max(back(twin.tau, sharper[0], sharper_after[0]), 0.2), 5.0)
    twin.Gtau = max(1.0, back(twin.Gtau, sharper[1], sharper_after[1]))
    if twin.watch and twin.watch.numbers == drift_after:
        twin.watch.numbers = drift
    for label in q:
        twin.alarms.q[label] = back(twin.alarms.q[label], q[label], q_after[label])
    stepped = [k for k in once_after["G0"] if moved(step, k)]
    for k in stepped:
        for now, share in parts_of(twin, step, k):
            w0 = share * once["w0"][k], share * once_after["w0"][k]
            twin.w0[now] = back(twin.w0[now], *w0)
            twin.G0[now] = max(0.0, back(twin.G0[now], once["G0"][k], once_after["G0"][k]))
    twin.wn = back(twin.wn, naive[0], naive_after[0])
    twin.Gn = max(0.0, back(twin.Gn, naive[1], naive_after[1]))
    for name in step.names:
        if is_there(twin, step, name):
            undo_slot(twin, step, twin.slots[name], slots[name], slots_after[name], stepped)
            undo_column(twin, step, twin.slots[name], slots[name], slots_after[name])
    columns = twin.columns
    twin.find_columns()
    if twin.shapes:
        undo_shapes(twin, step)
        if columns != twin.columns:
            twin.shapes.settle(twin)


def moved(step, k):
    """Whether the step moved output k: if it did, the sum of its squares grew."""
    before, after = step.before, step.after
    return any(before[1][name].get(k) != after[1][name].get(k) for name in ("w0", "G0")) or any(
        before[0][name].w.get(k, 0.0) != slot.w.get(k, 0.0)
        or before[0][name].G.get(k, 0.0) != slot.G.get(k, 0.0)
        for name, slot in after[0].items()
    )


def undo_slot(twin, step, slot, before, after, stepped):
    for k in stepped:
        for now, share in parts_of(twin, step, k):
            if not twin.two:
                slot.enter(now)
            w = [float32(share * kept.w.get(k, 0.0)) for kept in (before, after)]
            slot.w[now] = back32(slot.w.get(now, 0.0), *w)
            G = before.G.get(k, 0.0), after.G.get(k, 0.0)
            slot.G[now] = max(0.0, back32(slot.G.get(now, 0.0), *G))
    if not after.cnt < before.cnt:  # not halved
        undo_counts(twin, step.y, slot, before, after)
    elif not twin.two:
        slot.sift()


def undo_counts(twin, y, slot, before, after):
    cnt, om = slot.cnt, slot.om
    slot.cnt = max(0.0, back32(cnt, before.cnt, after.cnt))
    if min(cnt, before.cnt) >= twin.always:  # it still is always there
        slot.cnt = max(slot.cnt, twin.always)
    undo_mean(slot, before, after, cnt)
    if not twin.two:
        slot.enter(y)
    c = back32(slot.c.get(y, 0.0), before.c.get(y, 0.0), after.c.get(y, 0.0))
    slot.c[y] = c if slot.negative else max(0.0, c)
    slot.c = {k: within(c, slot.cnt) if slot.cnt else 0.0 for k, c in slot.c.items()}
    if not twin.two:
        slot.sift()
    slot.negative = slot.negative or any(c < 0 for c in slot.c.values())
    if slot.column:
        return
    if slot.cnt == 0:
        slot.om = 0.125
    elif (cnt, om) == (after.cnt, after.om):
        slot.om = before.om
    else:
        slot.om = float32(twin.weight_by_chi2(slot))


def undo_column(twin, step, slot, before, after):
    """Sums come back as sums, mean and variance by the sums of which they are.

    With more than two labels only the e of the step's label is kept. What changes all of them, a
    column's end or its halving, does not come back.
    """
    now, before_it, after_it = slot.column, before.column, after.column
    if not (before_it or after_it):
        return
    kept = (0, 1) if step.two else (step.y,)
    lost = before_it and (not after_it or after_it.since < before_it.since)
    if same_column(now, after_it, kept) and (step.two or not lost):
        slot.column = before_it and copy.deepcopy(before_it)
        slot.om = before.om
        if slot.column and not twin.two:
            its = {k: before_it.e.get(k, 0.0) for k in kept}
            slot.column.e = {**now.e, **its} if now else its
            slot.column.sift()
        return
    if not now:
        return
    none = Column(0.0)
    none.n = none.since = 0.0
    then = before_it or none
    if after_it and after_it.since >= then.since:
        n, since = now.n, now.since
        now.n = max(0.0, back(n, then.n, after_it.n))
        now.since = max(0.0, back(since, then.since, after_it.since))
        for name, most in (("a", MEAN_MOST), ("b", 16e100)):
            its, its_before, its_after = (getattr(c, name) for c in (now, then, after_it))
            if now.n > 0:
                if (its, n) == (its_after, after_it.n):
                    part = its_before
                else:
                    part = (its * n - (its_after * after_it.n - its_before * then.n)) / now.n
                if (abs(part) if name == "a" else part) <= most and (name == "a" or part >= 0):
                    setattr(now, name, part)
        for k in kept:
            e = then.e.get(k, 0.0), after_it.e.get(k, 0.0)
            now.e[k] = back32(now.e.get(k, 0.0), *e)
        if not twin.two:
            now.sift()
        if now.n == 0 or now.since == 0:
            slot.column = None
    slot.om = float32(twin.weight_by_chi2(slot))


def undo_shapes(twin, step):
    """Counts, weights and gates by their differences."""
    layers = zip(twin.shapes.layers, *(its.layers for its in step.shapes), step.heard, strict=True)
    for layer, before, after, heard in layers:
        undo_gate(layer.tau, before.tau, after.tau)
        if layer.watch and layer.watch.numbers == after.watch.numbers:
            layer.watch.numbers = before.watch.numbers
        for part, values in heard.items():
            its = part if layer is twin.shapes.surfaces else (part,)
            there = part in after.cells and part in layer.cells
            if not there or not all(is_there(twin, step, name) for name in its):
                continue
            undo_gate(layer.gates[part], before.gates.get(part, Gate(4.0)), after.gates[part])
            known = before.cells.get(part, {})
            for place, h in values.items():
                cell = layer.cells[part].setdefault(place, Cell())
                then = known.get(place, Cell())
                undo_cell(twin, step, layer, h, cell, then, after.cells[part][place])


def undo_gate(gate, before, after):
    value = back(gate.value, before.value, after.value)
    gate.put(value, back(gate.gamma, before.gamma, after.gamma))


def undo_cell(twin, step, layer, h, cell, before, after):
    y = step.y
    om, c = before.om, before.c.get(y, 0.0)
    if after.c[y] != float32(c + step.u * h):  # halved
        om, c = after.om, after.c[y]
    same = (cell.om, cell.c.get(y, 0.0)) == (after.om, after.c[y])
    for k in dict.fromkeys([*before.G, *after.G]):
        for now, share in parts_of(twin, step, k):
            w = [float32(share * its.w.get(k, 0.0)) for its in (before, after)]
            cell.w[now] = back32(cell.w.get(now, 0.0), *w)
            G = before.G.get(k, 0.0), after.G.get(k, 0.0)
            cell.G[now] = max(0.0, back32(cell.G.get(now, 0.0), *G))
    cell.c[y] = max(0.0, back32(cell.c.get(y, 0.0), c, after.c[y]))
    cell.om = om if same else float32(layer.weight_by_chi2(twin, cell))


def same_column(one, two, kept):
    def told(column):
        e = [column.e.get(k, 0.0) for k in kept]
        return column.a, column.b, column.n, column.since, e

    return (one and told(one)) == (two and told(two))


def undo_mean(slot, before, after, cnt):
    if slot.cnt <= 0:
        slot.s, slot.negative = 0.0, False
    elif (slot.s, slot.negative, cnt) == (after.s, after.negative, after.cnt):
        slot.s, slot.negative = before.s, before.negative
    elif not before.s == after.s == slot.s:
        total = slot.s * cnt - (after.s * after.cnt - before.s * before.cnt)
        if total > 0 and total / slot.cnt <= MEAN_MOST:
            slot.s = total / slot.cnt


# --- MultiLabelClassifier


def learn_sets(twin, x, y, w):
    step = Step()
    step.u = float(w)
    names = [name for name, value in x.items() if value != 0]
    before = copy.deepcopy(twin)
    if step.u != 0:
        answer = before.answer(x)
        for label in y:  # as a new label's numbers begin
            before.meet(label, answer)
    step.before = sets_snapshot(before, names)
    step.open = [k for label, k in twin.place.items() if isinstance(y, dict) and label not in y]
    updates, take, stepped = twin.n_updates, twin.step, []

    def noted(a, k, there, u):
        moved = take(a, k, there, u)
        stepped.extend([k] * moved)
        return moved

    twin.step = noted
    twin.learn_one(x, y, w)
    del twin.step
    step.changed = twin.n_updates != updates
    step.after = sets_snapshot(twin, names)
    step.names = [name for name in names if name in twin.slots]
    step.places = places_of(twin, step.names)
    present = [twin.place[v] for v in y if not isinstance(y, dict) or y[v]] if step.u else []
    step.noted = dict.fromkeys([*present, *stepped])
    return step


def sets_snapshot(twin, names):
    """What the step may change: copies of the slots, labels, and what is kept once."""
    slots = {name: copy.deepcopy(twin.slots.get(name, SetSlot())) for name in names}
    once = twin.T, (twin.m, twin.nm), (twin.positives, list(twin.there), list(twin.said))
    return slots, copy.deepcopy(twin.kept), once


def undo_sets(twin, step):
    if step.u == 0:
        return
    twin.n_updates -= step.changed
    slots, labels, (T, usual, tally) = step.before
    slots_after, labels_after, (T_after, usual_after, tally_after) = step.after
    twin.T = max(0.0, back(twin.T, T, T_after))
    if (twin.m, twin.nm) == usual_after:
        twin.m, twin.nm = usual
    undo_tally(twin, tally, tally_after)
    for k in step.noted:
        for name in ("D", "w0", "G0", "wn", "Gn"):
            kept, before, after = (at[k] for at in (twin.kept, labels, labels_after))
            number = back(*(getattr(its, name) for its in (kept, before, after)))
            setattr(kept, name, number if name in ("w0", "wn") else max(0.0, number))
    for k in step.open:
        twin.kept[k].left = max(0.0, twin.kept[k].left - step.u)
    for kept in twin.kept:
        kept.left = min(kept.left, twin.T)
    for name in step.names:
        if is_there(twin, step, name):
            undo_sets_slot(twin, step, twin.slots[name], slots[name], slots_after[name])


def undo_tally(twin, before, after):
    """What F1 is counted of. If the step has halved it, it comes back only if it is untouched."""
    now = twin.positives, twin.there, twin.said
    if after[0] < before[0]:
        if now == after:
            twin.positives, twin.there, twin.said = before[0], list(before[1]), list(before[2])
        return
    twin.positives = max(0.0, back(now[0], before[0], after[0]))
    for t in range(twin.steps):
        there, said = (back(*(part[i][t] for part in (now, before, after))) for i in (1, 2))
        twin.said[t] = max(0.0, said)
        twin.there[t] = min(max(0.0, there), twin.said[t])


def undo_sets_slot(twin, step, slot, before, after):
    counts = not after.cnt < before.cnt  # else the step has halved them
    if counts:
        cnt = slot.cnt
        slot.cnt = max(0.0, back32(cnt, before.cnt, after.cnt))
        if min(cnt, before.cnt) >= twin.most / 2:  # it still is always there
            slot.cnt = max(slot.cnt, twin.most / 2)
        undo_mean(slot, before, after, cnt)
        slot.N = back(slot.N, before.N, after.N)
    for k in step.noted:
        undo_entry(slot, k, before.row.get(k), after.row.get(k), counts)
    if not counts:
        return
    for entry in slot.row.values():
        entry.c = within(entry.c, slot.cnt) if slot.cnt else 0.0
        slot.negative = slot.negative or entry.c < 0
    if slot.cnt == 0 or not slot.negative:
        slot.N = 0.0 if slot.cnt == 0 else max(0.0, slot.N)


def undo_entry(slot, k, before, after, counts):
    entry = slot.row.get(k)
    if entry is None or after is None:
        return
    if before is None and counts and vars(entry) == vars(after):
        del slot.row[k]
        return
    before = before or Entry()
    entry.w = back32(entry.w, before.w, after.w)
    entry.G = max(0.0, back32(entry.G, before.G, after.G))
    if counts:
        c = back32(entry.c, before.c, after.c)
        entry.c = c if slot.negative else max(0.0, c)
