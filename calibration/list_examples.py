"""Human lists, each with the inputs from which a judge makes its own list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..judges.makers.lists import ListKind, ListMaker
from ..programs.config.sections import Config
from ..programs.inputs import Collection, expand_runs, load_collection
from ..records.answers import read_answers
from ..records.documents import read_reports
from ..records.key_points import read_claims
from ..records.kinds import file_kind
from ..records.questions import read_question_sets
from ..records.reading.problems import InputError, Problems

MIN_TOPICS = 3  # one to train on, one to choose on, one to test on


@dataclass(frozen=True)
class ListExample:
    """A human list.

    Attributes:
        ids: `topic_id`, and for claims also `run_id`.
        made_from: the inputs of the judge, by `ListMaker.made_from`.
        wanted: its texts. spans: of a text, if known, the words that state it.
    """

    ids: dict[str, str]
    made_from: dict[str, Any]
    wanted: tuple[str, ...]
    spans: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def topic_id(self) -> str:
        """Its topic."""
        return self.ids["topic_id"]

    @property
    def question(self) -> str:
        """The question of the list, if the judge gets one; otherwise ""."""
        return str(self.made_from.get("question", ""))


class ListExamples(NamedTuple):
    """All lists of a file; `n_without_text` lists had no inputs for a judge."""

    items: tuple[ListExample, ...]
    n_without_text: int = 0

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics, sorted."""
        return tuple(sorted({item.topic_id for item in self.items}))


def read_list_examples(
    path: Path,
    judge: ListMaker,
    config: Config,
    problems: Problems,
    *,
    limit: int | None = None,
    seed: int = 0,
) -> ListExamples:
    """Read the lists of a file, each with its inputs from `config.data`.

    Nuggets are made from candidates (only relevant ones if there are qrels), questions from
    reference reports, key points from documents, claims from answers. A list without items, or
    without inputs, is left out and reported.

    Args:
        limit: largest number of lists, drawn at random.

    Raises: InputError for a file of another kind, inputs that are not in `data`, and fewer
        than 3 topics.
    """
    if (kind := file_kind(path)) != judge.kind:
        named = judge.kind.replace("_", " ")
        raise InputError(f"{path}: a file of {kind}, wanted {named}, which {judge.name} makes")
    read, needs = _READERS[judge.kind]
    if not getattr(config.data, needs):
        what = f"{judge.name} makes its lists from data.{needs}"
        raise InputError(f"{path}: {what}; give them with --{needs}")
    examples_read, n_without = [], 0
    for example in read(path, config, problems):
        name = " ".join(example.ids.values())
        if not example.wanted:
            problems.skip(path, 1, "empty_list", f"the list of {name} has no items")
        elif not all(
            example.made_from[name_of_input]
            for name_of_input in judge.made_from
            if name_of_input != "question"
        ):
            n_without += 1
            what = f"the list of {name} has no input in data.{needs}"
            problems.skip(path, 1, "no_text", what)
        else:
            examples_read.append(example)
    problems.raise_errors()
    if limit is not None and limit < len(examples_read):
        order = np.random.default_rng(seed).permutation(len(examples_read))[:limit]
        examples_read = [examples_read[i] for i in sorted(order)]
    examples = ListExamples(tuple(examples_read), n_without)
    if (n := len(examples.topics)) < MIN_TOPICS:
        left = f" ({n_without} lists have no input)" if n_without else ""
        what = f"lists of {n} topics{left}, wanted at least {MIN_TOPICS}"
        raise InputError(f"{path}: {what}: to train on, to choose on, to test on")
    return examples


def _nuggets(path: Path, config: Config, problems: Problems) -> Iterator[ListExample]:
    collection = _collection(config, problems, nuggets=path)
    least = config.nuggets.min_grade
    for topic_id, bank in (collection.banks or {}).items():
        ranking, grades = collection.candidates.get(topic_id), collection.qrels.get(topic_id, {})
        passages = [
            collection.passages[name].text
            for name in (ranking.passage_ids if ranking is not None else ())
            if name in collection.passages
            and (not collection.qrels or grades.get(name, -1) >= least)
        ]
        made_from = {"question": _question(collection, topic_id, bank.query), "passages": passages}
        wanted = _distinct(nugget.text for nugget in bank.nuggets)
        yield ListExample({"topic_id": topic_id}, made_from, wanted)


def _questions(path: Path, config: Config, problems: Problems) -> Iterator[ListExample]:
    reports = read_reports(config.data.reference, problems) if config.data.reference else {}
    for topic_id, questions in read_question_sets(path, problems).items():
        made_from = {"report": reports.get(topic_id, ""), "n": config.coverage.n}
        wanted = _distinct(question.text for question in questions.questions)
        yield ListExample({"topic_id": topic_id}, made_from, wanted)


def _key_points(path: Path, config: Config, problems: Problems) -> Iterator[ListExample]:
    collection = _collection(config, problems, keypoints=path)
    for topic_id, points in (collection.key_points or {}).items():
        documents = [passage.text for passage in collection.documents.get(topic_id, {}).values()]
        texts = [text for text in documents if text.strip()]
        made_from = {"question": _question(collection, topic_id, points.query), "documents": texts}
        wanted = _distinct(point.text for point in points.key_points)
        spans = {point.text: point.spans for point in points.key_points if point.spans}
        yield ListExample({"topic_id": topic_id}, made_from, wanted, spans)


def _claims(path: Path, config: Config, problems: Problems) -> Iterator[ListExample]:
    texts = {
        (answer.topic_id, answer.run_id): answer.text
        for file in expand_runs(config.data.runs, problems)
        for answer in read_answers(file, problems)
    }
    for answer_claims in read_claims(path, problems):
        ids = {"topic_id": answer_claims.topic_id, "run_id": answer_claims.run_id}
        made_from = {
            "answer": texts.get((answer_claims.topic_id, answer_claims.run_id), "").strip()
        }
        wanted = _distinct(claim.text for claim in answer_claims.claims or ())
        yield ListExample(ids, made_from, wanted)


_Reader = Callable[[Path, Config, Problems], Iterator[ListExample]]
_READERS: dict[ListKind, tuple[_Reader, str]] = {  # and its setting under `data`
    "nuggets": (_nuggets, "candidates"),
    "questions": (_questions, "reference"),
    "key_points": (_key_points, "documents"),
    "claims": (_claims, "runs"),
}


def _collection(config: Config, problems: Problems, **lists: Path) -> Collection:
    """Topics and texts, with the lists in place of a run's own."""
    others = {"nuggets": None, "keypoints": None, "runs": (), "retrieval": (), "ratings": ()}
    collection = load_collection(config.data.model_copy(update=others | lists))
    problems.rows += collection.problems.rows
    return collection


def _question(collection: Collection, topic_id: str, query: str) -> str:
    topic = collection.topics.get(topic_id)
    return topic.question if topic is not None else query


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(plain for text in texts if (plain := text.strip())))
