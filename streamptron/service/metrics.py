"""Metrics for Prometheus, computed on request."""

from __future__ import annotations

import time
import typing
from typing import Any

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

if typing.TYPE_CHECKING:
    from collections.abc import Iterator

    from streamptron.service.service import Service

CONTENT_TYPE = CONTENT_TYPE_LATEST
MODELS = 100  # models that have metrics by name
SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5)


class Numbers:
    """The metrics of one service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._registry = CollectorRegistry()
        self._registry.register(self)
        self._seconds = {
            do: Histogram(
                f"streamptron_{name}_seconds", what, buckets=SECONDS, registry=self._registry
            )
            for do, name, what in (
                ("predict", "answer", "Time of an answer."),
                ("learn", "lesson", "Time of a lesson, with the wait for the disk."),
                ("undo", "undo", "Time of a lesson that is taken back."),
            )
        }

    def took(self, do: str, seconds: float) -> None:
        """Count a request."""
        self._seconds[do].observe(seconds)

    def text(self) -> bytes:
        """The metrics in Prometheus's text format."""
        return generate_latest(self._registry)

    def describe(self) -> list[Metric]:
        """Nothing is worked out to register it."""
        return []

    def collect(self) -> Iterator[Metric]:
        """All metrics except the times."""
        for kind, name, what, value in values(self._service):
            yield kind(f"streamptron_{name}", what, value=value)
        yield from self._by_label()
        yield from self._calibration()

    def _by_label(self) -> Iterator[Metric]:
        kinds = (
            ("asked", "label_answers", "Answers, by label."),
            ("learned", "label_lessons", "Lessons, by label."),
            ("answered", "label_guesses", "Answers before lessons, by label."),
            ("right", "label_right_guesses", "Of these, right ones."),
        )
        for key, name, what in kinds:
            family = CounterMetricFamily(f"streamptron_{name}", what, labels=["label"])
            for label, counted in self._service.tally.labels.items():
                text = label.encode(errors="replace").decode()  # a lone surrogate is not UTF-8
                family.add_metric([text], getattr(counted, key))
            yield family

    def _calibration(self) -> Iterator[Metric]:
        kinds = (
            (0, "calibration_answers", "Answers, by their probability."),
            (1, "calibration_right_answers", "Of these, right ones."),
            (2, "calibration_probability", "Sum of the probabilities of these answers."),
        )
        for at, name, what in kinds:
            family = CounterMetricFamily(f"streamptron_{name}", what, labels=["bucket"])
            for number, bucket in enumerate(self._service.tally.calibration):
                family.add_metric([f"{number / 10:.1f}"], bucket[at])
            yield family


def values(service: Service) -> Iterator[tuple[Any, str, str, float]]:
    """A model's metrics: the kind (counter or gauge), the name, the description and the value."""
    tally, learner = service.tally, service.model.learner
    counter, gauge = CounterMetricFamily, GaugeMetricFamily
    yield counter, "asked", "Events that were answered.", tally.asked
    yield counter, "lessons", "Lessons since the model began to be served.", service.n
    yield counter, "judged", "Lessons whose event was answered first.", tally.lessons
    yield counter, "mistakes", "Of these, answered wrongly.", tally.mistakes
    yield counter, "corrected", "Lessons that were corrected.", tally.corrected
    yield counter, "undone", "Lessons that were taken back.", tally.undone
    yield counter, "log_loss", "Sum of the log-losses of answers.", tally.log_loss
    yield counter, "evicted_features", "Features that were evicted.", learner.n_evicted
    yield gauge, "error_ratio_lately", "Errors in the last 500 lessons.", tally.error_lately
    yield gauge, "features", "Features of the model.", learner.n_features
    yield gauge, "labels", "Labels of the model.", len(service.model.labels.known)
    yield gauge, "model_bytes", "Memory of the model.", learner.memory_usage
    yield gauge, "unsaved_lessons", "Lessons only in the log.", service.n - service.saved_n
    answers = len(service.ledger.asked)
    yield gauge, "remembered_answers", "Answers that may still get a label.", answers
    age = time.time() - (service.saved_at or service.loaded_at)
    yield gauge, "save_age_seconds", "Time since the last save.", age
    if service.shadow is not None:
        shadow = service.shadow
        yield counter, "shadow_judged", "Lessons that the shadow answered.", shadow.tally.lessons
        yield counter, "shadow_mistakes", "Of these, wrongly.", shadow.tally.mistakes
        late = shadow.tally.error_lately
        yield gauge, "shadow_error_ratio_lately", "Errors in the last 500 lessons.", late
        what = "Lessons that only the answering model answered rightly."
        yield gauge, "only_answering_right", what, shadow.only[0]
        yield gauge, "only_shadow_right", "The same for the shadow.", shadow.only[1]


class Several:
    """The metrics of several models, by name; only of those used last, to limit their number."""

    def __init__(self, services: list[Service]) -> None:
        self._services = services

    def describe(self) -> list[Metric]:
        """Nothing is worked out to register it."""
        return []

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("streamptron_open_models", "In memory.", len(self._services))
        families: dict[str, Any] = {}
        for service in self._services[:MODELS]:
            for kind, name, what, value in values(service):
                if name not in families:
                    families[name] = kind(f"streamptron_{name}", what, labels=["model"])
                families[name].add_metric([service.name], value)
        yield from families.values()


def of_all(services: list[Service]) -> bytes:
    """The metrics of several models in Prometheus's text format."""
    registry = CollectorRegistry()
    registry.register(Several(services))
    return generate_latest(registry)
