"""The plain-Python twin of curves and surfaces: what AdaptiveClassifier learns of columns' shapes.

A column says three things: a straight line, which is what `adaptive.py` has; a curve, twelve hats
half a deviation apart; and a surface with each other column, 9 x 9 patches of two columns' hats.
Each family learns what the families before it leave wrong:

    H0_k = the line's score of label k
    H1_k = H0_k + sum of alpha_a s_ak           s_ak = sum of w_k X over the hats of column a
    H2_k = H1_k + sum of beta_p s_pk            s_pk = sum of w_k X over the cells of a pair p
    score_k = H0_k + (tau_1 / tau_0) (H1_k - H0_k) + (tau_2 / tau_0) (H2_k - H1_k)

P is of tau_0 times the score, as it is without shapes. alpha, beta, tau_1 and tau_2 are gates: they
are learned, from 1/4 on, and keep surfaces from fitting noise. An event without columns has neither
hats nor cells, and its score is H0 to the last bit.

A hat or cell is a feature of the value h, its nearness: it has counts c_k, om, w_k and G_k, but no
size, no sign, no part in naive Bayes. N is the sum of its c, not a number of events.

What the equations leave open, and how it is settled here:

* v, the distance from the mean in deviations, is the line's. A column that is a gap in an event, or
  whose name is a mere object, has neither curve nor surface there.
* Hats and cells are normalised apart, X = om h / ||om h||, and have step sizes of their own.
* Sums run over columns by place, hats i and i + 1; over pairs by the place of the first column,
  then of the second; over cells (i, j), (i, j + 1), (i + 1, j), (i + 1, j + 1). Over labels they
  run in four lanes, by place, and go through all labels: P of a layer is a plain softmax.
* Hats and cells below 1e-6 are left out.
* All that an event teaches is of the scores before it. A newcomer's score is its intercept, and its
  s is 0.
* With more than two labels an entry is made for the event's label, and where q > 1/4. It is there
  once its G is above 0.
* c is halved, again and again, while N is 2^20 or more.
* om, c, w, G and the gates of columns and pairs are kept as float32, tau_1 and tau_2 as float64.
* What is no longer a column loses its curve; its pairs leave with it.
* Up to 16 columns all pairs have surfaces. Of more 16 are chosen: `Surfaces.choose`. So that memory
  is bounded, cells by labels are at most 2^20, and under a ceiling cells at most a quarter of
  max_features: of fewer columns then all are chosen from.
* What guests are found by, S and Z, begins anew when columns come or go. Of more than 64 columns 64
  are watched at a time, others after each choice.
* At the third label c stays, w and G are split as those of features; gates stay.
"""

import math

from tests.twin.arithmetic import clip, exp_exact, float32, lanes, sigmoid

LEAST = 1e-6


class Gate:
    """A number that parts of a score are multiplied by, learned by AdaGrad that forgets."""

    def __init__(self, most, value=0.25, kept=float32):
        self.most = most
        self.value = value
        self.kept = kept
        self.gamma = 1.0

    def step(self, way):
        squares = self.gamma * (1.0 - 1.0 / 1024.0) + way * way
        self.put(self.value, squares)
        self.put(self.value + (0.2 * way) / math.sqrt(self.gamma), self.gamma)

    def put(self, value, gamma):
        """Within bounds: what has said nothing for long must not be divided by 0.

        And a float32 must hold it, whatever sample weights come.
        """
        self.value = self.kept(min(max(value, 0.0), self.most))
        self.gamma = self.kept(min(max(gamma, 2.0**-40), 1e38))


class Cell:
    """What is kept for a hat, or for a cell of two columns' hats."""

    def __init__(self):
        self.om = 0.125
        self.c = {}  # {place: the sum of u h}
        self.w = {}  # {output: weight}
        self.G = {}

    def is_met(self, k):
        return self.G.get(k, 0.0) > 0


class Layer:
    """A family: parts, which are columns or pairs, with cells and a gate each."""

    thr = 1 / 32
    wide = 1 / 4

    def __init__(self, watch):
        self.cells = {}  # {part: {place in the part: Cell}}
        self.gates = {}  # {part: Gate}
        self.tau = Gate(5.0, kept=float)
        self.watch = watch

    def gate(self, part):
        return self.gates[part].value if part in self.gates else 0.25

    def forget(self, part):
        self.cells.pop(part, None)
        self.gates.pop(part, None)

    def answer(self, parts, before):
        """What the layer makes of an event: {part: {place: h}}, the scores of those before it."""
        a = Heard()
        a.parts = parts
        a.h = {}
        squares = length = 0.0
        dot = {}
        for part, values in parts.items():
            known = self.cells.get(part, {})
            dot[part] = dict.fromkeys(before, 0.0)
            for place, value in values.items():
                cell = known.get(place) or Cell()
                h = a.h[part, place] = cell.om * value
                squares += h * h
                length += h
                for k in before:
                    dot[part][k] += cell.w.get(k, 0.0) * h
        a.r = 1.0 / math.sqrt(squares) if squares > 0 else 0.0
        a.length = length * a.r
        a.H, a.s = dict(before), {}
        for part in parts:
            a.s[part] = {k: dot[part][k] * a.r for k in before}
            for k in before:
                a.H[k] += self.gate(part) * a.s[part][k]
        return a

    def aim(self, model, a, place, u, known):
        """The errors {output: [it is the label's] - p}, before anything is learned of the event."""
        a.phi = self.watch.phi if self.watch else model.forget
        if model.two:
            y = 1.0 if place == model.positive else 0.0
            p = sigmoid(a.H[1])
            a.seen = p if y else 1.0 - p, [1.0 - p, p]
            a.g = {1: y - p}
            return
        H = [a.H[k] for k in sorted(a.H)]
        if not known:
            H.append(model.newcomers_intercept(place))
        best = max(H)
        e = [exp_exact(H_k - best) for H_k in H]
        S = lanes(e)
        p = [e_k / S for e_k in e]
        a.seen = p[place], p
        a.g = {k: (1.0 if k == place else 0.0) - p_k for k, p_k in enumerate(p)}

    def step(self, model, a, u, known):
        """Gates and weights; whether one stepped."""
        if self.watch and known:
            self.watch.see(*a.seen, u)
        stepped = False
        for part, s in a.s.items():
            way = lanes([a.g[k] * s[k] for k in s])
            self.gates.setdefault(part, Gate(4.0)).step(u * way)
        eta = model.eta if a.length <= model.L else model.eta * (model.L / a.length)
        for k, g_k in a.g.items():
            q = u * abs(g_k)
            if not q > self.thr:
                continue
            stepped = True
            kept = max(0.0, 1.0 - a.phi * q)
            f = (eta * u) * g_k
            makes = model.two or g_k > 0 or q > self.wide
            for (part, place), h in a.h.items():
                cell = self.cells.setdefault(part, {}).setdefault(place, Cell())
                X = h * a.r
                if makes or cell.is_met(k):
                    cell.G[k] = float32(cell.G.get(k, 0.0) * kept + q * (X * X))
                    way = (f * X) / math.sqrt(cell.G[k] + model.P0)
                    cell.w[k] = float32(cell.w.get(k, 0.0) + way)
        return stepped

    def count(self, model, a, place_of_label, u):
        """Counts, when the model has counted the event itself."""
        for part, values in a.parts.items():
            cells = self.cells.setdefault(part, {})
            for place, value in values.items():
                cell = cells.setdefault(place, Cell())
                cell.c[place_of_label] = cell.c.get(place_of_label, 0.0) + u * value
                self.keep(model, cell)

    def keep(self, model, cell):
        """Counts as they are stored, halved before there are too many; and how much they say."""
        cell.c = {k: float32(c) for k, c in cell.c.items()}
        halved = 1.0
        while self.all(model, cell) * halved >= model.most:
            halved *= 0.5
        cell.c = {k: float32(c * halved) for k, c in cell.c.items()}
        cell.om = float32(self.weight_by_chi2(model, cell))

    def all(self, model, cell):
        """N of a cell."""
        return lanes([cell.c.get(k, 0.0) for k in range(model.n_places)])

    def weight_by_chi2(self, model, cell):
        c = [cell.c.get(k, 0.0) for k in range(model.n_places)]
        N = lanes(c)
        squares = lanes([(c_k * c_k) * (1.0 / (model.D[k] + 1.0)) for k, c_k in enumerate(c)])
        chi2 = max(0.0, (model.T + model.n_places) * squares - N * N)
        known = 1.0 / (N + 1.0)
        return math.sqrt(model.eps + chi2 * (known * known))

    def split(self, sign):
        for cells in self.cells.values():
            for cell in cells.values():
                w, G = cell.w.get(1, 0.0), cell.G.get(1, 0.0)
                cell.w = {k: float32(sign[k] * w) for k in (0, 1)}
                cell.G = dict.fromkeys((0, 1), G)


class Heard:
    """What a layer makes of an event."""


class Surfaces(Layer):
    """Pairs of columns: of all, or of the 16 that tell most."""

    guests_from = 512.0
    watched = 64

    def __init__(self, watch):
        super().__init__(watch)
        self.chosen = []  # columns
        self.n_choices = 0
        self.next = 0.0  # T of the next choice
        self.S = {}  # {(a, b): what is left wrong, by the product of both}
        self.Z = 0.0

    def most(self, model):
        """How many columns have surfaces, at most."""
        cells = 2**20 // model.n_places
        if model.ceiling.max_features is not None:
            cells = min(cells, model.ceiling.max_features // 4)
        k = 16
        while 81 * k * (k - 1) // 2 > cells:
            k -= 1
        return k if k > 1 else 0

    def in_turn(self, columns):
        """Those of which pairs are watched until the next choice."""
        if len(columns) <= self.watched:
            return columns
        first = (self.n_choices * self.watched) % len(columns)
        return (columns[first:] + columns[:first])[: self.watched]

    def wonder(self, columns, v, r):
        """What the curves leave wrong, r, beside the products of columns' values."""
        fade = 1.0 - 1.0 / 1024.0
        watched = self.in_turn(columns)
        self.Z = (fade * fade) * self.Z + r * r
        for i, a in enumerate(watched):
            for b in watched[i + 1 :]:
                product = r * (clip(v[a], 2.0) * clip(v[b], 2.0))
                self.S[a, b] = fade * self.S.get((a, b), 0.0) + product

    def choose(self, model, columns, curves, changed):
        """The columns that have surfaces, by what their curves tell."""
        if changed:
            self.S, self.Z = {}, 0.0
        most = self.most(model)
        if len(columns) <= most:
            chosen = list(columns)
        elif not changed and self.next > model.T and len(self.chosen) <= most:
            return
        else:
            chosen = self.best(model, columns, curves, most)
            self.n_choices += 1
            self.next = model.T + (32.0 if self.guests_from > model.T else 512.0)
            if len(columns) > self.watched:
                self.S, self.Z = {}, 0.0
        kept = set(chosen)
        for pair in [pair for pair in self.gates if not kept >= set(pair)]:
            self.forget(pair)
        self.chosen = [a for a in columns if a in kept]

    def best(self, model, columns, curves, most):
        rank = {a: self.rank(model, a, curves) for a in columns}
        by_rank = sorted(columns, key=lambda a: -rank[a])  # equals stay in the order of places
        if self.guests_from > model.T:
            return by_rank[:most]
        chosen = by_rank[: max(most - 2, 0)]
        while len(chosen) < most:
            room = most - len(chosen)
            guests = [
                (s * s, pair)
                for pair, s in self.S.items()
                if 1 <= len(set(pair) - set(chosen)) <= room and s * s > 30.0 * self.Z
            ]
            if not guests:
                break
            _, pair = max(guests, key=lambda guest: guest[0])  # of equals the first
            chosen += [a for a in pair if a not in chosen]
        for a in by_rank:
            if len(chosen) < most and a not in chosen:
                chosen.append(a)
        return chosen

    def rank(self, model, a, curves):
        """R of the curve's hats, and what the gates of its pairs have learned."""
        n = told = 0.0
        for _, cell in sorted(curves.cells.get(a, {}).items()):
            N = curves.all(model, cell)
            n += N
            told += N * (cell.om * cell.om)
        rank = math.sqrt(told / n) if n > 0 else 0.0
        if a in self.chosen:
            rank *= 1.1
        gates = [gate.value for pair, gate in self.gates.items() if a in pair]
        return rank + 3.0 * max([0.0, *(value - 0.25 for value in gates)])


class Shapes:
    """Curves and, with shape="auto", surfaces of a model's columns."""

    def __init__(self, shape, watch):
        self.curves = Layer(watch())
        self.surfaces = Surfaces(watch()) if shape == "auto" else None
        self.layers = [self.curves] + ([self.surfaces] if self.surfaces else [])

    def columns(self, model):
        """Those that may have shapes, by place."""
        return [a for a in model.columns if model.has_hidden(a)]

    def answer(self, model, a):
        """Add to an event's answer what the layers make of it, and blend their scores."""
        v = {j: a.v[j] for j in self.columns(model) if j not in a.gaps}
        parts = [hats(v)]
        if self.surfaces:
            parts.append(patches({j: v[j] for j in self.surfaces.chosen if j in v}))
        a.shaped = bool(v)
        a.layers, a.ways = [], []  # what each layer says, and what it adds to the score
        H = a.score
        for layer, mine in zip(self.layers, parts, strict=True):
            heard = layer.answer(mine, H)
            a.layers.append(heard)
            a.ways.append({k: heard.H[k] - H[k] for k in H})
            H = heard.H
        if a.shaped:
            a.final, a.told = dict(a.score), []
            for layer, way in zip(self.layers, a.ways, strict=True):
                share = layer.tau.value / model.tau
                for k in a.final:
                    a.final[k] += share * way[k]

    def learn_tau(self, a, sharper):
        """`sharper`: by how much P of the label grows with what multiplies given scores."""
        for layer, way in zip(self.layers, a.ways, strict=True):
            layer.tau.step(sharper(way))

    def explain(self, model, a, k):
        """{column or pair: share of output k}."""
        share = {}
        for layer, heard in zip(self.layers, a.layers, strict=True):
            factor = layer.tau.value / model.tau
            for part, s in heard.s.items():
                share[part] = factor * layer.gate(part) * s.get(k, 0.0)
        return share

    def aim(self, model, a, place, u, known):
        for layer, heard in zip(self.layers, a.layers, strict=True):
            layer.aim(model, heard, place, u, known)

    def step(self, model, a, u, known):
        """Gates and weights of all layers; whether a weight stepped."""
        stepped = False
        if a.shaped:
            for layer, heard in zip(self.layers, a.layers, strict=True):
                stepped |= layer.step(model, heard, u, known)
        return stepped

    def count(self, model, a, place, u, changed):
        """Counts, after the model's own; and which columns have surfaces from now on.

        `changed`: whether columns have come or gone with this event.
        """
        if not (a.shaped or changed):
            return
        for layer, heard in zip(self.layers, a.layers, strict=True):
            layer.count(model, heard, place, u)
        columns = self.columns(model)
        if self.surfaces and len(columns) > self.surfaces.most(model) and not changed:
            v = {j: 0.0 if j in a.gaps else a.v[j] for j in columns}
            self.surfaces.wonder(columns, v, self.left(a.layers[0].g))
        self.settle(model, changed)

    def settle(self, model, changed=True):
        """Curves of what is not a column any more go; and which columns have surfaces."""
        columns = self.columns(model)
        for ended in set(self.curves.gates) - set(columns):
            self.curves.forget(ended)
        if self.surfaces:
            self.surfaces.choose(model, columns, self.curves, changed)

    def left(self, g):
        """What the curves leave wrong, as one number: of many labels half of them against half."""
        bit = self.surfaces.n_choices % 5
        if len(g) == 1:
            return g[1]
        return lanes([-g[k] if k >> bit & 1 else g[k] for k in g])

    def split(self, sign):
        for layer in self.layers:
            layer.split(sign)


def grid(v, middle, most):
    """Between which two places v lies, half a deviation apart, and how far from the first."""
    t = min(max(v * 2.0 + middle, 0.0), float(most))
    i = min(int(t), most - 1)
    return i, t - i


def hats(v):
    """{column: {hat: value}}."""
    parts = {}
    for a in v:
        i, f = grid(v[a], 5.5, 11)
        parts[a] = without_least({i: 1.0 - f, i + 1: f})
    return parts


def patches(v):
    """{(a, b): {(i, j): value}} of each two columns."""
    at = [(a, *grid(v[a], 4.0, 8)) for a in v]
    parts = {}
    for n, (a, i, f) in enumerate(at):
        for b, j, e in at[n + 1 :]:
            parts[a, b] = without_least(
                {
                    (i, j): (1.0 - f) * (1.0 - e),
                    (i, j + 1): (1.0 - f) * e,
                    (i + 1, j): f * (1.0 - e),
                    (i + 1, j + 1): f * e,
                }
            )
    return parts


def without_least(values):
    return {place: value for place, value in values.items() if value >= LEAST}
