"""The texts behind the ratings of a results folder, for people who label them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

from ..records.cells import Cell
from ..records.problems import Problems
from .collection import load_collection
from .config import Config
from .coverage import CoverageTexts
from .coverage_files import read_coverage


def rated_texts(
    folder: Path, config: Config, wanted: Collection[Cell]
) -> Iterator[tuple[Cell, dict[str, str]]]:
    """The question and the context of each wanted (topic, passage or report, question).

    Raises: InputError if a file of the run is not there any more.
    """
    data, _ = read_coverage(folder, Problems())
    collection = load_collection(config.data, config.run.limit, config.coverage)
    texts = CoverageTexts(collection, data)
    for text in chain(texts.of_pools(), texts.of_systems()):
        known = data.questions.get(text.topic_id)
        for question in known.questions if known is not None else ():
            cell = (text.topic_id, text.id, question.id)
            if cell in wanted and text.text is not None:
                yield cell, {"question": question.text, "context": text.text}
