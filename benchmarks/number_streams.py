"""Streams of columns of numbers: real tables, River's small sets and its generators.

The CSV files are shuffled but elecNormNew, which is in the order of time; its day of the week is
a number, 1 to 7. svmguide3 is shuffled here, and of a9a the first 20,000 events are taken. Every
generator has seed 1, the second half of a drift seed 2. In nursery and mushroom every value is a
category, so there is no column of numbers.
"""

import csv
import lzma
import random
from itertools import islice

from river import datasets
from river.datasets import synth

from benchmarks import common
from tests.support import streams

CATEGORIES = {"nursery", "mushroom"}
TABLES = (  # files of ../shared/data/numbers
    *("elecNormNew", "letter", "pendigits", "optdigits", "spambase", "credit_g", "waveform5000"),
    *("vehicle", "page_blocks", "diabetes", "ionosphere", "vowel", "nursery", "mushroom"),
)
SPARSE = ("a9a", "svmguide3")  # files of ../shared/data


def agrawal(function):
    return synth.Agrawal(function, seed=1, perturbation=0.05)


def drift(before, after, position, width):
    """One generator and then another; about `position`, events are of both."""
    return synth.ConceptDriftStream(before, after, position=position, width=width, seed=1)


MADE = {
    "Phishing": datasets.Phishing,
    "ImageSegments": datasets.ImageSegments,
    "Bananas": datasets.Bananas,
    "SEA": lambda: synth.SEA(seed=1).take(5_000),
    "Hyperplane": lambda: synth.Hyperplane(seed=1).take(5_000),
    "Waveform": lambda: synth.Waveform(seed=1).take(5_000),
    "RandomRBF": lambda: synth.RandomRBF(1, 1, n_classes=4, n_features=8, n_centroids=40).take(
        10_000
    ),
    "Mixed": lambda: synth.Mixed(seed=1).take(5_000),
    "Sine0": lambda: synth.Sine(0, seed=1).take(5_000),
    "Sine2n": lambda: synth.Sine(2, seed=1, has_noise=True).take(5_000),
    "STAGGER": lambda: synth.STAGGER(seed=1).take(3_000),
    "LED": lambda: synth.LED(seed=1, noise_percentage=0.1).take(5_000),
    **{f"Agrawal{i}": lambda i=i: agrawal(i).take(5_000) for i in range(10)},
    "AgrDrift": lambda: drift(
        synth.Agrawal(1, seed=1), synth.Agrawal(6, seed=2), position=5_000, width=200
    ).take(10_000),
    "SineDrift": lambda: drift(
        synth.Sine(0, seed=1), synth.Sine(2, seed=2), position=4_000, width=100
    ).take(8_000),
}


def csv_events(name):
    """Numbers where a cell is one, but in a stream of categories."""
    with lzma.open(streams.DATA / "numbers" / f"{name}.csv.xz", "rt") as file:
        for row in csv.DictReader(file):
            y = row.pop("y")
            yield {j: cell(text, name in CATEGORIES) for j, text in row.items() if text}, y


def cell(text, category):
    if not category:
        try:
            return float(text)
        except ValueError:
            pass
    return f"'{text}"  # a text that reads as a number would be an error


def svmlight_events(name):
    events = list(common.svmlight_events(name))
    if name == "svmguide3":
        random.Random(0).shuffle(events)
    return events[:20_000]


def is_here(name):
    """Whether it needs no file, or the file is there."""
    if name in MADE:
        return True
    folder, kind = (streams.DATA, "xz") if name in SPARSE else (streams.DATA / "numbers", "csv.xz")
    return (folder / f"{name}.{kind}").is_file()


def events_of(name, limit=None):
    """[(x, y)], the first `limit` of them, or all."""
    if name in MADE:
        events = MADE[name]()
    else:
        events = svmlight_events(name) if name in SPARSE else csv_events(name)
    return list(islice(events, limit))
