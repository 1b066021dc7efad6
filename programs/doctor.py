"""What one real call tells about a model: does it answer, take a schema, give log-probabilities?"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

from ..backends import open_backend
from ..backends.config import ModelConfig
from ..backends.errors import EndpointUnusable, JudgeError
from ..backends.loop import run_sync
from ..judges import SupportJudge, Verdict
from ..judges.labels import CitationSupport
from ..records.judgements import Provenance
from .config.sections import Config

SENTENCE = "The bridge opened in 1932."
PASSAGE = "After nine years of work the bridge was opened to traffic in March 1932."


@dataclass
class Report:
    """What was found. `advice` lists settings that would make the model usable."""

    alias: str
    model: str
    endpoint: str
    answers: bool = False
    label: str | None = None
    schema: str = ""
    logprobs: bool | None = None  # None: the config does not ask for them
    answered_by: str = ""
    latency_s: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    requests: int = 0
    trouble: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)

    @property
    def is_ready(self) -> bool:
        """Whether the model works with the settings it has."""
        return self.answers and not self.advice and not self.trouble

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "ready": self.is_ready}

    def as_text(self) -> str:
        """For people."""
        cost = "unknown" if self.cost is None else f"${self.cost:.6f}"
        lines = [f"{self.alias}: {self.model} at {self.endpoint}: "
                 + ("ready" if self.is_ready else "not ready")]  # fmt: skip
        if self.answers:
            lines.append(
                f"  answered {self.label!r} (wanted 'full') as {self.answered_by or 'no name'} "
                f"in {self.latency_s:.2f} s; {self.prompt_tokens} + {self.completion_tokens} "
                f"tokens, cost {cost}, {self.requests} requests"
            )
            lines.append(f"  schema: {self.schema}; log-probabilities: {_word(self.logprobs)}")
        lines += [f"  {text}" for text in self.trouble]
        lines += [f"  set {text}" for text in self.advice]
        return "\n".join(lines) + "\n"


def examine_all(config: Config) -> list[Report]:
    """Examine each model of a config; without any, the lexical judge.

    Raises: EndpointUnusable when a model cannot be used at all.
    """
    models = config.models or {"default": ModelConfig(model="lexical")}
    return [examine(alias, model) for alias, model in models.items()]


def examine(alias: str, model: ModelConfig) -> Report:
    """One call with the model's own settings; more only if that one fails for its schema."""
    report = Report(alias, model.model, model.endpoint_id)
    ways = ("json_schema", "json_object", "none")
    tries = [w for w in ways if ways.index(w) >= ways.index(model.reply_schema)]
    for way in tries:
        try:
            _ask(_as_tried(model, reply_schema=way, logprobs=False), report)
        except EndpointUnusable as error:
            if "response_format" not in str(error) or way == tries[-1]:
                raise
            continue
        except JudgeError as error:
            report.trouble.append(str(error))
            return report
        report.schema = way
        if way != model.reply_schema:
            report.advice.append(f"models.{alias}.schema: {way}")
        break
    if model.logprobs:
        report.logprobs = _gives_logprobs(model, report)
        if not report.logprobs:
            report.advice.append(f"models.{alias}.logprobs: false")
    return report


def _as_tried(model: ModelConfig, **changes: Any) -> ModelConfig:
    """These settings for a single request."""
    return model.model_copy(update={"retries": 0, "reasks": 0, **changes})


def _ask(model: ModelConfig, report: Report) -> Verdict:
    """Ask about a plain case and note what it took."""
    backend = open_backend(model)

    async def call() -> tuple[Verdict, Provenance]:
        try:
            judge = SupportJudge(backend=backend)
            return await judge.verdict(sentence=SENTENCE, passage=PASSAGE)
        finally:
            report.requests += backend.budget.usage.requests
            await backend.aclose()

    began = time.monotonic()
    verdict, where = run_sync(call())
    report.latency_s = time.monotonic() - began
    label = verdict.label
    if not report.answers and label != CitationSupport.FULL:
        report.trouble.append(f"a plain case was labelled {label}: expect little of this model")
    report.answers, report.label, report.answered_by = True, label, where.model
    report.prompt_tokens += where.prompt_tokens
    report.completion_tokens += where.completion_tokens
    report.cost = (
        backend.budget.usage.known_cost
        if report.cost is None
        else (report.cost + backend.budget.usage.cost)
    )
    return verdict


def _gives_logprobs(model: ModelConfig, report: Report) -> bool:
    """Whether a reply's log-probabilities told how probable its label was."""
    try:
        verdict = _ask(_as_tried(model, reply_schema=report.schema), report)
    except (JudgeError, EndpointUnusable):
        return False
    return verdict.probabilities is not None


def _word(value: bool | None) -> str:
    return "not asked" if value is None else ("yes" if value else "no")
