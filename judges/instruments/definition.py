"""What a prompt file says: the model of its YAML, and what files of published tools mean by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, StrictStr, model_validator

from ...records.rows import Row
from .templates import ListStyle

Text = Annotated[StrictStr, Field(pattern=r"\S")]


def _as_several(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _spelled(value: Any) -> Any:
    """Labels as texts, though YAML takes some of them for numbers or truth values."""
    if not isinstance(value, Mapping):
        return value
    return {_word(key): _word(label) for key, label in value.items()}


def _word(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


Several = Annotated[tuple[Text, ...], BeforeValidator(_as_several)]


class ReplyForm(Row):
    """How a reply is read, and which labels of the judge its words stand for.

    json: one JSON object. Without `field` it is the judge's own reply, as its built-in prompt asks
    for it; with `field` that field alone counts, by one of several names.
    list: one list, as JSON or Python write it. label: a label after one of the texts `after`, or
    without such texts the reply alone. number: the same for numbers, 2.0 being 2.
    """

    form: Literal["json", "list", "label", "number"]
    field: Several = ()
    after: Several = ()
    last_line: StrictBool = False  # where none of `after` stands, the last line says the label
    labels: Annotated[dict[Text, Text], BeforeValidator(_spelled)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.field and self.form != "json":
            raise ValueError(f"field: a reply of form {self.form} has no fields")
        if (self.after or self.last_line) and self.form not in ("label", "number"):
            raise ValueError(f"after: a reply of form {self.form} is read whole")
        if self.labels and self.form == "json" and not self.field:
            raise ValueError("labels: without field: the reply is the judge's own, labels and all")
        return self


class Demonstration(Row):
    """A worked example: two messages before the last, which stand as they are."""

    user: Text
    assistant: Text


class Definition(Row):
    """The content of a prompt file; data only."""

    system: StrictStr | None = None
    user: Text | None = None
    template: Text | None = None
    lists: ListStyle | dict[str, ListStyle] = "numbered"
    texts: dict[str, StrictStr] = Field(default_factory=dict)
    without: Several = ()
    demonstrations: tuple[Demonstration, ...] = ()
    window: Annotated[StrictInt, Field(ge=1, le=10_000)] | None = None
    reply: ReplyForm | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.user is None) == (self.template is None):
            raise ValueError("user: wanted either user: or template:, which names a tool's file")
        if self.user is not None and self.reply is None:
            raise ValueError("reply: wanted how the reply is read")
        return self


class ToolTemplate(Row):
    """A template file of nuggetizer or UMBRELA, by its keys; `method` is theirs and not used."""

    prefix_user: Text
    system_message: StrictStr = ""
    method: StrictStr = ""


# What the placeholders of these tools are called here: the first that a judge has.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "query": ("question",),
    "context": ("answer", "passages", "passage"),
    "passage": ("passage", "context"),
    "num_nuggets": ("n_nuggets",),
    "nuggets_length": ("n_nuggets",),
    "creator_max_nuggets": ("limit",),
}
TOOL_LISTS: Mapping[str, ListStyle] = {"passages": "bracketed"}  # any other: python
# Where a grade stands in replies to UMBRELA's prompts; the names of umbrela's own reader.
GRADE_NAMES = ("o", "overall_score", "overall", "overall score", "final score", "final_score",
               "score", "o_score")  # fmt: skip
TOOL_GRADE = ReplyForm(
    form="label",
    after=(
        *(f"{mark}{name}{mark}:" for name in GRADE_NAMES for mark in ('"', "'")),
        *("o:", "(o):", "final score:", "relevance category:", "relevance category is"),
    ),
    last_line=True,
)
TOOL_LIST = ReplyForm(form="list")


def defined_by_tool(template: ToolTemplate) -> Definition:
    """The tool's own file as a prompt file; how its reply is read depends on the judge."""
    return Definition.model_construct(
        system=template.system_message or None, user=template.prefix_user
    )
