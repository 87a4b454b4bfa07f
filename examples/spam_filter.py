"""A spam filter that learns from corrections: it answers first, then learns the label it is given.

Few people label all of their mail. Here the user corrects every mistake that lands in the inbox or
is missed there, and otherwise says nothing but "right" now and then (one mail in ten).

Run `python examples/spam_filter.py mails.tsv`, with lines of "spam" or "ham", a TAB and a text,
also compressed (.gz, .xz). Without a file it takes River's SMSSpam, which is downloaded once.
"""

import random
import sys

from river import datasets

from streamptron import AdaptiveClassifier, Tokenizer
from streamptron.files import read


def mails():
    """(text, is it spam?) in the order of arrival."""
    if sys.argv[1:]:
        yield from read(sys.argv[1], "plain", labels={"spam": True, "ham": False})
    else:
        for x, label in datasets.SMSSpam():
            yield x["body"], label


def loaded():
    """All of them, or one line that says what is missing."""
    try:
        return list(mails())
    except (OSError, ValueError) as error:
        sys.exit(
            f"No mails ({error}). Give a file of lines 'spam<TAB>text' and 'ham<TAB>text': "
            "python examples/spam_filter.py mails.tsv"
        )


mail = loaded()
spam_filter = Tokenizer() | AdaptiveClassifier()
rng = random.Random(0)
n = wrong = labelled = 0
for text, is_spam in mail:
    answer = spam_filter.predict_one(text)
    n, wrong = n + 1, wrong + (answer != is_spam)
    if answer != is_spam or rng.random() < 0.1:
        spam_filter.learn_one(text, is_spam)
        labelled += 1
    if n % 1000 == 0:
        print(f"{n:6} mails, {100 * wrong / n:5.2f} % wrong so far, {labelled} labels given")

tokenizer, learner = spam_filter["Tokenizer"], spam_filter["AdaptiveClassifier"]
print("\nmost like spam:", *(word for word, _ in learner.top_features(12).positive))
print("least like spam:", *(word for word, _ in learner.top_features(12).negative))
text, is_spam = mail[min(40, len(mail) - 1)]
p = learner.predict_proba_one(tokenizer.transform_one(text))[True]
print(f"\n{text[:70]!r}...\n  spam with a probability of {p:.1%}, because of")
for word, part in learner.explain_one(tokenizer.transform_one(text))[:8]:
    print(f"  {part:+8.2f}  {word or '(intercept)'}")
