"""Commands for configs and prompts: `judge init`, `schema`, `export-config`, `prompt`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ...cli.flags import ParsedSettings, settings
from ...cli.options import ApiBase, AsJson, Model, read_pairs
from ...cli.signatures import OptionRules
from ...cli.tables import escape, write_note, write_objects
from ...records.reading.problems import InputError

if TYPE_CHECKING:
    from .prompts import RenderedPrompt


def schema(*, judge: bool = False) -> None:
    """Print the JSON Schema of config files, for editors. Example: judge schema > judge.json

    Args:
        judge: Print the schema of YAML files of custom judges instead.
    """
    import orjson
    from pydantic import BaseModel

    kind: type[BaseModel]
    if judge:
        from ...judges.custom import CustomJudgeDefinition as kind
    else:
        from ...programs.config.sections import Config as kind
    text = orjson.dumps(kind.model_json_schema(by_alias=True), option=orjson.OPT_INDENT_2)
    sys.stdout.write(text.decode() + "\n")


@settings(model=False, config=False)
def export_config(
    given: ParsedSettings,
    what: Annotated[str | None, OptionRules(show_default=False)] = None,
) -> None:
    """Print the complete config of a finished run, or a config with its defaults, as YAML.

    Paths are relative to the folder in which the run was started.

    Example: judge export-config results/demo > judge.yaml

    Args:
        what: A results folder, a config file, or tasks to start from.
    """
    import yaml

    from ...programs.engine.manifest import read_folder_config

    if what is None or not Path(what).is_dir():
        config = given.read_config(what)
    elif given.is_empty:
        config = read_folder_config(Path(what))
    else:
        raise InputError(
            f"{what}: this run is finished; --config, --model and --set cannot change it"
        )
    data = config.model_dump(mode="json", by_alias=True)
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    sys.stdout.write(escape(text) if sys.stdout.isatty() else text)


EXAMPLE = Path(__file__).parents[2] / "examples" / "demo"  # shipped with the package
FILE = "judge.yaml"


@dataclass(frozen=True)
class _Input:
    """A line of `data:`. `names`: file names that need no option, the usual one first."""

    key: str
    about: str
    names: tuple[str, ...]


_INPUTS = (
    _Input("topics", "topic id, TAB, question; or JSONL", ("topics.tsv", "topics.jsonl")),
    _Input("runs", "answers, one JSON object per line", ("runs",)),
    _Input("passages", "docid and text of cited passages", ("passages.jsonl",)),
    _Input("candidates", "retrieved docids; nuggets come from them", ("candidates.jsonl",)),
    _Input("qrels", "relevance grades of the candidates", ("qrels.txt",)),
    _Input("nuggets", "your own nuggets, used instead of new ones", ("nuggets.jsonl",)),
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
        folder: Folder for judge.yaml.
        demo: Copy the example: questions, passages, answers, labels and configs.

    Data:
        topics (FILE): The questions, TSV or JSONL.
        runs (FILES): A run file, a folder or a quoted pattern.
        passages (FILE): Passage texts, JSONL.
        candidates (FILE): Ranked passages by topic, to create nuggets from.
        qrels (FILE): Relevance grades of the candidates.
        nuggets (FILE): Use this nugget bank instead of creating one.
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
        raise InputError("--demo copies its own files; remove the other options")
    else:
        _copy_example(folder)


def _copy_example(folder: Path) -> None:
    from ...records.writing import write_file

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: exists already; wanted a new or empty folder")
    for path in sorted(EXAMPLE.rglob("*")):
        if path.is_file():  # not its mode: a package may be installed read-only
            write_file(folder / path.relative_to(EXAMPLE), path.read_bytes())
    write_note(f"The example is in {folder}. Next: judge run {folder / FILE}\n")


def _write_config(folder: Path, named: dict[str, str], models: dict[str, str]) -> None:
    from ...programs.config.sections import DataConfig
    from ...programs.data_kinds import check_kinds
    from ...records.writing import write_file

    path = folder / FILE
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, wanted a folder")
    if path.exists():
        raise InputError(f"{path}: exists already; edit it, or choose another folder")
    for key, value in named.items():
        if key != "runs" and not Path(value).is_file():  # `runs` may be a pattern, see below
            raise InputError(f"--{key} {value}: no such file")
    files = {**_find_files(folder), **named}
    check_kinds(DataConfig.model_validate(files))
    has_nuggets, has_support = not files.keys().isdisjoint(_FOR_NUGGETS), "passages" in files
    is_open = not has_nuggets and not has_support  # the files do not tell: offer both tasks
    tasks = [*["nuggets"] * (has_nuggets or is_open), *["support"] * (has_support or is_open)]
    wanted = {"topics", "runs", *(["passages", "candidates"] if is_open else [])}
    steps = _next_steps(path, tasks, files, models, wanted - files.keys())
    relative = {key: os.path.relpath(value, folder) for key, value in files.items()}
    write_file(path, _config_text(tasks, relative, models, wanted))
    write_note("\n".join(steps) + "\n")


def _find_files(folder: Path) -> dict[str, str]:
    """Find the files in a folder that have a usual name."""
    there = {each.key: [folder / name for name in each.names] for each in _INPUTS}
    return {
        key: str(path) for key, paths in there.items() for path in reversed(paths) if path.exists()
    }


def _config_text(
    tasks: list[str], files: dict[str, str], models: dict[str, str], wanted: set[str]
) -> str:
    """About 15 lines of YAML. A missing file that is not needed becomes a comment."""

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
        yield "  # max_cost: 5", "most dollars that a run may spend"

    rows = list(lines())
    width = max(len(setting) for setting, about in rows if about and len(setting) < 40)
    body = [f"{s:<{width}}  # {about}" if about else s for s, about in rows]
    return "\n".join([f"# judge run {FILE}     (all settings: judge schema)", *body, ""])


def _quote(text: str) -> str:
    """Quote a text for a YAML list or map."""
    import yaml

    return yaml.safe_dump([text], default_flow_style=True, allow_unicode=True, width=10**6)[1:-2]


def _next_steps(
    path: Path, tasks: list[str], files: dict[str, str], models: dict[str, str], missing: set[str]
) -> list[str]:
    """Say what was read, what is missing, and the next command. Raises: InputError."""
    from ...programs.config.reading import load_config
    from ...programs.run import check_collection, load_data

    flags: dict[str, Any] = {f"data.{key}": value for key, value in files.items()}
    flags |= {f"models.default.{key}": value for key, value in models.items()}
    config = load_config(None, {"program": tasks, "run.out": path.parent / "results", **flags})
    steps = [f"Wrote {path}."]
    if "topics" in files and "runs" in files:
        collection = load_data(config)
        counts = (
            (len(collection.topics), "topic"),
            (len(collection.run_ids), "run"),
            (collection.n_answers, "answer"),
        )
        read = ", ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in counts)
        steps = [f"Wrote {path} for {read}."]
        if n := len(collection.problems.rows):
            steps.append(f"The files have {n:,} problems. judge run lists them in problems.jsonl.")
        if not missing:
            check_collection(config, config)
    if missing:
        steps.append("Add these files, or edit their lines:")
        steps += [
            f"  {path.parent / each.names[0]}: {each.about}"
            for each in _INPUTS
            if each.key in missing
        ]
    steps.append(f"Next: judge run {path} --dry-run    (counts the calls; omit --dry-run to judge)")
    return steps


@settings()
def prompt(
    given: ParsedSettings,
    name: str | None = None,
    *,
    item: list[str] | None = None,
    items: Path | None = None,
    n: Annotated[int, OptionRules("--n", min=1)] = 1,
    for_model: Annotated[str | None, OptionRules("--for")] = None,
    schema: bool = False,
    as_json: AsJson = False,
) -> None:
    """Print the prompt of a judge, word for word, with your item or a small example.

    No model is called, and no key is needed. Without a name, list the judges and their fields.

    Example: judge prompt support --item sentence='Ice floats.' --item "passage=$(cat page.txt)"
    / judge prompt assigner --items results/demo --n 5 --for gpt-4o --schema

    Args:
        name: A judge, the YAML file of your judge, or a judge file from judge calibrate.
        item (FIELD=VALUE): A field of your item; repeat nugget= and other lists for each value.
        items: A results folder, or a file of items or labels, for a judge that labels items.
        n: With --items: how many items to show; items of one answer share a prompt.
        for_model (MODEL): Count tokens with this model's tokenizer, if LiteLLM has it.
        schema: Also print the JSON Schema of the reply.
    """
    from ...records.reading.problems import InputError
    from .prompts import render_prompts

    config = given.config()
    if name is None:
        _list_judges(given, as_json=as_json)
        return
    if items is not None and item:
        raise InputError("--items and --item exclude each other; use one of them")
    prompts = render_prompts(
        config, name, read_pairs("--item", item or ()), items=items, n=n, counted_for=for_model
    )
    if as_json:
        write_objects(asdict(each) for each in prompts)
        return
    if missing := prompts[0].from_example:
        write_note(f"Fields filled from the example: {', '.join(missing)}\n")
    for i, each in enumerate(prompts):
        text = ("\n" if i else "") + _text(each, has_schema=schema)
        sys.stdout.write(escape(text) if sys.stdout.isatty() else text)


def _list_judges(given: ParsedSettings, *, as_json: bool) -> None:
    from ...views.printing import print_view
    from ...views.table import Column, Kind, Row, Table, View
    from .prompts import judge_fields, list_judges

    config = given.config()
    fields = {name: judge_fields(config, name) for name in list_judges()}
    if as_json:
        write_objects({"judge": name, "fields": list(each)} for name, each in fields.items())
        return
    columns = [Column("judge", Kind.NAME), Column("fields", Kind.TEXT, "fields for --item")]
    rows = [Row([name, ", ".join(each)]) for name, each in fields.items()]
    print_view(View(tables=[Table("", columns, rows)]))
    write_note("Print one: judge prompt NAME. NAME may also be your YAML file or a judge file.\n")


def _text(prompt: RenderedPrompt, *, has_schema: bool) -> str:
    """One line about the prompt, then each message under its role."""
    about = f"{prompt.judge} judge, version {prompt.version}, question {prompt.question}"
    parts = [f"{about}: {prompt.tokens:,} tokens ({prompt.counted_by})\n"]
    if prompt.n_more:
        calls = f"{prompt.n_more:,} more call{'s' * (prompt.n_more > 1)}"
        parts.append(f"The item needs {calls} like this one.\n")
    for message in prompt.messages:
        parts.append(f"\n--- {message['role']} ---\n{message['content']}\n")
    if has_schema:
        text = "none: no schema is sent to the endpoint"
        if prompt.schema is not None:
            text = json.dumps(prompt.schema, indent=2, ensure_ascii=False)
        parts.append(f"\n--- schema of the reply ---\n{text}\n")
    return "".join(parts)
