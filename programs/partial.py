"""A run that was stopped, read as results: what was judged until then, and all else as missing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from ..records.reading.problems import InputError
from ..records.writing.files import write_file
from .engine.folders.spending import SPEND
from .engine.folders.started import read_started
from .engine.manifest import read_manifest
from .engine.results import MANIFEST, pretty


@contextmanager
def finished_or_partial(path: Path) -> Iterator[tuple[Path, bool]]:
    """A folder with the results of a run, and whether they are partial.

    Of a finished run it is the folder itself, as any other path is given back as it is. Of a run
    that was killed or stopped, or is still at work, the results are made by the run itself, from
    copies of its journals, in a temporary folder that goes with this context: nothing is asked,
    and what was not judged is unjudged (`budget`), so that bounds hold. The stopped folder stays
    as it is, and the same command goes on there.

    Raises: InputError where an input of the stopped run has changed or is gone.
    """
    started = None
    if path.is_dir() and not (path / MANIFEST).is_file():
        started = read_started(path)
    if started is None:
        yield path, False
        return
    from .run import judge_collection  # opens judges, which whole results need not

    lost = f"what was judged in {path}, where a run was stopped, cannot be read without it"
    config = started.inputs.checked(lost)
    # What its pipelines made stands among the inputs.
    config = config.model_copy(update={"retrieve": (), "pipelines": {}})
    with tempfile.TemporaryDirectory(prefix="nuggetjudge-") as work:
        made = Path(work) / path.resolve().name
        (made / "journal").mkdir(parents=True)
        for journal in sorted((path / "journal").glob("*.jsonl")):
            shutil.copyfile(journal, made / "journal" / journal.name)
        alone = {"out": made, "executor": "local", "cache": False, "force": False}
        free = dict.fromkeys(("max_cost", "max_calls", "max_tokens"))
        judge_collection(config.changed("run", **alone, **free), asks=False)
        if (path / SPEND).is_file():
            shutil.copyfile(path / SPEND, made / SPEND)
        manifest = read_manifest(made)
        run = orjson.loads(started.config.model_dump_json(by_alias=True))["run"]
        manifest["config"] |= {"run": run}
        manifest |= {"fingerprint": started.fingerprint, "partial": True}
        write_file(made / MANIFEST, pretty(manifest))
        try:
            yield made, True
        except InputError as error:  # which names a folder that is gone when it is read
            raise InputError(str(error).replace(str(made), str(path))) from None
