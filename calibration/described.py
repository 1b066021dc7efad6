"""The judge file of what a fit found, and how it came about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..judges import JudgeFile
from ..judges.base import Judge
from ..judges.fitted.correction import Correction
from ..judges.fitted.files import FittedPrompt
from .settings import Settings

_REPORT_ONLY = ("probabilities", "lists")  # what is too long for a judge file


def judge_file(
    judge: Judge,
    *,
    prompts: Mapping[str, FittedPrompt] | None = None,
    words: Mapping[str, float] | None = None,
    correction: Correction | None = None,
) -> JudgeFile:
    """What is left of a fit of this judge; without new prompts those that it has."""
    return JudgeFile(
        judge=judge.name,
        version=judge.version,
        scale=tuple(judge.scale),
        model=judge.model_name,
        logprobs=judge.has_logprobs,
        window=getattr(judge, "window", None),
        prompts=dict(prompts) if prompts is not None else dict(judge.fitted_prompts),
        words=dict(words) if words is not None else None,
        correction=correction,
    )


def described(
    file: JudgeFile, report: Mapping[str, Any], judge: Judge, settings: Settings
) -> JudgeFile:
    """The file with how it came about; curves and lists stay in the report, and so do the requests
    sent, of which a search that goes on from the cache has fewer."""
    fitted = {name: value for name, value in report.items() if name not in _REPORT_ONLY}
    if "optimiser" in fitted:
        fitted["optimiser"] = {n: v for n, v in fitted["optimiser"].items() if n != "calls"}
    parts = ["train", "dev"]
    if settings.folds is not None or (settings.method == "topic" and settings.topic_labels):
        parts.append("test")  # whose labels reached the file, though not the figures
    seen = {topic for split in report["topics"] for part in parts for topic in split[part]}
    fitted_on = tuple(sorted(judge.fitted_on | seen))
    return file.model_copy(update={"fitted": fitted, "fitted_on": fitted_on})
