"""Tables of numbers: AdaptiveClassifier's line, curves and surfaces on 40 streams, beside forests.

Each event is answered before it is learned, in one pass, in file order. The first event, before
which no label is known, counts as an error, as for River's metrics.

error     answers that were wrong, in percent
aim       what a prototype of the rule reached on these streams, with forget=2**-10
over      by how many points "auto" errs more than its aim, where that is more than 3 % of the aim
          and more than .2 points
log-loss  minus the mean logarithm of the probability of the event's label, in nats; without the
          events before the second label, and those whose label is new
us        a predict_one and a learn_one, in microseconds of CPU time
ARF, AMF  River's AdaptiveRandomForest, and its AggregatedMondrianForest behind a StandardScaler, of
          ten trees each
other     the best of River's LeveragingBagging, SRP, KNN (scaled), HoeffdingTree,
          LogisticRegression (AdaGrad, scaled) and ALMA (scaled): not all of them ran on each stream

River's figures are those measured with the aims. --peers measures ARF, AMF, the Hoeffding tree and
the logistic regression here, which takes a thousand times as long as our learner.
"""

import math
import time
from itertools import chain
from types import SimpleNamespace

from river import forest, linear_model, multiclass, optim, preprocessing, tree

import streamptron
from benchmarks import bench_errors, common, number_streams

SHAPES = ("line", "curve", "auto")

# Errors of line, curve and auto; log-losses of line and auto; errors of ARF, AMF and the best other
AIMS = """
Phishing        9.68  9.20  8.64  0.236 0.224   9.52  11.0  8.72 SRP
ImageSegments   11.5  7.49  5.80  0.364 0.197   20.5  7.32  12.8 KNN
Bananas         46.9  28.9  10.7  0.687 0.253   12.0  12.2  11.5 KNN
SEA             2.54  1.80  1.58  0.064 0.037   2.52  3.22  2.40 LR
Hyperplane      8.46  8.52  8.52  0.305 0.306   19.1  19.6  6.94 LR
Waveform        15.4  15.3  15.0  0.340 0.341   20.7  20.2  15.7 LR
svmguide3       18.9  18.5  18.6  0.444 0.428   19.1  19.3  18.9 SRP
credit_g        27.2  27.7  27.8  0.533 0.534   29.5  29.6  28.7 SRP
diabetes        24.6  24.9  25.0  0.494 0.492   29.4  27.9  24.0 LB
elecNormNew     12.9  10.5  9.14  0.298 0.227   10.8  11.4  7.37 ALMA
ionosphere      19.4  12.2  9.97  0.431 0.251   12.0  9.40  12.3 SRP
letter          29.9  18.1  10.1  1.096 0.361   50.2  15.5  36.4 HT
optdigits       5.62  4.75  4.40  0.192 0.165   24.3  9.66  7.65 LR
page_blocks     6.03  4.68  4.24  0.186 0.137   5.19  5.03  4.90 KNN
pendigits       9.73  4.28  2.19  0.319 0.087   21.4  3.14  14.0 LR
spambase        6.74  6.74  6.54  0.191 0.186   8.82  8.41  8.61 LR
vehicle         38.4  34.8  31.2  0.938 0.700   46.3  33.6  33.8 KNN
vowel           53.0  33.3  20.5  1.465 0.725   62.0  29.9  28.9 KNN
waveform5000    14.5  14.7  14.5  0.322 0.323   21.6  26.3  15.2 LR
RandomRBF       38.7  24.9  13.3  0.895 0.387   19.5  11.1  40.9 HT
Mixed           9.46  3.56  2.50  0.213 0.063   4.16  2.74  9.24 LR
Sine0           2.36  1.94  1.36  0.060 0.031   2.42  2.14  2.54 LR
Sine2n          18.0  3.44  2.64  0.387 0.064   8.40  9.36  12.3 HT
STAGGER         0.33  0.33  0.33  0.010 0.008   0.20  0.37  1.20 LR
AgrDrift        26.3  18.6  6.34  0.431 0.156   15.2  27.5  23.9 HT
SineDrift       10.7  4.36  2.90  0.317 0.082   3.41  14.2  3.27 SRP
Agrawal0        32.9  5.20  5.34  0.639 0.123   9.94  24.3  7.16 HT
Agrawal1        44.2  29.4  8.60  0.644 0.194   17.8  22.5  9.34 SRP
Agrawal2        44.2  33.2  3.54  0.686 0.079   11.9  12.3  29.5 HT
Agrawal3        43.3  20.2  9.96  0.617 0.239   18.8  20.9  22.6 HT
Agrawal4        20.6  17.6  10.0  0.471 0.227   17.5  17.5  20.2 HT
Agrawal5        26.5  17.5  16.7  0.532 0.341   19.3  24.2  26.0 HT
Agrawal6        8.90  7.72  7.28  0.201 0.158   9.16  10.1  7.66 LR
Agrawal7        1.80  1.70  1.70  0.054 0.049   1.28  1.82  1.84 HT
Agrawal8        8.72  7.66  7.48  0.198 0.172   9.78  10.3  7.48 LR
Agrawal9        0.20  0.20  0.20  0.010 0.010   0.20  0.20  0.20 HT
a9a             15.7  15.7  15.7      -     -   17.4  18.3     - -
nursery         8.83  8.83  8.83      -     -   11.4  7.45     - -
mushroom         .31   .31   .31      -     -    .74   .36     - -
LED             25.0  25.0  25.0      -     -   27.1  26.7     - -
"""
FIELDS = ("line", "curve", "auto", "line_loss", "auto_loss", "arf", "amf", "other")


def aims():
    for row in AIMS.split("\n")[1:-1]:
        name, *cells, who = row.split()
        figures = [None if cell == "-" else float(cell) for cell in cells]
        yield name, SimpleNamespace(**dict(zip(FIELDS, figures, strict=True)), who=who)


AIM = dict(aims())


def scaled(model):
    return preprocessing.StandardScaler() | model


def logistic(labels):
    model = linear_model.LogisticRegression(optim.AdaGrad(0.1))
    return scaled(model if labels == 2 else multiclass.OneVsRestClassifier(model))


PEERS = {
    "ARF": lambda labels: forest.ARFClassifier(n_models=10, seed=1),
    "AMF": lambda labels: scaled(forest.AMFClassifier(n_estimators=10, seed=1)),
    "HT": lambda labels: tree.HoeffdingTreeClassifier(),
    "LR": logistic,
}


def error_of(model, events):
    """Errors in percent, and microseconds an event."""
    wrong = 0
    start = time.process_time()
    for x, y in events:
        wrong += model.predict_one(x) != y
        model.learn_one(x, y)
    return 100 * wrong / len(events), 1e6 * (time.process_time() - start) / len(events)


def loss_of(model, events):
    losses = bench_errors.run(model, events, two=False).losses
    return sum(losses) / len(losses) if losses else None


def mean(figures):
    """The geometric one, where all figures are there."""
    if None in figures:
        return None
    return math.exp(sum(math.log(max(figure, 0.001)) for figure in figures) / len(figures))


def over(found, aim):
    """By how much it is beyond what may be: empty where it is within."""
    return f"{found - aim:+.2f}" if found > aim + max(0.2, 0.03 * aim) else ""


def shown(figure):
    """Three digits."""
    if figure is None:
        return ""
    return f"{figure:.{2 if figure < 10 else 1}f}"


def loss_shown(figure):
    return "" if figure is None else f"{figure:.3f}"


def titled(name, events):
    columns = {j for x, _ in events for j, value in x.items() if not isinstance(value, str)}
    return f"{name} ({len(events):,}, {len({y for _, y in events})}, {len(columns)})"


def measured(events, forget):
    """{shape: error, us, loss} of a stream."""
    found = {}
    for shape in SHAPES:
        made = [streamptron.AdaptiveClassifier(forget=forget, shape=shape) for _ in range(2)]
        error, us = error_of(made[0], events)
        found[shape] = SimpleNamespace(error=error, us=us, loss=loss_of(made[1], events))
    return found


def bench_errors_of(titles, found):
    rows = []
    columns = []
    for name, title in titles.items():
        aim = AIM[name]
        pairs = [(found[name][shape].error, getattr(aim, shape)) for shape in SHAPES]
        columns.append([*chain.from_iterable(pairs), aim.arf, aim.amf])
        beyond = over(*pairs[-1])
        other = f"{shown(aim.other)} {aim.who}" if aim.other is not None else ""
        rows.append([title, *map(shown, columns[-1][:-2]), beyond, *map(shown, columns[-1][-2:])])
        rows[-1].append(other)
    means = [shown(mean(column)) for column in zip(*columns, strict=True)]
    rows.append([f"geometric mean of these {len(titles)}", *means[:-2], "", *means[-2:], ""])
    headings = chain.from_iterable((shape, "aim") for shape in SHAPES)
    common.table(
        ["stream (events, labels, columns)", *headings, "over", "ARF", "AMF", "other"], rows
    )


def bench_losses(titles, found):
    rows, columns = [], []
    for name, title in titles.items():
        aim = AIM[name]
        columns.append([found[name][shape].loss for shape in SHAPES])
        columns[-1] += [aim.line_loss, aim.auto_loss]
        us = [f"{found[name][shape].us:.1f}" for shape in SHAPES]
        rows.append([title, *map(loss_shown, columns[-1]), *us])
    means = [loss_shown(mean(column)) for column in zip(*columns, strict=True)]
    times = [mean([found[name][shape].us for name in titles]) for shape in SHAPES]
    means += [f"{us:.1f}" for us in times]
    rows.append([f"geometric mean of these {len(titles)}", *means])
    aim_headings = ["aim, line", "aim, auto"]
    common.table(["log-loss; us an event", *SHAPES, *aim_headings, *SHAPES], rows)


def bench_peers(names, limit):
    rows = []
    for name in names:
        events = number_streams.events_of(name, limit)
        labels = len({y for _, y in events})
        cells = []
        for make in PEERS.values():
            error, us = error_of(make(labels), events)
            cells.append(f"{shown(error)} ({us:.0f})")
        rows.append([titled(name, events), *cells])
    common.table(["error (us an event)", *PEERS], rows)


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--streams", nargs="+", choices=AIM, default=AIM, metavar="STREAM")
    parser.add_argument("--events", type=int, default=20_000, help="at most, of each stream")
    parser.add_argument("--forget", default="auto", help="a number, or auto (the default)")
    parser.add_argument("--peers", action="store_true", help="River's learners, too: an hour")
    args = parser.parse_args()
    args.streams = list(args.streams)
    if args.quick:
        args.events = min(args.events, 60)
    common.header(args, ", ".join(args.streams))
    names = [name for name in args.streams if number_streams.is_here(name)]
    if missing := [name for name in args.streams if name not in names]:
        print(f"left out, as their files are not there: {', '.join(missing)}")
    forget = args.forget if args.forget == "auto" else float(args.forget)
    titles, found = {}, {}
    for name in names:
        events = number_streams.events_of(name, args.events)
        titles[name] = titled(name, events)
        found[name] = measured(events, forget)
    common.section("Errors")
    bench_errors_of(titles, found)
    common.section("Log-losses, and times")
    bench_losses(titles, found)
    if args.peers:
        common.section("River's learners, measured here")
        bench_peers(names, args.events)


if __name__ == "__main__":
    main()
