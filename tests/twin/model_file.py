"""A reader of model files, written from docs/format.md and nothing else: a check of that page."""

import json
import struct
from math import copysign, exp, log, prod, sqrt

import numpy as np

DTYPES = {"F64": "<f8", "U64": "<u8", "U32": "<u4", "U8": "u1"}
MASK = 2**64 - 1


def fold(a, b):
    product = (a & MASK) * (b & MASK)
    return (product & MASK) ^ (product >> 64)


def is_far(column):
    """Whether 0 is far from a column's values, and so a gap."""
    return column[0] * column[0] > 8 * column[1]


def seeds(number):
    """The first three numbers of splitmix64."""
    for _ in range(3):
        number = (number + 0x9E3779B97F4A7C15) & MASK
        z = number
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def value(encoded):
    """A label, of the kinds that the tests have."""
    if isinstance(encoded, list):
        kind, *parts = encoded
        return {
            "int": lambda text: int(text, 16),
            "float": float.fromhex,
            "bytes": bytes.fromhex,
            "tuple": lambda *parts: tuple(map(value, parts)),
        }[kind](*parts)
    return encoded


def composed(data, at=0):
    """A name of kind 5, and where it ends. A pair is a frozenset of its two names."""
    letter, at = data[at : at + 1], at + 1
    if letter == b"n":
        return None, at
    if letter == b"f":
        return struct.unpack("<d", data[at : at + 8])[0], at + 8
    if letter == b"p":
        first, at = composed(data, at)
        second, at = composed(data, at)
        return frozenset((first, second)), at
    size = shift = 0
    while True:
        size += (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            break
    if letter == b"t":
        parts = []
        for _ in range(size):
            part, at = composed(data, at)
            parts.append(part)
        return tuple(parts), at
    body, at = data[at : at + size], at + size
    if letter == b"s":
        return body.decode("utf-8", "surrogatepass"), at
    return (body if letter == b"b" else int(body, 16)), at


class Words:
    """The array `shapes`, word by word."""

    def __init__(self, words):
        self.words = words
        self.at = 0

    def take(self, n):
        self.at += n
        return self.words[self.at - n : self.at]

    def whole(self):
        return int(self.take(1)[0])

    def double(self):
        return float(self.take(2).view("<f8")[0])

    def floats(self, n):
        return self.take(n).view("<f4").astype(float).tolist()


def hats(v, middle, n):
    """{place: how near v is} of n places half a deviation apart."""
    t = min(max(v * 2 + middle, 0.0), n - 1.0)
    i = min(int(t), n - 2)
    return {k: near for k, near in ((i, 1 - (t - i)), (i + 1, t - i)) if near >= 1e-6}


class ModelFile:
    """What a file says."""

    def __init__(self, path):
        data = path.read_bytes()
        start = 8 + int.from_bytes(data[:8], "little")
        assert start % 64 == 0
        header = json.loads(data[8:start])
        self.said = header.pop("__metadata__")
        self.arrays = {}
        for name, entry in header.items():
            first, last = entry["data_offsets"]
            array = np.frombuffer(data[start + first : start + last], DTYPES[entry["dtype"]])
            assert len(array) == prod(entry["shape"])
            self.arrays[name] = array.reshape(entry["shape"])
        self.params = self.part("parameters")
        self.hashed = self.params["hash_bits"] is not None
        self.seeds = list(seeds(int(self.part("seed"), 16)))

    def part(self, name):
        return json.loads(self.said[name])

    # Names

    def key(self, slot):
        """lo and hi of a slot, and the bytes of its name."""
        lo, hi = (int(number) for number in self.arrays["keys"][slot])
        if hi >> 7 & 1:
            return lo, hi, self.arrays["texts"][lo : lo + (hi >> 8)].tobytes()
        whole = struct.pack("<QQ", hi, lo)
        return lo, hi, whole[16 - (hi & 15) :]

    def name(self, slot):
        lo, hi, text = self.key(slot)
        kind = hi >> 4 & 7
        if kind == 1:
            return text.decode("utf-8", "surrogatepass")
        if kind == 2:
            return text
        if kind == 3:
            return struct.unpack("<q", struct.pack("<Q", lo))[0]
        if kind == 4:
            return struct.unpack("<d", struct.pack("<Q", lo))[0]
        if kind == 5:
            return composed(text)[0]
        return value(self.part("objects")[lo])

    def hash(self, lo, hi, text):
        s0, s1, s2 = self.seeds
        if hi >> 7 & 1:
            lo = s2
            for at in [*range(0, len(text) - 16, 16), len(text) - 16]:
                a, b = struct.unpack("<QQ", text[at : at + 16])
                lo = fold(a ^ s0 ^ lo, b ^ s1)
        return fold(fold(lo ^ s0, hi ^ s1) ^ s2, 0x9FB21C651E98DF25)

    def find(self, lo, hi, text):
        """The slot of a name."""
        h = self.hash(lo, hi, text)
        if self.hashed:
            return 2 + (h >> (64 - self.params["hash_bits"]))
        lookup = self.arrays["lookup"].tolist()
        low = max(1, (len(self.arrays["keys"]) - 1).bit_length())
        at = (h >> 32) * len(lookup) >> 32
        while lookup[at]:
            slot = lookup[at] & ((1 << low) - 1)
            tags_agree = lookup[at] >> low == h & ((1 << (32 - low)) - 1)
            if tags_agree and self.key(slot)[1:] == (hi, text):
                return slot
            at = (at + 1) % len(lookup)
        return 0

    # Weights

    def slots(self):
        """The numbers of the slots that are stored in any chunk."""
        return self.arrays["rows"] if self.hashed else np.arange(len(self.arrays["keys"]))

    def weights(self):
        """For each output {slot: (weight, averaged weight, weight in the pocket)}."""
        if self.part("class") == "AdaptiveClassifier":
            return self.adaptive_weights()
        average = self.params.get("average", "none")
        pocket = self.params.get("pocket", False)
        c, s, fold, epoch = (
            float.fromhex(n) if isinstance(n, str) else n for n in self.part("clock")
        )
        cls, labels = self.part("class"), self.part("labels")
        fields = 1 + (average != "none") + 2 * pocket + (cls == "AROW")
        one = labels is None or (cls == "AROW" and len(labels) <= 2)
        lanes = 1 if one else 4
        outputs = [{} for _ in range(1 if one else len(labels))]
        at = 0
        for block, chunk, folds in self.arrays["chunks"].tolist():
            for slot in self.slots()[self.slots() // 256 == chunk].tolist():
                stored = self.arrays["weights"][at]
                at += 1
                if "entries" in self.arrays:
                    folds = fold
                    stored = self.wide_row(stored, len(outputs), fields)
                else:
                    stored = stored.reshape(lanes, fields)
                for lane, (w, *rest) in enumerate(stored.tolist()):
                    averaged = kept = w
                    if average == "uniform":
                        averaged = w - rest[0] / c
                    if average == "exponential":
                        averaged = w - s * (rest[0] * 2.0 ** (-256 * (fold - folds)))
                    if pocket and rest[-1] == epoch:
                        kept = rest[-2]
                    if block * lanes + lane < len(outputs):
                        outputs[block * lanes + lane][slot] = (w, averaged, kept)
                    else:
                        assert not stored[lane].any()
        assert at == len(self.arrays["weights"])
        return outputs

    def wide_row(self, stored, n_labels, fields):
        """The fields of all labels, of a slot that says where its row is."""
        at, n = stored.view("<u4").tolist()
        dense = np.zeros((n_labels, fields))
        row = self.arrays["entries"][at:].reshape(-1) if n else np.zeros(0, "<u8")
        numbers = row[: n * fields].view("<f8").reshape(n, fields)
        labels = row[n * fields :].view("<u4")[:n]
        assert (np.diff(labels.astype(int)) > 0).all()
        dense[labels] = numbers
        return dense

    def adaptive_weights(self):
        """The same of an AdaptiveClassifier, which has the current weights only."""
        n_labels = len(self.part("labels"))
        outputs = [{} for _ in range(n_labels if n_labels > 2 else 1)]
        for (block, slot), stored in self.stored().items():
            if block == 0 and n_labels <= 2:
                outputs[0][slot] = (stored.view("<f4")[4:5].tolist()[0],) * 3
            elif block == 0:
                for k, _, w, _ in self.row(stored):
                    outputs[k][slot] = (w,) * 3
        return outputs

    def stored(self):
        """{(block, slot): its 32 bytes} of an AdaptiveClassifier."""
        stored = {}
        at = 0
        for block, chunk, folds in self.arrays["chunks"].tolist():
            assert folds == 0
            assert block < 3
            for slot in self.slots()[self.slots() // 256 == chunk].tolist():
                stored[block, slot] = self.arrays["weights"][at]
                at += 1
        assert at == len(self.arrays["weights"])
        return stored

    def rows(self):
        """{(block, slot): {label: (c, w, G)}}, of more than two labels."""
        found = {at: list(self.row(stored)) for at, stored in self.stored().items() if at[0] != 1}
        return {at: {k: numbers for k, *numbers in row} for at, row in found.items() if row}

    def row(self, stored):
        """The entries of a slot of block 0 or 2, of more than two labels: (label, c, w, G)."""
        at, n = stored.view("<u4")[4:6].tolist()
        assert (at > 0) == (n > 0)
        for mark in self.arrays["marks"][at : at + n]:
            yield int(mark[0]), *mark[1:].view("<f4").tolist()

    # The score of an AdaptiveClassifier

    def key_of(self, text, kind=1):
        """lo, hi and the bytes of a name, which are those of a str, or of a tuple."""
        if len(text) > 15:
            return None, 16 * (8 + kind) + (len(text) << 8), text
        first = bytes([16 * kind + len(text)])
        hi, lo = struct.unpack("<QQ", first + bytes(15 - len(text)) + text)
        return lo, hi, text

    def gap_of(self, slot):
        """The slot of the tuple ("gap", column), of a column whose name is a str."""
        tag, text = b"s", b"" if self.hashed else self.name(slot).encode()
        if self.hashed:  # its number is its name
            tag, text = b"i", b"%x" % slot
        assert len(text) < 128
        return self.find(*self.key_of(b"t\2s\3gap" + tag + bytes([len(text)]) + text, 5))

    def adaptive_features(self, x):
        """Of each feature: x, s, cnt, om, {output: w}, {label: c}, N, what it is.

        What it is: None, or of a column a, b, n and since, or "gap".
        """
        stored = self.stored()
        event = {}
        for name, number in x.items():
            slot = self.find(*self.key_of(name.encode()))
            event.setdefault(slot, []).append(number)
        columns = {
            slot: row.tolist() for (block, slot), row in stored.items() if block == 1 and row[2] > 0
        }
        for slot in {**event, **columns}:
            values = event.get(slot, [0.0])
            kept = self.adaptive_kept(stored.get((0, slot), np.zeros(4)))
            if slot not in columns:
                for number in values:
                    yield number, *kept, None
                continue
            yield sum(values), *kept, columns[slot]
            if sum(values) == 0 and is_far(columns[slot]):
                kept = self.adaptive_kept(stored.get((0, self.gap_of(slot)), np.zeros(4)))
                yield 1.0, *kept, "gap"

    def adaptive_kept(self, head):
        """s, cnt, om, {output: w}, {label: c}, N of a feature."""
        s, *_, N = head.tolist()
        cnt, om, w, _, *c = head.view("<f4")[2:].tolist()
        if len(self.part("labels")) <= 2:
            return s, cnt, om or 1 / 8, {0: w}, dict(enumerate(c)), sum(c)
        row = list(self.row(head))
        return s, cnt, om or 1 / 8, {k: w for k, _, w, _ in row}, {k: c for k, c, _, _ in row}, N

    def adaptive_positive(self):
        labels = self.part("labels")
        return 0 if labels and value(labels[0]) == 1 else 1

    def adaptive_column(self, x, a, b, n, since):
        """v of a column's value."""
        far = is_far((a, b))
        if far and not x:
            return 0.0
        if x:
            n += 1
            k = max(1 / n, 1 / 1024)
            way = x - a
            if b > 0 and abs(way) > 32 * sqrt(b):
                way = copysign(32 * sqrt(b), way)
            a += k * way
            b = (1 - k) * (b + k * way**2)
        share = 1.0 if far else min(1.0, n / (since + 1))
        variance = share * b + share * (1 - share) * a**2
        if not variance > 0:
            return 0.0
        return min(8.0, max(-8.0, (x - share * a) / sqrt(variance)))

    def adaptive_answer(self, x):
        """What decision_function_one, predict_proba_one and predict_one give for {str: number}."""
        labels = [value(label) for label in self.part("labels")]
        event = {name: number for name, number in x.items() if number}
        heard = list(self.adaptive_heard(event))
        squares = sum(max(h * h, least * least) for h, least, *_ in heard)
        r = 1 / sqrt(squares) if squares else 0.0
        if len(labels) > 2:
            return self.answer_of_many(labels, heard, r, event)
        T, m, _, each, tau, *_ = self.part("adaptive")
        T, m, tau = map(float.fromhex, (T, m, tau))
        D, w0, _, wn, _ = zip(*[map(float.fromhex, numbers) for numbers in each], strict=True)
        positive = self.adaptive_positive()
        z = [log(D[k] + 1) for k in (0, 1)]
        dot = known = 0.0
        for h, _, cnt, w, c, t in heard:
            known += h * h / (cnt + 1)
            dot += w[0] * h
            for k in (0, 1):
                if t:
                    z[k] += log(1 + c[k] * T * t) - log(D[k] + 1)
        score = r * dot
        if self.params["intercept"]:
            score += w0[0]
        if self.params["naive_bayes"]:
            score += wn[0] * min(2.0, max(-2.0, (z[positive] - z[1 - positive]) / (m or 1.0)))
        (score,) = self.shaped(event, [score], tau)
        t = score * T / (T + 10)
        decision = t / (1 + 2 * r**2 * known)
        if len(labels) < 2:
            return decision, dict.fromkeys(labels, 1.0), labels[0] if labels else None
        p = [exp(min(0.0, sign * tau * t)) / (1 + exp(-abs(tau * t))) for sign in (1, -1)]
        order = (labels[positive], labels[1 - positive])
        return decision, dict(zip(order, p, strict=True)), order[0 if score > 0 else 1]

    def shaped(self, event, scores, tau):
        """The scores with what curves and surfaces add to them."""
        if self.params["shape"] == "line":
            return scores
        words, before, final = Words(self.arrays["shapes"]), scores, scores
        there = self.columns_there(event)
        n_columns, n_chosen = words.whole(), words.whole()
        words.take(6)  # n_choices, next, Z
        chosen = [words.whole() for _ in range(n_chosen)]
        watched = min(n_columns, 64)
        surfaces = self.params["shape"] == "auto"
        words.take(watched * (watched - 1) if surfaces else 0)  # S
        for layer in range(1 + surfaces):
            patches = {}
            if layer:
                at = [k for k in chosen if k in there]
                near = {k: hats(there[k], 4.0, 9) for k in at}
                for n, a in enumerate(at):
                    for b in at[n + 1 :]:
                        ways = [(i, j) for i in near[a] for j in near[b]]
                        values = {9 * i + j: near[a][i] * near[b][j] for i, j in ways}
                        patches[chosen.index(a), chosen.index(b)] = {
                            place: value for place, value in values.items() if value >= 1e-6
                        }
            else:
                patches = {(k, k): hats(v, 5.5, 12) for k, v in there.items()}
            share, added = self.layer_adds(words, layer, patches, len(scores))
            final = [score + share / tau * way for score, way in zip(final, added, strict=True)]
            before = [score + way for score, way in zip(before, added, strict=True)]
        return final

    def layer_adds(self, words, layer, patches, outputs):
        """How much a layer counts, and what it adds to each output's score."""
        labels = outputs if outputs > 1 else 2
        tau, _, *_ = [words.double() for _ in range(7)]
        cells = {}
        for _ in range(words.whole()):
            part = words.whole(), words.whole()
            gate, _ = words.floats(2)
            cells[part] = (
                gate,
                [words.floats(1 + labels + 2 * outputs) for _ in range(81 if layer else 12)],
            )
        dot = dict.fromkeys(patches, [0.0] * outputs)
        squares = 0.0
        for part, values in patches.items():
            for cell, value in values.items():
                om, *numbers = cells[part][1][cell] if part in cells else (1 / 8,)
                squares += (om * value) ** 2
                w = numbers[labels : labels + outputs] or [0.0] * outputs
                dot[part] = [s + w_k * om * value for s, w_k in zip(dot[part], w, strict=True)]
        r = 1 / sqrt(squares) if squares else 0.0
        added = [0.0] * outputs
        for part, s in dot.items():
            gate = cells[part][0] if part in cells else 0.25
            added = [all_k + gate * s_k * r for all_k, s_k in zip(added, s, strict=True)]
        return tau, added

    def columns_there(self, event):
        """{place: v} of the columns whose value an event has, or lacks without a gap."""
        values = {}
        for name, number in event.items():
            slot = self.find(*self.key_of(name.encode()))
            values[slot] = values.get(slot, 0.0) + number
        there = {}
        records = {slot: row for (block, slot), row in self.stored().items() if block == 1}
        columns = sorted(slot for slot, row in records.items() if row[2] > 0)
        for place, slot in enumerate(columns):
            x, column = values.get(slot, 0.0), records[slot].tolist()
            if x or not is_far(column):
                there[place] = self.adaptive_column(x, *column)
        return there

    def adaptive_heard(self, event):
        """Of each feature: h, its least in r, cnt, w, c, and 1 / N or 0, for naive Bayes."""
        for x_j, s, cnt, om, w, c, N, column in self.adaptive_features(event):
            negative, s, least = copysign(1.0, s) < 0, abs(s), om
            if column == "gap":
                v, least, column = 1.0, 0.0, None
            elif column:
                v, cnt = self.adaptive_column(x_j, *column), column[3]
            else:
                a = abs(x_j) if s == 0 else min(abs(x_j), 32 * s)
                mean = max(s + (a - s) / (cnt + 1), a / (cnt + 1))
                v = min(8.0, max(-8.0, x_j / mean))
            counts = x_j > 0 and N > 0 and not negative and not column
            yield om * v, least, cnt, w, c, 1 / N if counts else 0.0

    def answer_of_many(self, labels, heard, r, event):
        """The same, of more than two labels."""
        T, m, _, each, tau, _, wn, *_ = self.part("many")
        T, m, tau, wn = map(float.fromhex, (T, m, tau, wn))
        K, used = len(labels), sum(t > 0 for *_, t in heard)
        usual = log(1 + T / K / 3)
        each = [list(map(float.fromhex, numbers)) for numbers in each]
        z = {}
        for k in sorted({k for _, _, _, w, _, _ in heard for k in w}):
            D = each[k][0]
            z[k] = sum(log(1 + c.get(k, 0.0) * T / 3 * t) for *_, c, t in heard)
            z[k] -= max(used - 1, 0) * (log(1 + D / 3) - usual)
            z[k] *= D / (D + max(min(0.006 * T / K, 1.0), 1e-300))
        Z = max([0.0, *z.values()])
        m = m or 1.0
        scores = []
        for k, (_, w0, _) in enumerate(each):
            score = w0 if self.params["intercept"] else 0.0
            if k in z:
                score += r * sum(w.get(k, 0.0) * h for h, _, _, w, _, _ in heard)
                if self.params["naive_bayes"]:
                    score += wn * (max(z[k] - Z, -2 * m) + min(Z, 2 * m)) / m
            scores.append(score)
        scores = self.shaped(event, scores, tau)
        t = [score * T / (T + 10) for score in scores]
        p = [exp(tau * (t_k - max(t))) for t_k in t]
        probabilities = {label: p[k] / sum(p) for k, label in enumerate(labels)}
        best = labels[scores.index(max(scores))]
        return dict(zip(labels, t, strict=True)), probabilities, best
