"""Asks every judge, and counts what came back."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from statistics import fmean
from time import monotonic
from typing import Any

import numpy as np
import orjson
from scipy.stats import bootstrap, mannwhitneyu

from nuggetjudge.backends import open_transport
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.backends.gateway import Completion, Gateway, Reply, Transport
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.backends.prompt import Prompt
from nuggetjudge.judges.base import Judge
from nuggetjudge.judges.items import ItemJudge, calls, judge_calls
from nuggetjudge.judges.verdicts import Verdict
from nuggetjudge.metrics import agreement
from nuggetjudge.metrics.label_agreement import agreement_intervals
from nuggetjudge.records.judgements import Unjudged

from .cases import Case

MAX_EXAMPLES = 3  # unreadable replies that are kept
_RESAMPLES = 1000


@dataclass
class Asked:
    """One question, and what came of it.

    Attributes:
        text: all messages as they were sent; "": it was not sent.
        n: things it was about.
        labels: field or key -> label. without_probabilities: of these, those without any.
        fault: reason, detail and reply of a failed judgement.
    """

    n: int
    text: str = ""
    reply: str = ""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    labels: list[str] = field(default_factory=list)
    n_without: int = 0
    fault: tuple[str, str, str] | None = None


_ASKED: ContextVar[Asked] = ContextVar("_ASKED")


class RecordedTransport:
    """Sends as another transport does, and notes what was sent and what it took."""

    def __init__(self, inner: Transport) -> None:
        self.inner = inner

    async def send(self, body: bytes) -> Completion:
        """See Transport."""
        completion = await self.inner.send(body)
        asked = _ASKED.get()
        messages = orjson.loads(body)["messages"]
        asked.text = "".join(f"{each['role']}\n{each['content']}\n" for each in messages)
        asked.reply = completion.text
        asked.prompt_tokens = completion.prompt_tokens
        asked.reply_tokens = completion.completion_tokens
        return completion

    async def aclose(self) -> None:
        """See Transport."""
        await self.inner.aclose()


class RecordingGateway(Gateway):
    """A Gateway that keeps each question in `asked`, in their order."""

    asked: list[Asked]

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Gateway."""
        shape = prompt.of(inputs).shape(inputs)
        n = max((len(keys) for keys in shape if isinstance(keys, tuple)), default=1)
        asked = Asked(n)
        self.asked.append(asked)
        _ASKED.set(asked)
        try:
            reply = await super().ask(prompt, inputs, replicate)
        except JudgeError as error:
            asked.fault = (error.reason.value, error.detail, error.raw)
            raise
        for name, key, label in _labels(reply.values):
            asked.labels.append(label)
            asked.n_without += reply.at(name, key)[2] is None
        return reply


def _labels(values: Mapping[str, Any]) -> Iterator[tuple[str, str | None, str]]:
    for name, value in values.items():
        for key, one in value.items() if isinstance(value, dict) else ((None, value),):
            if isinstance(one, Enum):
                yield name, key, str(one.value)
            elif name in ("grade", "grades", "verdict") or (name, key) == ("action", "tool"):
                yield name, key, str(one)


def measure_case(
    case: Case, entry: ModelConfig, at_once: int = 2
) -> tuple[dict[str, Any], list[Asked]]:
    """The figures of one judge as they are stored, and each question."""
    gateway = RecordingGateway(entry, RecordedTransport(open_transport(entry)))
    gateway.asked = []
    judge = case.make(backend=gateway)
    start = monotonic()
    verdicts = run_sync(_ask_all(case, judge, at_once))
    run_sync(gateway.aclose())
    return {
        "version": judge.version,
        **_figures(gateway.asked),
        **_agreement(case, [verdict and verdict.label for verdict in verdicts]),
        **_ranking(case, verdicts),
        "seconds": round(monotonic() - start, 1),
    }, gateway.asked


async def _ask_all(case: Case, judge: Judge, at_once: int) -> list[Verdict | None]:
    """The verdict on each item, None: no judgement; [] where the judge labels no items."""
    if isinstance(judge, ItemJudge) and case.items:
        together = calls(judge, case.items)
        outcomes = await judge_calls(judge, case.items, together, concurrency=at_once)
        return [None if isinstance(each, Unjudged) else each for each, _ in outcomes]
    waiting = iter(case.asked)

    async def work() -> None:
        for inputs in waiting:
            with suppress(JudgeError):  # it is in `asked`
                await judge.decide(**inputs)

    await asyncio.gather(*(work() for _ in range(at_once)))
    return []


def _figures(asked: Sequence[Asked]) -> dict[str, Any]:
    n = sum(each.n for each in asked)
    faults = Counter[str]()
    for each in asked:
        if each.fault is not None:
            faults[each.fault[0]] += each.n
    labels = Counter(label for each in asked for label in each.labels)
    sent = [each for each in asked if each.text]
    examples = [
        {"reason": each.fault[0], "detail": each.fault[1], "reply": each.reply or each.fault[2]}
        for each in asked
        if each.fault is not None
    ]
    return {
        "n_calls": len(asked),
        "n": n,
        "unreadable": {reason: count / n for reason, count in sorted(faults.items())},
        "labels": {label: count / labels.total() for label, count in sorted(labels.items())},
        "without_probabilities": (
            sum(each.n_without for each in asked) / labels.total() if labels else None
        ),
        "prompt_tokens": fmean(each.prompt_tokens for each in sent) if sent else None,
        "reply_tokens": fmean(each.reply_tokens for each in sent) if sent else None,
        "prefix": prefix_share([each.text for each in sent]),
        "unreadable_examples": examples[:MAX_EXAMPLES],
    }


def prefix_share(texts: Sequence[str]) -> float | None:
    """The share of each text that it has in common with the beginning of the one before.

    >>> prefix_share(["abcd", "abxy", "abxz"])
    0.625
    """
    total = sum(map(len, texts[1:]))
    return sum(_n_common(*pair) for pair in pairwise(texts)) / total if total else None


def _n_common(one: str, other: str) -> int:
    """How many characters two texts begin alike."""
    longest = min(len(one), len(other))
    return next((i for i in range(longest) if one[i] != other[i]), longest)


def _agreement(case: Case, labels: Sequence[str | None]) -> dict[str, Any]:
    """Cohen's kappa with the labels of people, unweighted, with its interval over topics."""
    if not case.scale or not labels:
        return {}
    both = [
        (item, case.fold.get(label, label))
        for item, label in zip(case.items, labels, strict=True)
        if label is not None and item.label
    ]
    if not both:
        return {"kappa": None, "n_judged": 0}
    people, ours = [item.label for item, _ in both], [label for _, label in both]
    topics = [item.ids["topic_id"] for item, _ in both]
    figures = agreement(people, ours, case.scale)
    drawn = agreement_intervals(figures, people, ours, topics, resamples=_RESAMPLES)
    kappa = drawn["cohen_kappa"]["unweighted"]
    interval = None if kappa is None else [kappa.value, kappa.low, kappa.high]
    exact = fmean(one == other for one, other in zip(people, ours, strict=True))
    return {"kappa": interval, "accuracy": exact, "n_judged": len(both)}


def _ranking(case: Case, verdicts: Sequence[Verdict | None]) -> dict[str, Any]:
    """AUC of the scores by probabilities, and how many: do items with the best label score higher?

    In [0, 1], chance .5, with a 95% bootstrap interval over the items with that label and the rest.
    """
    scored = [
        (item.label == case.scale[-1], verdict.score)
        for item, verdict in zip(case.items, verdicts, strict=False)
        if verdict and verdict.probabilities and item.label and case.scale
    ]
    groups = [np.array([score for best, score in scored if best is one]) for one in (True, False)]
    if not all(map(len, groups)):
        return {}
    auc = _auc(*groups)
    if min(map(len, groups)) < 2:
        return {"auc": [auc, None, None], "n_scored": len(scored)}
    drawn = bootstrap(
        groups, _auc, n_resamples=_RESAMPLES, vectorized=False, method="percentile", rng=0
    )
    low, high = map(float, drawn.confidence_interval)
    return {"auc": [auc, low, high], "n_scored": len(scored)}


def _auc(best: Any, others: Any) -> float:
    """The chance that one of the first scores higher than one of the others; a tie counts half."""
    return float(mannwhitneyu(best, others).statistic) / (len(best) * len(others))
