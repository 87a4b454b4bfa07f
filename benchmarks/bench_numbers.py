"""Columns of numbers: AdaptiveClassifier on 22 streams, in any unit and at any offset.

Each event is answered before it is learned, in one pass. Texts are categories (`city=Paris`), and
empty cells are left out. The CSV files are shuffled but elecNormNew; svmguide3 is shuffled here.
Phishing, ImageSegments and Bananas are River's, SEA, Hyperplane and Waveform its generators. In
nursery and mushroom every value is a category, so there is no column of numbers.

error     answers that were wrong, in percent
bends     the error of the same learner with bends=True, and behind it that one's aim; at the end
          its microseconds
aim       what a prototype of the rule reached, on the streams as they are here but for the
          generators, which made others for it; a fifth of a point more, or a twentieth of it, is
          within the aim
scaled    the same learner after River's StandardScaler
log-loss  minus the mean logarithm of the probability of the event's label, in nats
ECE       expected calibration error in percent: 15 bins of equal width
us        a predict_one, predict_proba_one and learn_one, in microseconds

At the end six columns of noise, three of which decide, so far from 0 as the heading says: with
values missing at random; with a sensor that fails in a twentieth of the events, whose label is then
True; and with some values that are a million times too large.
"""

import math
import random
import time

from river import preprocessing

import streamptron
from benchmarks import bench_errors, common, number_streams

AIMS = {  # errors of the rule without columns, of the one with them, and with bends
    "Phishing": (13.2, 10.7, 8.8),
    "ImageSegments": (15.8, 12.2, 8.7),
    "SEA": (2.1, 2.5, 2.6),
    "Hyperplane": (8.6, 8.2, 9.6),
    "Waveform": (16.8, 14.9, 15.4),
    "Bananas": (46.6, 46.9, 27.6),
    "svmguide3": (21.2, 19.5, 19.7),
    "a9a": (15.7, 15.7, 15.7),
    "elecNormNew": (15.6, 15.5, 14.8),
    "letter": (36.9, 30.4, 19.0),
    "pendigits": (13.3, 9.7, 4.5),
    "optdigits": (8.2, 5.7, 4.8),
    "spambase": (6.8, 6.6, 6.7),
    "credit_g": (27.0, 27.0, 28.1),
    "waveform5000": (15.9, 14.4, 15.0),
    "vehicle": (53.2, 41.6, 36.9),
    "page_blocks": (5.8, 5.8, 4.5),
    "diabetes": (29.0, 24.7, 25.4),
    "ionosphere": (18.2, 19.9, 10.5),
    "vowel": (67.7, 52.1, 31.9),
    "nursery": (8.28, 8.28, 8.28),
    "mushroom": (0.31, 0.31, 0.31),
}
FAR = 0, 3, 10, 30, 100
OFFSETS = (0.0, 10.0, 100.0, 1000.0)
MOVED = ("SEA", "Phishing", "ImageSegments", "Waveform")


def scaled(events):
    """Numbers less their mean, by their standard deviation, of the events so far."""
    scaler = preprocessing.StandardScaler()
    for x, y in events:
        numbers = {j: value for j, value in x.items() if not isinstance(value, str)}
        scaler.learn_one(numbers)
        yield {**x, **scaler.transform_one(numbers)}, y


def moved(events, offset=0.0, unit=1.0):
    """Every column times a unit of its own, up to `unit`, and more by `offset`."""
    names = sorted({j for x, _ in events for j in x}, key=str)
    units = {j: unit ** (i % 5 / 4) for i, j in enumerate(names)}
    return [({j: (x.get(j, 0.0) + offset) * units[j] for j in names}, y) for x, y in events]


def made(n, far=0.0, gaps=0.0, wrong=0.0, fails=0.0):
    """Six columns with mean `far` and deviation 1, three of which decide: a share of the values is
    missing, or a million times too large. Or the fifth is missing in a share of the events, which
    decides."""
    rng = random.Random(1)
    fail = random.Random(2)
    for _ in range(n):
        z = [rng.gauss(0.0, 1.0) for _ in range(6)]
        y = z[0] + z[1] - z[2] > 0
        x = {f"c{j}": far + z[j] for j in range(6) if rng.random() >= gaps}
        if fail.random() < fails:
            x.pop("c4", None)
            y = True
        yield {j: x_j * (1e6 if rng.random() < wrong else 1.0) for j, x_j in x.items()}, y


def told(events, bends=False):
    """Errors and probabilities, and microseconds an event."""
    start = time.perf_counter()
    tally = bench_errors.run(streamptron.AdaptiveClassifier(bends=bends), events, two=False)
    return tally, 1e6 * (time.perf_counter() - start) / len(events)


def mean(errors):
    return math.exp(sum(math.log(max(error, 0.01)) for error in errors) / len(errors))


def bench_errors_of(names, limit):
    rows, errors = [], []
    for name in names:
        events = number_streams.events_of(name, limit)
        tally, us = told(events)
        scaled_error = (
            told(list(scaled(events)))[0].error if name not in number_streams.CATEGORIES else None
        )
        bent, bent_us = told(events, bends=True)
        before, aim, bent_aim = AIMS[name]
        errors.append((tally.error, before, aim, bent.error, bent_aim))
        loss = sum(tally.losses) / len(tally.losses)
        rows.append(
            [
                f"{name} ({len(events):,})",
                *(f"{error:.2f}" for error in errors[-1]),
                "" if scaled_error is None else f"{scaled_error:.2f}",
                f"{loss:.3f}",
                f"{tally.calibration_error:.2f}",
                f"{us:.1f}",
                f"{bent_us:.1f}",
            ]
        )
    means = [f"{mean(column):.2f}" for column in zip(*errors, strict=True)]
    rows.append([f"geometric mean of these {len(names)}", *means, *[""] * 5])
    headings = ["stream (events)", "error", "before", "aim", "bends", "aim", "scaled"]
    common.table([*headings, "log-loss", "ECE", "us", "bends"], rows)


def bench_moved(names, limit):
    rows = []
    for name in names:
        events = number_streams.events_of(name, limit)
        found = [told(moved(events, offset))[0].error for offset in OFFSETS]
        found.append(told(moved(events, unit=1000.0))[0].error)
        rows.append([name, *(f"{error:.2f}" for error in found)])
    headings = [f"+ {offset:g}" for offset in OFFSETS]
    common.table(["error, every column", *headings, "units of 1 to 1,000"], rows)


def bench_gaps(n):
    rows = []
    for gaps in (0.01, 0.05, 0.1, 0.2):
        found = [told(list(scaled(made(n, gaps=gaps))))[0].error]
        found += [told(list(made(n, far, gaps)))[0].error for far in FAR]
        rows.append([f"{gaps:.0%}", *(f"{error:.1f}" for error in found)])
    found = [told(list(scaled(made(n, fails=0.05))))[0].error]
    found += [told(list(made(n, far, fails=0.05)))[0].error for far in FAR]
    rows.append(["a sensor that fails", *(f"{error:.1f}" for error in found)])
    common.table(["gaps", "scaled, mean 0", *(f"mean {far}" for far in FAR)], rows)


def bench_wrong(n):
    rows = [
        [f"{wrong:g}", f"{told(list(made(n, wrong=wrong)))[0].error:.1f}"]
        for wrong in (0.0, 0.0002, 0.001, 0.002, 0.005)
    ]
    common.table(["share of values a million times too large", "error"], rows)


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--streams", nargs="+", choices=AIMS, default=AIMS, metavar="STREAM")
    parser.add_argument("--events", type=int, help="at most, of each stream")
    args = parser.parse_args()
    args.streams = list(args.streams)
    if args.quick and args.events is None:
        args.events = 60
    common.header(args, ", ".join(args.streams))
    common.need_data()
    bench_errors_of(args.streams, args.events)
    common.section("Offsets and units")
    bench_moved([name for name in MOVED if name in args.streams], args.events)
    common.section("Values that are missing, of columns so many deviations from 0")
    bench_gaps(args.events or 4000)
    common.section("Wrong values")
    bench_wrong(args.events or 4000)


if __name__ == "__main__":
    main()
