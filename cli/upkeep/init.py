"""`judge init`: a config for the user's own files, or the packaged example."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...records.reading.problems import InputError
from ..options import ApiBase, Model
from ..tables import write_note

EXAMPLE = Path(__file__).parents[2] / "examples" / "demo"  # which the package ships
FILE = "judge.yaml"


@dataclass(frozen=True)
class _Input:
    """A line of `data:`. `names`: the files that need no option, the usual one first."""

    key: str
    about: str
    names: tuple[str, ...]


_INPUTS = (
    _Input("topics", "topic id, TAB, question; or JSONL", ("topics.tsv", "topics.jsonl")),
    _Input("runs", "answers, one JSON object a line", ("runs",)),
    _Input("passages", "docid and text of what answers cite", ("passages.jsonl",)),
    _Input("candidates", "retrieved docids; nuggets come from them", ("candidates.jsonl",)),
    _Input("qrels", "relevance grades of the candidates", ("qrels.txt",)),
    _Input("nuggets", "your own nuggets, instead of made ones", ("nuggets.jsonl",)),
)
_FOR_NUGGETS = ("candidates", "nuggets")


def init(
    folder: Path,
    *,
    topics: str | None = None,
    runs: str | None = None,
    passages: str | None = None,
    candidates: str | None = None,
    qrels: str | None = None,
    nuggets: str | None = None,
    model: Model = None,
    api_base: ApiBase = None,
    demo: bool = False,
) -> None:
    """Write a config for your own files, or a copy of the example with --demo.

    Files in the folder with the usual names (topics.tsv, runs, passages.jsonl, candidates.jsonl,
    qrels.txt, nuggets.jsonl) are found without an option.

    Example: judge init mine --topics topics.tsv --runs 'runs/*.jsonl'

    Args:
        folder: Where judge.yaml is written.
        demo: Copy the example: its questions, passages, answers, labels and configs.

    Data:
        topics (FILE): The questions, TSV or JSONL.
        runs (FILES): A run file, a folder or a quoted pattern.
        passages (FILE): Passage texts, JSONL.
        candidates (FILE): Ranked passages by topic, to make nuggets from.
        qrels (FILE): Relevance grades of the candidates.
        nuggets (FILE): A nugget bank, to use instead of making nuggets.
    """
    given = {
        "topics": topics, "runs": runs, "passages": passages,
        "candidates": candidates, "qrels": qrels, "nuggets": nuggets,
    }  # fmt: skip
    named = {key: value for key, value in given.items() if value is not None}
    models = {"model": model, "api_base": api_base}
    chosen = {key: value for key, value in models.items() if value is not None}
    if not demo:
        _write_config(folder, named, {"model": "lexical", **chosen})
    elif named or chosen:
        raise InputError("--demo copies its own files: leave the other options out")
    else:
        _copy_example(folder)


def _copy_example(folder: Path) -> None:
    from ...records.writing import write_file

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is there already, wanted a new or empty folder")
    for path in sorted(EXAMPLE.rglob("*")):
        if path.is_file():  # its bytes alone: a package may be installed read-only
            write_file(folder / path.relative_to(EXAMPLE), path.read_bytes())
    write_note(f"The example is in {folder}. Next: judge run {folder / FILE}\n")


def _write_config(folder: Path, named: dict[str, str], models: dict[str, str]) -> None:
    from ...records.writing import write_file

    path = folder / FILE
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, wanted a folder")
    if path.exists():
        raise InputError(f"{path}: is there already; edit it, or name another folder")
    for key, value in named.items():
        if key != "runs" and not Path(value).is_file():  # `runs` may be a pattern: checked below
            raise InputError(f"--{key} {value}: no such file")
    files = {**_found(folder), **named}
    has_nuggets, has_support = not files.keys().isdisjoint(_FOR_NUGGETS), "passages" in files
    is_open = not has_nuggets and not has_support  # nothing says what can be judged: offer both
    tasks = [*["nuggets"] * (has_nuggets or is_open), *["support"] * (has_support or is_open)]
    wanted = {"topics", "runs", *(["passages", "candidates"] if is_open else [])}
    steps = _next_steps(path, tasks, files, models, wanted - files.keys())
    relative = {key: os.path.relpath(value, folder) for key, value in files.items()}
    write_file(path, _config_text(tasks, relative, models, wanted))
    write_note("\n".join(steps) + "\n")


def _found(folder: Path) -> dict[str, str]:
    """The files in a folder that have a usual name."""
    there = {each.key: [folder / name for name in each.names] for each in _INPUTS}
    return {
        key: str(path) for key, paths in there.items() for path in reversed(paths) if path.exists()
    }


def _config_text(
    tasks: list[str], files: dict[str, str], models: dict[str, str], wanted: set[str]
) -> str:
    """About 15 lines of YAML. A file that is neither there nor wanted is a comment."""

    def lines() -> Iterator[tuple[str, str]]:
        yield f"program: [{', '.join(tasks)}]", "nuggets: key facts stated; support: citations"
        yield "data:", "paths are relative to this file"
        for each in _INPUTS:
            is_on = each.key in files or each.key in wanted
            value = _quote(files.get(each.key, each.names[0]))
            yield f"  {'' if is_on else '# '}{each.key}: {value}", each.about
        yield "models:", "the judge: openai/gpt-4o, hosted_vllm/NAME with api_base, ..."
        default = ", ".join(f"{key}: {_quote(value)}" for key, value in models.items())
        yield f"  default: {{{default}}}", ""
        yield "run:", ""
        yield "  out: results", ""
        yield "  # max_cost: 5", "dollars that a run may spend"

    rows = list(lines())
    width = max(len(setting) for setting, about in rows if about and len(setting) < 40)
    body = [f"{s:<{width}}  # {about}" if about else s for s, about in rows]
    return "\n".join([f"# judge run {FILE}     (all settings: judge schema)", *body, ""])


def _quote(text: str) -> str:
    """A text as YAML has it in a list or map."""
    import yaml

    return yaml.safe_dump([text], default_flow_style=True, allow_unicode=True, width=10**6)[1:-2]


def _next_steps(
    path: Path, tasks: list[str], files: dict[str, str], models: dict[str, str], missing: set[str]
) -> list[str]:
    """What the files hold, what is still missing, and the next command. Raises: InputError."""
    from ...programs.config.reading import load_config
    from ...programs.run import check_collection, load_data

    flags: dict[str, Any] = {f"data.{key}": value for key, value in files.items()}
    flags |= {f"models.default.{key}": value for key, value in models.items()}
    config = load_config(None, {"program": tasks, "run.out": path.parent / "results", **flags})
    steps = [f"{path} is written."]
    if "topics" in files and "runs" in files:
        collection = load_data(config)
        counts = (
            (len(collection.topics), "topic"),
            (len(collection.run_ids), "run"),
            (collection.n_answers, "answer"),
        )
        read = ", ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in counts)
        steps = [f"{path} is written for {read}."]
        if n := len(collection.problems.rows):
            steps.append(f"Problems in the files: {n:,}. judge run lists them in problems.jsonl.")
        if not missing:
            check_collection(config, config)
    if missing:
        steps.append("Put these files there, or edit their lines:")
        steps += [
            f"  {path.parent / each.names[0]}: {each.about}"
            for each in _INPUTS
            if each.key in missing
        ]
    steps.append(f"Next: judge run {path} --dry-run    (counts the calls; without it: judges)")
    return steps
