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
                stored = self.arrays["weights"][at].reshape(lanes, fields)
                at += 1
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

    def adaptive_weights(self):
        """The same of an AdaptiveClassifier, which has the current weights only."""
        labels = self.part("labels")
        positive = 0 if labels and labels[0] is True else 1
        n_labels = len(labels)
        heads, places = {}, {}
        at = 0
        for block, chunk, folds in self.arrays["chunks"].tolist():
            assert folds == 0
            for slot in self.slots()[self.slots() // 256 == chunk].tolist():
                stored = self.arrays["weights"][at]
                at += 1
                if block == 0:
                    heads[slot] = stored.view("<f4")[4:6]  # w and G
                elif (block - 2) % 4 in (1, 3) and block > 1:
                    first = (block - 2) // 4 * 8 + (block - 2) % 4 // 2 * 4
                    for k, w in enumerate(stored.view("<f4")[:4].tolist()):
                        places[slot, first + k] = w
        assert at == len(self.arrays["weights"])
        if n_labels <= 2:
            return [{slot: (float(w),) * 3 for slot, (w, _) in heads.items()}]
        outputs = [{} for _ in range(n_labels)]
        for slot, (w, G) in heads.items():
            half = {positive: 0.5, 1 - positive: -0.5}
            for k, output in enumerate(outputs):
                dealt = places.get((slot, k), 0.0)
                output[slot] = (dealt if G < 0 else half.get(k, 0.0) * float(w),) * 3
        return outputs

    # The score of an AdaptiveClassifier

    def key_of(self, name):
        """lo, hi and the bytes of a str."""
        text = name.encode()
        if len(text) > 15:
            return None, 16 * (8 + 1) + (len(text) << 8), text
        hi, lo = struct.unpack("<QQ", bytes([16 + len(text)]) + bytes(15 - len(text)) + text)
        return lo, hi, text

    def adaptive_features(self, x):
        """Of each feature and column: name or None, x, s, cnt, om, [w], [c], N, column."""
        n_labels = len(self.part("labels"))
        positive = self.adaptive_positive()
        stored = {}
        at = 0
        for block, chunk, _ in self.arrays["chunks"].tolist():
            for slot in self.slots()[self.slots() // 256 == chunk].tolist():
                stored[block, slot] = self.arrays["weights"][at]
                at += 1
        event = {}
        for name, number in x.items():
            slot = self.find(*self.key_of(name))
            event.setdefault(slot, []).append(number)
        columns = {
            slot: row.tolist() for (block, slot), row in stored.items() if block == 1 and row[2] > 0
        }
        for slot in {**event, **columns}:
            values = event.get(slot, [0.0])
            head = stored.get((0, slot), np.zeros(4))
            cnt, om, w, G, *c = head.view("<f4")[2:].tolist()
            kept = head[:1].tolist()[0], cnt, om or 1 / 8
            if n_labels <= 2:
                kept = *kept, [w], c, sum(c)
            elif G >= 0:
                halves = [w / 2 if k == positive else -w / 2 for k in (0, 1)]
                none = [0.0] * (n_labels - 2)
                kept = *kept, halves + none, c + none, sum(c)
            else:
                ws, cs = [], []
                for k in range(n_labels):
                    block = 3 + k // 8 * 4 + (2 if k % 8 >= 4 else 0)
                    four = stored.get((block, slot), np.zeros(4)).view("<f4").tolist()
                    ws.append(four[k % 4])
                    cs.append(four[4 + k % 4])
                kept = *kept, ws, cs, head[3:].tolist()[0]
            if slot in columns:
                yield sum(values), *kept, columns[slot]
            else:
                for number in values:
                    yield number, *kept, None

    def adaptive_positive(self):
        labels = self.part("labels")
        return 0 if labels and value(labels[0]) == 1 else 1

    def adaptive_column(self, x, a, b, n, since):
        """v of a column's value."""
        if x:
            n += 1
            k = max(1 / n, 1 / 1024)
            way = x - a
            if b > 0 and abs(way) > 32 * sqrt(b):
                way = copysign(32 * sqrt(b), way)
            a += k * way
            b = (1 - k) * (b + k * way**2)
        share = min(1.0, n / (since + 1))
        variance = share * b + share * (1 - share) * a**2
        if not variance > 0:
            return 0.0
        return min(8.0, max(-8.0, (x - share * a) / sqrt(variance)))

    def adaptive_answer(self, x):
        """What decision_function_one, predict_proba_one and predict_one give for {str: number}."""
        labels = [value(label) for label in self.part("labels")]
        n, positive = max(2, len(labels)), self.adaptive_positive()
        T, m, _, each, tau, *_ = self.part("adaptive")
        T, m, tau = map(float.fromhex, (T, m, tau))
        D, w0, _, wn, _ = zip(*[map(float.fromhex, numbers) for numbers in each], strict=True)
        outputs = range(1 if len(labels) <= 2 else len(labels))
        squares = known = 0.0
        dots = [0.0] * len(outputs)
        z = [log(D[k] + 1) for k in range(n)]
        event = {name: number for name, number in x.items() if number}
        for x_j, s, cnt, om, w, c, N, column in self.adaptive_features(event):
            negative, s = copysign(1.0, s) < 0, abs(s)
            if column:
                v, cnt = self.adaptive_column(x_j, *column), column[3]
            else:
                a = abs(x_j) if s == 0 else min(abs(x_j), 32 * s)
                mean = max(s + (a - s) / (cnt + 1), a / (cnt + 1))
                v = min(8.0, max(-8.0, x_j / mean))
            h = om * v
            squares += max(h * h, om * om)
            known += h * h / (cnt + 1)
            for k in outputs:
                dots[k] += w[k] * h
            if x_j > 0 and N > 0 and not negative and not column:
                for k in range(n):
                    z[k] += log(1 + c[k] * T / N) - log(D[k] + 1)
        r = 1 / sqrt(squares) if squares else 0.0
        if len(labels) <= 2:
            d = [z[positive] - z[1 - positive]]
        else:
            first, second = sorted(z)[-1], sorted(z)[-2]
            best = z.index(first)
            d = [first - second if k == best else z[k] - first for k in range(n)]
        scores = []
        for k in outputs:
            V = min(2.0, max(-2.0, d[k] / (m or 1.0)))
            scores.append(r * dots[k])
            if self.params["intercept"]:
                scores[k] += w0[k]
            if self.params["naive_bayes"]:
                scores[k] += wn[k] * V
        t = [score * T / (T + 10) for score in scores]
        if len(labels) > 2:
            p = [exp(tau * (t_k - max(t))) for t_k in t]
            probabilities = {label: p[k] / sum(p) for k, label in enumerate(labels)}
            best = labels[scores.index(max(scores))]
            return dict(zip(labels, t, strict=True)), probabilities, best
        decision = t[0] / (1 + 2 * r**2 * known)
        if len(labels) < 2:
            return decision, dict.fromkeys(labels, 1.0), labels[0] if labels else None
        P = tau * t[0]
        p = [exp(min(0.0, sign * P)) / (1 + exp(-abs(P))) for sign in (1, -1)]
        order = (labels[positive], labels[1 - positive])
        return decision, dict(zip(order, p, strict=True)), order[0 if scores[0] > 0 else 1]
