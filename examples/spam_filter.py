"""A spam filter that learns from corrections: it answers first, and learns what it is told.

Nobody labels all of their mail. Here the user corrects every mistake that lands in the inbox or is
missed there, and otherwise says nothing but "right" now and then (one mail in ten).
"""

import lzma
import random
from itertools import islice
from pathlib import Path

from river import datasets

from streamptron import Perceptron, Tokenizer

MAILS = Path(__file__).resolve().parents[2] / "shared" / "data" / "spamassassin.tsv.xz"


def mails():
    """(text, is it spam?): mails in the order of their arrival, or River's text messages."""
    if MAILS.exists():
        with lzma.open(MAILS, "rt", encoding="utf-8", newline="\n") as file:
            for line in file:
                label, _, text = line.partition("\t")
                yield text, label == "spam"
    else:
        for x, label in datasets.SMSSpam():
            yield x["body"], label


spam_filter = Tokenizer() | Perceptron()
rng = random.Random(0)
n = wrong = told = 0
for text, is_spam in mails():
    answer = spam_filter.predict_one(text)
    n, wrong = n + 1, wrong + (answer != is_spam)
    if answer != is_spam or rng.random() < 0.1:
        spam_filter.learn_one(text, is_spam)
        told += 1
    if n % 1000 == 0:
        print(f"{n:6} mails, {100 * wrong / n:5.2f} % wrong so far, {told} labels given")

tokenizer, learner = spam_filter["Tokenizer"], spam_filter["Perceptron"]
print("\nmost like spam:", *(word for word, _ in learner.top_features(12).positive))
print("least like spam:", *(word for word, _ in learner.top_features(12).negative))
text, is_spam = next(islice(mails(), 40, None))
p = learner.predict_proba_one(tokenizer.transform_one(text))[True]
print(f"\n{text[:70]!r}...\n  spam with a probability of {p:.1%}, because of")
for word, part in learner.explain_one(tokenizer.transform_one(text))[:8]:
    print(f"  {part:+8.2f}  {word or '(intercept)'}")
