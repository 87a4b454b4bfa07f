"""Which of a few answers is the right one: asked, corrected, learned and measured as it goes along.

River's progressive_val_score asks for one label of one event. Here an event is a set of candidates,
so the loop is written out: predict, measure, then learn.
"""

from river import stats

from streamptron import RankingPerceptron, Tokenizer
from streamptron.metrics import MRR

# a question, its candidates, and which one people took
QUESTIONS = [
    ("disk full", ["remove old logs from the disk", "restart the printer", "call a plumber"], 0),
    ("printer jam", ["remove old logs from the disk", "restart the printer"], 1),
    ("disk errors", ["paint the disk", "check the cable of the disk", "restart the printer"], 1),
    ("no network", ["check the cable of the router", "remove old logs from the disk"], 0),
    ("disk slow", ["restart the printer", "check the cable of the disk"], 1),
    ("printer offline", ["check the cable of the disk", "restart the printer"], 1),
    ("network slow", ["paint the disk", "check the cable of the router"], 1),
    ("printer broken", ["paint the disk", "check the cable of the disk", "restart the printer"], 2),
]


def pairs(question, answers):
    """What an answer says about a question: each word of the one with each word of the other."""
    return [
        " ".join(f"{asked}_{word}" for asked in question.split() for word in answer.split())
        for answer in answers
    ]


model = Tokenizer() | RankingPerceptron()
right, rank = stats.Mean(), MRR()
for turn in (1, 2):
    for question, answers, chosen in QUESTIONS:
        candidates = pairs(question, answers)
        guess = model.predict_one(candidates)
        right.update(guess == chosen)
        grades = [i == chosen for i in range(len(answers))]
        grades = [1 if i == chosen else 0 for i in range(len(answers))]
        rank.update(grades, model.decision_function_one(candidates))
        model.learn_one(candidates, chosen)
        print(f"{turn}  {question:16}{'right' if guess == chosen else 'wrong'}  {answers[guess]}")
print(f"\nright: {right.get():.0%}   {rank}")

question, answers = "disk broken", ["restart the printer", "check the cable of the disk"]
candidates = pairs(question, answers)
best = model.predict_one(candidates)
print(f"\n{question}: {answers[best]}, because of")
for feature, part in model.explain_one(candidates)[:4]:
    print(f"  {feature:20}{part:+6.2f}")
