"""Columns of numbers: AdaptiveClassifier in any unit, at any offset, with gaps and wrong values.

Each event is answered before it is learned, in one pass. Texts are categories (`city=Paris`), and
empty cells are left out. bench_tables.py has more streams, shapes and peers.

error     answers that were wrong, in percent
scaled    the same learner after River's StandardScaler
log-loss  minus the mean logarithm of the probability of the event's label, in nats
ECE       expected calibration error in percent: 15 bins of equal width

At the end six columns of noise, three of which decide, so far from 0 as the heading says: with
values missing at random; with a sensor that fails in a twentieth of the events, whose label is then
True; and with some values that are a million times too large.
"""

import random

from river import preprocessing

import streamptron
from benchmarks import bench_errors, common, number_streams

STREAMS = (
    *("Phishing", "ImageSegments", "Bananas", "SEA", "Hyperplane", "Waveform"),
    *number_streams.SPARSE,
    *number_streams.TABLES,
)
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


def tally_of(events):
    """Errors and probabilities."""
    return bench_errors.run(streamptron.AdaptiveClassifier(), events, two=False)


def bench_errors_of(names, limit):
    rows = []
    for name in names:
        events = number_streams.events_of(name, limit)
        tally = tally_of(events)
        behind = ""
        if name not in number_streams.CATEGORIES:
            behind = f"{tally_of(list(scaled(events))).error:.2f}"
        loss = sum(tally.losses) / len(tally.losses)
        figures = [f"{tally.error:.2f}", behind, f"{loss:.3f}", f"{tally.calibration_error:.2f}"]
        rows.append([f"{name} ({len(events):,})", *figures])
    common.table(["stream (events)", "error", "scaled", "log-loss", "ECE"], rows)


def bench_moved(names, limit):
    rows = []
    for name in names:
        events = number_streams.events_of(name, limit)
        found = [tally_of(moved(events, offset)).error for offset in OFFSETS]
        found.append(tally_of(moved(events, unit=1000.0)).error)
        rows.append([name, *(f"{error:.2f}" for error in found)])
    headings = [f"+ {offset:g}" for offset in OFFSETS]
    common.table(["error, every column", *headings, "units of 1 to 1,000"], rows)


def bench_gaps(n):
    rows = []
    for gaps in (0.01, 0.05, 0.1, 0.2):
        found = [tally_of(list(scaled(made(n, gaps=gaps)))).error]
        found += [tally_of(list(made(n, far, gaps))).error for far in FAR]
        rows.append([f"{gaps:.0%}", *(f"{error:.1f}" for error in found)])
    found = [tally_of(list(scaled(made(n, fails=0.05)))).error]
    found += [tally_of(list(made(n, far, fails=0.05))).error for far in FAR]
    rows.append(["a sensor that fails", *(f"{error:.1f}" for error in found)])
    common.table(["gaps", "scaled, mean 0", *(f"mean {far}" for far in FAR)], rows)


def bench_wrong(n):
    rows = [
        [f"{wrong:g}", f"{tally_of(list(made(n, wrong=wrong))).error:.1f}"]
        for wrong in (0.0, 0.0002, 0.001, 0.002, 0.005)
    ]
    common.table(["share of values a million times too large", "error"], rows)


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=STREAMS, metavar="STREAM")
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
