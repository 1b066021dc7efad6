"""`nuggetjudge.evaluate`: answers that are in memory, judged as `judge run` judges files."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from weakref import finalize

from ..backends.loop import Stop
from ..programs.engine.manifest import constant_judges
from ..programs.protocols import table
from ..programs.run import check_collection, judge_collection
from ..records.reading.problems import InputError
from ..records.writing import remove
from .result import Result
from .run import config_from, warn_without_model
from .samples.asking import Answering, Asking, topics_asked
from .samples.banks import BEGUN, add_to_bank, use_bank
from .samples.cells import check_writable
from .samples.choosing import (
    Program,
    anything,
    check_needs,
    chosen,
    defaults,
    fitting,
    judge_file,
    read_by,
)
from .samples.citing import Citing
from .samples.files import write_samples
from .samples.items import write_items
from .samples.new_files import FOLDER, NewFiles
from .samples.reading import Samples, by_system, questions_in, read_samples
from .starting import check_start

_NUMBERS = count(1)  # of the evaluations of this process that have no folder
_LEFT_OUT = "topics_without_nuggets"  # in a manifest
# In `aevaluate`: the loop that it is awaited in, and what says that it was cancelled.
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
    name: str | None = None,
    quiet: bool = True,
    **settings: Any,
) -> Result:
    """Judge answers that are in memory.

    Args:
        samples: what a system answered, in a list, a generator, a frame or a dataset: mappings or
            objects with a question, an answer, and what is judged of it; or such samples of
            several systems, by the name of each. With `answer` questions, as texts or mappings.
        program: which programs, or one judge: its name, its YAML file or an OwnJudge, for which
            each sample is an item; None: all programs that the samples have something for.
        answer: a function from a question to its answer, a text or a mapping of answer and
            contexts, plain or async; or several, by the name of each. A call that raises leaves
            its question unjudged.
        at_once: calls of `answer` under way, at most.
        model: who judges; see `nuggetjudge.run`.
        out: a folder for what was judged and for the samples as files, which a killed evaluation
            goes on from; None: a temporary one, which goes with the result.
        bank: a file of nuggets: used for the questions that it has, and given those that were
            made for others.
        name: of the system, where samples have no names; None: that of the folder `out`, of the
            function, or `answers`.
        quiet: draw no progress bar.
        settings: as of `nuggetjudge.run`; `judge` and `fields` for items.

    Returns: scores, judgements and counts.
    Raises: InputError for samples that lack something, naming which, and what is there.
    Warns: UserWarning where no model is named, of questions that `answer` failed on, of those
        without nuggets, of answers that cite nothing, or contexts that are not there, and of a
        judge that gave all of 15 or more items the same label.

    Example: nj.evaluate([{"question": q, "answer": a, "contexts": texts}], "support")
    """
    programs, judge = chosen(program, settings.pop("judge", None))
    fields = settings.pop("fields", {}) if judge is not None else {}
    if model is not None:
        settings["model"] = model
    folder, temporary = _folder(out)
    has_earlier, is_forced = (folder / "journal").is_dir(), bool(settings.get("force"))
    if answer is not None and has_earlier and isinstance(samples, Iterator):
        samples = list(samples)  # read once more, for their topics
    asking = Asking(folder / FOLDER / "answered.jsonl", at_once, *_HOST.get())
    systems = _systems(samples, answer, name or system_name(answer, out), asking)
    for system in systems:
        if system.split() != [system]:
            raise InputError(f"name: {system!r}, wanted one of a system without white space")
        check_writable(system, "name")
    ids: dict[str, Any] = {"run_ids": [*systems]}
    if answer is not None and has_earlier:
        ids["topic_ids"] = topics_asked(samples)
    check_start(folder, programs, settings, ids)
    if is_forced:
        remove(asking.path)
    citing = Citing()
    with NewFiles(folder) as files:
        data: dict[str, Any]
        if judge is not None:
            named = judge_file(judge, files.folder)
            data = {"items": write_items(systems, named, fields, files.folder), "judge": named}
        else:
            read = {run_id: read_samples(of_run) for run_id, of_run in systems.items()}
            data = dict(write_samples(read, files.folder, citing))
            if has_earlier and not is_forced:
                files.copy(BEGUN)
            if bank is not None and use_bank(Path(bank), files.folder):
                data["nuggets"] = files.folder / "nuggets.jsonl"
            if not asking.n_failed:
                check_needs(programs, {**data, **settings})
            programs = programs or fitting(data)
            data = read_by(programs, data)
        if not programs:
            why = f"; answer failed: {asking.first_failure}" if asking.n_failed else ""
            raise InputError(f"samples: nothing to judge answers by, wanted {anything()}{why}")
        options = {"program": programs, "out": folder, **defaults(programs, data), **settings}
        config = config_from({**files.named(data), **options})
        if has_earlier:
            check_collection(config_from({**data, **options}), config)
        files.publish()
    warn_without_model(config)
    result = Result(judge_collection(config, quiet=quiet).folder)
    if bank is not None:
        add_to_bank(Path(bank), folder / "nuggets.jsonl")
    remove(asking.path)
    if temporary is not None:
        finalize(result, temporary.cleanup)
        result.is_temporary = True
    judges_citations = any(one.judges_citations for one in table.chosen(programs))
    of_citations = citing.doubts() if judges_citations else ()
    for what in (*_doubts(result, asking), *of_citations):
        warnings.warn(what, UserWarning, stacklevel=2)
    return result


async def aevaluate(
    samples: Samples | Mapping[str, Samples], program: Program = None, **options: Any
) -> Result:
    """As `evaluate`, beside the loop it is awaited in, which goes on and runs what `answer` awaits.

    Cancelled, it asks nothing more; with `out` the same call goes on.
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
    """Where everything goes; a temporary folder has a number, by which runs are told apart."""
    if out is not None:
        return Path(out), None
    temporary = TemporaryDirectory(prefix="nuggetjudge-")
    return Path(temporary.name) / f"evaluation-{next(_NUMBERS)}", temporary


def system_name(answer: Any, out: str | Path | None = None) -> str:
    """What a system is called that was given no name; see `evaluate`."""
    own_name = Path(out).name if out is not None else getattr(answer, "__name__", "")
    return "-".join(own_name.split()) if own_name not in ("", "<lambda>") else "answers"


def _systems(
    samples: Samples | Mapping[str, Samples],
    answer: Answering | Mapping[str, Answering] | None,
    name: str,
    asking: Asking,
) -> dict[str, Samples]:
    """The samples of each system, which functions make as they are read."""
    if answer is None:
        return by_system(samples, name)
    if asking.at_once < 1:
        raise ValueError(f"at_once must be 1 or more, got {asking.at_once}")
    functions = answer if isinstance(answer, Mapping) else {name: answer}
    for system, each in functions.items():
        if not callable(each):
            raise TypeError(f"answer: {system} is {type(each).__name__}, wanted a function")
    is_once = len(functions) > 1 and isinstance(samples, Iterator)
    questions = list(samples) if is_once else samples
    return {
        str(system): asking.samples(str(system), each, questions_in(questions))
        for system, each in functions.items()
    }


def _doubts(result: Result, asking: Asking) -> Iterator[str]:
    """What a user should know beside the scores."""
    if asking.n_failed:
        of = f"{asking.n_failed:,} of {asking.n_called:,} calls of answer failed"
        yield f"{of} and are unjudged, the first: {asking.first_failure}"
    if left_out := result.manifest.get(_LEFT_OUT):
        of = f"{len(left_out):,} of {len(result.manifest['data']['topic_ids']):,} questions"
        yield f"{of} have no nuggets, given or made of contexts; no measure of nuggets has them"
    yield from constant_judges(result.manifest)
