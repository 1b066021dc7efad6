"""Render the prompts of any judge as they are sent, with your item or an example."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ...backends.budget import CHARS_PER_TOKEN
from ...backends.errors import JudgeError
from ...backends.gateway import Backend, Reply
from ...backends.litellm_models import count_by_litellm
from ...backends.loop import run_sync
from ...backends.prompt import Prompt, Wire
from ...judges import ItemJudge
from ...judges.base import Judge
from ...judges.fitted import JudgeFile, read_judge_file
from ...judges.items import calls, judge_calls
from ...judges.table import judge_names
from ...programs.analysis.cell_texts import read_judge_items
from ...programs.config.base import JudgeName
from ...programs.config.sections import Config, JudgeConfig
from ...programs.engine.dry_run import DryRunJudgeSet
from ...records.labels import ItemRow
from ...records.reading.problems import InputError, Problems, did_you_mean

ESTIMATED = f"estimate, {CHARS_PER_TOKEN} characters per token"
_QUESTION = "Why does a lake freeze from the top?"
_PASSAGE = (
    "Water is densest at about 4 degrees Celsius. Colder water is lighter and stays at the "
    "surface, so a lake freezes from the top."
)
_OTHER = "Ice slows the loss of heat, and the water below a thick cover stays liquid."
_POINTS = ["water is densest at about 4 degrees Celsius", "ice protects the water below it"]
# The example's value of each field that the user does not give; a list if a judge takes several.
_EXAMPLES: dict[str, str | list[str]] = {
    "question": _QUESTION,
    "passage": _PASSAGE,
    "context": _PASSAGE,
    "document": f"{_PASSAGE}\n\n{_OTHER}",
    "documents": [_PASSAGE, _OTHER],
    "passages": [_PASSAGE, _OTHER],
    "report": f"{_PASSAGE} {_OTHER}",
    "answer": "Cold water rises, so ice forms at the surface of the lake.",
    "response": "Cold water rises, so ice forms at the surface of the lake.",
    "sentence": "A lake freezes from the top because cold water stays there.",
    "nugget": _POINTS,
    "nuggets": _POINTS,
    "texts": [*_POINTS, "ice shields the water under it"],
    "key_point": _POINTS,
    "key_points": "\n".join(f"{i}. {text}" for i, text in enumerate(_POINTS, 1)),
    "claim": ["cold water stays at the surface", "lakes freeze in winter"],
    "statement": ["Cold water rises.", "Ice forms at the surface of the lake."],
    "sub_narratives": "1. why ice forms at the surface\n2. what happens below the ice",
    "facet": _QUESTION,
    "facets": ["what happens below the ice"],
}


@dataclass(frozen=True)
class RenderedPrompt:
    """One prompt of a judge, as it is sent to a model.

    Attributes:
        judge, version: the judge. question: the name of the question in judge files and DSPy; for
            a jury or cascade, prefixed with the member.
        schema: the JSON Schema of the reply; None: none is sent.
        tokens, counted_by: the tokens of all messages, without the schema, and who counted them.
        n_more: how many more calls of this question the item needs.
        from_example: fields filled from the example.
    """

    judge: str
    version: str
    question: str
    messages: list[dict[str, str]]
    schema: dict[str, Any] | None
    tokens: int
    counted_by: str
    n_more: int = 0
    from_example: tuple[str, ...] = ()


def judge_fields(config: Config, name: str) -> tuple[str, ...]:
    """The fields of a judge's item. Raises: InputError, see `render_prompts`."""
    return tuple(_fields(_make_judge(_Capturing(config), config, name)))


def list_judges() -> list[str]:
    """Names of the judges that have a prompt. YAML files and judge files also work as names."""
    return [name for name in judge_names() if name not in ("item", "rankllm")]


def render_prompts(
    config: Config,
    name: str,
    given: Mapping[str, Sequence[str]] | None = None,
    *,
    items: Path | None = None,
    n: int = 1,
    counted_for: str | None = None,
) -> list[RenderedPrompt]:
    """Render the prompts of a judge for an item, one for each of its questions.

    No model is called. Later questions use placeholder replies, as in a dry run.

    Args:
        name: a judge, a YAML file of one, or a judge file.
        given: field -> values; several values make a list. The example fills other fields.
        items: a file of items; the first n are used, for a judge that labels items.
        counted_for: count tokens with the tokenizer of this model.

    Raises: InputError for an unknown judge, field or model, or items that cannot be read.
    """
    judge_set = _Capturing(config)
    judge = _make_judge(judge_set, config, name)
    from_example: tuple[str, ...] = ()
    if items is not None:
        work: list[Awaitable[Any]] = [_ask_items(judge, config, name, items, n)]
    else:
        fields = _fields(judge)
        _check_fields(judge, fields, given or {})
        from_example = tuple(each for each in fields if each not in (given or {}) and fields[each])
        work = _ask_one(judge, fields, given or {})
    for each in work:
        try:
            run_sync(_await(each))
        except JudgeError as error:  # stopped after its prompt, or has nothing to ask
            if not judge_set.sent:
                raise InputError(f"{name}: {error.detail}") from None
    return [_render(sent, judge, from_example, counted_for) for sent in judge_set.sent.values()]


@dataclass
class _Sent:
    member: str
    judge: Judge
    prompt: str  # the name of its signature
    body: dict[str, Any]
    n: int = 0


class _Note:
    """A backend that records each request and passes it to another backend."""

    def __init__(
        self, inner: Backend, judge: Judge, member: str, sent: dict[tuple[str, str], _Sent]
    ) -> None:
        self.config, self.budget = inner.config, inner.budget
        self.inner, self.judge, self.member, self.sent = inner, judge, member, sent

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Backend; builds the request as the gateway does."""
        key = (self.member, prompt.name)
        if key not in self.sent:
            asked = prompt.of(inputs)
            wire = Wire(self.config, asked, asked.shape(inputs))
            body = orjson.loads(wire.body(asked.escape_last_message(inputs)))
            self.sent[key] = _Sent(self.member, self.judge, prompt.name, body)
        self.sent[key].n += 1
        return await self.inner.ask(prompt, inputs, replicate)

    def copy_with(self, **settings: Any) -> _Note:
        """See Backend."""
        return _Note(self.inner.copy_with(**settings), self.judge, self.member, self.sent)

    async def aclose(self) -> None:
        """See Backend."""
        await self.inner.aclose()


class _Capturing(DryRunJudgeSet):
    """Judges configured as for their models, whose requests are kept in `sent`."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.sent: dict[tuple[str, str], _Sent] = {}

    def _measure(
        self, name: JudgeName, judge: Judge, settings: JudgeConfig, member: str = ""
    ) -> None:
        super()._measure(name, judge, settings, member)
        assert judge.backend is not None
        judge.backend = _Note(judge.backend, judge, member, self.sent)


def _make_judge(judge_set: _Capturing, config: Config, name: str) -> Judge:
    """Make the judge of a name, a YAML file or a judge file. Raises: InputError."""
    path = Path(name)
    if name in list_judges():
        judge: Judge = judge_set[name]
    elif path.suffix in (".yaml", ".yml"):
        judge_set.use_file(path)
        judge = judge_set["item"]
    elif name == "item" and config.items.own is not None:
        judge_set.use_file(config.items.own)
        judge = judge_set["item"]
    elif path.suffix == ".json" or path.is_file():
        return _load_fitted(judge_set, config, read_judge_file(path), path)
    else:
        known = list_judges()
        what = f"unknown judge {name!r}{did_you_mean(name, known)}"
        raise InputError(
            f"{what}; wanted a YAML file of a judge, a judge file, or one of {', '.join(known)}"
        )
    return judge


def _load_fitted(judge_set: _Capturing, config: Config, state: JudgeFile, path: Path) -> Judge:
    """Make the judge of a judge file. Its cut-offs do not change prompts."""
    if state.judge not in list_judges():
        what = f"it fits your judge {state.judge!r}: name its YAML file, and add this file"
        raise InputError(f"{path}: {what} by --set judges.item.state={path}")
    if state.window is not None and state.window != config.judge(state.judge).window:
        settings = config.judge(state.judge).model_copy(update={"window": state.window})
        judge_set.change(state.judge, settings)
    judge: Judge = judge_set[state.judge]
    try:
        return judge.copy_with_fit(state.model_copy(update={"correction": None, "words": None}))
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def _fields(judge: Judge) -> dict[str, str | list[str]]:
    """The fields of an item with the values of the example; "": the field is optional."""
    own = judge.examples
    if isinstance(judge, ItemJudge):
        described = _descriptions(judge)
        examples = {
            name: own.get(name) or _EXAMPLES.get(name) or f"({described.get(name, name)})"
            for name in judge.inputs
        }
        for name, example in examples.items():
            if isinstance(example, list):
                size = judge.window if name == judge.listed else 1
                examples[name] = example[:size] if size > 1 else _first(example)
        optional = ("sub_narratives",) if "sub_narratives" in judge.optional else ()
        shown = {name: _EXAMPLES[name] for name in optional}
        return examples | dict.fromkeys(judge.optional, "") | shown
    fields: dict[str, str | list[str]] = {}
    for name, parameter in inspect.signature(judge.decide).parameters.items():
        is_needed = parameter.default is inspect.Parameter.empty or name in own
        example = own.get(name) or _EXAMPLES.get(name, f"({name})")
        fields[name] = example if is_needed else ""
    return fields


def _first(example: str | list[str] | None) -> str:
    return example[0] if isinstance(example, list) else example or ""


def _descriptions(judge: Judge) -> dict[str, str]:
    return {
        name: str((input_field.json_schema_extra or {}).get("desc", name))
        for predict in judge.predictors()  # the fields of all members of a jury
        for name, input_field in predict.signature.input_fields.items()
    }


def _check_fields(
    judge: Judge, fields: Mapping[str, Any], given: Mapping[str, Sequence[str]]
) -> None:
    for name, values in given.items():
        if name not in fields:
            what = f"--item {name}: the {judge.name} judge has no such field; wanted one of "
            raise InputError(what + ", ".join(fields) + did_you_mean(name, fields))
        is_listed = name == judge.listed if isinstance(judge, ItemJudge) else _is_list(judge, name)
        if len(values) > 1 and not is_listed:
            raise InputError(f"--item {name}: given {len(values)} times; wanted once")


def _is_list(judge: Judge, name: str) -> bool:
    parameter = inspect.signature(judge.decide).parameters.get(name)
    kind = "" if parameter is None else str(parameter.annotation)
    return name == "way" or kind.startswith(("Sequence", "Mapping"))


def _ask_one(
    judge: Judge, fields: Mapping[str, Any], given: Mapping[str, Sequence[str]]
) -> list[Awaitable[Any]]:
    """The function that asks about one item, or about several items in one call."""
    values = {name: text for name, text in fields.items() if text != ""} | {
        name: list(texts) if len(texts) > 1 or not isinstance(fields[name], str) else texts[0]
        for name, texts in given.items()
    }
    if isinstance(judge, ItemJudge):
        listed = judge.listed
        several = values.pop(listed) if listed is not None else [""]
        several = [several] if isinstance(several, str) else several
        rows = [
            ItemRow(line=i, ids={}, inputs={**values, **({listed: text} if listed else {})})
            for i, text in enumerate(several, 1)
        ]
        size = judge.window
        windows = [list(range(i, min(i + size, len(rows)))) for i in range(0, len(rows), size)]
        return [judge_calls(judge, rows, windows, concurrency=1)]
    if isinstance(ways := values.get("way"), list):
        return [judge.decide(**_cast(judge, {**values, "way": way})) for way in ways]
    return [judge.decide(**_cast(judge, values))]


def _cast(judge: Judge, values: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the values for `decide`. Raises: InputError for anything but a number."""
    parameters = inspect.signature(judge.decide).parameters
    typed: dict[str, Any] = {}
    for name, value in values.items():
        kind = str(parameters[name].annotation) if name in parameters else ""
        texts = [value] if isinstance(value, str) else list(value)
        if kind == "int":
            if not value.isdigit():
                raise InputError(f"--item {name}={value}: wanted a whole number")
            typed[name] = int(value)
        elif kind.startswith("Mapping"):
            typed[name] = {f"p{i}": text for i, text in enumerate(texts, 1)}
        elif kind.startswith("Sequence"):
            typed[name] = texts
        else:
            typed[name] = value
    return typed


async def _ask_items(judge: Judge, config: Config, name: str, path: Path, n: int) -> None:
    if not isinstance(judge, ItemJudge):
        raise InputError(f"--items {path}: the {judge.name} judge does not label items; use --item")
    problems = Problems()
    source = config.change("items", judge=name if name in judge_names() else None)
    if source.items.judge is None:
        is_own = Path(name).suffix in (".yaml", ".yml")
        source = config.change("items", judge=name if is_own else judge.name)
    rows = read_judge_items(path, judge, source, problems)[:n]
    await judge_calls(judge, rows, calls(judge, rows), concurrency=1)


async def _await(work: Awaitable[Any]) -> Any:
    return await work


def _render(
    sent: _Sent, judge: Judge, from_example: tuple[str, ...], counted_for: str | None
) -> RenderedPrompt:
    names = {predict.signature.__name__: q for q, predict in sent.judge.questions().items()}
    question = names.get(sent.prompt, sent.prompt)
    messages = sent.body["messages"]
    counted = count_by_litellm(counted_for, messages) if counted_for is not None else None
    if counted is None:
        tokens = sum(len(each["content"]) for each in messages) // CHARS_PER_TOKEN
        has_none = f"; LiteLLM has no tokenizer for {counted_for}" if counted_for else ""
        counted = tokens, ESTIMATED + has_none
    form = sent.body.get("response_format", {}).get("json_schema")
    return RenderedPrompt(
        judge=judge.name,
        version=judge.version,
        question=f"{sent.member} {question}".strip(),
        messages=messages,
        schema=form["schema"] if form else None,
        tokens=counted[0],
        counted_by=counted[1],
        n_more=sent.n - 1,
        from_example=from_example,
    )
