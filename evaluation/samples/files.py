"""Write samples as the input files of a run: topics, answers, passages, nuggets, items."""

from __future__ import annotations

import fcntl
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ...judges.table import find_judge
from ...records.judgements import FAILED, Reason
from ...records.nuggets import bank_row, read_nugget_banks
from ...records.reading.fields import read_lines
from ...records.reading.problems import InputError, Problems
from ...records.rows import NuggetBank
from ...records.writing import Appending, NewFile, own_folder, remove, rename, writing
from .citations import (
    Marks,
    Sentence,
    as_list,
    as_plain,
    check_writable,
    find_mark,
    index_by_id,
    is_missing,
    split_marked_answer,
)
from .fields import ANSWER, CONTEXTS, KNOWN, QUESTION, rename_fields
from .reading import (
    Context,
    Nugget,
    Sample,
    Samples,
    describe_fields,
    get_topic,
    hash_text,
    lacks_answer,
    read_contexts,
    read_rows,
)
from .returned import unfold

FORMS = "[1], [1, 3], 【1】, [Source 1], (1), superscripts, or the id of a context in brackets"


@dataclass
class Citing:
    """Counts of the answers with contexts, and the location of the first of each kind.

    Attributes:
        n_answers: number of answers. n_from_zero: answers whose `[0]` is the first context.
        n_uncited: answers that cite nothing. unread: what looks like a mark in the first of these
            answers that has something similar, and where.
        n_not_given: citations of missing contexts.
        n_empty: samples whose answer is None or NaN; `n_answers` excludes them.
    """

    n_answers: int = 0
    n_from_zero: int = 0
    n_uncited: int = 0
    unread: str = ""
    first_uncited: str = ""
    n_not_given: int = 0
    first_not_given: str = ""
    n_empty: int = 0
    first_empty: str = ""

    def count_empty(self, location: str) -> None:
        """Count a sample whose answer is None or NaN."""
        self.n_empty += 1
        self.first_empty = self.first_empty or location

    def count(
        self, sample: Sample, first: int, cited: Sequence[Sequence[int | str]], missing: list[str]
    ) -> None:
        """Count an answer: the number of its first context, and the citations of its sentences."""
        if not sample.contexts or not sample.answer.strip():
            return
        self.n_answers += 1
        self.n_from_zero += not first
        if not any(cited):
            self.n_uncited += 1
            self.first_uncited = self.first_uncited or sample.location
            if not self.unread and (like := find_mark(sample.answer)):
                self.unread = f"{like!r} in {sample.location}"
        if missing:
            self.n_not_given += sum(name in missing for each in cited for name in each)
            self.first_not_given = self.first_not_given or sample.location

    def doubts(self) -> Iterator[str]:
        """Yield warnings for the user, a line each."""
        if self.n_uncited:
            which = f"{self.n_uncited:,} of {self.n_answers:,} answers cite none of their contexts"
            unread = f"{self.unread} was not read as a citation; " if self.unread else ""
            support = "so support is 0 (faithfulness needs no citations)"
            yield f"{which}, first {self.first_uncited}, {support}; {unread}citations are {FORMS}"
        if self.n_not_given:
            yield (
                f"{self.n_not_given:,} citations name a missing context, first in "
                f"{self.first_not_given}; they count as no support"
            )
        if 0 < self.n_from_zero < self.n_answers:
            yield (
                f"{self.n_from_zero:,} of {self.n_answers:,} answers have [0], so they count "
                "contexts from 0, and the others from 1; if all count from 0, number all from [1]"
            )


NAMES = (
    *("topics", "runs", "passages", "candidates"),
    *("nuggets", "keypoints", "questions", "reference"),
)  # names under `data:` in a config


def write_samples(
    runs: Mapping[str, Iterable[Sample]],
    folder: Path,
    citing: Citing | None = None,
    *,
    candidates: str = "contexts",
) -> dict[str, Path]:
    """Write the samples of each run into a folder, one sample in memory at a time.

    Files of earlier samples in the folder are replaced when all new files are complete.

    Args:
        citing: counts the citations of the answers.
        candidates: the source of nuggets: `contexts`, or the `reference` of a sample.

    Returns: the non-empty files, by name under `data:` in a config.
    Raises: InputError for two answers of a run to one topic, and for samples that contradict each
        other about a topic; it names both samples.
    """
    own_folder(folder)
    with ExitStack() as stack:
        files = SampleFiles(folder, stack, citing or Citing(), candidates)
        for run_id, samples in runs.items():
            is_empty = True
            for sample in samples:
                files.add(run_id, sample)
                is_empty = False
            if is_empty:
                of = f" of {run_id}" if len(runs) > 1 else ""
                raise InputError(f"samples: none{of}, wanted one or more")
        files.end()
    return files.publish()


class SampleFiles:
    """The files while they are written, and the ids in them so far.

    It keeps ids and hashes of 16 characters in memory, no texts.
    """

    def __init__(
        self, folder: Path, stack: ExitStack, citing: Citing, candidates: str = "contexts"
    ) -> None:
        self._folder, self._stack, self._citing = folder, stack, citing
        self._by_reference = candidates == "reference"
        self._files: dict[str, NewFile] = {}
        self._answered: dict[tuple[str, str], str] = {}  # location, by run and topic
        self._passages = PassageNames()
        self._candidates: dict[str, tuple[str, ...]] = {}  # ids, by topic
        self._first_rows: dict[
            tuple[str, str], tuple[str, str]
        ] = {}  # as in topics, by file and topic

    def add(self, run_id: str, sample: Sample) -> None:
        """Write a sample.

        Raises: InputError if it contradicts an earlier sample, or cannot be written.
        """
        topic, at = sample.topic_id, sample.location
        check_writable(sample, at)
        if sample.is_empty:
            self._citing.count_empty(at)
        if (first := self._answered.setdefault((run_id, topic), at)) != at:
            what = f"{run_id} has answered topic {topic!r} in {first}"
            raise InputError(f"{at}: {what}; give each sample of the question another id")
        self._once("topics", sample, {"id": topic, "title": sample.question})
        names = [self._passage(context) for context in sample.contexts]
        references = list(dict.fromkeys(names))
        if self._by_reference:
            if sample.reference.strip():
                self._candidates[topic] = (self._passage(Context("", sample.reference)),)
        elif references and not sample.failed:
            before = self._candidates.get(topic, ())
            self._candidates[topic] = tuple(dict.fromkeys((*before, *references)))
        row = {"run_id": run_id, "topic_id": topic, "references": references}
        indices = [references.index(name) for name in names]
        row |= {"answer": []} if sample.failed else _answer(sample, indices, self._citing)
        self._write("runs", row | ({FAILED: sample.failed} if sample.failed else {}))
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
        """Write the files that need all samples."""
        for topic, names in self._candidates.items():
            self._write("candidates", {"topic_id": topic, "docids": list(names)})

    def publish(self) -> dict[str, Path]:
        """Rename the files to their final names, replacing earlier ones."""
        paths = {name: self._folder / f"{name}.jsonl" for name in NAMES}
        for name, path in paths.items():
            if name in self._files:
                rename(self._files[name].path, path)
            else:
                remove(path)
        return {name: path for name, path in paths.items() if name in self._files}

    def _passage(self, context: Context) -> str:
        """Return the id of a passage; write the passage the first time."""
        name, is_new = self._passages.name(context)
        if is_new:
            title = {"title": context.title} if context.title else {}
            self._write("passages", {"docid": name, **title, "text": context.text})
        return name

    def _once(self, name: str, sample: Sample, row: dict[str, Any]) -> None:
        """Write a row of a topic the first time, and check that later rows are equal."""
        entry = (hash_text(orjson.dumps(row).decode()), sample.location)
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
    """The ids of passages in files: their own, or one made from the text.

    Different texts get different ids, even if their own ids are equal: ids such as 1 and 2 often
    count the contexts of one sample.
    """

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}  # hashes, by id

    def name(self, context: Context) -> tuple[str, bool]:
        """Return the id, and whether the passage is new."""
        seen = hash_text(f"{context.title}\n{context.text}")
        name = "-".join(context.id.split()) or f"p{seen}"
        if self._texts.get(name, seen) != seen:
            name = f"{name}-{seen}"
        is_new = name not in self._texts
        self._texts[name] = seen
        return name, is_new


_CONTENT = {"topics": "words of the question", "keypoints": "key points"}


def _answer(sample: Sample, indices: list[int], citing: Citing) -> dict[str, Any]:
    """Return the sentences with their citations, as fields of a run's row; count the citations.

    The index of a missing context, such as `[7]` of two, gets a name that no passage has.
    """
    by_id = index_by_id(context.id for context in sample.contexts)
    marks = Marks(sample.answer, by_id if sample.contexts else None, len(indices))
    if sample.sentences:
        sentences = [_place_citations(sentence, by_id) for sentence in sample.sentences]
    else:
        sentences = split_marked_answer(marks)
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


def _place_citations(sentence: Sentence, by_id: Mapping[str, tuple[int, ...]]) -> Sentence:
    """Return the sentence with ids of contexts replaced by their indices."""
    cited: Iterator[int | str] = (
        index for citation in sentence.citations for index in by_id.get(str(citation), (citation,))
    )
    return Sentence(sentence.text, tuple(cited))


def _nugget_row(nugget: Nugget | str) -> dict[str, str]:
    if isinstance(nugget, str):
        nugget = Nugget(nugget)
    return {"text": nugget.text, "importance": nugget.importance}


BEGUN = "bank.jsonl"  # in the folder of samples: the bank's nuggets for them at the first start


def use_bank(bank: Path, folder: Path) -> bool:
    """Add the nuggets of a bank to the nuggets of the samples.

    The bank's content at the first start of an evaluation is used until the evaluation ends, also
    when it continues. Later additions to the bank, even its own, change nothing.

    Args:
        folder: the folder of the samples; it has the file BEGUN if the evaluation started before.

    Returns: whether there are any nuggets.
    Raises: InputError if the bank cannot be read, or has another question for a topic.
    """
    begun = folder / BEGUN
    if not begun.is_file():
        banks = _read(bank)
        _write(begun, {topic: banks[topic] for topic in _questions(folder) if topic in banks})
    stored, own = _read(begun), _read(folder / "nuggets.jsonl")
    for topic, question in _questions(folder).items():
        if topic in stored and stored[topic].query.split() not in ([], question.split()):
            what = f"topic {topic!r} is {stored[topic].query!r}, but {question!r} in the samples"
            raise InputError(f"{bank}: {what}; use another bank, or other ids")
    if both := stored | own:
        _write(folder / "nuggets.jsonl", both)
    return bool(both)


def add_to_bank(bank: Path, made: Path) -> None:
    """Append the nuggets of questions that a bank lacks.

    Args:
        made: nuggets.jsonl of a results folder.

    Raises: InputError if the bank cannot be read or written.
    """
    if not made.is_file() or not made.stat().st_size:
        return
    made_here = _read(made)
    if made_here.keys() <= _read(bank).keys():
        return
    with _alone(bank):
        stored = _read(bank)
        content = bank.read_bytes()
        ended = b"" if not content or content.endswith(b"\n") else b"\n"
        new = [bank_row(nuggets) for topic, nuggets in made_here.items() if topic not in stored]
        file = Appending(bank, len(content))
        try:
            file.write(ended + b"".join(orjson.dumps(row) + b"\n" for row in new))
        finally:
            file.close()


def _read(path: Path) -> dict[str, NuggetBank]:
    if not path.is_file() or not path.stat().st_size:
        return {}
    problems = Problems()
    banks = read_nugget_banks(path, problems)
    problems.raise_errors()
    return dict(banks)


def _write(path: Path, banks: Mapping[str, NuggetBank]) -> None:
    part = path.with_name(f"{path.name}.part")
    with NewFile(part) as file:
        for each in banks.values():
            file.write(orjson.dumps(bank_row(each)) + b"\n")
    rename(part, path)


def _questions(folder: Path) -> dict[str, str]:
    rows = (line.row for line in read_lines(folder / "topics.jsonl", Problems()))
    return {row["id"]: row["title"] for row in rows}


@contextmanager
def _alone(bank: Path) -> Iterator[None]:
    """Lock the bank against other evaluations."""
    with writing(bank):
        bank.parent.mkdir(parents=True, exist_ok=True)
        file = bank.open("ab")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


FOLDER = "samples"  # name in the folder of an evaluation
_FILES = (*(f"{name}.jsonl" for name in NAMES), BEGUN, "items.jsonl", "judge.yaml")


class NewFiles:
    """A temporary folder beside the samples, which is deleted when the context ends.

    Attributes:
        folder: the folder to write files to, until `publish`.
    """

    def __init__(self, evaluation: Path) -> None:
        self._final = evaluation / FOLDER
        self.folder = evaluation / f"{FOLDER}.part"

    def __enter__(self) -> NewFiles:
        own_folder(self.folder)
        self._clear()  # left by a killed evaluation
        own_folder(self.folder)
        return self

    def __exit__(self, *ended: object) -> None:
        self._clear()

    def copy(self, name: str) -> None:
        """Copy an earlier file, if there is one."""
        if (self._final / name).is_file():
            with writing(self.folder / name):
                shutil.copyfile(self._final / name, self.folder / name)

    def name_published(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values with the paths that the files will have after publishing."""
        return {
            name: str(self._final / Path(value).name)
            if Path(value).parent == self.folder
            else value
            for name, value in data.items()
        }

    def publish(self) -> None:
        """Move the files to their final places, replacing all earlier files."""
        own_folder(self._final)
        for name in _FILES:
            if (self.folder / name).is_file():
                rename(self.folder / name, self._final / name)
            else:
                remove(self._final / name)

    def _clear(self) -> None:
        with writing(self.folder):
            shutil.rmtree(self.folder)


# Other names in samples for a judge's input.
_GROUPS = (QUESTION, ANSWER, (*CONTEXTS, "passage"))


def write_items(
    systems: Mapping[str, Samples], judge: str, fields: Mapping[str, str], folder: Path
) -> Path:
    """Write each sample as an item with the inputs of a judge.

    Args:
        judge: the name of a judge of items, or a YAML file.
        fields: the names of inputs in the samples, by input.

    Returns: the file.
    Raises: InputError for an unknown judge, and for a sample without an input; it names the sample.
    """
    inputs, optional = _inputs(judge)
    own_folder(folder)
    path, part = folder / "items.jsonl", folder / "items.jsonl.part"
    with ExitStack() as stack:
        file = stack.enter_context(NewFile(part))
        seen: dict[tuple[str, str], str] = {}
        for system, samples in systems.items():
            n = len(seen)
            for at, sample in read_rows(samples, "samples"):
                row = _row(sample, inputs, optional, fields, at, judge)
                check_writable(row, at)
                key = (system, row["topic_id"])
                if (first := seen.setdefault(key, at)) != at:
                    what = f"{system} has topic {key[1]!r} also in {first}"
                    raise InputError(f"{at}: {what}; give each sample another id")
                file.write(orjson.dumps({"run_id": system, **row}) + b"\n")
            if len(seen) == n:
                of = f" of {system}" if len(systems) > 1 else ""
                raise InputError(f"samples: none{of}, wanted one or more")
    rename(part, path)
    return path


def _inputs(judge: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the inputs that the judge needs, and its optional inputs."""
    kind = find_judge(judge)
    if kind is not None and kind.labels_items:
        definition = kind.load()
        return tuple(definition.inputs), tuple(definition.optional)
    from ...judges import read_custom_judge  # imports DSPy

    return tuple(read_custom_judge(Path(judge)).inputs), ()


def _row(
    sample: Mapping[str, Any] | Sample,
    inputs: tuple[str, ...],
    optional: tuple[str, ...],
    fields: Mapping[str, str],
    at: str,
    judge: str,
) -> dict[str, Any]:
    there = dict(_of_sample(sample)) if isinstance(sample, Sample) else dict(sample)
    names = (*inputs, *optional, *fields.values(), *KNOWN, FAILED)
    there = dict(unfold(rename_fields(there, names)))
    reads_answer = any(fields.get(name, name) in ANSWER for name in inputs)
    if reads_answer and lacks_answer(there):
        there[FAILED] = Reason.ERROR.value
    there = {name: as_plain(v) for name, v in there.items() if not is_missing(v)}
    if isinstance(sample, Sample):
        topic = sample.topic_id
    else:
        question = next((there[n] for n in QUESTION if isinstance(there.get(n), str)), None)
        number = "s" + re.findall(r"\d+", at)[-1]  # of samples[3], or of FILE:3
        topic = (
            get_topic(there, question, at)
            if question
            else get_topic({"id": number} | there, "", at)
        )
    row: dict[str, Any] = {"topic_id": topic}
    if there.get(FAILED):
        return {**row, FAILED: there[FAILED]}
    for name in (*inputs, *optional):
        value = _value(there, name, fields, at)
        if value is not None:
            row[name] = value
        elif name in inputs:
            wanted = dict.fromkeys((fields.get(name, name), *_others(name)))
            what = f"no {', '.join(wanted)}; the judge {Path(judge).stem} needs {name!r}"
            raise InputError(f"{at}: {what}; {describe_fields(there, wanted)}")
    return row


def _value(there: Mapping[str, Any], name: str, fields: Mapping[str, str], at: str) -> Any:
    """Return the text, number or list of texts for an input; None: missing."""
    for field in (fields[name],) if name in fields else (name, *_others(name)):
        if field not in there:
            continue
        if field in CONTEXTS:
            return [context.text for context in read_contexts(there[field], at)]
        value = there[field]
        return value if isinstance(value, str | int | float) else list(map(str, as_list(value)))
    return None


def _others(name: str) -> Iterator[str]:
    return (other for group in _GROUPS if name in group for other in group if other != name)


def _of_sample(sample: Sample) -> Iterator[tuple[str, Any]]:
    yield QUESTION[0], sample.question
    if sample.failed:
        yield FAILED, sample.failed
    else:
        yield ANSWER[0], sample.answer or " ".join(s.text for s in sample.sentences)
    if sample.contexts:
        yield CONTEXTS[0], list(sample.contexts)
    if sample.reference:
        yield "reference", sample.reference
