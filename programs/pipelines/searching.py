"""The searches of agents: the passages of a run, with a pipeline of retrieval steps."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import orjson

from ...backends.budget import Budget
from ...records.reading.fields import LineIndex, read_lines
from ...records.reading.lines import hash_file
from ...records.reading.problems import InputError, Problems
from ...records.rows import Passage, Topic
from ...records.topics import PASSAGE_ID_FIELDS, read_passage
from ...retrieval.english import ANALYSIS
from ...retrieval.scored import Ranked
from ..config.pipelines import AnyStep, deep_enough
from ..config.sections import Config
from .indexing import Encoders, Indexed, Indexes
from .ranking_steps import RankingSteps

_QUERY = "query"  # the only topic of a search
_CACHED = 1024  # passages; items of one topic read the same few


class IndexedPassages:
    """Passages of files, read from their files when needed; the latest are cached.

    Args:
        paths: passage files. Raises: InputError with all their errors.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._lines = LineIndex()
        problems = Problems()
        for path in paths:
            for line in read_lines(path, problems):
                if (name := line.id(*PASSAGE_ID_FIELDS)) is not None and read_passage(line, name):
                    self._lines.note(line, name)
        problems.raise_errors()
        self._held = lru_cache(maxsize=_CACHED)(partial(_passage, self._lines))

    def get(self, passage_id: str) -> Passage | None:
        """Return a passage; None if it is missing or has no text."""
        return self._held(passage_id)

    def of(self, ids: set[str]) -> Mapping[str, Passage]:
        """See PassageTexts. Raises: InputError if one is missing."""
        passages = {name: passage for name in ids if (passage := self.get(name)) is not None}
        if lost := sorted(ids - passages.keys()):
            raise InputError(f"no text of {lost[0]!r} ({len(lost):,} of {len(ids):,} passages)")
        return passages


def _passage(lines: LineIndex, passage_id: str) -> Passage | None:
    line = next(lines.lines(passage_id), None)
    return None if line is None else read_passage(line, passage_id)


class PipelineCorpus:
    """A Corpus of agents: the passages of a config, searched with steps that ask no model.

    Indexes are opened or made with the first search, while requests of other items continue. A
    copy in another process (a worker's) opens its own indexes.

    Args:
        config: uses `data.passages`, `data.index` and `run.cache`.
        steps: the steps of a `SearchPipeline`.

    Raises: InputError without passages.
    """

    def __init__(self, config: Config, steps: Sequence[AnyStep]) -> None:
        if not config.data.passages:
            what = "an agent searches passages: add passage files"
            raise InputError(f"{what} (data.passages, --passages)")
        self._config = config
        self._steps = deep_enough(steps)
        self._opening, self._are_open = asyncio.Lock(), False
        made_of = [
            [hash_file(path) for path in config.data.passages],
            [step.model_dump(mode="json") for step in self._steps],
            ANALYSIS,
        ]
        self.fingerprint = hashlib.sha256(orjson.dumps(made_of)).hexdigest()[:12]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._config, self._steps)

    async def search(self, query: str) -> Ranked:
        """See agents.Corpus. A blank query finds nothing."""
        if not query.strip():
            return []
        async with self._opening:
            if not self._are_open:
                await asyncio.to_thread(self._open)
                self._are_open = True
        config, problems = self._config, Problems()
        steps = RankingSteps(
            config,
            {_QUERY: Topic(id=_QUERY, text=query)},
            self._indexes,
            None,
            {},
            Budget(),
            problems,
            texts=self._passages,
            quiet=True,
        )
        return (await steps.run(self._steps))[_QUERY]

    def passage(self, passage_id: str) -> Passage | None:
        """See agents.Corpus."""
        return self._passages.get(passage_id)

    def _open(self) -> None:
        for step in self._steps:
            if isinstance(step, Indexed):
                self._indexes.open(step)

    @cached_property
    def _passages(self) -> IndexedPassages:
        return IndexedPassages(self._config.data.passages)

    @cached_property
    def _work(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(prefix="nuggetjudge-")

    @cached_property
    def _indexes(self) -> Indexes:
        data, work = self._config.data, Path(self._work.name)
        encoders = Encoders(self._config.run.cache)
        return Indexes(data.passages, data.index, work, Problems(), encoders, quiet=True)
