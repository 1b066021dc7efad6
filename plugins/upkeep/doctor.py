"""Test a model with a real call: does it answer, accept a schema, return log-probabilities?"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from ...backends import open_backend
from ...backends.config import ModelConfig
from ...backends.errors import EndpointFailed, EndpointRefused, EndpointUnusable, JudgeError
from ...backends.loop import run_sync
from ...backends.offline import RecordedLabels
from ...judges import SupportJudge, Verdict
from ...programs.config.sections import Config
from ...programs.engine.judge_set import find_obstacles
from ...programs.protocols.table import choose
from ...records.judgements import Provenance
from ...records.support import CitationSupport
from ...views.numbers import format_money
from ...views.table import Column, Kind, Row, Table, View

SENTENCE = "The bridge opened in 1932."
SCHEMAS = (
    "json_schema",
    "json_object",
    "none",
)  # from the most an endpoint may support to the least
FEWER_LOGPROBS = (5,)  # several providers allow at most 5
MAX_NAMED = 6  # requests that follow the endpoint's errors; then features are found by trial
MAX_REQUESTS = 8  # plus two for log-probabilities
PASSAGE = "After nine years of work the bridge was opened to traffic in March 1932."


@dataclass
class Report:
    """The result for one model.

    Attributes:
        settings: changes to the model's config entry that make it usable.
        unusable: whether it gave no reply with any settings.
        n_recorded: the number of labels of a recorded judge; None for other models.
    """

    alias: str
    model: str
    endpoint: str
    answers: bool = False
    unusable: bool = False
    label: str | None = None
    schema: str = ""
    logprobs: bool | None = None  # None: not requested by the config
    answered_by: str = ""
    latency_s: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    requests: int = 0
    n_recorded: int | None = None
    trouble: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def advice(self) -> list[str]:
        """The settings, one per line."""
        return [f"models.{self.alias}.{name}: {json.dumps(value).strip(chr(34))}"
                for name, value in self.settings.items()]  # fmt: skip

    @property
    def is_ready(self) -> bool:
        """Whether the model works with its current settings."""
        answers = self.answers or bool(self.n_recorded)
        return answers and not self.settings and not self.trouble

    def as_dict(self) -> dict[str, Any]:
        """The report as an object for JSON."""
        return {**asdict(self), "advice": self.advice, "ready": self.is_ready}

    def as_view(self, *, as_flags: bool = False) -> View:
        """The report as a view.

        Args:
            as_flags: show settings as flags of a command, not as lines of a config.
        """
        state = "ready" if self.is_ready else "not ready"
        verdict = f"{self.alias}: {self.model} at {self.endpoint}: {state}"
        return View(verdict, [self._table()] if self.answers else [], self._notes(as_flags))

    def _table(self) -> Table:
        tokens = f"{self.prompt_tokens:,} + {self.completion_tokens:,}"
        found = {
            "label": f"{self.label!r} (wanted 'full')",
            "answered by": self.answered_by or "(no name given)",
            "time": f"{self.latency_s:.2f} s",
            "used": f"{self.requests:,} requests, {tokens} tokens",
            "cost": format_money(self.cost),
            "schema": self.schema,
            "log-probabilities": _word(self.logprobs),
        }
        columns = [Column("check", Kind.NAME), Column("found", Kind.TEXT)]
        return Table("", columns, [Row(pair) for pair in found.items()])

    def _notes(self, as_flags: bool) -> list[str]:
        notes = [*self.trouble]
        if self.n_recorded is not None:
            notes.append(f"{self.n_recorded:,} recorded labels")
        if self.settings and as_flags:
            notes.append("It works with these flags:")
            notes += [f"  --set {line.replace(': ', '=', 1)}" for line in self.advice]
        elif self.settings:
            import yaml

            entry = yaml.safe_dump({"models": {self.alias: self.settings}}, sort_keys=False)
            notes.append("It works with these lines in the config:")
            notes += [f"  {line}" for line in entry.splitlines()]
        return notes


def examine_all(config: Config) -> list[Report]:
    """Examine each model of a config, or the lexical judge if it has none.

    Raises: EndpointUnusable if a model cannot be used at all.
    """
    models = config.models or {"default": ModelConfig(model="lexical")}
    reports = [examine(alias, model) for alias, model in models.items()]
    judges = [name for each in choose(config.program) for name in each.list_judges(config)]
    for obstacle in find_obstacles(config, judges):
        report = next(each for each in reports if each.model == obstacle.model)
        report.trouble.append(f"it can only choose labels. Set another model for {obstacle}")
    return reports


def examine(alias: str, model: ModelConfig) -> Report:
    """Call a model with its settings; if it rejects them, call it up to 10 times to find others.

    Raises: EndpointUnusable if it fails with all settings.
    """
    report = Report(alias, model.model, model.endpoint_id)
    if model.recorded_judge:
        report.n_recorded = RecordedLabels(model).n_labels
        return report
    try:
        changes = _settings_taken(model, report)
    except JudgeError as error:
        report.unusable = isinstance(error, EndpointFailed)
        report.trouble.append(str(error))
        return report
    if not _takes_lengths(model, changes, report):
        changes["reply_schema"] = "plain_json_schema"
    report.schema = changes.get("reply_schema", model.reply_schema)
    if model.logprobs:
        wish = _working_logprobs(model, changes, report)
        report.logprobs = bool(wish)
        if wish != model.logprobs:
            changes["logprobs"] = wish
    names = {"reply_schema": "schema"}
    report.settings = {names.get(name, name): value for name, value in changes.items()}
    return report


Changes = dict[str, Any]  # of ModelConfig's fields


def _settings_taken(model: ModelConfig, report: Report) -> Changes:
    """Find the settings to change until the endpoint answers, without log-probabilities.

    Raises: EndpointUnusable or JudgeError of the last try.
    """
    changes: Changes = {}
    while True:
        try:
            _ask(model, changes, report)
            return changes
        except (EndpointUnusable, EndpointRefused) as error:
            fix = _fix(error.refused, model.model_copy(update=changes), changes)
            if fix is None and isinstance(error, EndpointUnusable):
                raise
            if fix is None or report.requests >= MAX_NAMED:
                return _changes_by_trial(model, report)
            changes |= fix


def _fix(refused: str, now: ModelConfig, changes: Changes) -> Changes | None:
    """The next settings to try if the endpoint rejects part of a request; None: nothing left."""
    match refused:
        case "temperature" | "top_p" | "seed" if getattr(now, refused) is not None:
            return {refused: None}
        case "max_tokens" | "max_completion_tokens" if now.max_tokens is not None:
            if "max_tokens_name" in changes:
                return None
            return {"max_tokens_name": _other_name(now)}
        case "response_format" if now.reply_schema != SCHEMAS[-1]:
            known = now.reply_schema.removeprefix("plain_")
            return {"reply_schema": SCHEMAS[SCHEMAS.index(known) + 1]}
        case "system" if now.system_role != "user":
            return {"system_role": "user"}
    return None


def _changes_by_trial(model: ModelConfig, report: Report) -> Changes:
    """Find the settings if the endpoint does not say what it rejects.

    Leaves out everything optional, then adds it back part by part. Raises: see `_settings_taken`.
    """
    changes: Changes = {
        name: None for name in ("seed", "top_p", "temperature") if getattr(model, name) is not None
    }
    if model.max_tokens is not None:
        changes["max_tokens_name"] = _other_name(model)
    if model.reply_schema != SCHEMAS[-1]:
        changes["reply_schema"] = SCHEMAS[-1]
    try:
        _ask(model, changes, report)
    except (EndpointUnusable, EndpointRefused):
        if model.system_role == "user":
            raise
        changes["system_role"] = "user"
        _ask(model, changes, report)
    for name in list(changes):
        steps = [model.reply_schema, "json_object"] if name == "reply_schema" else [None]
        for step in dict.fromkeys(steps):
            fewer = {other: value for other, value in changes.items() if other != name}
            if step not in (None, model.reply_schema):
                fewer[name] = step
            if report.requests < MAX_REQUESTS and _is_taken(model, fewer, report):
                changes = fewer
                break
    return changes


def _is_taken(model: ModelConfig, changes: Changes, report: Report) -> bool:
    try:
        _ask(model, changes, report)
    except (EndpointUnusable, JudgeError):
        return False
    return True


def _takes_lengths(model: ModelConfig, changes: Changes, report: Report) -> bool:
    """Whether a schema may limit the lengths of texts and lists; sends one to find out."""
    schema = changes.get("reply_schema", model.reply_schema)
    if schema != "json_schema" or model.way not in ("http", "litellm", "vllm"):
        return True
    once = {**changes, "retries": 0, "reasks": 0, "logprobs": False}
    backend = open_backend(model.model_copy(update=once))

    async def call() -> None:
        try:
            judge = SupportJudge(backend=backend).explaining(evidence=True, reasoning=True)
            await judge.verdict(sentence=SENTENCE, passage=PASSAGE)
        finally:
            report.requests += backend.budget.usage.requests
            report.prompt_tokens += backend.budget.usage.prompt_tokens
            report.completion_tokens += backend.budget.usage.completion_tokens
            if report.cost is not None:
                report.cost += backend.budget.usage.cost
            await backend.aclose()

    with suppress(JudgeError, EndpointUnusable):  # a judge without explanations is fine here
        run_sync(call())
    return "bounds" not in getattr(backend, "omitted", ())


def _other_name(model: ModelConfig) -> str:
    is_old = model.max_tokens_name == "max_tokens"
    return "max_completion_tokens" if is_old else "max_tokens"


def _ask(
    base: ModelConfig, changes: Changes, report: Report, *, logprobs: bool | int = False
) -> Verdict:
    """Ask about an easy case once, and record tokens, time and cost."""
    once = {"retries": 0, "reasks": 0, "logprobs": logprobs}
    model = base.model_copy(update={**changes, **once})
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
        report.trouble.append(
            f"it labelled an easy case {label}; this model may be too weak to judge"
        )
    report.answers, report.label, report.answered_by = True, label, where.model
    report.prompt_tokens += where.prompt_tokens
    report.completion_tokens += where.completion_tokens
    report.cost = (
        backend.budget.usage.known_cost
        if report.cost is None
        else (report.cost + backend.budget.usage.cost)
    )
    return verdict


def _working_logprobs(model: ModelConfig, changes: Changes, report: Report) -> bool | int:
    """The value of `logprobs` with which a reply returned the probability of its label."""
    wishes = [model.logprobs, *(n for n in FEWER_LOGPROBS if n < (model.top_logprobs or 0))]
    for wish in wishes:
        try:
            verdict = _ask(model, changes, report, logprobs=wish)
        except EndpointUnusable as error:
            if error.refused != "top_logprobs":
                return False
        except JudgeError:
            return False
        else:
            return wish if verdict.probabilities is not None else False
    return False


def _word(value: bool | None) -> str:
    return "not requested" if value is None else ("yes" if value else "no")
