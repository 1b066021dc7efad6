"""Spans around judgements: the item, who judged it, and what came of it, whoever was asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ...records.judgements import Judged, Outcome, Reason
from ..errors import JudgeError
from .tracer import failed, takes_content, tracer

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

_RESULT = "gen_ai.evaluation.result"


class _Named(Protocol):
    @property
    def ids(self) -> Mapping[str, Any]: ...


ItemT = TypeVar("ItemT", bound=_Named)
Ask = Callable[[ItemT], Awaitable[Outcome]]


@contextmanager
def run_span(programs: Sequence[str]) -> Iterator[None]:
    """All that is asked in here belongs to one span, a child of the caller's."""
    if (spans := tracer()) is None:
        yield
        return
    name = ", ".join(programs) or "judge"
    attributes = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": name}
    with spans.start_as_current_span(
        f"invoke_workflow {name}",
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield
        except BaseException as error:
            failed(span, type(error).__name__)
            raise


def traced(ask: Ask[ItemT], stage: str, judges: Sequence[str]) -> Ask[ItemT]:
    """What asks about an item, with a span around it; `ask` itself where nobody wants spans."""
    spans = tracer()
    return ask if spans is None else _traced(spans, ask, stage, judges)


def _traced(spans: Tracer, ask: Ask[ItemT], stage: str, judges: Sequence[str]) -> Ask[ItemT]:
    of_all = {"nuggetjudge.stage": stage, "nuggetjudge.judges": list(judges)}
    name = judges[0] if judges else stage

    async def traced(item: ItemT) -> Outcome:
        ids = {f"nuggetjudge.{name}": _plain(value) for name, value in item.ids.items()}
        with spans.start_as_current_span(
            f"judge {stage}",
            attributes={**ids, **of_all},
            record_exception=False,  # its text may quote a reply
            set_status_on_exception=False,
        ) as span:
            try:
                outcome = await ask(item)
            except JudgeError as error:
                _lost(span, name, error.reason)
                raise
            except BaseException as error:
                failed(span, type(error).__name__)
                raise
            if isinstance(outcome, Judged):
                for row in outcome.values.get("verdicts", ()):
                    span.add_event(_RESULT, _result(name, row))
            else:
                _lost(span, name, outcome.reason)
            return outcome

    return traced


def _result(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """One label; of one that is missing among those of a window the reason, and no score."""
    attributes: dict[str, Any] = {"gen_ai.evaluation.name": name}
    if "unjudged" in row:
        return {**attributes, "error.type": Reason(row["unjudged"][0]).value}
    attributes["gen_ai.evaluation.score.label"] = str(row["label"])
    if row.get("score") is not None:
        attributes["gen_ai.evaluation.score.value"] = float(row["score"])
    if takes_content() and row.get("rationale"):
        attributes["gen_ai.evaluation.explanation"] = row["rationale"]
    return attributes


def _lost(span: Span, name: str, reason: Reason) -> None:
    failed(span, reason.value)
    span.add_event(_RESULT, {"gen_ai.evaluation.name": name, "error.type": reason.value})


def _plain(value: Any) -> str | int | float | bool | list[str]:
    if isinstance(value, list | tuple):
        return [str(each) for each in value]
    return value if isinstance(value, str | int | float | bool) else str(value)
