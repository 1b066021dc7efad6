"""`nuggetjudge.run` for files and `nuggetjudge.evaluate` for answers in memory."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import finalize

import orjson

from ..backends.loop import Stop
from ..judges.table import item_judges
from ..programs.config.base import program_names, resolve_program, suggest_program
from ..programs.config.reading import load_config, name_settings
from ..programs.config.sections import Config
from ..programs.engine.folders import check_replaced
from ..programs.engine.judge_set import (
    check_judges,
    check_models,
    check_prices,
    list_sparing_inputs,
)
from ..programs.engine.manifest import constant_judges, read_folder_config
from ..programs.engine.results import ALWAYS, MANIFEST, check_free
from ..programs.protocols import table
from ..programs.protocols.table import program_files
from ..programs.run import NO_MODEL, check_collection, judge_collection, names_no_model
from ..records.reading.problems import InputError
from ..records.writing import remove, write_file
from .result import Result
from .samples.asking import Answering, Asking, list_topics
from .samples.citations import check_writable
from .samples.fields import REFERENCE
from .samples.files import (
    BEGUN,
    FOLDER,
    Citing,
    NewFiles,
    add_to_bank,
    use_bank,
    write_items,
    write_samples,
)
from .samples.reading import Samples, group_by_system, read_questions, read_samples
from .samples.returned import as_function

if TYPE_CHECKING:
    from ..judges import CustomJudge


def run(
    config: str | Path | Config | None = None, *, quiet: bool = True, **settings: Any
) -> Result:
    """Judge runs that are in files, and write a results folder.

    Args:
        config: a YAML file or a Config; None: everything is in `settings`.
        quiet: draw no progress bar.
        settings: `program`, the name of a task or a list of names; `model`, the name of a model
            or of an entry under `models:`, or a whole entry as a dict; the names of `data:`
            (topics, runs, passages, candidates, qrels, nuggets, items, questions, ratings,
            retrieval, ...), of `items:` (judge, fields) and of `run:` (out, concurrency, max_cost
            in dollars, limit, ...); or any dotted name, such as
            `**{"support.citations": "all"}`. Settings override the file.

    Returns: the result: scores, judgements and counts, read from the folder.
    Raises: InputError for bad input; EndpointUnusable if no request can succeed. The journal in
        the folder keeps what was judged, and the same call continues from there.
    Warns: UserWarning if no model is named, so that the lexical judge answers, and if a judge
        gave all of 15 or more items the same label.

    Example: nj.run(program="support", topics="topics.tsv", runs="runs/", passages="passages.jsonl")

    The demo of the package has four systems:

    >>> import nuggetjudge as nj
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> demo = Path(nj.__file__).parent / "examples" / "demo" / "judge.yaml"
    >>> with TemporaryDirectory() as out:
    ...     result = nj.run(demo, program="support", model="lexical", out=out)
    ...     print(sorted({row.run_id for row in result.rows()}), result.n_unjudged)
    ['complete', 'factdump', 'miscited', 'thin'] 0
    """
    if not isinstance(config, Config):
        config = make_config(settings, Path(config) if config is not None else None)
    elif settings:
        raise ValueError("give settings or a Config, not both")
    warn_without_model(config)
    result = Result(judge_collection(config, quiet=quiet).folder)
    for what in constant_judges(result.manifest):
        warnings.warn(what, UserWarning, stacklevel=2)
    return result


def warn_without_model(config: Config) -> None:
    """Warn if no model is named, at the caller of the function that called this one."""
    if names_no_model(config):
        warnings.warn(f"{NO_MODEL} Give model=.", UserWarning, stacklevel=3)


def make_config(settings: Mapping[str, Any], path: Path | None = None) -> Config:
    """Make a config from settings as `run` takes them; they override those of a file.

    Raises: InputError for an unknown setting, or a value that it does not take.
    """
    settings = dict(settings)
    if (of_evaluation := settings.pop("config", None)) is not None:
        path, settings = Path(of_evaluation), {"data": {}, **settings}
    model = settings.pop("model", None)
    if isinstance(model, dict):  # a whole entry instead of a name
        settings["models.default"], model = model, None
    return load_config(path, name_settings(settings), model=model)


Program: TypeAlias = "str | Path | Sequence[str] | CustomJudge | None"
Judge: TypeAlias = "str | Path | CustomJudge"

ITEMS = "items"


def choose_program(program: Program, judge: Judge | None) -> tuple[list[str], Judge | None]:
    """Return the tasks that a user named, and the judge if the name is a judge.

    An empty list of tasks means all tasks that fit the samples.

    Raises: InputError for a name that is neither a task nor a judge.
    """
    if program is None and judge is None:
        return [], None
    if hasattr(program, "definition"):
        return [ITEMS], program  # type: ignore[return-value]
    listed = [program] if isinstance(program, str | Path) else list(program or [ITEMS])
    names = [resolve_program(part.strip()) for each in listed for part in str(each).split(",")]
    if judge is not None:
        if names != [ITEMS]:
            raise InputError(f"judge: belongs to the task {ITEMS}, not to {', '.join(names)}")
        return names, judge
    if names == [ITEMS]:
        what = "give only the judge, or both (judge=)"
        raise InputError(f"program: {ITEMS} needs one judge; {what}")
    if len(names) == 1 and _is_judge(names[0]):
        return [ITEMS], names[0]
    for name in names:
        if name not in program_names():
            choices = [*program_names(), *item_judges()]
            what = f"no task or judge {name!r}; wanted one of {', '.join(choices)}, or a YAML file"
            raise InputError(f"program: {what}{suggest_program(name, choices)}")
    return names, None


def write_judge(judge: Judge, folder: Path) -> str:
    """Return the name or file of a judge; a judge made in Python is written to a file."""
    if isinstance(judge, str | Path):
        return str(judge)
    definition = getattr(judge, "definition", None)
    if definition is None:
        what = "wanted its name, a YAML file or a CustomJudge"
        raise InputError(f"judge: is {type(judge).__name__}, {what}")
    path = folder / "judge.yaml"  # JSON is YAML
    about = definition.model_dump(mode="json", by_alias=True, exclude_none=True)
    write_file(path, orjson.dumps(about, option=orjson.OPT_INDENT_2))
    return str(path)


def choose_programs(data: Mapping[str, Any]) -> list[str]:
    """Return the tasks that can judge these files, named as in `data:`."""
    programs = ["nuggets"] if data.keys() & {"nuggets", "candidates"} else []
    programs += ["support"] if "passages" in data else []
    # Coverage needs many judgements, so a reference selects it only if there is nothing else.
    programs += ["coverage"] if "questions" in data else []
    programs += ["keypoints"] if "keypoints" in data else []
    return programs or (["coverage"] if "reference" in data else [])


def check_needs(programs: Sequence[str], data: Mapping[str, Any]) -> None:
    """Raise InputError if a task lacks a field that it needs; the error names the field."""
    for name in programs:
        files, fields = table.program(name).needs
        if files and not data.keys() & set(files):
            raise InputError(f"samples: {name} needs {fields}, and no sample has any")


def select_files(programs: Sequence[str], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the files that these tasks read. Candidates are left out if no task needs them.

    Tasks of other packages get all files.
    """
    needs = [table.program(name).needs[0] for name in programs]
    is_read = any(not files or "candidates" in files for files in needs)
    return {name: path for name, path in data.items() if name != "candidates" or is_read}


def name_references() -> str:
    """Return the fields by which answers can be judged, as text."""
    return "contexts, nuggets, key_points, questions or a reference"


def get_defaults(programs: Sequence[str], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that fit samples.

    Nuggets that a bank lacks are made from contexts. For coverage, all questions count, and the
    contexts of a sample are its retrieved passages.
    """
    settings: dict[str, Any] = {"nuggets.fill": True} if "nuggets" in programs else {}
    if "coverage" in programs:
        settings["coverage.answerable"] = "all"
        if "passages" in data:
            settings["coverage.contexts"] = "answers"
    return settings


def _is_judge(name: str) -> bool:
    if name.endswith((".yaml", ".yml")):
        return True
    return name not in program_names() and name in item_judges()


def check_start(
    folder: Path, programs: Sequence[str], settings: Mapping[str, Any], ids: Mapping[str, Any]
) -> None:
    """Raise InputError for errors that do not depend on the samples.

    Raises: EndpointUnusable if a key is missing.

    Args:
        programs: the tasks; []: those that fit the samples.
        settings: settings of `nuggetjudge.run`, without data.
        ids: `run_ids` and `topic_ids`, if known.
    """
    files = program_files(programs or [one.name for one in table.programs()])
    check_free(folder, (*files, *ALWAYS))
    options = {"program": programs, "out": folder, **settings}
    if settings.get("force") or not (folder / MANIFEST).is_file():
        _check_judges(make_config(options))
        return
    before = read_folder_config(folder)
    programs = programs or before.program
    of_data = get_defaults(programs, {name: file for name, file in before.data if file})
    config = make_config({**of_data, **options, "program": programs})
    _check_judges(config)
    # The answers do not exist yet, so they count as unchanged.
    config = config.model_copy(update={"data": before.data, "items": before.items})
    check_replaced(config, ids)


def _check_judges(config: Config) -> None:
    """Raise InputError for wrong settings of judges and prices.

    Raises: EndpointUnusable if a model that is surely asked lacks its key.
    """
    judges = [name for each in table.choose(config.program) for name in each.list_judges(config)]
    check_prices(config, judges)
    check_judges(config, judges)
    check_models(config, [name for name in judges if not list_sparing_inputs(name)])


_NUMBERS = count(1)  # numbers evaluations of this process without a folder
_EXCLUDED = "topics_without_nuggets"  # key in the manifest
# In `aevaluate`: its event loop, and the event that is set when it is cancelled.
_HOST: ContextVar[tuple[asyncio.AbstractEventLoop | None, threading.Event | None]] = ContextVar(
    "_HOST", default=(None, None)
)


def evaluate(
    samples: Samples | Mapping[str, Samples],
    program: Program = None,
    *,
    answer: Answering | Mapping[str, Answering] | None = None,
    at_once: int = 8,
    model: str | Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    bank: str | Path | None = None,
    nuggets_from: str = "contexts",
    name: str | None = None,
    quiet: bool = True,
    config: str | Path | None = None,
    **settings: Any,
) -> Result:
    """Judge answers that are in memory; return scores, labels and counts.

    Args:
        samples: the answers of one system, in a list, a generator, a frame, a dataset or a JSONL
            file (its path). A sample is a mapping or an object with a question, an answer and
            fields to judge it with, such as contexts or nuggets. For several systems: a dict,
            system name -> samples. With `answer`: questions, as texts or mappings.
        program: names of tasks; or one judge that labels each sample as an item: its name, its
            YAML file or a CustomJudge; None: all tasks that fit the samples.
        answer: a function from a question to its answer (a text, or a mapping of answer and
            contexts), plain or async; a chain of LangChain or an engine of LlamaIndex; or
            several, in a dict by name. If a call raises, its question is unjudged; if the first
            three calls all raise, `evaluate` raises the error. None: the samples have answers.
        at_once: the maximum number of calls of `answer` at the same time, >= 1.
        model: the judging model, such as "openai/gpt-4o"; see `nuggetjudge.run`. "lexical" and
            None: word overlap, without a model.
        out: a folder for results and samples, from which a killed evaluation continues; None: a
            temporary folder, which is deleted with the result.
        bank: a file of nuggets. The evaluation uses its nuggets, and adds the nuggets that it
            makes for other questions. None: no bank.
        nuggets_from: the source of nuggets for samples without nuggets: `contexts` or
            `reference`.
        name: the name of the system, if samples have none; None: the name of the folder `out`, of
            the function, or `answers`.
        quiet: draw no progress bar.
        config: a config file as for `judge run`; its `data` is ignored. None: no file.
        settings: settings of `nuggetjudge.run`; they override the file. `judge` and `fields` are
            for items.

    Returns: the result: scores, judgements and counts.
    Raises: InputError if samples lack a field; it names the field, and the fields that they have.
        ValueError if `at_once` is below 1; TypeError if `answer` is not a function.
        EndpointUnusable if no request can succeed.
    Warns: UserWarning if no model is named, if `answer` failed on questions, if questions have no
        nuggets, if answers cite nothing or cite contexts that do not exist, and if a judge gave
        all of 15 or more items the same label.

    Example: nj.evaluate([{"question": q, "answer": a, "contexts": texts}], "support")

    The answer states one of two nuggets:

    >>> import nuggetjudge as nj
    >>> sample = {
    ...     "question": "what makes the tides",
    ...     "answer": "The moon makes the tides.",
    ...     "nuggets": ["the moon makes the tides", "tides come twice a day"],
    ... }
    >>> result = nj.evaluate([sample], "nuggets", model="lexical")
    >>> result.score("answers", "V_strict")
    0.5
    """
    if nuggets_from not in ("contexts", "reference"):
        raise InputError(f"nuggets_from: is {nuggets_from!r}, wanted 'contexts' or 'reference'")
    programs, judge = choose_program(program, settings.pop("judge", None))
    fields = settings.pop("fields", {}) if judge is not None else {}
    given = {"model": model, "config": config}
    settings |= {name: value for name, value in given.items() if value is not None}
    folder, temporary = _folder(out)
    has_earlier, is_forced = (folder / "journal").is_dir(), bool(settings.get("force"))
    if answer is not None and has_earlier and isinstance(samples, Iterator):
        samples = list(samples)  # read once more, for their topics
    asking = Asking(folder / FOLDER / "answered.jsonl", at_once, *_HOST.get())
    systems = _systems(samples, answer, name or name_system(answer, out), asking)
    ids: dict[str, Any] = {"run_ids": [*systems]}
    if answer is not None and has_earlier:
        ids["topic_ids"] = list_topics(samples)
    check_start(folder, programs, settings, ids)
    if is_forced:
        remove(asking.path)
    citing = Citing()
    with NewFiles(folder) as files:
        if judge is not None:
            named = write_judge(judge, files.folder)
            data = {"items": write_items(systems, named, fields, files.folder), "judge": named}
        else:
            data = _write_samples(
                systems,
                files,
                citing,
                bank,
                nuggets_from=nuggets_from,
                has_begun=has_earlier and not is_forced,
            )
            if not asking.n_failed:
                check_needs(programs, {**data, **settings})
            programs = programs or choose_programs(data)
            data = select_files(programs, data)
        _check_chosen(programs, asking)
        options = {"program": programs, "out": folder, **get_defaults(programs, data), **settings}
        run_config = make_config({**files.name_published(data), **options})
        if has_earlier:
            check_collection(make_config({**data, **options}), run_config)
        files.publish()
    warn_without_model(run_config)
    result = Result(judge_collection(run_config, quiet=quiet).folder)
    if bank is not None:
        add_to_bank(Path(bank), folder / "nuggets.jsonl")
    remove(asking.path)
    if temporary is not None:
        finalize(result, temporary.cleanup)
        result.is_temporary = True
    judges_citations = any(one.judges_citations for one in table.choose(programs))
    of_citations = citing.doubts() if judges_citations else ()
    for what in (*_doubts(result, asking, citing), *of_citations):
        warnings.warn(what, UserWarning, stacklevel=2)
    return result


def completeness(
    samples: Samples | Mapping[str, Samples], facts: str = "contexts", **options: Any
) -> Result:
    """Judge which facts of a good answer each answer states; see `Result.missing`.

    The facts are the `nuggets` of a sample. Without nuggets, a judge makes them from all contexts
    or from the reference answer, without a relevance judgement first.

    Args:
        samples: the answers; see `evaluate`.
        facts: the source of facts for samples without nuggets: `contexts` or `reference`.
        options: further arguments of `evaluate`, such as `model`.

    Returns: the result of the nuggets task.
    Raises: the errors of `evaluate`.
    Warns: UserWarning, as `evaluate`.

    Example: print(nj.completeness(samples, model="openai/gpt-4o").missing())

    The answer states one of two facts:

    >>> import nuggetjudge as nj
    >>> sample = {
    ...     "question": "what makes the tides",
    ...     "answer": "The moon makes the tides.",
    ...     "nuggets": ["the moon makes the tides", "tides come twice a day"],
    ... }
    >>> print(nj.completeness([sample], model="lexical").missing().splitlines()[2])
    - tides come twice a day
    """
    settings = {"nuggets.min_grade": 0} | options
    return evaluate(samples, "nuggets", nuggets_from=facts, **settings)


async def aevaluate(
    samples: Samples | Mapping[str, Samples], program: Program = None, **options: Any
) -> Result:
    """Judge answers as `evaluate` does, without blocking the event loop.

    If the task is cancelled, no more requests are sent; with `out`, the same call continues from
    there.

    Args:
        samples: the answers; see `evaluate`.
        program: names of tasks, or one judge; see `evaluate`.
        options: further arguments of `evaluate`, such as `answer` and `model`.

    Returns: the result: scores, judgements and counts.
    Raises: the errors of `evaluate`; asyncio.CancelledError if the task is cancelled.

    Example: result = await nj.aevaluate(questions, answer=my_rag, model="openai/gpt-4o")

    An async function answers; the answer states the only nugget:

    >>> import asyncio
    >>> import nuggetjudge as nj
    >>> async def my_rag(question):
    ...     return "The moon makes the tides."
    >>> question = {"question": "what makes the tides", "nuggets": ["the moon makes the tides"]}
    >>> work = nj.aevaluate([question], "nuggets", answer=my_rag, model="lexical")
    >>> asyncio.run(work).score("my_rag", "V_strict")
    1.0
    """
    stopped, stop = threading.Event(), Stop()
    host = _HOST.set((asyncio.get_running_loop(), stopped))
    try:
        with stop:
            return await asyncio.to_thread(partial(evaluate, samples, program, **options))
    except asyncio.CancelledError:
        stopped.set()
        stop.set()
        raise
    finally:
        _HOST.reset(host)


def _folder(out: str | Path | None) -> tuple[Path, TemporaryDirectory[str] | None]:
    """Return the folder for all files; numbers distinguish temporary folders."""
    if out is not None:
        return Path(out), None
    temporary = TemporaryDirectory(prefix="nuggetjudge-")
    return Path(temporary.name) / f"evaluation-{next(_NUMBERS)}", temporary


def name_system(answer: Any, out: str | Path | None = None) -> str:
    """Return the name of a system that the user did not name; see `evaluate`."""
    own_name = Path(out).name if out is not None else getattr(answer, "__name__", "")
    return "-".join(own_name.split()) if own_name not in ("", "<lambda>") else "answers"


def _systems(
    samples: Samples | Mapping[str, Samples],
    answer: Answering | Mapping[str, Answering] | None,
    name: str,
    asking: Asking,
) -> dict[str, Samples]:
    """Return the samples of each system; functions make them while they are read.

    Raises: InputError for a system name that a file cannot contain.
    """
    systems = (
        group_by_system(samples, name)
        if answer is None
        else _ask_for_samples(samples, answer, name, asking)
    )
    for system in systems:
        if system.split() != [system]:
            raise InputError(f"name: {system!r}, wanted a system name without white space")
        check_writable(system, "name")
    return systems


def _ask_for_samples(
    samples: Samples | Mapping[str, Samples],
    answer: Answering | Mapping[str, Answering],
    name: str,
    asking: Asking,
) -> dict[str, Samples]:
    """Return the samples that each function makes from the questions while they are read."""
    if asking.at_once < 1:
        raise ValueError(f"at_once must be 1 or more, got {asking.at_once}")
    functions = answer if isinstance(answer, Mapping) else {name: answer}
    asked: dict[str, Answering] = {}
    for system, each in functions.items():
        if (function := as_function(each)) is None:
            raise TypeError(f"answer: {system} is {type(each).__name__}, wanted a function")
        asked[str(system)] = function
    is_once = len(functions) > 1 and isinstance(samples, Iterator)
    questions = list(samples) if is_once else samples
    return {
        system: asking.samples(system, each, read_questions(questions))
        for system, each in asked.items()
    }


def _write_samples(
    systems: Mapping[str, Samples],
    files: NewFiles,
    citing: Citing,
    bank: str | Path | None,
    *,
    nuggets_from: str,
    has_begun: bool,
) -> dict[str, Any]:
    """Write the samples of each system as input files.

    Args:
        bank: a file of nuggets to use. nuggets_from: see `evaluate`.
        has_begun: whether to continue an earlier evaluation in this folder.

    Returns: the written files, by setting.
    Raises: InputError if nuggets come from references and no sample has a reference.
    """
    read = {run_id: read_samples(of_run) for run_id, of_run in systems.items()}
    data: dict[str, Any] = dict(write_samples(read, files.folder, citing, candidates=nuggets_from))
    if nuggets_from == "reference" and not data.keys() & {"candidates", "nuggets"}:
        raise InputError(f"samples: no sample has a reference ({', '.join(REFERENCE)})")
    if has_begun:
        files.copy(BEGUN)
    if bank is not None and use_bank(Path(bank), files.folder):
        data["nuggets"] = files.folder / "nuggets.jsonl"
    return data


def _check_chosen(programs: Sequence[str], asking: Asking) -> None:
    """Raise InputError if no task can judge the samples."""
    if not programs:
        why = f"; answer failed: {asking.first_failure}" if asking.n_failed else ""
        raise InputError(f"samples: nothing to judge answers with; wanted {name_references()}{why}")


def _doubts(result: Result, asking: Asking, citing: Citing) -> Iterator[str]:
    """Yield warnings beside the scores."""
    if n_empty := citing.n_empty:
        which = f"{n_empty:,} answers are None or NaN and stay unjudged, first {citing.first_empty}"
        yield f'{which}; use "" for an empty answer of the system'
    if asking.n_failed:
        of = f"{asking.n_failed:,} of {asking.n_called:,} calls of answer failed"
        yield f"{of} and are unjudged; first error: {asking.first_failure}"
    if excluded := result.manifest.get(_EXCLUDED):
        of = f"{len(excluded):,} of {len(result.manifest['data']['topic_ids']):,} questions"
        yield f"{of} have no nuggets, given or made from contexts; nugget measures exclude them"
    yield from constant_judges(result.manifest)
