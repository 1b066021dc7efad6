"""How to cite results, and their cost: method, inputs, judgements and requests by stage."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...metrics.inference import EXACT_TOPICS, LEVEL
from ...programs.engine.folders import CHANGED as HAS_CHANGED
from ...programs.engine.folders import find_inputs
from ...programs.engine.manifest import read_folder_config
from ...programs.engine.spending import Spent, cost_in_all, read_spending
from ...programs.protocols.table import meaning, programs
from ...programs.scoring.result import Result
from ...records.reading.problems import InputError
from .source import Source

SAME, CHANGED, GONE = "unchanged", "changed", "missing"


def input_states(result: Result) -> list[tuple[str, str, str]]:
    """Each input of a run: its path, its SHA-256 at the time, and its state now."""
    changed = find_inputs(result.folder).changed
    return [
        (path, digest, _state(changed.get(path)))
        for path, digest in result.manifest.get("inputs", {}).items()
    ]


def _state(wrong: str | None) -> str:
    if wrong is None:
        return SAME
    return CHANGED if wrong == HAS_CHANGED else GONE


_CORRECTED = (
    "corrected (diamond)",
    "An estimate of the score that people would give, from the judge's labels of all items and "
    "people's labels of a random sample (prediction-powered inference). Its interval is for topics "
    "like these. judge score --labels prints the same numbers.",
)


def make_method(source: Source) -> Mapping[str, Any]:
    """By folder, its judges, inputs, config and the commands that reproduce it; the measures."""
    return {
        "folders": [_folder(result, source.name_path(result.folder)) for result in source.results],
        "measures": [
            {"measure": measure, "meaning": meaning(measure).text} for measure in source.measures
        ],
        "numbers": [{"name": name, "how": how} for name, how in _numbers(source)],
        "papers": [
            {"title": title, "url": f"https://arxiv.org/abs/{number}"}
            for title, number in _papers(source)
        ],
        "package": _package(source),
    }


def _numbers(source: Source) -> list[tuple[str, str]]:
    terms = [
        (
            "mean",
            "Over the topics that every run had to answer. An unanswered topic scores 0. A topic "
            "whose judgements all failed is left out.",
        ),
        (
            f"{LEVEL:.0%} interval (whisker)",
            "Where the mean could be for other topics like these: Student's t over topics, cut to "
            "the range of the measure.",
        ),
        (
            "bounds (bracket)",
            "The mean if every missing judgement were the worst, and if every one were the best. "
            "This is not an interval.",
        ),
        (
            "p",
            "Two-sided randomisation test by topic: how often random signs give a difference at "
            f"least as large. It tries all signs for up to {EXACT_TOPICS} topics, and a seeded "
            "sample for more.",
        ),
        (
            "p Holm, p HSD",
            "p corrected for the number of pairs: by Holm's method, or by the largest difference "
            "between runs when scores are exchanged at random within topics (randomised Tukey "
            f"HSD). A pair differs significantly if p is below {f'{1 - LEVEL:.2g}'[1:]}. The test "
            "is HSD if every run has a score on at least four fifths of the topics, otherwise "
            "Holm, each pair on its shared topics. For two runs, it is the uncorrected p.",
        ),
    ]
    return [*terms, _CORRECTED] if source.corrected else terms


def _folder(result: Result, named: Path) -> dict[str, Any]:
    manifest, folder = result.manifest, shlex.quote(str(named))
    return {
        "folder": str(named),
        "fingerprint": manifest["fingerprint"],
        "answered_by": list(manifest.get("answered_by", ())),
        "judges": [_judge(name, about) for name, about in manifest.get("judges", {}).items()],
        "inputs": [
            {"file": name, "sha256": sha, "now": now} for name, sha, now in input_states(result)
        ],
        "versions": [
            {"package": name, "version": version}
            for name, version in manifest.get("versions", {}).items()
        ],
        "config": _yaml(result),
        "commands": [
            f"judge export-config {folder} > judge.yaml",
            "judge run judge.yaml --out again",
            f"judge score {folder}",
        ],
    }


def _judge(name: str, about: Mapping[str, Any]) -> dict[str, Any]:
    model = about.get("model") or {}
    prompts = about.get("prompts") or {}
    return {
        "name": name,
        "judge": about.get("judge"),
        "version": about.get("version"),
        "model": model.get("model"),
        "temperature": model.get("temperature"),
        "window": about.get("window"),
        "prompts": ", ".join(f"{part} {sha}" for part, sha in prompts.items()),
    }


def _yaml(result: Result) -> str:
    import yaml

    try:
        config = read_folder_config(result.folder).model_dump(mode="json", by_alias=True)
    except InputError:
        config = result.manifest["config"]
    text: str = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    return text


def _package(source: Source) -> str:
    versions = {r.manifest.get("versions", {}).get("nuggetjudge") for r in source.results}
    named = ", ".join(sorted(str(version) for version in versions if version))
    prints = ", ".join(r.manifest["fingerprint"][:16] for r in source.results)
    return f"nuggetjudge{f' {named}' if named else ''}, results with the fingerprint {prints}"


def _papers(source: Source) -> list[tuple[str, str]]:
    ran = {name for result in source.results for name in result.manifest["config"]["program"]}
    return [one.paper for one in programs() if one.name in ran and one.paper is not None]


_SUMS = ("requests", "cache_hits", "prompt_tokens", "cached_tokens", "completion_tokens", "cost")


def make_cost(source: Source) -> Mapping[str, Any]:
    """By folder: `stages` (judgements and calls), `spend` (requests and tokens by stage, over all
    starts), `models` (tokens of all replies in the results), `last` and `agents`."""
    return {
        "folders": [_costs(result, source.name_path(result.folder)) for result in source.results]
    }


def _costs(result: Result, named: Path) -> dict[str, Any]:
    manifest = result.manifest
    calls = manifest.get("calls", {})
    names = dict.fromkeys((*manifest["judged"], *manifest["unjudged"], *calls))
    rows = read_spending(result.folder)
    return {
        "folder": str(named),
        "stages": [
            {
                "stage": name,
                "judged": manifest["judged"].get(name, 0),
                "unjudged": manifest["unjudged"].get(name, 0),
                "calls": calls.get(name),
            }
            for name in names
        ],
        "spend": list(sum_by_stage(rows).values()),
        "n_starts": len({row["start"] for row in rows}),
        "models": [
            {"model": name, **dict(tokens)}
            for name, tokens in manifest.get("tokens_by", {}).items()
        ],
        "last": manifest.get("this_time", {}),
        "agents": [
            {"stage": stage, "items": of["items"], "calls": of["calls"], "tokens": of["tokens"],
             "most": of["most"]}
            for stage, of in manifest.get("agents", {}).items()
        ],
    }  # fmt: skip


def sum_by_stage(rows: Iterable[Spent]) -> dict[str, dict[str, Any]]:
    """The spending by stage over all starts; the cost is None if any cost is unknown."""
    by_stage: dict[str, dict[str, Any]] = {}
    for row in rows:
        of = by_stage.setdefault(row["stage"], {"stage": row["stage"], **dict.fromkeys(_SUMS, 0)})
        for name, value in row.items():
            if name in _SUMS:
                of[name] = None if value is None or of[name] is None else of[name] + value
    return by_stage


def total_cost(source: Source) -> float | None:
    """The cost of all results in dollars, over all starts; None if it is unknown."""
    dollars: list[float | None] = []
    for result in source.results:
        if rows := read_spending(result.folder):
            dollars.append(cost_in_all(rows))
        else:  # no model was asked, or the folder is older than the file
            dollars.append(result.manifest.get("this_time", {}).get("cost"))
    return None if None in dollars else sum(one for one in dollars if one is not None)
