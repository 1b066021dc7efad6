"""`judge generate`: write answers with citations from retrieved passages, and save them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

from pydantic import StrictStr

from ...backends.budget import Budget
from ...records.answers import RAG_2024, RAG_2025, RAG_2026, count_words, is_of_2026
from ...records.judgements import FAILED, Judged, Reason
from ...records.reading.problems import InputError, Problems
from ...records.rows import Passage, Topic
from ...records.writing import own_folder, remove
from ..config.base import JudgeName
from ..config.sections import NAME_BYTES, Config, CoverageConfig, DataConfig, GenerateConfig
from ..engine.dry_run import estimate_calls
from ..engine.journal import Count, make_list_type, make_object_type
from ..engine.judge_set import JudgeSet
from ..engine.making import (
    DATASHEET,
    STATISTICS,
    Build,
    check_build_folder,
    datasheet,
    describe_generated,
    list_excluded,
    plain,
    run_build,
    sources,
    table,
)
from ..engine.manifest import read_manifest
from ..engine.results import MANIFEST, Results
from ..engine.spending import Estimate
from ..engine.stage import Item, makes
from ..inputs import Collection, load_collection
from ..protocols.coverage.files import get_inputs
from .required import find_required

PROGRAM, ANSWERS = "generate", "answers"
JUDGES: tuple[JudgeName, ...] = ("answer_writer",)


@dataclass(frozen=True)
class Contexts:
    """The contexts of answers.

    Attributes:
        names: ids of passages with a text, best first, by run of answers and topic.
        lost: (run, topic) -> why the context is missing, if the retrieval run is not the cause;
            other empty contexts mean that nothing was found.
        unaided: (run, topic) of answers to write from the question alone.
        words: maximum words of an answer by topic; empty: use the settings.
    """

    topics: Mapping[str, Topic]
    passages: Mapping[str, Passage]
    names: Mapping[str, Mapping[str, Sequence[str]]]
    lost: Mapping[tuple[str, str], Reason]
    unaided: Set[tuple[str, str]] = frozenset()
    words: Mapping[str, int | None] = field(default_factory=dict)

    def items(self) -> Iterator[Item]:
        """Yield the inputs of each answer: question, ids and texts; runs and topics in order."""
        for run_id, of_topics in self.names.items():
            for topic_id, names in of_topics.items():
                texts = [self.passages[name].text for name in names]
                ids = {"run_id": run_id, "topic_id": topic_id}
                if (why := self.lost.get((run_id, topic_id))) is not None:
                    yield Item(ids, None, missing="there is no context to write from", reason=why)
                elif topic_id in self.words and not self.words[topic_id]:
                    what = "its Z* is empty, or unknown because ratings are missing"
                    yield Item(ids, None, missing=what, reason=Reason.INCOMPLETE)
                else:
                    question = self.topics[topic_id].question
                    words, unaided = self.words.get(topic_id), (run_id, topic_id) in self.unaided
                    rest = (words, unaided) if words or unaided else ()
                    yield Item(ids, (question, names, texts, *rest))

    def list_names(self, item: Item) -> Sequence[str]:
        """Return the passages of an item."""
        return self.names[item.ids["run_id"]][item.ids["topic_id"]]

    def has_no_passages(self, item: Item) -> bool:
        """Return whether the retrieval run has no passage for an item, so that it has no answer."""
        return (
            item.payload is not None and not self.list_names(item) and item.payload[-1] is not True
        )


def generate_config(config: Config) -> Config:
    """Return the config with only topics, passages and retrieval runs as data.

    Raises: InputError for missing data, or a folder of another program.
    """
    source = config.data
    for name in ("topics", "passages", "retrieval"):
        if not getattr(source, name):
            raise InputError(f"no {name}: add a file (data.{name}, --{name})")
    kept = ["topics", "passages", "retrieval"]
    if config.generate.words == "required":
        kept += ["questions", "ratings", "pool"]
    data = DataConfig(**{name: getattr(source, name) for name in kept})
    config = config.model_copy(update={"program": (), "data": data})
    check_build_folder(config, PROGRAM, (f"{ANSWERS}/", STATISTICS, DATASHEET))
    return config


def load_contexts(config: Config, problems: Problems) -> Contexts:
    """Load the first passages of each retrieval run for each topic, up to the limit of topics.

    A passage without a text is left out; no other passage replaces it.

    Raises: InputError with all errors of the files, for settings that the layout of answers does
        not allow, or for a run id that cannot name a file.
    """
    settings = config.generate
    collection = load_collection(config.data, config.run.limit, CoverageConfig(k=settings.k))
    words = _count_required_words(config, collection) if settings.words == "required" else {}
    _check_limits(settings, collection.topics, words)
    contexts: dict[str, dict[str, list[str]]] = {}
    lost: dict[tuple[str, str], Reason] = {}
    unaided: set[tuple[str, str]] = set()
    inputs = get_inputs(collection)
    rankings = inputs.rankings
    for retrieval_run, ranking in rankings.items():
        run_id = _run_id(settings.run_id, retrieval_run, is_one=len(rankings) == 1)
        of_topics = contexts[run_id] = {}
        for topic_id in collection.topics:
            of_topics[topic_id] = []
            for name in ranking.get(topic_id, ())[: settings.k]:
                if name in collection.passages:
                    of_topics[topic_id].append(name)
                else:
                    what = (
                        f"{name!r}, retrieved by {retrieval_run} for topic {topic_id}, has no text"
                    )
                    collection.problems.skip(config.data.passages[0], 0, "no_passage", what)
            if topic_id in ranking and not ranking[topic_id]:
                unaided.add((run_id, topic_id))
            if (why := inputs.failed.get((retrieval_run, topic_id))) is not None:
                lost[run_id, topic_id] = why
            elif ranking.get(topic_id) and not of_topics[topic_id]:
                lost[run_id, topic_id] = Reason.NO_PASSAGE
    problems.take(collection.problems)
    return Contexts(collection.topics, collection.passages, contexts, lost, unaided, words)


def _count_required_words(config: Config, collection: Collection) -> dict[str, int | None]:
    """Count the words of each topic's Z*; None: unknown because ratings are missing.

    Raises: InputError for a passage without a text.
    """
    counts: dict[str, int | None] = {}
    for topic_id, names in find_required(config, collection.topics).items():
        if lost := [name for name in names or () if name not in collection.passages]:
            what = f"no text of {lost[0]!r}, which topic {topic_id!r} requires"
            raise InputError(f"generate.words: {what}; add its file (--passages)")
        texts = (collection.passages[name].text for name in names or ())
        counts[topic_id] = None if names is None else sum(map(count_words, texts))
    return counts


def _check_limits(
    settings: GenerateConfig, topics: Mapping[str, Topic], words: Mapping[str, int | None]
) -> None:
    """Raise InputError for limits that make answers too long for their track."""
    form = RAG_2024 if settings.layout == "rag24" else RAG_2025
    if form is RAG_2025 and any(map(is_of_2026, topics)):
        form = RAG_2026
    n_words = max((n or 0 for n in words.values()), default=settings.words)
    for name, got, most in (
        ("k", settings.k, form.max_references),
        ("words", n_words, form.max_words),
        ("citations", settings.citations, form.max_citations),
    ):
        if most is not None and isinstance(got, int) and got > most:
            of_topic = " for the longest Z*" if words and name == "words" else ""
            raise InputError(
                f"generate.{name}: {got}{of_topic}, wanted at most {most} ({form.name})"
            )


def _run_id(wanted: str | None, retrieval_run: str, *, is_one: bool) -> str:
    """Return the run id of answers: the given id, or with several runs the id as a prefix."""
    run_id = retrieval_run if wanted is None else wanted if is_one else f"{wanted}-{retrieval_run}"
    if run_id.split() != [run_id]:
        raise InputError(f"generate.run_id: {run_id!r}, wanted an id without white space")
    n_bytes = len(os.fsencode(f"{run_id}.jsonl.part"))
    if "/" in run_id or "\0" in run_id or run_id.startswith(".") or n_bytes > NAME_BYTES:
        raise InputError(f"run {run_id!r} cannot name a file; set generate.run_id")
    return run_id


TEAM = "nuggetjudge"  # the layout of 2025 needs one
COUNTED = (  # counts of a run; a passage counts once for each of its contexts
    *("topics", "answers", "words", "sentences", "cited_sentences", "citations"),
    *("passages", "cited_passages"),
)
_MADE = {"answer_writer": "the answers, from the question and the passages"}
_LIMITS = (
    "- No person has read the answers. That a passage is cited does not say that it supports the",
    "  sentence: `judge run support` asks that.",
    "- The references of an answer are all passages that its writer was given, cited or not.",
    "- The writer saw the texts of the passages, not their titles.",
)


def answer_row(
    run_id: str,
    topic: Topic,
    references: Sequence[str],
    answer: Sequence[Mapping[str, Any]],
    layout: str,
) -> dict[str, Any]:
    """Return a line of a run in the layout of TREC RAG 2024 (`rag24`) or 2025 (`rag25`).

    Args:
        answer: `text` and `citations` of each sentence; citations are 0-based positions in the
            references.
    """
    if layout == "rag25":
        whose = {"team_id": TEAM, "run_id": run_id, "type": "automatic"}
        metadata = {**whose, "narrative_id": topic.id, "narrative": topic.text}
        return {"metadata": metadata, "references": references, "answer": answer}
    return {
        "run_id": run_id,
        "topic_id": topic.id,
        "topic": topic.text,
        "references": references,
        "response_length": _n_words(answer),
        "answer": answer,
    }


def make_failed_row(
    run_id: str, topic: Topic, references: Sequence[str], reason: Reason, layout: str
) -> dict[str, Any]:
    """Return the line for an answer that could not be made; other tools read an empty answer."""
    return {**answer_row(run_id, topic, references, [], layout), FAILED: reason}


def answer_counts(references: Sequence[str], answer: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the counts of an answer, to add to its run."""
    cited = [index for sentence in answer for index in sentence["citations"]]
    return {
        "answers": 1,
        "words": _n_words(answer),
        "sentences": len(answer),
        "cited_sentences": sum(bool(sentence["citations"]) for sentence in answer),
        "citations": len(cited),
        "passages": len(references),
        "cited_passages": len(set(cited)),
    }


def statistics_table(stats: Mapping[str, Any]) -> list[list[str]]:
    """Return the counts of each run as table rows, header first; - without answers."""
    rows = [["run", "answers", "words each", "sentences each", "with citation", "passages cited"]]
    for run_id, n in stats["runs"].items():
        each = [_mean(n["words"], n["answers"]), _mean(n["sentences"], n["answers"])]
        answers = _share(n["answers"], n["topics"])
        cited = _share(n["cited_sentences"], n["sentences"])
        rows.append([run_id, answers, *each, cited, _share(n["cited_passages"], n["passages"])])
    return rows


def answers_datasheet(manifest: Mapping[str, Any]) -> str:
    """Return the datasheet of `judge generate`."""
    data = manifest["data"]
    header, *rows = statistics_table(manifest["statistics"])
    reasons = manifest["unjudged_by_reason"].items()
    missing = [f"- {n:,} answers were not made ({reason})" for reason, n in reasons]
    return datasheet(
        f"Datasheet of answers: runs {data['runs']:,}, topics {data['topics']:,}",
        "Written by `judge generate` of nuggetjudge from the results of retrieval runs.",
        {
            "Sources": sources(manifest["inputs"]),
            "Generated content and models": describe_generated(manifest, _MADE),
            "Settings": _numbers(manifest["config"]["generate"]),
            "Content": table([header, *([plain(run), *cells] for run, *cells in rows)]),
            "Excluded data, and why": [*missing, *list_excluded(manifest)] or ["Nothing."],
            "Known limits": _LIMITS,
        },
    )


def _numbers(numbers: Mapping[str, Any]) -> Iterator[str]:
    yield f"- passages given: the first {numbers['k']} of a topic's ranking"
    required = "as many as the topic's required passages have"
    words = required if numbers["words"] == "required" else numbers["words"]
    yield f"- maximum words per answer: {words}"
    yield f"- maximum citations per sentence: {numbers['citations']}"
    own = "built-in" if numbers["instructions"] is None else "custom"
    yield f"- instructions: {own}, named by the hash of the prompts above"


def _n_words(answer: Sequence[Mapping[str, Any]]) -> int:
    return count_words(" ".join(sentence["text"] for sentence in answer))


def _mean(total: int, n: int) -> str:
    return f"{total / n:.1f}" if n else "-"


def _share(part: int, n: int) -> str:
    return f"{part:,} of {n:,}" if n else "-"


MADE = make_list_type(
    make_object_type({"text": StrictStr, "citations": list[Count]})
)  # an answer: a list of sentences


def generate(
    config: Config,
    *,
    quiet: bool = True,
    budget: Budget | None = None,
    judge_set: JudgeSet | None = None,
) -> dict[str, Any]:
    """Write the answers of each retrieval run in `config.run.out`, as `answers/<run>.jsonl`.

    Each answer is made from the first `generate.k` passages of its topic's ranking; their ids are
    the answer's references. If an answer could not be made, its line has the reason (`failed`), so
    that it is unjudged later; it is counted and listed in unjudged.jsonl. A topic without
    retrieved passages has no line: the run did not answer it.

    Args:
        config: uses `data.topics`, `data.passages`, `data.retrieval`, models, judges, generate and
            run.
        quiet: draw no progress bar.
        budget: a budget shared with other programs; None: the budget of the config.
        judge_set: judges that are already open; None: open the judges of the config.

    Returns: the manifest; `statistics.runs` has the counts of each run.
    Raises: InputError for bad input; EndpointUnusable if no request can succeed. The folder's
        journal keeps finished answers, and the same call continues.
    """
    config = generate_config(config)

    load = partial(load_contexts, config)
    return run_build(_Answers, load, config, quiet=quiet, budget=budget, judge_set=judge_set)


class _Answers(Build):
    """A build with one stage and a file for each run."""

    program, judges, files = PROGRAM, JUDGES, (STATISTICS, DATASHEET)
    source: Contexts

    async def make(self, results: Results) -> tuple[dict[str, Any], dict[str, Any]]:
        """See Build."""
        folder = own_folder(results.folder / ANSWERS)
        for torn in folder.glob("*.part"):  # left by a kill
            remove(torn)
        runs = await self._write_runs(results)
        data = {
            "topic_ids": list(self.source.topics),
            "run_ids": list(runs),
            "topics": len(self.source.topics),
            "runs": len(runs),
            "passages": len(self.source.passages),
        }
        return {"runs": runs}, data

    async def _write_runs(self, results: Results) -> dict[str, dict[str, int]]:
        """Write the answers of each run; return their counts."""
        contexts, writer = self.source, self.judge_set["answer_writer"]
        layout = self.config.generate.layout

        async def write(
            question: str,
            names: list[str],
            texts: list[str],
            words: int | None = None,
            unaided: bool = False,
        ) -> tuple[Any, Any]:
            """Return the sentences, each with the positions of its cited passages."""
            passages = None if unaided else dict(zip(names, texts, strict=True))
            sentences, calls = await writer.write(question, passages, words)
            return [
                {"text": s.text, "citations": [names.index(c.passage_id) for c in s.citations]}
                for s in sentences
            ], calls

        total = sum(map(len, contexts.names.values()))
        stage = makes(
            "answers",
            JUDGES,
            write,
            contexts.items,
            made=MADE,
            misfit=_unknown_citation,
            total=total,
        )
        counts_by_run = {}
        async with self.session.judge_stage(stage, results) as outcome:
            for run_id, items in groupby(contexts.items(), key=lambda item: item.ids["run_id"]):
                counts: Counter[str] = Counter()
                with results.open(answers_file(run_id)) as rows:
                    for item in items:
                        made, names = outcome(item), contexts.list_names(item)
                        at = (run_id, contexts.topics[item.ids["topic_id"]], names)
                        counts["topics"] += 1
                        if isinstance(made, Judged):
                            answer = made.values["made"]
                            rows.write(answer_row(*at, answer, layout))
                            counts.update(answer_counts(names, answer))
                        elif not contexts.has_no_passages(item):
                            rows.write(make_failed_row(*at, made.reason, layout))
                counts_by_run[run_id] = {what: counts[what] for what in COUNTED}
        return counts_by_run

    def datasheet(self, manifest: Mapping[str, Any]) -> str:
        """See Build."""
        return answers_datasheet(manifest)

    def names(self) -> Sequence[str]:
        """See Build; includes answers of earlier runs, which are removed."""
        before: Sequence[str] = ()
        if (self.config.run.out / MANIFEST).is_file():
            before = read_manifest(self.config.run.out, PROGRAM)["data"]["run_ids"]
        return (*self.files, *map(answers_file, before))


def plan_generate(config: Config) -> list[Estimate]:
    """Estimate the answers, see `estimate_calls`. Raises: InputError as `generate` does."""
    generate_config(config)
    return estimate_calls(config, lambda alone, judge_set: generate(alone, judge_set=judge_set))


def answers_file(run_id: str) -> str:
    """Return the path of a run's answers in the folder."""
    return f"{ANSWERS}/{run_id}.jsonl"


def _unknown_citation(item: Item, made: Any) -> str:
    """Return the problem of a citation of an unknown passage; "" if there is none."""
    n = len((item.payload or ((), ()))[1])
    beyond = [index for sentence in made for index in sentence["citations"] if index >= n]
    return f"citation {beyond[0]}, wanted 0 to {n - 1}" if beyond else ""
