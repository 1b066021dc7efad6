"""Samples: a question, its answer and what to judge it with, under the names that tools use."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from ...records.judgements import FAILED, Reason, read_failure
from ...records.reading.fields import read_lines, shorten
from ...records.reading.problems import InputError, Problems, did_you_mean
from .citations import (
    Sentence,
    as_list,
    as_plain,
    is_missing,
    make_sentence,
    parse_list,
)
from .fields import (
    ANSWER,
    CONTEXTS,
    ID,
    KEY_POINTS,
    KNOWN,
    NUGGETS,
    QUESTION,
    QUESTIONS,
    REFERENCE,
    get_fields,
    rename_fields,
)
from .returned import unfold

_TEXT = ("text", "page_content", "content", "contents", "segment", "passage")
_ID = ("id", "docid", "_id", "id_", "doc_id", "node_id")


@dataclass(frozen=True)
class Context:
    """A passage that the system read.

    Attributes:
        id: its id; "": files get an id made from its text.
        text: its text.
        title: its title; "": no title.
    """

    id: str
    text: str
    title: str = ""


def read_contexts(contexts: Any, at: str) -> tuple[Context, ...]:
    """Return the contexts of a sample, in order.

    Args:
        contexts: None, a text, or a list of texts, of mappings `{id, text, title}`, or of objects
            with `text` or `page_content`, `id` and `metadata`; a list may also be a text, as in
            a CSV file.

    Raises: InputError for a context without text.
    """
    if contexts is None:
        return ()
    if isinstance(contexts, str) and (items := parse_list(contexts)) is not None:
        contexts = items
    return tuple(_context(each, f"{at}.contexts[{i}]") for i, each in enumerate(as_list(contexts)))


def _context(context: Any, at: str) -> Context:
    if isinstance(context, Context):
        return context
    if isinstance(context, str):
        return Context("", context)
    inner = getattr(context, "node", context)  # LlamaIndex wraps it with its score
    text = _value(inner, _TEXT)
    if not isinstance(text, str):
        what = f"wanted text, or an object with a text ({', '.join(_TEXT)})"
        there = f"; it has {', '.join(map(str, context))}" if isinstance(context, Mapping) else ""
        raise InputError(f"{at}: is {shorten(repr(context), 60)}, {what}{there}")
    about = _value(inner, ("metadata", "meta"))
    about = about if isinstance(about, Mapping) else {}
    name = next((v for v in (_value(inner, _ID), _value(about, _ID)) if v is not None), "")
    title = next((v for of in (inner, about) if (v := _value(of, ("title",)))), "")
    return Context(str(name).strip(), text, title if isinstance(title, str) else "")


def _value(item: Any, names: tuple[str, ...]) -> Any:
    """Return the first of these keys or attributes that an item has; None: it has none."""
    for name in names:
        value = item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)
        if not (is_missing(value) or callable(value)):
            return value
    return None


VITAL, OKAY = "vital", "okay"
_ALIKE = 0.85  # similarity of a field name that counts as misspelled


@dataclass(frozen=True)
class Nugget:
    """A fact that a good answer states.

    Attributes:
        text: the fact.
        importance: vital or okay.
    """

    text: str
    importance: str = VITAL


@dataclass(frozen=True)
class Sample:
    """One question, the answer of a system, and what the answer is judged with.

    Attributes:
        topic_id: the id of the sample, or an id made from its question, so that answers of several
            systems to the same question have the same topic.
        question: the question.
        answer: the answer with its citations; `[1]` is the first context.
        contexts: the passages that the system read, best first.
        nuggets: facts of a good answer; a text is a vital fact.
        key_points: key points of a good answer.
        questions: sub-questions of the topic.
        reference: a good answer; "": no reference.
        sentences: the sentences of an answer that was given by sentence; (): `answer` is split.
        failed: the reason why there is no answer, if the system did not cause this; "": there is
            an answer.
        is_empty: True if the answer was None or NaN; `failed` is then "error".
        location: the place among the samples, for messages.
    """

    topic_id: str
    question: str
    answer: str
    contexts: tuple[Context, ...] = ()
    nuggets: tuple[Nugget | str, ...] = ()
    key_points: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    reference: str = ""
    sentences: tuple[Sentence, ...] = ()
    failed: str = ""
    is_empty: bool = False
    location: str = "sample"


def make_sample(fields: Mapping[str, Any], location: int | str) -> Sample:
    """Make a sample from a mapping. None and NaN count as missing.

    Args:
        fields: the fields, by the names that `nuggetjudge.evaluate` knows.
        location: the index of the sample, from 0, or its name in messages.

    Raises: InputError for a missing or wrong field; it names the location and the fields.

    >>> sample = make_sample({"question": "why?", "response": "So [1].", "contexts": ["So."]}, 0)
    >>> sample.answer, sample.contexts[0].text
    ('So [1].', 'So.')
    """
    at = location if isinstance(location, str) else f"samples[{location}]"
    fields = unfold(rename_fields(fields, (*KNOWN, FAILED)))
    there = {name: as_plain(value) for name, value in fields.items() if not is_missing(value)}
    _check_names(there, at)
    question, failed = get_text(there, QUESTION, at), _read_failure(there, at)
    contexts = read_contexts(_first(there, CONTEXTS)[1], at)
    answer, sentences = ("", ()) if failed else _answer(there, at)
    name, reference = _first(there, REFERENCE)
    if reference is not None and not isinstance(reference, str):
        raise InputError(f"{at}: {name} is {_show(reference)}, wanted text")
    return Sample(
        topic_id=get_topic(there, question, at),
        question=question,
        answer=answer,
        contexts=contexts,
        nuggets=tuple(_nugget(each, where) for where, each in _each(there, NUGGETS, at)),
        key_points=tuple(_text(each, where) for where, each in _each(there, KEY_POINTS, at)),
        questions=tuple(_text(each, where) for where, each in _each(there, QUESTIONS, at)),
        reference=reference or "",
        sentences=sentences,
        failed=failed,
        location=at,
    )


def get_text(there: Mapping[str, Any], names: Sequence[str], at: str) -> str:
    """Return the text of the first of these fields. Raises: InputError if there is no text."""
    name, text = _first(there, names)
    if text is None:
        raise InputError(
            f"{at}: no {names[0]} ({', '.join(names)}); {describe_fields(there, names)}"
        )
    if not isinstance(text, str):
        raise InputError(f"{at}: {name} is {_show(text)}, wanted text")
    if names is QUESTION and not text.strip():
        raise InputError(f"{at}: {name} is empty, wanted a question")
    return text


def get_topic(there: Mapping[str, Any], question: str, at: str) -> str:
    """Return the id of the topic: the sample's id, or one made from its question.

    Raises: InputError for an id with white space, or 'all', the name of the means.
    """
    name, value = _first(there, ID)
    if value is None:
        return _name_by(question)
    topic = str(value).strip()
    if isinstance(value, float) and value.is_integer():  # frames with missing values have floats
        topic = str(int(value))
    if topic.split() != [topic] or topic == "all":
        what = "wanted an id without white space that is not 'all', which names the means"
        raise InputError(f"{at}: {name} is {_show(value)}, {what}")
    return topic


def describe_fields(there: Mapping[str, Any], wanted: Iterable[str]) -> str:
    """Return the existing fields, with suggestions for a misspelled wanted field."""
    names = ", ".join(there) or "nothing"
    wanted = tuple(wanted)
    slips = (slip for name in there if (slip := did_you_mean(name, wanted)))
    return f"it has {shorten(names, 200)}{next(slips, '')}"


def hash_text(text: str) -> str:
    """Return a hash of a text: 16 hex digits."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _name_by(question: str) -> str:
    """Return a readable id: the first words of a question, and a hash of all of it.

    >>> _name_by("Why do bridges sway, and when?")
    'why-do-bridges-sway-and-when-aeb826e0'
    """
    words = "-".join(re.findall(r"\w+", question.lower())[:6])[:40].rstrip("-")
    return f"{words}-{hash_text(question)[:8]}".lstrip("-")


def _check_names(there: Mapping[str, Any], at: str) -> None:
    """Raise InputError for a field that looks like a misspelled missing field."""
    groups = (CONTEXTS, NUGGETS, KEY_POINTS, QUESTIONS, REFERENCE)
    open_names = [n for group in groups if not there.keys() & set(group) for n in group]
    for name in there.keys() - set(KNOWN):
        if alike := difflib.get_close_matches(name, open_names, 1, _ALIKE):
            raise InputError(f"{at}: field {name!r} is not known; did you mean {alike[0]}?")


def _read_failure(there: Mapping[str, Any], at: str) -> str:
    value = there.get(FAILED)
    try:
        return read_failure(value) or ""
    except ValueError:
        wanted = ", ".join(Reason)
        raise InputError(f"{at}: {FAILED} is {_show(value)}, wanted one of {wanted}") from None


def _answer(there: Mapping[str, Any], at: str) -> tuple[str, tuple[Sentence, ...]]:
    name, answer = _first(there, ANSWER)
    if isinstance(answer, list):
        by_sentence = tuple(make_sentence(s, f"{at}.{name}[{i}]") for i, s in enumerate(answer))
        return " ".join(sentence.text for sentence in by_sentence), by_sentence
    return get_text(there, ANSWER, at), ()


def _nugget(nugget: Any, at: str) -> Nugget:
    if not isinstance(nugget, Mapping):
        return Nugget(_text(nugget, at))
    importance = nugget.get("importance", VITAL)
    if importance not in (VITAL, OKAY):
        raise InputError(f"{at}: importance is {_show(importance)}, wanted {VITAL} or {OKAY}")
    return Nugget(_text(nugget.get("text"), f"{at}.text"), importance)


def _each(there: Mapping[str, Any], names: Sequence[str], at: str) -> Iterable[tuple[str, Any]]:
    name, values = _first(there, names)
    if values is None:
        return []
    if isinstance(values, str) and (items := parse_list(values)) is not None:
        values = items
    if not isinstance(values, list):
        raise InputError(f"{at}: {name} is {_show(values)}, wanted a list")
    return [(f"{at}.{name}[{i}]", each) for i, each in enumerate(values)]


def _text(value: Any, at: str) -> str:
    if isinstance(value, Mapping) and "text" in value:  # a key point with spans
        value = value["text"]
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{at}: is {_show(value)}, wanted text")
    return value


def _first(there: Mapping[str, Any], names: Sequence[str]) -> tuple[str, Any]:
    return next(((name, there[name]) for name in names if name in there), (names[0], None))


def _show(value: Any) -> str:
    return shorten(repr(value), 60)


Samples: TypeAlias = Any  # an iterable of mappings, objects or Samples, or a frame of them
_FRAMES = "a list, a generator, a frame or a dataset"
_WANTED = f"wanted {_FRAMES} of samples, or the path of a JSONL file"


def group_by_system(samples: Samples, name: str) -> dict[str, Samples]:
    """Return the samples of each system; `name` names a single system.

    Raises: InputError for one sample, or columns, instead of a list of samples.
    """
    if not isinstance(samples, Mapping):
        return {name: samples}
    columns = rename_fields(samples, (*QUESTION, *ANSWER))
    if taken := [key for key in (*QUESTION, *ANSWER) if key in columns]:
        what = f"is a mapping with {taken[0]!r}; wanted {_FRAMES} of such mappings"
        raise InputError(f"samples: {what}, or a dict with a system name for each")
    if not samples:
        raise InputError(f"samples: is empty, wanted {_FRAMES} of samples")
    return {str(system): of_system for system, of_system in samples.items()}


def read_samples(samples: Samples, name: str = "samples") -> Iterator[Sample]:
    """Yield samples, one in memory at a time. Raises: InputError for an invalid sample."""
    for at, row in read_rows(samples, name):
        if isinstance(row, Sample):
            yield replace(row, location=at)
        elif lacks_answer(row):
            yield replace(make_sample({**row, FAILED: Reason.ERROR}, at), is_empty=True)
        else:
            yield make_sample(row, at)


def lacks_answer(fields: Mapping[str, Any]) -> bool:
    """Return whether the answer is a missing value without a reason for it."""
    fields = rename_fields(fields, (*ANSWER, FAILED))
    answers = [fields[name] for name in ANSWER if name in fields]
    reason = fields.get(FAILED) or ""
    return bool(answers) and all(map(is_missing, answers)) and (reason == "" or is_missing(reason))


def read_rows(samples: Samples, name: str) -> Iterator[tuple[str, Mapping[str, Any] | Sample]]:
    """Yield each row: its name in messages, and its fields.

    Args:
        name: the name of the samples, such as `samples`.
    """
    for at, row in _rows(samples, name):
        yield at, _get_row(row, at)


def _get_row(row: Any, at: str) -> Mapping[str, Any] | Sample:
    if isinstance(row, Sample):
        return row
    if (fields := get_fields(row)) is not None:
        return fields
    what = f"wanted a mapping with {QUESTION[0]}, {ANSWER[0]} and so on"
    raise InputError(f"{at}: is {shorten(repr(row), 60)}, {what}")


def read_questions(questions: Samples) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield questions to answer: texts, or rows with a question and references for them."""
    for at, row in _rows(questions, "samples"):
        fields = _get_row({QUESTION[0]: row} if isinstance(row, str) else row, at)
        if isinstance(fields, Sample):
            raise InputError(f"{at}: is a Sample, which has an answer; wanted a question")
        yield at, rename_fields(fields, KNOWN)


def _rows(samples: Samples, name: str) -> Iterator[tuple[str, Any]]:
    """Yield each row with its place for messages: the rows of a file or a frame as mappings."""
    if isinstance(samples, str | Path):
        if not os.path.isfile(samples):
            is_what = repr(shorten(str(samples), 200))
            raise InputError(f"{name}: is {is_what}, {_WANTED}; no file has this name")
        problems = Problems()
        for line in read_lines(Path(samples), problems):
            yield f"{line.path}:{line.number}", line.row
        problems.raise_errors()
        return
    rows: Iterable[Any] = samples
    if hasattr(samples, "iter_rows"):  # polars
        rows = samples.iter_rows(named=True)
    elif hasattr(samples, "itertuples"):  # pandas
        columns = [str(column) for column in samples.columns]
        tuples = samples.itertuples(index=False, name=None)
        rows = (dict(zip(columns, row, strict=True)) for row in tuples)
    elif isinstance(samples, bytes) or not isinstance(samples, Iterable):
        raise InputError(f"{name}: is {shorten(repr(samples), 60)}, {_WANTED}")
    yield from ((f"{name}[{index}]", row) for index, row in enumerate(rows))
