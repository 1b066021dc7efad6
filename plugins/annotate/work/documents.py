"""The source documents of key points, which people read to verify them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ....programs.engine.folders import find_inputs
from ....programs.engine.results import MANIFEST
from ....records.documents import TopicDocuments, read_topic_documents
from ....records.reading.problems import InputError, Problems
from ....records.rows import KeyPoint, Passage
from ....records.topics import read_passages
from ...collections.verification import DOCUMENTS
from .verify import points_file

_LOST = "the page shows quotes without their documents"


class PointDocuments:
    """The documents of key points: by topic, or passages that any topic may name.

    They are next to the key points, as written by `judge build long2rag`, or among the inputs of a
    results folder: its documents, the documents next to its key points, and its passages.

    Args:
        results: the verified results. points: its key points.
        problems: gets the reason if documents are missing; then people see quotes only.
    """

    def __init__(self, results: Path, points: Iterable[KeyPoint], problems: Problems) -> None:
        self._results, self._problems = results, problems
        self._wanted = {name for point in points for name in point.sources}
        self._of_topics: TopicDocuments = {}
        self._passages: dict[str, Passage] = {}

    def read(self) -> None:
        """Read the files; only needed for the page, not for an export."""
        problems = Problems()
        try:
            documents, passages = _files(self._results)
            for path in documents:
                for topic_id, of_topic in read_topic_documents(path, problems).items():
                    self._of_topics.setdefault(topic_id, {}).update(of_topic)
            for path in passages:
                self._passages |= read_passages(path, problems, self._wanted)
            problems.raise_errors()
        except InputError as error:
            what = f"{str(error).splitlines()[0]}; {_LOST}"
            self._problems.skip(self._results, 0, "no_documents", what)

    def of(self, topic_id: str, point: KeyPoint) -> list[Passage]:
        """The documents that a key point names, in order; all of its topic if it names none."""
        documents = self._of_topics.get(topic_id, {})
        passages = (
            documents.get(name) or self._passages.get(name) for name in point.sources or documents
        )
        return [one for one in passages if one is not None]


def _files(results: Path) -> tuple[list[Path], Sequence[Path]]:
    """Files of documents by topic, and of passages. Raises: InputError for changed inputs."""
    beside = points_file(results).with_name(DOCUMENTS)
    if beside.is_file() or not (results / MANIFEST).is_file():
        return [beside] if beside.is_file() else [], ()
    inputs = find_inputs(results)
    data = inputs.config.data
    named = [data.documents] if data.documents is not None else []
    inputs.check(_LOST, [*named, *data.passages])
    if data.keypoints is not None and (made := data.keypoints.with_name(DOCUMENTS)).is_file():
        named = [made, *named]
    return named, data.passages
