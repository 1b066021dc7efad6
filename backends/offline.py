"""Answers without a model: the lexical baseline, recorded replies and recorded labels."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import orjson

from ..records.judgements import Provenance, Reason
from ..records.kinds import Cell, key_fields
from ..records.reading.lines import is_json, json_lines
from ..records.reading.problems import InputError, Problems
from .budget import Budget
from .config import ModelConfig
from .errors import EndpointError, JudgeError, JudgeOutputError
from .gateway import Completion, Reply
from .prompt import Prompt
from .replies.completion import NAMED, record_answer
from .replies.logprobs import Token, read_tokens
from .replies.schema import ReplyFormat, get_key_source

_TEXTS = ("text", "finish_reason", "refusal", "model")  # all other fields are counts


class RecordedTransport:
    """Answers a request with the reply recorded for the same messages.

    The file is JSONL, one object a line: `messages` (as sent) and `text`; optional
    `finish_reason`, `refusal`, `model`, `prompt_tokens`, `cached_tokens`, `completion_tokens`, and
    `logprobs`, in the form of `choices` of an OpenAI-compatible endpoint.

    Raises: InputError if the file is broken or holds two replies for the same messages.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._replies: dict[bytes, Completion] = {}
        problems = Problems()
        for number, row in json_lines(path, problems):
            try:
                key = _key(row.pop("messages"))
                tokens = _tokens(row.pop("logprobs", None))
                completion = _check_completion(Completion(**row))._replace(tokens=tokens)
            except (KeyError, TypeError) as error:
                raise InputError(f"{path}:{number}: not a recorded reply ({error})") from None
            if self._replies.setdefault(key, completion) != completion:
                raise InputError(f"{path}:{number}: a second reply to the same messages")
        problems.raise_errors()

    async def send(self, body: bytes) -> Completion:
        """Return the recorded reply. Raises: EndpointError if there is none."""
        completion = self._replies.get(_key(orjson.loads(body)["messages"]))
        if completion is None:
            raise EndpointError(f"{self._path} has no reply to these messages", retryable=False)
        return completion

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""


def _key(messages: Any) -> bytes:
    return hashlib.sha256(orjson.dumps(messages, option=orjson.OPT_SORT_KEYS)).digest()


def _tokens(logprobs: Any) -> list[Token]:
    tokens = read_tokens(logprobs)
    is_empty = logprobs is None or (isinstance(logprobs, dict) and not logprobs.get("content"))
    if not tokens and not is_empty:
        raise TypeError("logprobs: wanted an object with content, a list of tokens")
    return tokens


def _check_completion(completion: Completion) -> Completion:
    for name, value in completion._asdict().items():
        wanted = tuple if name == "tokens" else str if name in _TEXTS else int
        if type(value) is not wanted:
            got = type(value).__name__
            raise TypeError(f"{name}: wanted {wanted.__name__}, got {got}")
    return completion


WHERE = Provenance(model="lexical", finish_reason="stop")


class OfflineBackend:
    """What backends have in common that send no request; they add `ask`, see Backend."""

    def __init__(self, config: ModelConfig, budget: Budget | None = None) -> None:
        self.config = config
        self.budget = budget or Budget()

    def copy_with(self, **settings: Any) -> Self:
        """See Backend.copy_with. Its answers stay the same."""
        changed = copy.copy(self)
        changed.config = self.config.model_copy(update=settings)
        return changed

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""


class LexicalBackend(OfflineBackend):
    """Answers with the lexical baseline of a question (`prompt.baseline`), without a model."""

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Backend.ask. Raises: JudgeError(abstained) for a question without a baseline."""
        if prompt.baseline is None:
            raise JudgeError(
                Reason.ABSTAINED, f"{prompt.name} has no lexical baseline; name a model"
            )
        record_answer(prompt, inputs, replicate, WHERE)
        scores = prompt.scorer(inputs) if prompt.scorer is not None else {}
        return Reply(prompt.baseline(inputs), WHERE, scores)


class RecordedLabels(OfflineBackend):
    """Answers with the label that a judge gave the same item before, found by its ids.

    `config.recording` is any label file. The judge is one of the members in its votes. In a file
    without votes, `label` counts as the judge's, whatever its name.

    Raises: InputError for a file without labels of this judge.
    """

    def __init__(self, config: ModelConfig, budget: Budget | None = None) -> None:
        super().__init__(config, budget)
        self._where = Provenance(model=config.model, finish_reason="stop")
        self._names, self._labels = _read_recorded_labels(config)

    @property
    def n_labels(self) -> int:
        """How many items have a label."""
        return len(self._labels)

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Backend.ask. Raises: JudgeError for an item without a recorded label."""
        output, source = find_label_field(prompt)
        if source is None:
            values: Any = self._find(inputs, None)
        else:
            values = {key: self._find(inputs, text) for key, text in inputs[source].items()}
        record_answer(prompt, inputs, replicate, self._where)
        return Reply(check_labels(prompt, output, values, inputs), self._where)

    def _find(self, inputs: Mapping[str, Any], listed: str | None) -> str:
        """The label of the item with these inputs, or of the listed item with this text."""
        named, found = NAMED.get(), set[str]()
        items, get_ids = named if named is not None else ((), lambda i: {})
        for i, item in enumerate(items):
            texts = {name: text for name, text in item.items() if name not in inputs}
            if listed in texts.values() if listed is not None else item.items() <= inputs.items():
                found.add(self._look_up(get_ids(i)))
        if not found:
            what = "recorded labels exist only for the unchanged items of a run, by their ids"
            raise JudgeError(Reason.ERROR, f"{self.config.model}: {what}")
        if len(found) > 1:
            what = "items with the same text have different labels: set judges.NAME.window to 1"
            raise JudgeError(Reason.ERROR, f"{self.config.model}: {what}")
        return found.pop()

    def _look_up(self, ids: Mapping[str, Any]) -> str:
        path, ids = self.config.recording, _rename_ids(ids, self._names)
        if {*ids} != {*self._names}:
            theirs, ours = (", ".join(names) for names in (self._names, ids))
            what = f"{path} identifies items by {theirs}, this run by {ours}"
            raise JudgeError(Reason.ERROR, what)
        label = self._labels.get(tuple(str(ids[name]) for name in self._names))
        if label is None:
            which = ", ".join(map(str, ids.values()))
            what = f"{path} has no label of {self.config.recorded_judge} for {which}"
            raise JudgeError(Reason.ERROR, what)
        return label


def _read_recorded_labels(config: ModelConfig) -> tuple[tuple[str, ...], dict[Cell, str]]:
    """Names of an item's ids, and the label of each labelled item."""
    from ..records.labels import VOTES, read_labels

    path, judge = config.recording, config.recorded_judge
    assert path is not None  # ModelConfig checks it
    problems, members = Problems(), dict[str, str]()  # member -> the field with its votes
    for _, row in json_lines(path, Problems()) if is_json(path) else ():
        for field, value in row.items():
            if isinstance(value, dict):
                members |= dict.fromkeys(value, field)
    file = read_labels(path, problems, votes=members.get(judge, VOTES))
    problems.raise_errors()
    if judge not in members and file.votes:
        known = ", ".join(dict.fromkeys(n for votes in file.votes.values() for n in votes))
        raise InputError(f"{path}: no label of {judge!r}, wanted one of {known}")
    if judge not in members:
        return tuple(file.key_names), dict(file.cells)
    votes = ((cell, by_member.get(judge)) for cell, by_member in file.votes.items())
    return tuple(file.key_names), {cell: label for cell, label in votes if label is not None}


def _rename_ids(ids: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
    """The ids of an item, under the names in label files.

    A task has its own names for some ids (`sentence`, `citation`), in the order of a label file.
    """
    own = [name for name in ids if name not in key_fields()]
    lacking = [name for name in names if name not in ids]
    if len(own) != len(lacking):
        return ids
    renamed = dict(zip(own, lacking, strict=True))
    return {renamed.get(name, name): value for name, value in ids.items()}


def find_label_field(prompt: Prompt) -> tuple[str, str | None]:
    """The first output, which holds the labels, and the input whose keys it shares."""
    output, field = next(iter(prompt.signature.output_fields.items()))
    return output, get_key_source(field)


def check_labels(
    prompt: Prompt, output: str, labels: Any, inputs: Mapping[str, Any]
) -> dict[str, Any]:
    """The labels in the form of a model's reply. Raises: JudgeOutputError for another scale."""
    for made in _as_replies(labels):
        try:
            return ReplyFormat.parse(prompt, orjson.dumps({output: made}).decode(), inputs)
        except JudgeOutputError as error:
            first = error
    raise first


def _as_replies(labels: Any) -> Iterator[Any]:
    """Yield grades as numbers, then the labels as they are."""
    each = labels.values() if isinstance(labels, dict) else (labels,)
    if all(label.isdecimal() for label in each):
        yield {k: int(v) for k, v in labels.items()} if isinstance(labels, dict) else int(labels)
    yield labels
