"""A River pipeline from raw text to a label, with probabilities and an explained decision."""

from streamptron import AdaptiveClassifier, Tokenizer

LOG = [
    ("disk sda1 is 91 percent full", "storage"),
    ("login failed for user root", "access"),
    ("link eth0 is down", "network"),
    ("disk sdb2 reports read errors", "storage"),
    ("user alice logged in from console", "access"),
    ("packet loss on eth1 above limit", "network"),
    ("file system on sda1 mounted read only", "storage"),
    ("password of user bob changed", "access"),
    ("link eth1 is up again", "network"),
    ("no space left on disk sda1", "storage"),
    ("too many failed login attempts for user bob", "access"),
    ("dns server does not answer on eth0", "network"),
]

model = Tokenizer() | AdaptiveClassifier()
print("line                                         true      predicted before learning it")
for line, label in LOG:
    print(f"{line:45}{label:10}{model.predict_one(line) or '(no label seen yet)'}")
    model.learn_one(line, label)

line = "login of user eve failed on eth0"
print(f"\n{line}\n  is about {model.predict_one(line)}")
for label, probability in model.predict_proba_one(line).items():
    print(f"  {label:10}{probability:6.1%}")

print("because of")
words = model["Tokenizer"].transform_one(line)
for feature, part in model["AdaptiveClassifier"].explain_one(words):
    print(f"  {feature or 'intercept':10}{part:+6.2f}")
