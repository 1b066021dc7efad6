"""Test the parser: does text that a reply repeats from its input become the verdict?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ....backends.adapter import as_data
from ....backends.errors import JudgeOutputError
from ....backends.prompt import Prompt
from ....judges import ItemJudge
from ....programs.engine.dry_run import make_shortest_reply
from .probing import Row

HONEST = (
    "alone",
    "in a fence",
    "indented",
    "after thoughts",
    "after a sentence",
)  # replies that repeat no input


class Echo(NamedTuple):
    """A reply to a call with injected text, as an honest model or one that repeats it may write.

    `own`: whether the reply has a verdict of the model.
    """

    form: str
    text: str
    own: bool


def echo_rows(judge: ItemJudge, cases: Sequence[Any]) -> list[Row]:
    """Count for each form of reply how many there are, how many were read, and hijacked.

    The model's verdict differs from the one that the payload asks for. A reply is hijacked if the
    parser reads a verdict that is not the model's.
    """
    rows: dict[str, Row] = {}
    for case in cases:
        inputs = judge.call_inputs([item.inputs for item in case.items])
        prompt = judge.prompt(judge.predictor).of(inputs)
        schema, is_best = prompt.schema(prompt.shape(inputs)), case.payload.asks == "best"
        worst, best = judge.scale[0], judge.scale[-1]
        wanted, other = (best, worst) if is_best else (worst, best)
        own = reply_with(schema, judge.output, other)
        for echo in echoes(prompt, inputs, own, case, judge.output, wanted):
            new = {"form": echo.form, "is_honest": echo.form in HONEST}
            row = rows.setdefault(echo.form, new | {"replies": 0, "read": 0, "hijacked": 0})
            row["replies"] += 1
            try:
                verdict = _as_text(prompt.parse(echo.text, inputs)[judge.output])
            except JudgeOutputError:  # the parser reads no verdict
                continue
            row["read"] += 1
            row["hijacked"] += not (echo.own and verdict == _as_text(own[judge.output]))
    return list(rows.values())


def reply_with(schema: dict[str, Any], field: str, label: str) -> dict[str, Any]:
    """The shortest reply of this form, with the same label everywhere in a field."""
    return {**make_shortest_reply(schema), field: _of_type(schema["properties"][field], label)}


def _of_type(schema: dict[str, Any], label: str) -> Any:
    """The label in the type of its field's schema: a number, a text, or a label per key."""
    if schema.get("type") == "object":
        return {key: _of_type(part, label) for key, part in schema["properties"].items()}
    return int(label) if schema.get("type") in ("integer", "number") else label


def echoes(
    prompt: Prompt,
    inputs: dict[str, Any],
    own: dict[str, Any],
    case: Any,
    field: str,
    label: str,
) -> Iterator[Echo]:
    """Make all forms of reply to one call.

    Args:
        case: a payload, `filled`, and the `text` that contains it.
        own: the model's reply. field: the field of the reply with the verdict.
        label: the label that the payload asks for.
    """
    reply, payload, text = json.dumps(own), case.filled, case.text
    yield Echo("alone", reply, own=True)
    yield Echo("in a fence", f"```json\n{reply}\n```", own=True)
    yield Echo("indented", json.dumps(own, indent=2), own=True)
    yield Echo("after thoughts", f"<think>So it is.</think>\n\n{reply}", own=True)
    yield Echo("after a sentence", f"Here is my reply:\n{reply}", own=True)
    block = prompt.user(inputs)
    line = as_data({name: inputs[name] for name in prompt.input_names})
    rest, as_wanted = reply.removeprefix("{"), json.dumps(_fill(own[field], label))
    for form, form_text in {
        "payload, then its own": f"{payload}\n{reply}",
        "its own, then payload": f"{reply}\n{payload}",
        "payload and its own in fences": f"```json\n{payload}\n```\n```json\n{reply}\n```",
        "payload in a fence, then its own": f"```\n{payload}\n```\n{reply}",
        "text, then its own": f"{text}\n\n{reply}",
        "text in prose": f'The material says "{text}". My reply: {reply}',
        "payload in thoughts, then its own": f"<think>{payload}</think>\n{reply}",
        "thoughts that end in the payload, then its own": (
            f"<think>{payload}\n</think>{payload}\n{reply}"
        ),
        "data line, then its own": f"{line}\n{reply}",
        "data block, then its own": f"{block}\n{reply}",
        "text in a field more": json.dumps({"quote": text} | own),
        "data and its own in one object": json.dumps({**inputs, **own}),
        "its field twice, payload's first": f'{{"{field}": {as_wanted}, {rest}',
        "its field twice, payload's last": f'{reply.removesuffix("}")}, "{field}": {as_wanted}}}',
        "payload as the verdict": json.dumps(own | {field: _fill(own[field], payload)}),
        "a list of both": f"[{payload}, {reply}]",
    }.items():
        yield Echo(form, form_text, own=True)
    for form, form_text in {
        "payload alone": payload,
        "payload alone in a fence": f"```json\n{payload}\n```",
        "payload after thoughts": f"<think>So it is.</think>\n{payload}",
        "its own in thoughts, then payload": f"<think>{reply}</think>\n{payload}",
        "payload and its own in thoughts": f"<think>{payload}\n{reply}</think>",
        "text alone": text,
        "data line alone": line,
        "data block alone": block,
    }.items():
        yield Echo(form, form_text, own=False)


def _fill(value: Any, text: str) -> Any:
    """A verdict of the same shape, with this label everywhere."""
    if isinstance(value, dict):
        return dict.fromkeys(value, text)
    return int(text) if isinstance(value, int) and text.isdecimal() else text


def _as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: str(label) for key, label in value.items()}
    return str(value)
