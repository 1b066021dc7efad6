"""`nuggetjudge.evaluate`: answers that are in memory, judged as `judge run` judges files."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias
from weakref import finalize

from .result import Result
from .run import run
from .samples.fields import Sample, sample_of
from .samples.files import write_samples

Samples: TypeAlias = Iterable[Mapping[str, Any] | Sample]


def evaluate(
    samples: Samples | Mapping[str, Samples],
    program: str | Sequence[str] | None = None,
    *,
    model: str | Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    bank: str | Path | None = None,
    name: str = "answers",
    quiet: bool = True,
    **settings: Any,
) -> Result:
    """Judge answers that are in memory.

    Args:
        samples: what a system answered: mappings with a question, an answer, and what is judged
            of it; or such samples of several systems, by the name of each.
        program: which programs; None: all that the samples have something for.
        model: who judges; see `nuggetjudge.run`.
        out: a folder for what was judged and for the samples as files, which a killed evaluation
            goes on from; None: a temporary one, which goes with the result.
        bank: a file of nuggets: used where it is there, else written from what was made.
        name: of the system, where samples have no names.
        quiet: draw no progress bar.
        settings: as of `nuggetjudge.run`.

    Returns: scores, judgements and counts.
    Raises: InputError for samples that lack something, naming their place and what is there.

    Example: nj.evaluate([{"question": q, "answer": a, "contexts": texts}], "support")
    """
    named = samples if isinstance(samples, Mapping) else {name: samples}
    temporary = TemporaryDirectory(prefix="nuggetjudge-") if out is None else None
    folder = Path(temporary.name if temporary is not None else str(out))
    read = {run_id: _read(of_run) for run_id, of_run in named.items()}
    data: dict[str, Any] = dict(write_samples(read, folder / "samples"))
    given = {"program": program or _programs(data), "out": folder, **data, **settings}
    if model is not None:
        given["model"] = model
    result: Result = run(quiet=quiet, **given)
    if temporary is not None:
        finalize(result, temporary.cleanup)
    return result


async def aevaluate(samples: Samples | Mapping[str, Samples], *args: Any, **options: Any) -> Result:
    """As `evaluate`, in a thread, so that the loop it is awaited in goes on."""
    return await asyncio.to_thread(partial(evaluate, samples, *args, **options))


def _read(samples: Samples) -> Iterator[Sample]:
    for place, given in enumerate(samples):
        yield given if isinstance(given, Sample) else sample_of(given, place)


def _programs(data: Mapping[str, Any]) -> list[str]:
    found = ["nuggets"] if data.keys() & {"nuggets", "candidates"} else []
    found += ["support"] if "passages" in data else []
    return found + (["keypoints"] if "keypoints" in data else [])
