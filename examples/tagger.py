"""A part-of-speech tagger that learns sentence by sentence, beside NLTK's on the same features.

Words are tagged from left to right, and the two tags before are features of the next word: the
tagger's own answers, in training as in use. Nothing but a dict of strings goes to the learner, so
the tagger is one function, features, and one loop.

Run `python examples/tagger.py train.conllu test.conllu`, with files of Universal Dependencies,
also compressed (.gz, .xz). `pip install nltk` adds NLTK's PerceptronTagger to the table. NLTK
skips words that are frequent and nearly always have one tag; here both do without that, so that
both learn from the same words.
"""

import gzip
import json
import lzma
import random
import sys
import tempfile
import time
from pathlib import Path

from streamptron import AROW, MulticlassPerceptron

START, END = ["-START-", "-START2-"], ["-END-", "-END2-"]


def read(path):
    """[(word, tag), ...] of each sentence of a CoNLL-U file."""
    opened = {".gz": gzip.open, ".xz": lzma.open}.get(Path(path).suffix, open)
    sentence = []
    with opened(path, "rt", encoding="utf-8") as file:
        for line in file:
            cells = line.split("\t")
            if cells[0].isdigit():  # 8-9 is a contraction of words to come, 8.1 an elided word
                sentence.append((cells[1], cells[3]))
            elif not line.strip() and sentence:
                yield sentence
                sentence = []
    if sentence:
        yield sentence


def shape(word):
    """A word as its neighbours see it."""
    if "-" in word and word[0] != "-":
        return "!HYPHEN"
    if word[:1].isdigit():
        return "!YEAR" if word.isdigit() and len(word) == 4 else "!DIGITS"
    return word.lower()


def features(i, word, context, tag1, tag2):
    """What is known of word i; the words are in context, tag1 and tag2 are those before it."""
    before2, before, this, after, after2 = context[i : i + 5]
    return {
        f"i suffix {word[-3:]}": 1,
        f"i pref1 {word[:1]}": 1,
        f"i-1 tag {tag1}": 1,
        f"i-2 tag {tag2}": 1,
        f"i tag+i-2 tag {tag1} {tag2}": 1,
        f"i word {this}": 1,
        f"i-1 tag+i word {tag1} {this}": 1,
        f"i-1 word {before}": 1,
        f"i-1 suffix {before[-3:]}": 1,
        f"i-2 word {before2}": 1,
        f"i+1 word {after}": 1,
        f"i+1 suffix {after[-3:]}": 1,
        f"i+2 word {after2}": 1,
    }


class Tagger:
    """A learner, and how a sentence becomes events."""

    def __init__(self, model):
        self.model = model

    def learn(self, sentence):
        """Learn from [(word, tag), ...]."""
        context = START + [shape(word) for word, _ in sentence] + END
        tag1, tag2 = START
        for i, (word, tag) in enumerate(sentence):
            answer = self.model.test_then_train_one(features(i, word, context, tag1, tag2), tag)
            tag1, tag2 = answer or tag, tag1  # there is no answer before the first label

    def train(self, sentences, nr_iter):
        """Learn from all sentences as often as that, in a new order each time."""
        sentences = list(sentences)
        for _ in range(nr_iter):
            for sentence in sentences:
                self.learn(sentence)
            random.shuffle(sentences)

    def tag(self, words):
        """[(word, tag), ...]"""
        context = START + [shape(word) for word in words] + END
        tag1, tag2 = START
        tagged = []
        for i, word in enumerate(words):
            answer = self.model.predict_one(features(i, word, context, tag1, tag2))
            tagged.append((word, answer))
            tag1, tag2 = answer, tag1
        return tagged

    def size(self):
        """Bytes of the model file."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "tagger.model")
            self.model.save(path)
            return path.stat().st_size


def nltks():
    """NLTK's tagger, or None where NLTK is not installed."""
    try:
        from nltk.tag.perceptron import PerceptronTagger
    except ImportError:
        return None

    class WithoutShortcut(PerceptronTagger):
        def _make_tagdict(self, sentences):
            super()._make_tagdict(sentences)
            self.tagdict.clear()

        def size(self):
            return len(json.dumps(self.encode_json_obj()))

    return WithoutShortcut(load=False)


# name, epochs, and what makes the tagger; NLTK's algorithm is that of MulticlassPerceptron
TAGGERS = [
    ("AROW", 1, lambda: Tagger(AROW())),
    ("AROW", 5, lambda: Tagger(AROW())),
    ("MulticlassPerceptron", 5, lambda: Tagger(MulticlassPerceptron())),
    ("NLTK's PerceptronTagger", 5, nltks),
]


def loaded(paths):
    """The sentences of both files, or one line that says what is missing."""
    try:
        train, test = (list(read(path)) for path in paths)
        if not (train and test):
            raise ValueError("a file without sentences")
        return train, test
    except (OSError, ValueError, IndexError, lzma.LZMAError) as error:
        sys.exit(
            f"No sentences ({error}). Give a file to learn from and one to test with, of Universal "
            "Dependencies: python examples/tagger.py train.conllu test.conllu"
        )


def main():
    train, test = loaded(sys.argv[1:])
    n = sum(map(len, test))
    print(f"{sum(map(len, train)):,} words to learn from, {n:,} to test with; seconds of CPU\n")
    print(f"{'':24}{'epochs':>7}{'right':>10}{'training':>11}{'tagging':>11}{'model':>11}")
    for name, epochs, make in TAGGERS:
        random.seed(0)
        tagger = make()
        if tagger is None:
            print(f"{name}: pip install nltk")
            continue
        started = time.process_time()
        tagger.train(train, nr_iter=epochs)
        trained = time.process_time()
        answers = [tagger.tag([word for word, _ in sentence]) for sentence in test]
        done = time.process_time()
        right = sum(
            answer == true
            for pair in zip(answers, test, strict=True)
            for answer, true in zip(*pair, strict=True)
        )
        print(
            f"{name:24}{epochs:7}{right / n:10.2%}{trained - started:9.2f} s"
            f"{done - trained:9.2f} s{tagger.size() / 1e6:8.1f} MB"
        )


if __name__ == "__main__":
    main()
