"""The texts of answers, and of the passages that they cite, from the files that were judged."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ....records.reading.problems import InputError, Problems
from ....records.rows import Passage
from ...config.sections import DataConfig
from ...engine.manifest import config_of, input_hashes, read_manifest
from ...inputs.collection import Collection, expand_runs, load_collection

_NAMED = ("topics", "nuggets", "keypoints", "candidates")  # of what topics and texts are read


class Written(NamedTuple):
    """What a run wrote: its text, (text, ids of cited passages) by sentence, and the passages."""

    text: str
    sentences: tuple[tuple[str, tuple[str, ...]], ...]
    passages: Mapping[str, Passage]


class AnswerTexts:
    """The texts of a results folder's inputs, read topic by topic.

    A file that is not there any more, or is not what was judged, is left out and listed.
    """

    def __init__(self, folder: Path, problems: Problems) -> None:
        self._folder, self._problems = folder, problems

    def of(self, topic_id: str) -> dict[str, Written]:
        """What each run wrote to a topic, in the order of the files."""
        if self._inputs is None or topic_id not in self._inputs.topics:
            return {}
        return {
            answer.run_id: Written(
                answer.text,
                tuple((s.text, tuple(c.passage_id for c in s.citations)) for s in answer.sentences),
                passages,
            )
            for answer, passages in self._inputs.cited_answers(topic_id)
        }

    def question(self, topic_id: str) -> str:
        """What was asked; "" where that is not known."""
        topic = self._inputs.topics.get(topic_id) if self._inputs is not None else None
        return topic.question if topic is not None else ""

    @cached_property
    def _inputs(self) -> Collection | None:
        try:
            data, limit = self._unchanged()
            return load_collection(data, limit) if data.runs or data.topics else None
        except InputError as error:
            what = f"texts of answers are left out: {str(error).splitlines()[0]}"
            self._problems.skip(self._folder, 0, "no_texts", what)
            return None

    def _unchanged(self) -> tuple[DataConfig, int | None]:
        """The files with texts that are still what was judged."""
        config = config_of(self._folder)
        inputs = read_manifest(self._folder).get("inputs", {})
        now = input_hashes(config)
        changed = {path for path in inputs if now.get(path) != inputs[path]}
        data = config.data
        named = {name: getattr(data, name) for name in _NAMED}
        runs = tuple(map(str, expand_runs(data.runs)))
        wanted = {*runs, *map(str, data.passages), *map(str, filter(None, named.values()))}
        for path in sorted(changed & wanted):
            what = "is not the file that was judged, or not there; its texts are left out"
            self._problems.skip(path, 0, "changed_input", what)
        kept = {
            name: path if path is None or str(path) not in changed else None
            for name, path in named.items()
        }
        left = DataConfig(
            runs=tuple(path for path in runs if path not in changed),
            passages=tuple(path for path in data.passages if str(path) not in changed),
            **kept,
        )
        return left, config.run.limit
