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
  then of the second; over cells (i, j), (i, j + 1), (i + 1, j), (i + 1, j + 1).
* Hats and cells below 1e-6 are left out.
* All that an event teaches is of the scores before it. A newcomer's score is its intercept.
* With more than two labels an entry is made for the event's label, and where q > 1/4.
* c is halved, again and again, while N would be 2^20 or more.
* om, c, w, G and the gates of columns and pairs are kept as float32, tau_1 and tau_2 as float64.
* A column that is none any more loses its curve; its pairs leave with it.
* Up to 16 columns all pairs have surfaces. Of more 16 are chosen: `Surfaces.choose`.
* At the third label c stays, w and G are split as those of features; gates stay.
"""

import math

from tests.twin.arithmetic import clip, float32, lanes, sigmoid

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
        """Within bounds: what has said nothing for long must not be divided by 0."""
        self.value = self.kept(min(max(value, 0.0), self.most))
        self.gamma = self.kept(max(gamma, 2.0**-40))


class Cell:
    """What is kept for a hat, or for a cell of two columns' hats."""

    def __init__(self):
        self.om = 0.125
        self.c = {}  # {place: the sum of u h}
        self.w = {}  # {output: weight}
        self.G = {}


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

    def answer(self, parts, before, U):
        """What the layer makes of an event: {part: {place: h}}, the scores and labels before it."""
        a = Heard()
        a.parts = parts
        a.h = {}
        squares = 0.0
        for part, values in parts.items():
            known = self.cells.get(part, {})
            for place, value in values.items():
                om = known[place].om if place in known else 0.125
                h = om * value
                a.h[part, place] = h
                squares += h * h
        a.r = 1.0 / math.sqrt(squares) if squares > 0 else 0.0
        a.length = 0.0
        a.H, a.U, a.s = dict(before), list(U), {}
        for part, values in parts.items():
            s = a.s[part] = {}
            for place in values:
                X = a.h[part, place] * a.r
                a.length += X
                cell = self.cells.get(part, {}).get(place)
                for k in sorted(cell.w) if cell else ():
                    s[k] = s.get(k, 0.0) + cell.w[k] * X
            for k in s:
                a.H[k] += self.gate(part) * s[k]
                if k not in a.U:
                    a.U.append(k)
        return a

    def step(self, model, a, u, g):
        """Gates and weights; whether one stepped. g: {output: [it is the label's] - p}."""
        stepped = False
        for part, s in a.s.items():
            way = 0.0
            for k in s:
                way += g[k] * s[k]
            self.gates.setdefault(part, Gate(4.0)).step(u * way)
        eta = model.eta if a.length <= model.L else model.eta * (model.L / a.length)
        phi = self.watch.phi if self.watch else model.forget
        for k, g_k in g.items():
            q = u * abs(g_k)
            if not q > self.thr:
                continue
            stepped = True
            kept = max(0.0, 1.0 - phi * q)
            f = (eta * u) * g_k
            makes = model.two or g_k > 0 or q > self.wide
            for (part, place), h in a.h.items():
                cell = self.cells.setdefault(part, {}).setdefault(place, Cell())
                X = h * a.r
                if makes or k in cell.w:
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
                cell.om = float32(self.weight_by_chi2(model, cell))

    def keep(self, model, cell):
        """Counts as they are stored: halved before there are too many for a float32."""
        N = lanes(cell.c[k] for k in sorted(cell.c))
        halved = 1.0
        while N * halved >= model.most:
            halved *= 0.5
        cell.c = {k: float32(c * halved) for k, c in cell.c.items()}

    def weight_by_chi2(self, model, cell):
        counts = [cell.c[k] for k in sorted(cell.c)]
        N = lanes(counts)
        squares = lanes((cell.c[k] * cell.c[k]) / (model.D[k] + 1.0) for k in sorted(cell.c))
        chi2 = max(0.0, (model.T + model.n_places) * squares - N * N)
        return math.sqrt(model.eps + chi2 / ((N + 1.0) * (N + 1.0)))

    def split(self, sign):
        for cells in self.cells.values():
            for cell in cells.values():
                w, G = cell.w.get(1, 0.0), cell.G.get(1, 0.0)
                cell.w = {k: float32(sign[k] * w) for k in sign}
                cell.G = dict.fromkeys(sign, G)


class Heard:
    """What a layer makes of an event."""


class Surfaces(Layer):
    """Pairs of columns: of all, or of the 16 that tell most."""

    most = 16
    guests_from = 512.0

    def __init__(self, watch):
        super().__init__(watch)
        self.chosen = []  # columns
        self.n_columns = 0  # when they were chosen
        self.n_choices = 0
        self.next = 0.0  # T of the next choice
        self.S = {}  # {(a, b): what is left wrong, by the product of both}
        self.Z = 0.0

    def wonder(self, v, r):
        """What the curves leave wrong, r, beside the products of all columns' values."""
        fade = 1.0 - 1.0 / 1024.0
        columns = list(v)
        self.Z = (fade * fade) * self.Z + r * r
        for i, a in enumerate(columns):
            for b in columns[i + 1 :]:
                product = r * (clip(v[a], 2.0) * clip(v[b], 2.0))
                self.S[a, b] = fade * self.S.get((a, b), 0.0) + product

    def choose(self, columns, curves, T):
        """The columns that have surfaces, by what their curves tell."""
        if len(columns) <= self.most:
            chosen = list(columns)
        elif len(columns) == self.n_columns and self.next > T:
            return
        else:
            chosen = self.best(columns, curves, T)
            self.n_choices += 1
            self.next = T + (32.0 if self.guests_from > T else 512.0)
        self.n_columns = len(columns)
        kept = set(chosen)
        for pair in [pair for pair in self.cells if not kept >= set(pair)]:
            self.forget(pair)
        self.chosen = [a for a in columns if a in kept]
        self.S = {p: s for p, s in self.S.items() if set(p) <= set(columns)}

    def best(self, columns, curves, T):
        rank = {a: self.rank(a, curves) for a in columns}
        by_rank = sorted(columns, key=lambda a: -rank[a])  # equals stay in the order of places
        if self.guests_from > T:
            return by_rank[: self.most]
        chosen = by_rank[: self.most - 2]
        while len(chosen) < self.most:
            room = self.most - len(chosen)
            guests = [
                (s * s, pair)
                for pair, s in self.S.items()
                if 1 <= len(set(pair) - set(chosen)) <= room and s * s > 30.0 * self.Z
            ]
            if not guests:
                break
            _, pair = max(guests, key=lambda guest: guest[0])
            chosen += [a for a in pair if a not in chosen]
        for a in by_rank:
            if len(chosen) < self.most and a not in chosen:
                chosen.append(a)
        return chosen

    def rank(self, a, curves):
        n = told = 0.0
        for cell in curves.cells.get(a, {}).values():
            N = lanes(cell.c[k] for k in sorted(cell.c))
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
        v = {j: a.v[j] for j in self.columns(model) if ("gap", j) not in a.hidden}
        parts = [hats(v)]
        if self.surfaces:
            parts.append(patches({j: v[j] for j in self.surfaces.chosen if j in v}))
        a.layers, a.ways = [], []  # what each layer says, and what it adds to the score
        H, U = a.score, a.U
        for layer, mine in zip(self.layers, parts, strict=True):
            heard = layer.answer(mine, H, U)
            a.layers.append(heard)
            a.ways.append({k: heard.H[k] - H[k] for k in H})
            H, U = heard.H, heard.U
        a.final = dict(a.score)
        for layer, way in zip(self.layers, a.ways, strict=True):
            share = layer.tau.value / model.tau
            for k in a.final:
                if way[k] != 0:
                    a.final[k] += share * way[k]
        a.told = U

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

    def step(self, model, a, place, u, known):
        """Gates and weights of all layers; whether a weight stepped."""
        a.g, stepped = [], False
        for layer, heard in zip(self.layers, a.layers, strict=True):
            a.g.append(self.errors(model, layer, heard, place, u, known))
            stepped |= layer.step(model, heard, u, a.g[-1])
        return stepped

    def errors(self, model, layer, heard, place, u, known):
        """{output: [it is the label's] - p} by the scores of a layer, which its watch sees."""
        if model.two:
            y = 1.0 if place == model.positive else 0.0
            p = sigmoid(heard.H[1])
            if layer.watch and known:
                layer.watch.see(p if y else 1.0 - p, [1.0 - p, p], u)
            return {1: y - p}
        p, rest = model.softmax_of_many(heard.H, heard.U, None if known else place)
        if layer.watch and known:
            layer.watch.see(p[place], [p[k] for k in heard.U], u, rest)
        return {k: (1.0 if k == place else 0.0) - p_k for k, p_k in p.items()}

    def count(self, model, a, place, u):
        """Counts, after the model's own; and which columns have surfaces from now on."""
        for layer, heard in zip(self.layers, a.layers, strict=True):
            layer.count(model, heard, place, u)
        columns = self.columns(model)
        for ended in set(self.curves.cells) - set(columns):
            self.curves.forget(ended)
        if self.surfaces:
            if len(columns) > self.surfaces.most:
                v = {j: 0.0 if ("gap", j) in a.hidden else a.v.get(j, 0.0) for j in columns}
                self.surfaces.wonder(v, self.left(a.g[0]))
            self.surfaces.choose(columns, self.curves, model.T)

    def left(self, g):
        """What the curves leave wrong, as one number: of many labels half of them against half."""
        bit = self.surfaces.n_choices % 5
        left = 0.0
        for k, g_k in g.items():
            left += -g_k if k >> bit & 1 and len(g) > 1 else g_k
        return left

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
