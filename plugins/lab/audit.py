"""`judge audit`: does a judge of another model family order the runs in the same way?"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, Unpack

import orjson

from ...metrics import kendall_tau
from ...metrics.inference import Draws
from ...metrics.label_agreement import cohen_kappas
from ...programs.analysis.compare import compare_judges
from ...programs.analysis.compare_runs import compare_scores
from ...programs.analysis.tables.words import (
    FEW_AUDITED_TOPICS,
    choose_tau_word,
    count,
    get_interval,
    write_estimate,
)
from ...programs.config.base import load_judge_settings
from ...programs.engine.folders import find_inputs
from ...programs.engine.manifest import read_manifest
from ...programs.inputs import load_collection
from ...programs.protocols.judged_files import find_file_scale, find_judged_file
from ...programs.protocols.program import Folder
from ...programs.protocols.table import choose, programs
from ...programs.scoring.topic_scores import TopicScores, topic_scores
from ...records.kinds import LabelFile
from ...records.labels import read_labels
from ...records.reading.problems import InputError, Problems
from ...records.rows import Topic
from ...records.writing import own_folder, write_file
from ...views.numbers import format_given, format_money, format_short_share
from ...views.table import Column, Kind, Style, Styled, Table, View
from .columns import Fields, Shown, make_table, show

TOP = (5, 10, 20)  # the top ranks of a leaderboard that are compared
_LEXICAL = "lexical"
_SHOWN = 3  # pairs of runs printed
TOPICS = "sample/topics.jsonl"  # in the folder of the audit
# The settings kept of a judge's section: how it asks, not which model answers.
_TAKEN_OVER = ("window", "grades", "titles")
_NOT_TAKEN = ("models", "judges", "run", "retrieve", "pipelines", "generate")

Families = tuple[Sequence[str], Sequence[str]]


def audit_results(
    results: Path, again: Path, problems: Problems, **draws: Unpack[Draws]
) -> list[dict[str, Any]]:
    """Compare the order of runs by two judges, task by task.

    Args:
        results: the first results. again: the same runs on some of its topics, by another judge.

    Returns: for each common task the `agreement` (see `agree`; the first judge is the reference)
        and `cost`, the `runs` with both scores over common topics, their ranks and agreement,
        `tau_b`, and the changes in the top 5, 10 and 20, or among all runs if there are fewer.
    Raises: InputError if the two have no task in common that orders runs.
    """
    first, second = Folder(results, problems), Folder(again, Problems())
    names = [name for name in first.programs if name in second.programs]
    scores = [topic_scores(path, problems) for path in (results, again)]
    rows = []
    for program in choose(names):
        shared = scores[0].values.keys() & scores[1].values.keys()
        measure = next((each for each in program.shown if each in shared), None)
        if measure is not None and first.file(program.judged) is not None:
            row = _of_program(program.kind, measure, scores, (results, again), draws)
            rows.append({"program": program.name, **row})
    if not rows:
        raise InputError(f"{results} and {again}: have no task in common that orders runs")
    return rows


def families(results: Path, models: Sequence[str]) -> tuple[list[str], list[str]]:
    """The families of the models that judged a folder, and of the models that judge again."""
    identities = read_manifest(results).get("judges", {}).values()
    before = [of["model"]["model"] for of in identities if isinstance(of.get("model"), dict)]
    return [list(dict.fromkeys(map(name_family, names))) for names in (before, models)]  # type: ignore[return-value]


def family_warning(before: Sequence[str], now: Sequence[str]) -> str:
    """A warning if the second judge may not be independent of the first, else ""."""
    if same := [name for name in now if name in before and name != _LEXICAL]:
        what = f"both judges are of the family {same[0]}, so the audit misses their common errors"
        return f"{what}; choose a model of another family (--model)"
    if _LEXICAL in (*before, *now):
        return "one judge is the lexical judge (word overlap); changes may be its errors"
    return "" if before else "the first judge is unknown; both may be of the same family"


def _of_program(
    kind: str,
    measure: str,
    scores: Sequence[TopicScores],
    paths: tuple[Path, Path],
    draws: Draws,
) -> dict[str, Any]:
    judged_topics = [set(one.topics[measure]) for one in scores]
    topics = [
        topic for topic in scores[0].topics[measure] if topic in judged_topics[0] & judged_topics[1]
    ]
    runs = [run for run in scores[0].values[measure] if run in scores[1].values[measure]]
    boards = [
        compare_scores(_only(one, other, measure, topics, runs), measure, **draws)
        for one, other in (scores, scores[::-1])
    ]
    judges = compare_judges(*paths, Problems(), kind, **draws)
    orders = [[row["run_id"] for row in of["runs"] if row["mean"] is not None] for of in boards]
    both = [run for run in orders[0] if run in orders[1]]
    ranks = [
        {run: i + 1 for i, run in enumerate(r for r in order if r in both)} for order in orders
    ]
    means = [{row["run_id"]: row for row in board["runs"]} for board in boards]
    apart = [_apart(board) for board in boards]
    tops = [k for k in TOP if k < len(both)] + [len(both)] * (len(both) <= TOP[-1])
    return {
        "measure": measure,
        "kind": kind,
        "n_topics": len(topics),
        "agreement": judges["agreement"],
        "cost": judges["cost"],
        "tau_b": kendall_tau(*([of[run]["mean"] for run in both] for of in means)),
        "runs": list(_runs(both, means, ranks, _agreements(paths, kind))),
        "top": [_top(k, both, ranks, apart) for k in tops],
    }


def _only(
    scores: TopicScores,
    other: TopicScores,
    measure: str,
    topics: Sequence[str],
    runs: Sequence[str],
) -> TopicScores:
    """One measure of these runs on these topics, only with values that the other judge has too."""
    values, rows = scores.values[measure], scores.rows[measure]
    lacks = {
        (run, topic)
        for run, of_run in other.values[measure].items()
        for topic, value in of_run.items()
        if value is None
    }
    both = {
        run: {topic: None if (run, topic) in lacks else v for topic, v in values[run].items()}
        for run in runs
    }
    return replace(
        scores,
        values={measure: both},
        topics={measure: topics},
        rows={measure: {run: rows[run] for run in runs}},
    )


def _apart(board: Mapping[str, Any]) -> dict[frozenset[str], bool | None]:
    return {
        frozenset((row["run_id"], row["other_run_id"])): row["is_significant"]
        for row in board["pairs"]
    }


def _top(
    k: int,
    runs: Sequence[str],
    ranks: Sequence[Mapping[str, int]],
    apart: Sequence[Mapping[frozenset[str], bool | None]],
) -> dict[str, Any]:
    """Count the changes among the first k runs of either judge.

    A pair that changes order matters if one of the judges finds a significant difference between
    the two on these topics. Otherwise their order is chance.
    """
    tops = [[run for run in runs if of[run] <= k] for of in ranks]
    union = [run for run in runs if run in tops[0] or run in tops[1]]
    swapped = [
        (one, other)
        for one, other in combinations(union, 2)
        if (ranks[0][one] < ranks[0][other]) != (ranks[1][one] < ranks[1][other])
    ]
    beyond_chance = [list(pair) for pair in swapped if any(of.get(frozenset(pair)) for of in apart)]
    moves = {run: ranks[1][run] - ranks[0][run] for run in union}
    return {
        "k": k,
        "leave": [run for run in tops[0] if run not in tops[1]],
        "enter": [run for run in tops[1] if run not in tops[0]],
        "most_places": max(map(abs, moves.values()), default=0),
        "n_pairs": len(union) * (len(union) - 1) // 2,
        "n_swapped": len(swapped),
        "n_beyond_chance": len(beyond_chance),
        "beyond_chance": beyond_chance,
    }


def _agreements(paths: tuple[Path, Path], kind: str) -> dict[str, dict[str, Any]]:
    """For each run, over items that both judges labelled: n, the share of equal labels, kappa."""
    scale = find_file_scale(*paths, kind=kind)
    files: list[LabelFile] = [
        read_labels(find_judged_file(path, kind), Problems(), scale=scale) for path in paths
    ]
    of_runs = [i for i, n in enumerate(files[0].key_names) if n in ("run_id", "opponent_id")]
    by_run: dict[str, list[tuple[str, str]]] = {}
    for cell, label in files[0].cells.items():
        if (other := files[1].cells.get(cell)) is not None:
            for at in of_runs:  # a battle has two runs
                by_run.setdefault(cell[at], []).append((label, other))
    labels = dict.fromkeys([*files[0].scale, *files[1].scale])
    return {
        run: {
            "n": len(pairs),
            "accuracy": sum(one == other for one, other in pairs) / len(pairs),
            "kappa": cohen_kappas([a for a, _ in pairs], [b for _, b in pairs], list(labels))[
                "unweighted"
            ],
        }
        for run, pairs in by_run.items()
    }


def _runs(
    runs: Sequence[str],
    means: Sequence[Mapping[str, Mapping[str, Any]]],
    ranks: Sequence[Mapping[str, int]],
    agreements: Mapping[str, Mapping[str, Any]],
) -> Iterator[dict[str, Any]]:
    for run in runs:
        bounds = {name: [of[run][name] for of in means] for name in ("mean", "low", "high")}
        yield {
            "run_id": run,
            **{f"{'other_' * i}{name}": of[i] for name, of in bounds.items() for i in (0, 1)},
            "rank": ranks[0][run],
            "other_rank": ranks[1][run],
            **{name: agreements.get(run, {}).get(name) for name in ("n", "accuracy", "kappa")},
        }


def audit_sections(results: Path, out: Path, n_topics: int | None, seed: int) -> dict[str, Any]:
    """Make the sections of a config: the same data, tasks and nuggets, on a sample of topics.

    Topics are drawn at random, whatever their scores. Models, fits, juries, prompts and
    demonstrations of the first judge are left out.

    Args:
        out: the folder of the audit, to which the topics are written.
        n_topics: the size of the sample; None, or more than there are: all topics.

    Raises: InputError if inputs have changed or are missing, and for a folder without answers.
    """
    config = find_inputs(results).check("the audit needs it to judge the sample again")
    manifest = read_manifest(results)
    if not manifest["data"].get("run_ids"):
        raise InputError(f"{results}: has no runs whose order can be audited")
    names = [
        one.name for one in choose(config.program) if one.shown
    ]  # other tasks do not order runs
    if not names:
        raise InputError(f"{results}: the task {', '.join(config.program)} does not order runs")
    ids = list(manifest["data"]["topic_ids"])
    drawn = ids
    if n_topics is not None and n_topics < len(ids):
        sampled = set(random.Random(seed).sample(sorted(ids), n_topics))
        drawn = [topic for topic in ids if topic in sampled]
    topics = load_collection(config.data).topics
    own_folder((out / TOPICS).parent)
    rows = [orjson.dumps(_topic_row(topics[name])) + b"\n" for name in drawn]
    write_file(out / TOPICS, b"".join(rows))
    sections = config.model_dump(mode="json", by_alias=True)
    made = {name: results / file for one in programs() for name, file in one.makes.items()}
    files = {name: str(path) for name, path in made.items() if path.is_file()}
    nuggets = {**sections["nuggets"], "method": "window", "start": "none", "fill": False}
    allowed = {"allow_missing": config.run.allow_missing, "concurrency": config.run.concurrency}
    return {
        **{name: section for name, section in sections.items() if name not in _NOT_TAKEN},
        "program": names,
        "data": {**sections["data"], **files, "topics": str(out / TOPICS)},
        "nuggets": nuggets,
        "judges": {
            name: _take_over(of) for name, of in sections["judges"].items() if _take_over(of)
        },
        "run": {**allowed, "out": str(out), "explain": False},
    }


def _take_over(section: Mapping[str, Any]) -> dict[str, Any]:
    of_packages = (name for kind in load_judge_settings().values() for name in kind.model_fields)
    names = (*_TAKEN_OVER, *of_packages)
    return {name: section[name] for name in names if section.get(name) is not None}


def _topic_row(topic: Topic) -> dict[str, Any]:
    row = {"id": topic.id, "title": topic.text, "background": topic.background}
    row |= {"domain": topic.domain, "category": topic.category}
    return {name: value for name, value in row.items() if value}


def audit_view(audited: Sequence[Fields], families: Families, n_of: int, level: float) -> View:
    """The view of `judge audit`.

    Args:
        families: of the first judge and of the other one. n_of: number of topics of the results.
    """
    tables = [table for row in audited for table in (_ranks(row, n_of), _tops(row, level))]
    return View(audit_verdict(audited[0], families), tables, [*_notes(audited)])


def audit_verdict(row: Fields, families: Families) -> str:
    """Say how similarly both judges order the runs, and how many pairs change order."""
    other = ", ".join(families[1]) or "unknown"
    if row["tau_b"] is None:
        return f"The order of runs by {row['measure']} cannot be compared: tau-b is undefined."
    top = row["top"][-1] if row["top"] else None
    pairs = ""
    if top is not None:
        pairs = f"; {top['n_swapped']:,} of {count(top['n_pairs'], 'pair')} change order"
        pairs += f", {top['n_beyond_chance']:,} significantly" if top["n_swapped"] else ""
    return (
        f"The other judge ({other}) orders the runs by {row['measure']} "
        f"{choose_tau_word(row['tau_b'])} the first does: tau-b "
        f"{format_short_share(row['tau_b'])} over {count(len(row['runs']), 'run')}{pairs}."
    )


def _ranks(row: Fields, n_of: int) -> Table:
    def show_move(run: Fields) -> Any:
        moved = run["rank"] - run["other_rank"]
        return Styled(f"{moved:+d}", Style.WARNING) if moved else ""

    def show_mean(side: str, head: str) -> list[Shown]:
        bounds = Column(f"{side}interval", Kind.INTERVAL, "interval", optional=3)
        names = {"low": f"{side}low", "high": f"{side}high"}
        mean = show(f"{side}mean", Kind.SHARE, head)
        return [mean, (bounds, lambda run: get_interval({n: run[of] for n, of in names.items()}))]

    has_moved = any(run["rank"] != run["other_rank"] for run in row["runs"])
    columns = [
        show("run", Kind.NAME, path="run_id"),
        show("rank", Kind.COUNT),
        show("other_rank", Kind.COUNT, "other rank"),
        *[(Column("moved", Kind.TEXT), show_move)] * has_moved,
        *show_mean("", row["measure"].replace("_", " ")),
        *show_mean("other_", "by other judge"),
        (Column("labels", Kind.COUNT, optional=2), lambda run: run["n"] or 0),
        show("alike", Kind.SHARE, "equal labels", "accuracy", optional=1),
        show("kappa", Kind.SHARE, optional=1),
    ]
    title = f"{row['program']}: ranks by the first judge and by the other"
    aside = f"{row['n_topics']:,} of {count(n_of, 'topic')}"
    agreed = row["agreement"]
    kappa = write_estimate(agreed["intervals"]["cohen_kappa"]["unweighted"])
    judgements, equal = count(agreed["n"], "judgement"), f"{agreed['accuracy']:.1%} equal"
    notes = [f"{judgements} by both judges: {equal}, kappa {kappa}."]
    return make_table(title, columns, row["runs"], aside, notes=notes)


def _tops(row: Fields, level: float) -> Table:
    columns = [
        show("top", Kind.COUNT, path="k"),
        (Column("leave", Kind.COUNT), lambda top: len(top["leave"])),
        show("most_places", Kind.COUNT, "largest move"),
        show("pairs", Kind.COUNT, path="n_pairs"),
        show("swapped", Kind.COUNT, "change order", "n_swapped"),
        show("beyond_chance", Kind.COUNT, "significantly", "n_beyond_chance"),
    ]
    notes = [
        "significantly: one of the judges has a significant difference between the two "
        f"(p < {format_given(round(1 - level, 4))})."
    ]
    pairs = row["top"][-1]["beyond_chance"] if row["top"] else []
    notes += [
        f"{one} is ahead of {other} by the first judge, behind it by the other."
        for one, other in pairs[:_SHOWN]
    ]
    notes += [f"... and {len(pairs) - _SHOWN:,} more pairs."] * (len(pairs) > _SHOWN)
    if row["n_topics"] < FEW_AUDITED_TOPICS:
        n = row["n_topics"]
        notes.append(f"With only {n} topics, few changes of order can be significant.")
    return make_table("", columns, row["top"], notes=notes)


def _notes(audited: Sequence[Fields]) -> Iterator[str]:
    if (cost := audited[0]["cost"]) is None:  # the cost of all tasks
        return
    amounts = []
    for name in ("one", "other"):
        calls, dollars = cost[name]["calls"], cost[name]["dollars"]
        n = "unknown calls" if calls is None else count(calls, "call")
        amounts.append(f"{n}, {format_money(dollars)}" if dollars is not None else n)
    yield f"Cost: {amounts[0]} for the first run, {amounts[1]} for the audit."


# Part of a model's name -> family; the first match counts. The base model comes before the vendor:
# a distilled Qwen is a Qwen (its card).
_KNOWN = {
    "lexical": "lexical",
    "qwen": "Qwen",
    "llama": "Llama",
    "minicheck": "InternLM",  # bespokelabs/Bespoke-MiniCheck-7B, its card
    "prometheus": "Mistral",  # prometheus-eval/prometheus-7b-v2.0, arXiv:2405.01535
    "flow-judge": "Phi",  # flowaicom/Flow-Judge-v0.1, its card
    **dict.fromkeys(("mistral", "mixtral", "ministral", "magistral"), "Mistral"),
    **dict.fromkeys(("gemini", "gemma"), "Gemini"),
    "claude": "Claude",
    "deepseek": "DeepSeek",
    "phi-": "Phi",
    "command": "Command",
    "glm": "GLM",
    "grok": "Grok",
    "gpt": "GPT",
}
_OF_OPENAI = re.compile(r"o\d")


def name_family(model: str) -> str:
    """The family of a model by its name; for an unknown model, the first word of its name.

    >>> [name_family(name) for name in ("hosted_vllm/Qwen/Qwen3-8B", "openai/o3-mini")]
    ['Qwen', 'GPT']
    >>> name_family("hosted_vllm/acme/Anvil-70B-instruct")
    'anvil'
    """
    name = model.rsplit("/", 1)[-1].lower()
    if _OF_OPENAI.match(name):
        return "GPT"
    listed = next((family_name for part, family_name in _KNOWN.items() if part in name), None)
    return listed or re.split(r"[-_.:\d]", name, maxsplit=1)[0] or name
