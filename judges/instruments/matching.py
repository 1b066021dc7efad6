"""Matches a prompt file with a judge: placeholders, lists and labels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, get_args, get_origin

import dspy
from pydantic.fields import FieldInfo

from ...backends.adapter import without
from ...backends.replies.schema import unwrap
from .files import Dialect, Instrument, ReplyForm
from .replies import Labels, ReplyReader
from .templates import COUNT, ListStyle, Piece, TemplateError, pieces

_AGAIN = {"asked": "question"}  # inputs that repeat another one


def tool_form(dialect: Dialect, signature: type[dspy.Signature], output: str | None) -> ReplyForm:
    """How a reply to another project's template is read, depending on the judge's output."""
    names = [output] if output is not None else list(signature.output_fields)
    kinds = (signature.output_fields[name].annotation for name in names)
    is_list = any(get_origin(kind) in (dict, list) for kind in kinds)
    return dialect.list_reply if is_list else dialect.label_reply


def only_output(
    instrument: Instrument, signature: type[dspy.Signature], output: str | None
) -> type[dspy.Signature]:
    """The signature with the one output that such a reply can hold."""
    names = list(signature.output_fields)
    if output is None and len(names) > 1:
        what = f"the judge's reply has {', '.join(names)}; use form json without field"
        raise instrument.wrong("reply.form", what)
    return without(signature, [other for other in names if output not in (None, other)])


def kind_of_one(annotation: Any) -> Any:
    """The type of one label or text of an output."""
    if get_origin(annotation) is dict:
        return unwrap(get_args(annotation)[1])[0]
    return unwrap(get_args(annotation)[0])[0] if get_origin(annotation) is list else annotation


def _scale(field: FieldInfo) -> list[str] | None:
    """The labels of an output; None if it holds texts, or numbers that are not labels."""
    kind = kind_of_one(field.annotation)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [label.value for label in kind]
    low = next((mark.ge for mark in field.metadata if hasattr(mark, "ge")), None)
    high = next((mark.le for mark in field.metadata if hasattr(mark, "le")), None)
    if kind is int and low is not None and high is not None:
        return [str(grade) for grade in range(low, high + 1)]
    return None


def reply_reader(instrument: Instrument, form: ReplyForm, field: FieldInfo) -> ReplyReader:
    origin, scale = get_origin(field.annotation), _scale(field)
    if scale is None:
        if origin is not list or kind_of_one(field.annotation) not in (str, int):
            what = "the judge gives no labels; use form json without field"
            raise instrument.wrong("reply.form", what)
        if form.labels or form.form not in ("list", "json"):
            what = "the judge makes a list of texts; use form list or json, without labels"
            raise instrument.wrong("reply.form", what)
        return ReplyReader(form, None)
    if form.form == "list" and origin is None:
        raise instrument.wrong("reply.form", "the judge gives one label per call; use no list")
    if form.form in ("label", "number") and origin is list:
        raise instrument.wrong("reply.form", "the judge makes a list; use form list or json")
    for word, label in form.labels.items():
        if label not in scale:
            what = f"the judge has no label {label!r}, wanted one of {', '.join(scale)}"
            raise instrument.wrong(f"reply.labels.{word}", what)
    spellings = form.labels or {label: label for label in scale}
    try:
        return ReplyReader(form, Labels(spellings, are_numbers=form.form == "number"))
    except ValueError as error:
        raise instrument.wrong("reply.labels", str(error)) from None


def find_style(instrument: Instrument, name: str) -> ListStyle:
    definition = instrument.definition
    if instrument.dialect is not None and "lists" not in definition.model_fields_set:
        return instrument.dialect.lists.get(name, "python")
    return (
        definition.lists
        if isinstance(definition.lists, str)
        else definition.lists.get(name, "numbered")
    )


def find_fixed_messages(instrument: Instrument, inputs: Iterable[str]) -> Iterator[dict[str, str]]:
    """The messages before the last one; they are the same in all calls."""
    definition = instrument.definition
    texts = [("system", "system", definition.system)] if definition.system else []
    for i, shown in enumerate(definition.demonstrations):
        texts += [
            (f"demonstrations.{i}.user", "user", shown.user),
            (f"demonstrations.{i}.assistant", "assistant", shown.assistant),
        ]
    for at, role, text in texts:
        assert text is not None
        for name in inputs:
            if f"{{{name}}}" in text:
                what = f"{{{name}}} is allowed in user: only; this text is the same in all calls"
                raise instrument.wrong(at, what)
        yield {"role": role, "content": text}


def user_message(
    instrument: Instrument, signature: type[dspy.Signature]
) -> tuple[tuple[Piece, ...], dict[str, str]]:
    """The template of the last message, and the input that each placeholder means."""
    definition, inputs = instrument.definition, signature.input_fields
    input_of = _inputs_by_name(instrument, inputs)
    try:
        cut = pieces(definition.user or "")
    except TemplateError as error:
        raise instrument.wrong("user", str(error), error.line) from None
    holes = [piece for piece in cut if piece.name is not None]
    _check_names(instrument, inputs, input_of, {str(hole.name) for hole in holes})
    shown: dict[str, str] = {}
    for hole in holes:
        name = str(hole.name)
        if name in input_of:
            shown[name] = input_of[name]
        elif name not in definition.texts:
            there = ", ".join(
                f"{{{placeholder}}}" for placeholder in (*input_of, *definition.texts)
            )
            what = f"{{{name}}} is not an input of the judge, wanted one of {there}"
            raise instrument.wrong("user", what + _how_to_tell(instrument), hole.line)
    for name, field in inputs.items():
        is_shown = name in shown.values() or _AGAIN.get(name) in shown.values()
        if not (is_shown or name in definition.without or _may_lack(field)):
            what = f"the input {{{name}}} is not used; if that is intended, list it under without:"
            raise instrument.wrong("user", what)
    texts = definition.texts
    return tuple(Piece(texts[p.name], None, p.line) if p.name in texts else p for p in cut), shown


def _inputs_by_name(instrument: Instrument, inputs: Mapping[str, FieldInfo]) -> dict[str, str]:
    """Allowed names in braces, and the input, or the count of an input, that each means."""
    input_of = {name: name for name in (*inputs, *(f"{COUNT}{name}" for name in _lists(inputs)))}
    if instrument.dialect is not None:
        for alias, names in instrument.dialect.aliases.items():
            if (own := next((name for name in names if name in input_of), None)) is not None:
                input_of.setdefault(alias, own)
    return input_of


def _lists(inputs: Mapping[str, FieldInfo]) -> list[str]:
    return [name for name, field in inputs.items() if get_origin(field.annotation) in (dict, list)]


def _check_names(
    instrument: Instrument,
    inputs: Mapping[str, FieldInfo],
    names: Collection[str],
    holes: Collection[str],
) -> None:
    """Raise InputError if texts, without or lists have a wrong name."""
    definition = instrument.definition
    for name in definition.texts:
        if name in names:
            raise instrument.wrong(f"texts.{name}", "an input of the judge has this name")
        if name not in holes:
            raise instrument.wrong(f"texts.{name}", f"{{{name}}} is not in the template")
    for name in definition.without:
        if name not in inputs or name in holes:
            what = "is in the template" if name in holes else "is not an input of the judge"
            raise instrument.wrong("without", f"{name!r} {what}")
    styled: Collection[str] = definition.lists if isinstance(definition.lists, dict) else ()
    for name in styled:
        if name not in _lists(inputs):
            raise instrument.wrong(f"lists.{name}", "the judge has no list with this name")


def _how_to_tell(instrument: Instrument) -> str:
    if instrument.template != instrument.path:
        return ""
    return "; give it a text with a prompt file that has template: and texts: (docs/instruments.md)"


def _may_lack(field: FieldInfo) -> bool:
    return not field.is_required() or type(None) in get_args(field.annotation)
