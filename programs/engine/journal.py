"""The journal of a stage: a line for each outcome, appended at once, safe against kills."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from itertools import starmap
from pathlib import Path
from typing import Annotated, Any, NotRequired

import numpy as np
import orjson
from annotated_types import Ge
from pydantic import (
    ConfigDict,
    GetPydanticSchema,
    Strict,
    StrictBool,
    StrictFloat,
    StrictStr,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    with_config,
)
from pydantic_core import core_schema
from typing_extensions import TypedDict

from ...records.judgements import Evidence, Judged, Outcome, Provenance, Reason, Unjudged
from ...records.reading.fields import shorten
from ...records.reading.problems import InputError
from ...records.reading.settings import plain_error
from ...records.traces import STEP_PATH
from ...records.writing import Appending

MAX_WAITING = 65_536  # bytes
# Asked again when a run continues. For a jury, only members without a label are asked, for an
# agent only what failed; everything else is in the reply cache.
_NOT_ASKED = (Reason.ERROR, Reason.BUDGET, Reason.QUORUM, Reason.TOOL)
_MEND = "delete this line and run again; only its item is asked again"


class Journal:
    """The outcomes of one stage, by the position of an item in the stage's order.

    An item is found by a 64-bit hash of its ids and texts, so that a changed input is judged again.
    An incomplete last line is dropped. Memory: 4 bytes for each item (8 if the file has 4 GB or
    more), and 16 more for each judgement in the file at the start.

    Args:
        path: the file; it is created if it does not exist.
        retry: forget outcomes without a judgement, so that they are asked again.
        final: reasons of outcomes to keep despite `retry`.
        values: checks the values of outcomes of this stage; None: anything.
        is_answered: whether the question of a key has a reply now. Outcomes caused by its failure
            are then forgotten.

    Attributes:
        has_judged: whether an outcome in the file at the start is a judgement.
        failed: the concatenated keys of all failed questions.

    Raises: InputError for a line that is not an outcome of this stage, and for disk errors.
    """

    def __init__(
        self,
        path: Path,
        *,
        retry: bool = False,
        final: Collection[Reason] = (),
        values: Values | None = None,
        is_answered: Callable[[bytes], bool] = lambda key: False,
    ) -> None:
        self._path = path
        self._offsets = array("I")  # by item: 1 + offset of its line in the file; 0: no line
        self.failed = bytearray()
        digests, offsets, end, self.has_judged = _scan(
            path, retry, final, values, is_answered, self.failed
        )
        order = np.argsort(np.frombuffer(digests, dtype=np.uint64), kind="stable")
        self._known = array("Q", np.frombuffer(digests, dtype=np.uint64)[order].tobytes())
        self._known_at = array("q", np.frombuffer(offsets, dtype=np.int64)[order].tobytes())
        self._waiting = bytearray()  # lines not yet in the file
        self._file = Appending(path, end)
        self._end = end
        self._reader = path.open("rb")  # buffered: outcomes are roughly in item order

    @property
    def size(self) -> int:
        """Return the size of its lines in bytes."""
        return self._end

    def recall(self, item: int, digest: int) -> bool:
        """Return whether this item is finished; remember the place of its outcome."""
        # The last line of equal digests counts: it is the outcome that was asked again.
        at = (
            bisect_left(self._known, digest + 1) - 1 if digest < 2**64 - 1 else len(self._known) - 1
        )
        is_known = at >= 0 and self._known[at] == digest
        if is_known:
            self._remember(item, self._known_at[at])
        return is_known

    def write(self, item: int, digest: int, outcome: Outcome) -> None:
        """Append an outcome and flush it to the operating system.

        A line whose replies are all in the reply cache waits for other lines; so does a line that
        could not be written.
        """
        line = orjson.dumps(_to_json(digest, outcome), option=orjson.OPT_APPEND_NEWLINE)
        self._waiting += line
        self._remember(item, self._end)
        self._end += len(line)
        self.failed += bytes.fromhex("".join(outcome.failed))
        calls = outcome.provenance
        is_new = not calls or False in [call.cache_hit for call in calls]
        if is_new or len(self._waiting) > MAX_WAITING:
            self._flush()

    def outcome(self, item: int) -> Outcome:
        """Return the outcome of this item.

        An item that the run did not reach is `Unjudged(budget)`.
        """
        if self._waiting:
            self._flush()
        start = self._offsets[item] if item < len(self._offsets) else 0
        if not start:
            return Unjudged(Reason.BUDGET, "the run ended before this item was asked")
        self._reader.seek(start - 1)
        return _from_json(orjson.loads(self._reader.readline()))

    def unfit(self, item: int, what: str) -> InputError:
        """Return the error for an outcome that does not fit its item."""
        with self._path.open("rb") as stream:
            before = stream.read(self._offsets[item] - 1)
        return _wrong(self._path, before.count(b"\n") + 1, what)

    def close(self) -> None:
        """Write waiting lines, and close the file."""
        try:
            if self._waiting:
                self._flush()
        finally:
            self._reader.close()
            self._file.close()

    def _remember(self, item: int, offset: int) -> None:
        n_new = item + 1 - len(self._offsets)
        if n_new == 1:
            self._offsets.append(0)
        elif n_new > 1:
            self._offsets.frombytes(bytes(n_new * self._offsets.itemsize))
        try:
            self._offsets[item] = offset + 1
        except OverflowError:
            self._offsets = array("Q", self._offsets)
            self._offsets[item] = offset + 1

    def _flush(self) -> None:
        self._file.write(self._waiting)
        self._waiting.clear()


def _scan(
    path: Path,
    retry: bool,
    final: Collection[Reason],
    values: Values | None,
    is_answered: Callable[[bytes], bool],
    failed: bytearray,
) -> tuple[array[int], array[int], int, bool]:
    """Read digests and offsets of valid lines, the end of the last whole line, and whether there is
    a judgement.

    Args:
        failed: receives the keys of failed questions behind these lines.
    """
    digests, offsets, end, has_judged = array("Q"), array("q"), 0, False
    if not path.exists():
        return digests, offsets, end, has_judged
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith(b"\n"):
                break  # incomplete after a kill
            try:
                row = orjson.loads(line)
            except ValueError as error:
                raise _wrong(path, number, f"not JSON, {error}") from None
            if what := wrong_in(row, values):
                raise _wrong(path, number, what)
            why = row["u"][0] if "u" in row else None
            has_judged = has_judged or why is None
            keys = [*map(bytes.fromhex, row.get("f", ()))]
            is_kept = why is None or why in final or not (retry or why in _NOT_ASKED)
            if is_kept and not any(map(is_answered, keys)):
                failed += b"".join(keys)
                digests.append(int(row["d"], 16))
                offsets.append(end)
            end += len(line)
    return digests, offsets, end, has_judged


def _wrong(path: Path, number: int, what: str) -> InputError:
    return InputError(f"{path}:{number}: not a journal line ({what}); {_MEND}")


def _to_json(digest: int, outcome: Outcome) -> dict[str, Any]:
    row: dict[str, Any] = {"d": f"{digest:016x}"}
    if isinstance(outcome, Judged):
        row["v"] = outcome.values
    else:
        row["u"] = (outcome.reason, outcome.detail, outcome.raw)
    row["p"] = [tuple(call) for call in outcome.provenance]
    if outcome.steps:
        row["s"] = outcome.steps
    if outcome.failed:
        row["f"] = outcome.failed
    return row


def _from_json(row: dict[str, Any]) -> Outcome:
    calls, steps = tuple(starmap(Provenance, row["p"])), tuple(row.get("s", ()))
    if "v" in row:
        return Judged(row["v"], calls, steps)
    reason, detail, raw = row["u"]
    return Unjudged(Reason(reason), detail, raw, calls, steps)


Values = TypeAdapter[Any]  # of `Judged.values`

Count = Annotated[int, Strict(), Ge(0)]

_LABEL_SCORES = {  # fields beside the label, see Verdict.as_row
    "score": NotRequired[StrictFloat],
    "probabilities": NotRequired[dict[str, StrictFloat]],
    "outside_probability": NotRequired[StrictFloat],
    "evidence": NotRequired[list[Evidence]],
    "rationale": NotRequired[StrictStr],
    "method": NotRequired[StrictStr],
    "votes": NotRequired[dict[str, StrictStr | None]],
    "confidence": NotRequired[StrictFloat],
    "superseded": NotRequired[StrictStr],
    "parts": NotRequired[dict[str, StrictStr | None]],
}


def make_object_type(fields: Mapping[str, Any]) -> Any:
    """Return the type of a JSON object that has these fields, and no others."""
    new: Any = TypedDict  # type checkers cannot evaluate it
    return with_config(ConfigDict(extra="forbid"))(new("Object", dict(fields)))


def make_list_type(kind: Any) -> Any:
    """Return the type of a list of values of a type from `make_object_type`."""
    return list.__class_getitem__(kind)


@with_config(ConfigDict(extra="allow"))
class _Step(TypedDict):
    """A step of an agent, with the fields of its kind."""

    path: Annotated[str, StringConstraints(strict=True, pattern=STEP_PATH)]
    kind: StrictStr
    name: StrictStr


_Key = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-f]{40}$")]

_LINE: Values = TypeAdapter(
    make_object_type(
        {
            "d": Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-f]{16}$")],
            "p": list[
                tuple[StrictStr, StrictStr, Count, Count, Count, Count, StrictBool]
            ],  # Provenance
            "v": NotRequired[dict[str, Any]],
            "u": NotRequired[tuple[Reason, StrictStr, StrictStr]],
            "s": NotRequired[list[_Step]],
            "f": NotRequired[list[_Key]],
        }
    )
)


_UNJUDGED: Values = TypeAdapter(make_object_type({"unjudged": tuple[Reason, StrictStr, StrictStr]}))


def verdicts_on(scale: Collection[str]) -> Values:
    """Return the type of the values of a stage of `labels`: verdicts with labels of this scale.

    In a window, a failed item has the reason instead of a label.
    """
    return _verdicts_on(tuple(scale))


@lru_cache(maxsize=64)  # building a type takes longer than many stages
def _verdicts_on(scale: tuple[str, ...]) -> Values:
    on_scale = core_schema.custom_error_schema(
        core_schema.literal_schema([*scale]),
        custom_error_type="scale",
        custom_error_message=f"wanted one of {', '.join(scale)}",
    )
    a_text = core_schema.str_schema(strict=True)
    label = core_schema.chain_schema([a_text, on_scale])
    some_label = {"label": scale[0]}

    def but_for_unjudged(rows: Any, verdicts: ValidatorFunctionWrapHandler) -> Any:
        try:
            return verdicts(rows)  # the usual case, without a Python call for each value
        except ValidationError:
            if not isinstance(rows, list) or not any(map(_is_unjudged, rows)):
                raise
        for row in filter(_is_unjudged, rows):
            _UNJUDGED.validate_python(row)
        verdicts([some_label if _is_unjudged(row) else row for row in rows])
        return rows

    of_scale = Annotated[str, GetPydanticSchema(lambda kind, handler: label)]
    verdict = make_object_type({"label": of_scale, **_LABEL_SCORES})
    rows = {"verdicts": Annotated[make_list_type(verdict), WrapValidator(but_for_unjudged)]}
    return TypeAdapter(make_object_type(rows))


def _is_unjudged(row: Any) -> bool:
    return isinstance(row, dict) and "unjudged" in row


def make_values(kind: Any) -> Values:
    """Return the type of the values of a stage of `makes`, for results of this type."""
    return TypeAdapter(make_object_type({"made": kind}))


def wrong_in(row: Any, values: Values | None) -> str:
    """Return what is wrong with a line of a journal and what was wanted; "" if it is valid.

    Args:
        values: the type of the values of an outcome; None: anything.
    """
    try:
        _LINE.validator.validate_python(row)
        if ("v" in row) is ("u" in row):
            return "wanted values under v, or a reason under u"
        if "v" in row and values is not None:
            values.validator.validate_python(row["v"])
    except ValidationError as error:
        loc, what = plain_error(error.errors(include_url=False)[0])
        return f"{'.'.join(loc)}: {shorten(what, 200)}".removeprefix(": ")
    return ""
