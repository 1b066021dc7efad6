"""Samples as the files of a run: topics, answers, passages, and what answers are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson

from ...records.judgements import NOT_MADE
from ...records.reading.problems import InputError
from ...records.writing import NewFile, own_folder, remove, rename
from .cells import check_writable
from .citing import Citing
from .contexts import Context
from .fields import Nugget, Sample, digest
from .marks import Marks
from .sentences import Sentence, cited_sentences, indices_by_id

NAMES = (
    *("topics", "runs", "passages", "candidates"),
    *("nuggets", "keypoints", "questions", "reference"),
)  # of `data:` in a config


def write_samples(
    runs: Mapping[str, Iterable[Sample]], folder: Path, citing: Citing | None = None
) -> dict[str, Path]:
    """Write the samples of each run into a folder, one sample in memory at a time.

    What stands in the folder of earlier samples is replaced when all of these are written.

    Args:
        citing: counts what the answers cite.

    Returns: the files that are not empty, by the names of `data:` in a config.
    Raises: InputError for two answers of a run to one topic, and for a topic of which samples say
        different things, naming where they stand.
    """
    own_folder(folder)
    with ExitStack() as stack:
        files = SampleFiles(folder, stack, citing or Citing())
        for run_id, samples in runs.items():
            is_empty = True
            for sample in samples:
                files.add(run_id, sample)
                is_empty = False
            if is_empty:
                of = f" of {run_id}" if len(runs) > 1 else ""
                raise InputError(f"samples: there is none{of}, wanted one or more")
        files.end()
    return files.publish()


class SampleFiles:
    """The files while they are written, and the ids that stand in them by now.

    Held in memory are ids and hashes of 16 characters, no texts.
    """

    def __init__(self, folder: Path, stack: ExitStack, citing: Citing) -> None:
        self._folder, self._stack, self._citing = folder, stack, citing
        self._files: dict[str, NewFile] = {}
        self._answered: dict[tuple[str, str], str] = {}  # locations, by run and topic
        self._passages = PassageNames()
        self._candidates: dict[str, tuple[str, ...]] = {}  # ids, by topic
        self._first_rows: dict[
            tuple[str, str], tuple[str, str]
        ] = {}  # as topics, by file and topic

    def add(self, run_id: str, sample: Sample) -> None:
        """Write one sample.

        Raises: InputError for one that contradicts an earlier one, or that no file can hold.
        """
        topic, at = sample.topic_id, sample.location
        check_writable(sample, at)
        if (first := self._answered.setdefault((run_id, topic), at)) != at:
            what = f"{run_id} has answered topic {topic!r} in {first}"
            raise InputError(f"{at}: {what}; give samples of one question ids of their own")
        self._once("topics", sample, {"id": topic, "title": sample.question})
        names = [self._passage(context) for context in sample.contexts]
        references = list(dict.fromkeys(names))
        if references and not sample.not_made:
            before = self._candidates.get(topic, ())
            self._candidates[topic] = tuple(dict.fromkeys((*before, *references)))
        row = {"run_id": run_id, "topic_id": topic, "references": references}
        indices = [references.index(name) for name in names]
        row |= {"answer": []} if sample.not_made else _answer(sample, indices, self._citing)
        self._write("runs", row | ({NOT_MADE: sample.not_made} if sample.not_made else {}))
        about = {"qid": topic, "query": sample.question}
        if sample.nuggets:
            nuggets = [_nugget_row(nugget) for nugget in sample.nuggets]
            self._once("nuggets", sample, {**about, "nuggets": nuggets})
        if sample.key_points:
            self._once("keypoints", sample, {**about, "key_points": list(sample.key_points)})
        if sample.questions:
            questions = list(sample.questions)
            self._once("questions", sample, {"id": topic, "subquestions": questions})
        if sample.reference.strip():
            self._once("reference", sample, {"id": topic, "report": sample.reference})

    def end(self) -> None:
        """Write what is known once all samples are there."""
        for topic, names in self._candidates.items():
            self._write("candidates", {"topic_id": topic, "docids": list(names)})

    def publish(self) -> dict[str, Path]:
        """Give the files their names, in the place of earlier ones."""
        paths = {name: self._folder / f"{name}.jsonl" for name in NAMES}
        for name, path in paths.items():
            if name in self._files:
                rename(self._files[name].path, path)
            else:
                remove(path)
        return {name: path for name, path in paths.items() if name in self._files}

    def _passage(self, context: Context) -> str:
        """The id of a passage, which is written the first time."""
        name, is_new = self._passages.name(context)
        if is_new:
            title = {"title": context.title} if context.title else {}
            self._write("passages", {"docid": name, **title, "text": context.text})
        return name

    def _once(self, name: str, sample: Sample, row: dict[str, Any]) -> None:
        """Write a row of a topic the first time, and check that it is the same after that."""
        entry = (digest(orjson.dumps(row).decode()), sample.location)
        before = self._first_rows.setdefault((name, sample.topic_id), entry)
        if before is entry:
            self._write(name, row)
        elif before[0] != entry[0]:
            what = f"topic {sample.topic_id!r} has other {_CONTENT.get(name, name)} in {before[1]}"
            raise InputError(f"{sample.location}: {what}, wanted the same for one topic")

    def _write(self, name: str, row: Mapping[str, Any]) -> None:
        if name not in self._files:
            part = NewFile(self._folder / f"{name}.jsonl.part")
            self._files[name] = self._stack.enter_context(part)
        self._files[name].write(orjson.dumps(row) + b"\n")


class PassageNames:
    """The ids of passages in files: their own, or one that is made of their text.

    A text has another one than those before it, whatever its own is: ids such as 1 and 2 are often
    the sample's own, so that one id has many texts.
    """

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}  # hashes, by id

    def name(self, context: Context) -> tuple[str, bool]:
        """The id, and whether the passage is a new one."""
        seen = digest(f"{context.title}\n{context.text}")
        name = "-".join(context.id.split()) or f"p{seen}"
        if self._texts.get(name, seen) != seen:
            name = f"{name}-{seen}"
        is_new = name not in self._texts
        self._texts[name] = seen
        return name, is_new


_CONTENT = {"topics": "words of the question", "keypoints": "key points"}


def _answer(sample: Sample, indices: list[int], citing: Citing) -> dict[str, Any]:
    """The sentences with what they cite, as fields of a run's row; what they cite is counted.

    An index of no context, as of `[7]` of two, has a name that no passage has.
    """
    by_id = indices_by_id(context.id for context in sample.contexts)
    marks = Marks(sample.answer, by_id if sample.contexts else None, len(indices))
    if sample.sentences:
        sentences = [_placed(sentence, by_id) for sentence in sample.sentences]
    else:
        sentences = cited_sentences(marks)
    not_given: dict[str, None] = {}

    def reference_index(cited: int | str) -> int | str:
        if isinstance(cited, str):
            return cited
        if 0 <= cited < len(indices) or not indices:
            return indices[cited] if indices else cited
        not_given[name := f"no-context-{cited + 1}"] = None
        return name

    rows = [
        {"text": s.text, "citations": list(dict.fromkeys(map(reference_index, s.citations)))}
        for s in sentences
    ]
    citing.count(sample, marks.first, [row["citations"] for row in rows], list(not_given))
    return {"answer": rows} | ({"not_given": list(not_given)} if not_given else {})


def _placed(sentence: Sentence, by_id: Mapping[str, tuple[int, ...]]) -> Sentence:
    """The same with ids of contexts as their indices."""
    cited: Iterator[int | str] = (
        index for citation in sentence.citations for index in by_id.get(str(citation), (citation,))
    )
    return Sentence(sentence.text, tuple(cited))


def _nugget_row(nugget: Nugget | str) -> dict[str, str]:
    if isinstance(nugget, str):
        nugget = Nugget(nugget)
    return {"text": nugget.text, "importance": nugget.importance}
