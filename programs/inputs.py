"""The inputs of a run: all files are checked before any request, and then read when needed."""

from __future__ import annotations

import glob
from collections import ChainMap, Counter, abc
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from ..records.answers import Seen, answers_with_lines, own_documents
from ..records.documents import read_candidates, read_reports, read_topic_documents
from ..records.judgements import Reason
from ..records.key_points import read_key_point_sets
from ..records.nuggets import read_nugget_banks
from ..records.questions import Ratings, find_topics, is_own, read_question_sets, read_ratings
from ..records.reading.fields import Line, LineIndex, read_lines
from ..records.reading.injections import looks_like_an_instruction, note_instructions
from ..records.reading.lines import first_line
from ..records.reading.problems import InputError, Problems, did_you_mean
from ..records.reading.problems import nearest as like
from ..records.relevance import read_qrels, read_trec_run
from ..records.rows import Answer, KeyPointSet, NuggetBank, Passage, QuestionSet, Ranking, Topic
from ..records.topics import add_passage, distinct, read_passages, read_topics
from .config.base import load_inputs
from .config.sections import CoverageConfig, DataConfig
from .data_kinds import name_other_option

__all__ = ["Collection", "load_collection"]


@dataclass
class Collection:
    """The data of a run. `answers()` reads the answers from the files each time, topic by topic.

    Attributes:
        topics: the topics by id, in the order of their file.
        run_files: the files with answers.
        run_ids: the runs in these files.
        n_answers, n_sentences: the numbers of answers to judge, and of their sentences.
        failed: (run, topic) -> why nuggetjudge itself failed to make an answer.
        failed_candidates: topic -> why nuggetjudge itself failed to make candidates.
        n_with_text: topic -> the number of answers with text.
        cited: (rank, passage) -> the number of citations at this 0-based rank.
        named: the passages that answers list, cited or not; None: their texts are not needed.
        passages: the passages by id.
        candidates: topic -> its ranked candidate passages.
        qrels: topic -> passage -> relevance grade.
        banks: topic -> its nuggets; None: no file of nuggets.
        files_with_documents: files whose reports include documents -> the documents that other
            reports name.
        beyond_limit: the topics that `--limit` excludes.
        coverage: the inputs of the coverage task; None: it does not run.
        key_points: topic -> its key points; None: no file of key points.
        documents: topic -> document id -> document, to make key points from.
        given: inputs of tasks of other packages: name in `data:` -> topic -> content.
        problems: the problems of the files that are not errors.
        lines: the places of the answers in the files, by topic.
    """

    topics: dict[str, Topic]
    run_files: list[Path]
    run_ids: list[str] = field(default_factory=list)
    n_answers: int = 0
    n_sentences: int = 0
    failed: dict[tuple[str, str], Reason] = field(default_factory=dict)
    failed_candidates: dict[str, Reason] = field(default_factory=dict)
    n_with_text: Counter[str] = field(default_factory=Counter)
    cited: Counter[tuple[int, str]] = field(default_factory=Counter)
    named: set[str] | None = None
    passages: dict[str, Passage] = field(default_factory=dict)
    candidates: dict[str, Ranking] = field(default_factory=dict)
    qrels: dict[str, dict[str, int]] = field(default_factory=dict)
    banks: dict[str, NuggetBank] | None = None
    files_with_documents: dict[Path, dict[str, Passage]] = field(default_factory=dict)
    beyond_limit: set[str] = field(default_factory=set)
    coverage: CoverageInputs | None = None
    key_points: dict[str, KeyPointSet] | None = None
    documents: dict[str, dict[str, Passage]] = field(default_factory=dict)
    given: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    problems: Problems = field(default_factory=Problems)
    lines: LineIndex = field(default_factory=LineIndex)  # answers by topic

    def read_cited_answers(
        self, topic_id: str | None = None
    ) -> Iterator[tuple[Answer, Mapping[str, Passage]]]:
        """Yield the answers to one topic, or all answers, each with its cited passages.

        Documents in a report belong to its run: another run may use the same id for another text.

        Args:
            topic_id: the topic; None: all topics.
        """
        for line, answer in self._read_placed([topic_id] if topic_id is not None else self.topics):
            passages: Mapping[str, Passage] = self.passages
            if (others := self.files_with_documents.get(line.path)) is not None:
                passages = ChainMap(own_documents(line), others, self.passages)
            yield answer, passages

    def answers(self) -> Iterator[Answer]:
        """Yield the answers of this run, topic by topic, in the order of the files.

        Answers to one topic share texts such as cited passages. In this order, the prefix cache
        of the endpoint still has them.
        """
        for _, answer in self._read_placed(self.topics):
            yield answer

    def _read_placed(self, topics: Iterable[str]) -> Iterator[tuple[Line, Answer]]:
        for topic_id in topics:
            yield from answers_with_lines(self.lines.lines(topic_id), is_checked=True)


@name_other_option
def load_collection(
    data: DataConfig,
    limit: int | None = None,
    coverage: CoverageConfig | None = None,
    *,
    named: bool = False,
) -> Collection:
    r"""Read and check all input files before any request.

    Args:
        data: the section `data` of a config.
        limit: keep only the first `limit` topics, >= 1; None: all.
        coverage: the settings of the coverage task, whose inputs are then read, too.
        named: read all passages that answers list, not only cited passages.

    Returns: the data; its `problems` are the problems that are not errors.
    Raises: InputError with every error of every file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     topics, run = Path(folder, "topics.tsv"), Path(folder, "run.jsonl")
    ...     _ = topics.write_text("t1\tWhy do bridges sway?")
    ...     _ = run.write_text('{"topic_id": "t1", "run_id": "a", "answer": [{"text": "Wind."}]}')
    ...     collection = load_collection(DataConfig(topics=topics, runs=(str(run),)))
    ...     [(answer.run_id, answer.text) for answer in collection.answers()]
    [('a', 'Wind.')]
    """
    problems = Problems()
    files = _Files.of(data, problems)
    problems.raise_errors()
    topics = read_topics(data.topics, problems) if data.topics else {}
    collection = Collection(topics, files.runs, problems=problems, named=set() if named else None)
    _read_instruments(data, files, collection)
    if coverage is not None:
        collection.coverage = read_coverage_inputs(
            data, coverage, files.retrieval, topics, problems
        )
    problems.raise_errors()
    _check_topics(data, files, collection)
    if limit is not None:
        collection.topics = dict(list(topics.items())[:limit])
        collection.beyond_limit = topics.keys() - collection.topics.keys()
    of_topic = collection.failed_candidates
    collection.failed_candidates = {t: of_topic[t] for t in of_topic if t in collection.topics}
    _check_runs(collection)
    if (contexts := collection.coverage) is not None:
        failed = contexts.failed
        contexts.failed = {c: failed[c] for c in failed if c[1] in collection.topics}
    _read_passages(data, collection)
    _flag_instructions(data, collection)
    problems.raise_errors()
    return collection


class _Files(NamedTuple):
    """The files behind patterns and folders."""

    runs: list[Path]
    retrieval: list[Path]
    given: dict[str, list[Path]]

    @classmethod
    def of(cls, data: DataConfig, problems: Problems) -> _Files:
        """Find the files of a config; list empty files as problems."""
        files = cls(
            expand_runs(data.runs, problems),
            expand_runs(data.retrieval, problems, RETRIEVAL_FILES),
            find_given_files(data, problems),
        )
        named = (data.candidates, data.qrels, data.nuggets, data.questions, data.reference,
                 data.pool, data.keypoints, data.documents)  # fmt: skip
        for path in chain(
            named, data.ratings, data.passages, files.runs, files.retrieval, *files.given.values()
        ):
            if path is not None and not first_line(path):
                problems.error(path, 1, "empty_file", "the file is empty, wanted records")
        return files


def _read_instruments(data: DataConfig, files: _Files, collection: Collection) -> None:
    """Read nuggets, questions and so on; without a topics file, use their topics."""
    problems, topics = collection.problems, collection.topics
    if data.candidates:
        pool = read_candidates(data.candidates, problems)
        collection.candidates, collection.passages = dict(pool.rankings), dict(pool.passages)
        for topic_id, ranking in pool.rankings.items():
            if ranking.failed is not None:
                collection.failed_candidates[topic_id] = ranking.failed
        collection.qrels = {topic: dict(grades) for topic, grades in pool.qrels.items()}
        if not topics:
            topics.update(pool.topics)
    if data.qrels:
        collection.qrels = read_qrels(data.qrels, problems)
    if data.nuggets:
        collection.banks = read_nugget_banks(data.nuggets, problems)
    if data.keypoints:
        collection.key_points = read_key_point_sets(data.keypoints, problems)
    for sets in (collection.banks, collection.key_points):
        if sets and not topics:
            topics.update({name: Topic(id=name, text=each.query) for name, each in sets.items()})
    for name, paths in files.given.items():
        if paths:
            one = load_inputs()[name]
            given = collection.given[name] = one.read(paths, problems)
            if one.query is not None and not topics:
                topics.update({t: Topic(id=t, text=one.query(each)) for t, each in given.items()})
    _add_sub_narratives(topics, collection.banks or {})
    if data.documents:
        collection.documents = read_topic_documents(data.documents, problems)


def _check_topics(data: DataConfig, files: _Files, collection: Collection) -> None:
    """Raise InputError for no topics or invalid ids; note content of files on other topics."""
    topics = collection.topics
    if not topics:
        raise InputError("no topics: add a topics file (data.topics, --topics)")
    for topic_id in topics:
        if topic_id.split() != [topic_id] or topic_id == "all":
            where = (
                data.topics or data.candidates or data.nuggets or data.questions or data.reference
            )
            what = "wanted an id without white space that is not 'all', which names the means"
            raise InputError(f"{where}: topic {topic_id!r}, {what}")
    for path, of_file in ((data.candidates, collection.candidates), (data.qrels, collection.qrels),
                          (data.nuggets, collection.banks)):  # fmt: skip
        if path is not None and of_file:
            note_others(collection.problems, path, of_file, topics)
    for name, by_topic in collection.given.items():
        if by_topic and load_inputs()[name].query is None:  # otherwise its task lists them
            note_others(collection.problems, files.given[name][0], by_topic, topics)


def _read_passages(data: DataConfig, collection: Collection) -> None:
    """Read the texts that candidates, citations and contexts need, from all files."""
    wanted = {doc for ranking in collection.candidates.values() for doc in ranking.passage_ids}
    wanted.update(passage_id for _, passage_id in collection.cited)
    wanted.update(collection.named or ())
    to_read: Container[str] = wanted
    if collection.coverage is not None:
        wanted.update(collection.coverage.list_wanted(collection.topics))
        to_read = WantedPassages(wanted, collection.topics)
    for path in data.passages:
        for name, passage in read_passages(path, collection.problems, to_read).items():
            if collection.passages.setdefault(name, passage).text != passage.text:
                what = f"passage {name!r} has another text in an earlier file; this one is used"
                collection.problems.keep(path, 0, "passage_text_differs", what)
                collection.passages[name] = passage


def _add_sub_narratives(topics: dict[str, Topic], banks: Mapping[str, NuggetBank]) -> None:
    """Add the sub-narratives of nuggets to topics that list none."""
    for name, bank in banks.items():
        sub_narratives = distinct(nugget.sub_narrative for nugget in bank.nuggets)
        if sub_narratives and (topic := topics.get(name)) is not None and not topic.sub_narratives:
            topics[name] = topic.model_copy(update={"sub_narratives": sub_narratives})


ANSWER_FILES = (".jsonl", ".jsonl.gz")
RETRIEVAL_FILES = (".run", ".run.gz", ".trec", ".trec.gz", ".txt", ".txt.gz")


def expand_runs(
    patterns: tuple[str, ...],
    problems: Problems | None = None,
    suffixes: tuple[str, ...] = ANSWER_FILES,
) -> list[Path]:
    """Return the files of names, folders (their files with these suffixes) and patterns, sorted.

    Other files of a folder are listed in `problems` as left out, except hidden files.

    Raises: InputError for a name that matches no file.
    """
    files: list[Path] = []
    left: list[Path] = []
    for pattern in patterns:
        path = Path(pattern)
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if not p.is_dir() and p.name[0] != ".")
            matches = [p for p in inside if p.name.endswith(suffixes)]
            left += [p for p in inside if p not in matches]
            if inside and not matches:
                what = f"{len(inside):,} files but no {' or '.join(suffixes)}"
                raise InputError(f"{pattern}: {what}; give a pattern such as '{path / '*'}'")
        elif path.is_file():
            matches = [path]
        else:
            matches = sorted(Path(name) for name in glob.glob(pattern, recursive=True))
        if not matches:
            meant = did_you_mean(str(path), map(str, path.parent.glob("*")))
            raise InputError(f"{pattern}: no run file there{meant}")
        files += matches
    for path in dict.fromkeys(left):
        if path not in files and problems is not None:
            wanted = " or ".join(suffixes)
            what = f"no {wanted}, so not read as a run; name the file, if it is one"
            problems.skip(path, 0, "not_a_run_file", what)
    return list(dict.fromkeys(files))


def find_given_files(data: DataConfig, problems: Problems | None = None) -> dict[str, list[Path]]:
    """Return the files of `data:` for tasks of other packages, by name."""
    files = {}
    for name, one in load_inputs().items():
        named = getattr(data, name)
        if one.suffixes:
            files[name] = expand_runs(named, problems, one.suffixes)
        else:
            files[name] = [named] if named is not None else []
    return files


def _check_runs(collection: Collection) -> None:
    """Read each run once; note its problems, ids, positions of answers, and needed passages."""
    problems = collection.problems
    seen: Seen = {}
    runs: dict[str, None] = {}
    n_read, others = 0, list[str]()  # number of answers, and topics that are not judged
    for path in collection.run_files:
        documents: dict[str, Passage] = {}  # documents of all reports in the file
        elsewhere: set[str] = set()  # ids without a document in the report
        for line, answer in answers_with_lines(read_lines(path, problems), seen=seen):
            own = own_documents(line)
            for passage in own.values():
                add_passage(documents, passage, line, once=False)
            if answer.run_id.split() != [answer.run_id]:
                what = f"run_id is {answer.run_id!r}, wanted an id without white space"
                line.error("bad_run_id", what)
            n_read += 1
            runs[answer.run_id] = None  # a run without answers to judged topics scores 0
            if answer.topic_id in collection.topics:
                _note_answer(collection, line, answer)
                if answer.failed is None:
                    elsewhere.update(set(answer.references) - own.keys())
            elif answer.topic_id in collection.beyond_limit:
                line.skip("beyond_limit", _not_judged(answer))
            else:
                others.append(answer.topic_id)
                near = nearest(answer.topic_id, collection.topics)
                line.skip("unknown_topic", _not_judged(answer) + near)
        if documents:
            named = {name: documents[name] for name in elsewhere & documents.keys()}
            collection.files_with_documents[path] = named
    if others and len(others) == n_read:
        both = against(list(dict.fromkeys(others)), collection.topics)
        first = collection.run_files[0]
        raise InputError(f"{first}: 0 of {n_read:,} answers match a topic: {both}")
    collection.run_ids = list(runs)


def _note_answer(collection: Collection, line: Line, answer: Answer) -> None:
    """Count an answer to a judged topic; note its position and the passages that it needs."""
    if collection.coverage is not None:
        collection.coverage.note(answer, line)
    if answer.failed is not None:
        collection.failed[answer.run_id, answer.topic_id] = answer.failed
        return
    collection.lines.note(line, answer.topic_id)
    if collection.named is not None:
        collection.named.update(answer.references)
    text = answer.text
    collection.n_answers += 1
    collection.n_sentences += len(answer.sentences)
    collection.n_with_text[answer.topic_id] += bool(text.strip())
    collection.cited.update(
        (rank, citation.passage_id)
        for sentence in answer.sentences
        if sentence.makes_claim
        for rank, citation in enumerate(sentence.citations)
    )
    if looks_like_an_instruction(text):
        what = f"answer of {answer.run_id} has text that looks like an instruction"
        line.keep("instruction_like", what)


def _not_judged(answer: Answer) -> str:
    return f"{answer.run_id} answers topic {answer.topic_id!r}, which is not judged"


def _flag_instructions(data: DataConfig, collection: Collection) -> None:
    where = data.passages[0] if data.passages else data.candidates or "passages"
    for passage in collection.passages.values():
        what = f"passage {passage.id} has text that"
        note_instructions(collection.problems, where, what, passage.text, passage.title)


ORACLE_CONTEXT = "Z*"  # run id of the required passages
ORACLE_REPORT = "y*"  # run id of the reference reports
ORACLES = (ORACLE_CONTEXT, ORACLE_REPORT)


@dataclass
class CoverageInputs:
    """The inputs of the coverage task, checked.

    Attributes:
        questions: sub-questions by topic; None: a judge makes them from the reports.
        rankings: retrieval run -> topic -> passage ids, best first.
        failed: (run, topic) -> why nuggetjudge itself failed to make a ranking.
        listed: topic -> the passages of its pool with their grades, from passage qrels.
    """

    settings: CoverageConfig
    questions: dict[str, QuestionSet] | None = None
    reports: dict[str, str] = field(default_factory=dict)
    ratings: Ratings = field(default_factory=dict)
    rankings: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    failed: dict[tuple[str, str], Reason] = field(default_factory=dict)
    listed: dict[str, dict[str, int]] = field(default_factory=dict)
    retrieved: frozenset[str] = frozenset()  # runs in retrieval files

    def list_wanted(self, topics: abc.Collection[str]) -> Iterator[str]:
        """List ids of all passages that may be rated or whose length counts."""
        for topic in topics:
            yield from self.listed.get(topic, ())
            yield from self.ratings.get(topic, ())
            for rankings in self.rankings.values():
                yield from self.select_judged(topic, rankings.get(topic, ())[: self.most_k(topic)])

    def most_k(self, topic: str) -> int:
        """Return the largest number of passages in a context of this topic."""
        if self.settings.k != "required":
            return self.settings.k
        questions = self.questions.get(topic) if self.questions is not None else None
        return self.settings.n if questions is None else len(questions.questions)

    def note(self, answer: Answer, line: Line) -> None:
        """Use the passages that an answer lists as its run's context, if the settings say so."""
        if answer.run_id in ORACLES:
            line.error("bad_run_id", f"run_id {answer.run_id!r} is the oracle's; use another")
        if self.settings.contexts == "answers":
            if answer.run_id in self.retrieved:
                what = f"run {answer.run_id!r} is also a retrieval run, wanted one context per run"
                line.error("two_contexts", what)
            contexts = self.rankings.setdefault(answer.run_id, {})
            if answer.failed is not None and not answer.references:  # its passages are not known
                self.failed[answer.run_id, answer.topic_id] = answer.failed
            else:
                contexts.setdefault(answer.topic_id, answer.references)

    def select_judged(self, topic: str, ids: tuple[str, ...]) -> tuple[str, ...]:
        """Return the passages of a context to judge."""
        if not self.settings.own_only:
            return ids
        return tuple(name for name in ids if is_own(name, topic))


class WantedPassages(Container[str]):
    """The passages to read: listed passages, and passages of the topics' own documents."""

    def __init__(self, named: Container[str], topics: Container[str]) -> None:
        self._named = named
        self._topics = topics

    def __contains__(self, name: object) -> bool:
        return name in self._named or any(find_topics(str(name), self._topics))


def read_coverage_inputs(
    data: DataConfig,
    settings: CoverageConfig,
    retrieval: list[Path],
    topics: dict[str, Topic],
    problems: Problems,
) -> CoverageInputs:
    """Read the files of coverage; without a topics file, add its topics.

    Raises: InputError for two retrieval runs with the same name, or a name of the oracle rows.
    """
    inputs = CoverageInputs(settings)
    if data.reference is not None:
        inputs.reports = read_reports(data.reference, problems)
    if data.questions is not None:
        inputs.questions = read_question_sets(data.questions, problems)
    if data.topics is None and not topics:
        for name in (*(inputs.questions or {}), *inputs.reports):
            topics.setdefault(name, Topic(id=name, text=""))
    if data.pool is not None:
        inputs.listed = read_qrels(data.pool, problems)
    for path in data.ratings:
        for topic, of_topic in read_ratings(path, problems, inputs.questions).items():
            _add_ratings(inputs.ratings.setdefault(topic, {}), of_topic, path, problems)
    _read_rankings(inputs, retrieval, topics, problems)
    inputs.retrieved = frozenset(inputs.rankings)
    return inputs


def _add_ratings(
    earlier: dict[str, tuple[int, ...]],
    added: dict[str, tuple[int, ...]],
    path: Path,
    problems: Problems,
) -> None:
    for name, ratings in added.items():
        if earlier.setdefault(name, ratings) != ratings:
            what = f"{name!r} has other ratings in an earlier file, wanted one list of ratings"
            problems.error(path, 0, "duplicate_ratings", what)


def _read_rankings(
    inputs: CoverageInputs, files: list[Path], topics: dict[str, Topic], problems: Problems
) -> None:
    n_ranked, others = 0, dict[str, None]()
    for path in files:
        rankings = read_trec_run(path, problems)
        n_ranked += len(rankings)
        if not rankings:
            continue
        run_id = next(iter(rankings.values())).run_id
        if run_id in inputs.rankings:
            raise InputError(f"{path}: run {run_id!r} is also in an earlier file; keep one")
        if run_id in ORACLES:
            raise InputError(f"{path}: {run_id!r} is the oracle's name; rename the run")
        of_run = inputs.rankings[run_id] = {}
        for topic, ranking in rankings.items():
            if topic in topics and ranking.failed is not None:
                inputs.failed[run_id, topic] = ranking.failed
            elif topic in topics:
                of_run[topic] = ranking.passage_ids
            else:
                others[topic] = None
                what = f"{run_id} ranks passages for topic {topic!r}, which is not judged"
                problems.skip(path, 0, "unknown_topic", what + nearest(topic, topics))
    if others and not any(inputs.rankings.values()) and not inputs.failed:
        both = against(list(others), topics)
        raise InputError(f"{files[0]}: 0 of {n_ranked:,} rankings match a topic: {both}")


_SHOWN = 3  # ids to show per side
_MAX_COMPARED = 500  # ids to compare a topic with, so that long files are read as fast


def nearest(topic_id: str, known: abc.Collection[str]) -> str:
    """Return a hint for an unknown topic: the most similar known topics; "" if none is similar.

    >>> nearest("demo-bridge", ["demo-bees", "demo-bridges"])
    '; nearest topics: demo-bridges, demo-bees'
    >>> nearest("tides", ["demo-bees"])
    ''
    """
    alike = _nearest(topic_id, tuple(islice(known, _MAX_COMPARED)))
    return f"; nearest topics: {', '.join(alike)}" if alike else ""


@lru_cache(maxsize=4096)
def _nearest(topic_id: str, known: tuple[str, ...]) -> list[str]:
    return like(topic_id, known, _SHOWN)


def against(topics: Sequence[str], known: abc.Collection[str]) -> str:
    """Return sample ids of both sides, to show that they differ.

    >>> against(["other-bees"], ["demo-bees"])
    'other-bees against demo-bees'
    """
    return f"{_some(topics)} against {_some(known)}"


def _some(topics: abc.Collection[str]) -> str:
    first = list(topics)[:_SHOWN]
    return ", ".join(first) + ", ..." * (len(topics) > _SHOWN)


def note_others(
    problems: Problems, path: Path, topic_ids: abc.Collection[str], known: abc.Collection[str]
) -> None:
    """List the topics of a file that are not judged, as one problem with their number."""
    others = [topic for topic in topic_ids if topic not in known]
    if not others:
        return
    what = f"{len(others):,} of its {len(topic_ids):,} topics are not judged"
    if len(others) == len(topic_ids):
        problems.keep(path, 0, "other_topics", f"{what}: {against(others, known)}")
    else:
        what = f"{what}, such as {others[0]!r}{nearest(others[0], known)}"
        problems.keep(path, 0, "other_topics", what)
