"""River's own benchmark with our rows: its tracks, its data sets, its metrics and its loop.

The tracks are those of `river.evaluate`, as installed: progressive validation, each event being
answered before it is learned, the first one not counting where the answer is None. Ours is
AdaptiveClassifier() as it comes, nothing before it.

Beside it are the rows that River has published (docs/benchmarks of its repository), of its version
0.19.0, which was current from August to November 2023; and with --peers some of its models, by the
settings of its benchmark, as they are in the version that is installed.

Elec2 is made of ../shared/data/numbers/elecNormNew.csv.xz, if River has not downloaded it: the same
rows, read by River's own reader, so that the day of the week is a number. The other sets that River
downloads are left out where they are not there; --download lets River fetch them.
"""

import lzma
import tempfile
from datetime import date
from importlib import metadata
from pathlib import Path

from river import datasets, evaluate, forest, linear_model, naive_bayes, optim, preprocessing, tree

import streamptron
from benchmarks import common
from tests.support import streams

OURS = "AdaptiveClassifier"
CHECKPOINTS = 50  # as in River's benchmark

# Accuracy in percent, by River 0.19.0. Other models are published as well; these are its forests,
# and the best and the simplest of the others.
SETS = ("Bananas", "Elec2", "Phishing", "SMTP", "ImageSegments", "Insects", "Keystroke")
PUBLISHED = """
Adaptive Random Forest       88.70  87.66  90.79  99.97  81.85  74.54  96.91
Aggregated Mondrian Forest   88.94  84.99  90.47  99.99  90.17  64.70  88.11
Streaming Random Patches     87.17  86.89  91.35  99.97  76.70  73.62  95.59
Leveraging Bagging           82.83  89.27  89.43  99.97  77.83  69.59  95.66
ADWIN Bagging                62.60  82.38  89.35  99.97  77.78  57.95  81.66
Bagging                      63.41  84.04  89.35  99.97  77.70  60.63  66.97
AdaBoost                     67.79  88.06  87.83  99.94  80.47  56.35  83.48
Stacking                     87.62  88.55  89.51  99.97  86.79  75.47  97.55
Voting                       87.26  84.37  89.67  99.98  80.64  64.85  77.91
k-Nearest Neighbors          88.51  85.31  88.15  99.98  87.35  71.31  91.05
Hoeffding Adaptive Tree      61.65  82.13  87.43  99.97  77.44  61.33  72.31
Hoeffding Tree               64.22  79.56  87.99  99.97  77.61  53.73  64.82
Naive Bayes                  61.52  72.87  88.47  99.35  73.19  50.69  65.25
ALMA                         50.64  90.64  82.56  76.50      -      -      -
Logistic regression          54.32  82.21  88.72  99.98      -      -      -
[baseline] Last Class        50.95  85.33  51.56  99.96  14.81  28.98  99.75
"""


def published():
    """{model: {set: accuracy}}."""
    found = {}
    for row in PUBLISHED.split("\n")[1:-1]:
        model, *cells = (cell.strip() for cell in row.rsplit(maxsplit=len(SETS)))
        pairs = zip(SETS, cells, strict=True)
        found[model] = {name: float(cell) for name, cell in pairs if cell != "-"}
    return found


def scaled(model):
    return preprocessing.StandardScaler() | model


PEERS = {  # with the settings of River's benchmark
    "Adaptive Random Forest": lambda: forest.ARFClassifier(seed=42),
    "Aggregated Mondrian Forest": lambda: forest.AMFClassifier(seed=42),
    "Hoeffding Tree": tree.HoeffdingTreeClassifier,
    "Naive Bayes": naive_bayes.GaussianNB,
    "ALMA": lambda: scaled(linear_model.ALMAClassifier()),
    "Logistic regression": lambda: scaled(linear_model.LogisticRegression(optim.SGD(0.005))),
}
TWO_LABELS = {"ALMA", "Logistic regression"}


class LocalElec2(datasets.Elec2):
    """River's set and its reader; the rows are those of ../shared/data."""

    folder = None

    @property
    def path(self):
        return self.folder / self.filename

    @property
    def is_downloaded(self):
        return True

    @classmethod
    def unpacked(cls, folder):
        cls.folder = folder
        with lzma.open(streams.DATA / "numbers" / "elecNormNew.csv.xz", "rt") as file:
            header, _, rows = file.read().partition("\n")
        names = [name if name != "y" else "class" for name in header.split(",")]
        (folder / "electricity.csv").write_text(f"{','.join(names)}\n{rows}")
        return cls()


class First(datasets.base.Dataset):
    """The first events of a set."""

    def __init__(self, dataset, n_samples):
        super().__init__(dataset.task, dataset.n_features, n_samples)
        self.dataset = dataset

    def __iter__(self):
        return self.dataset.take(self.n_samples)


def sets():
    """(track, set) of River's two tracks of classification."""
    for track in (evaluate.BinaryClassificationTrack(), evaluate.MultiClassClassificationTrack()):
        for dataset in track:
            yield track, dataset


def here(dataset, folder, download):
    """The set, or None where it has to be downloaded first."""
    if getattr(dataset, "is_downloaded", True) or download:
        return dataset
    local = isinstance(dataset, datasets.Elec2) and (streams.DATA / "numbers").is_dir()
    return LocalElec2.unpacked(folder) if local else None


def measured(track, dataset, model):
    """Accuracy and F1 in percent (of many labels, MacroF1), and us an event, by River's loop."""
    *_, last = track.run(model, dataset, n_checkpoints=min(CHECKPOINTS, dataset.n_samples))
    f1 = last["MacroF1"] if "MacroF1" in last else last["F1"]
    us = 1e6 * last["Time"].total_seconds() / dataset.n_samples
    return 100 * last["Accuracy"].get(), 100 * f1.get(), us


def models(track, peers):
    """{model: what makes it} of those that are measured here."""
    yield OURS, streamptron.AdaptiveClassifier
    if peers:
        two = track.name.startswith("Binary")
        yield from (item for item in PEERS.items() if two or item[0] not in TWO_LABELS)


def shown(sets, figures):
    """A table's rows: {model: {set: figure}}, empty where there is none."""
    for (model, version), found in figures.items():
        cells = (f"{found[name]:.2f}" if name in found else "" for name in sets)
        yield [model, version, *cells]


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, metavar="SET")
    parser.add_argument("--peers", action="store_true", help="some of River's models, too: 1 h")
    parser.add_argument("--download", action="store_true", help="let River fetch what is missing")
    args = parser.parse_args()
    args.sets = list(args.sets)
    common.header(args, ", ".join(args.sets))
    accuracies, f1s, times, missing = {}, {}, {}, []
    versions = {model: f"River {metadata.version('river')}, {date.today()}" for model in PEERS}
    versions[OURS] = f"streamptron {streamptron.__version__}, {date.today()}"
    with tempfile.TemporaryDirectory() as folder:
        for track, dataset in sets():
            name = type(dataset).__name__
            if name not in args.sets:
                continue
            found = here(dataset, Path(folder), args.download)
            if found is None:
                missing.append(name)
                continue
            found = First(found, 60) if args.quick else found
            for model, make in models(track, args.peers):
                row = model, versions[model]
                figures = measured(track, found, make())
                for table, figure in zip((accuracies, f1s, times), figures, strict=True):
                    table.setdefault(row, {})[name] = figure
    if missing:
        print(f"left out, as River has not downloaded them: {', '.join(missing)}")
    names = [name for name in args.sets if name not in missing]
    for model, found in published().items():
        accuracies[model, "River 0.19.0, 2023"] = found
    common.section("Accuracy")
    common.table(["model", "version, date", *names], shown(names, accuracies))
    common.section("F1; where there are more than two labels, macro F1")
    common.table(["model", "version, date", *names], shown(names, f1s))
    common.section("Microseconds an event, with River's metrics and checkpoints")
    common.table(["model", "version, date", *names], shown(names, times))


if __name__ == "__main__":
    main()
