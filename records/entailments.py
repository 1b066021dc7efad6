"""Entailments: whether an answer states a key point, with the words that say so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from .nuggets import TOPIC_FIELDS
from .reading.fields import Line, read_lines, show
from .reading.problems import Problems
from .rows import Leaning

EntailmentLabel = Literal["no", "neutral", "yes"]
ENTAILMENT_LABELS: tuple[EntailmentLabel, ...] = get_args(EntailmentLabel)  # arXiv:2410.23000
L = TypeVar("L", bound=str)


class Entailment(Leaning):
    """Whether an answer entails a key point; `label` None: not judged.

    `evidence` is what the judge quoted from the answer, "" for nothing; `is_quoted` says whether
    it stands there word for word, None where there is no evidence or nobody looked.
    """

    run_id: str
    topic_id: str
    key_point_id: str
    label: EntailmentLabel | None
    evidence: str = ""
    is_quoted: bool | None = None


def read_entailments(path: Path, problems: Problems) -> Iterator[Entailment]:
    """Read `entailments.jsonl`, a line per topic, run and key point, lazily.

    A label that is none of yes, neutral and no becomes None (not judged, never no) and is
    listed as `label`; null, as we write what is not judged, becomes None too. An `is_quoted`
    that is neither true nor false is not used, and listed.

    Errors noted: an id or the label missing, a key point twice for an answer with two labels.
    With the same label it is read once and mentioned.
    """
    for _, entailment in placed_entailments(read_lines(path, problems)):
        yield entailment


def placed_entailments(lines: Iterable[Line]) -> Iterator[tuple[Line, Entailment]]:
    """The entailments in these objects, as `read_entailments`, each with its object."""
    seen: dict[tuple[str, str, str], EntailmentLabel | None] = {}
    for line in lines:
        topic_id, run_id = line.id(*TOPIC_FIELDS), line.id("run_id")
        key_point_id = line.id("key_point_id")
        if "label" not in line.row:
            line.missing("label")
        elif topic_id is not None and run_id is not None and key_point_id is not None:
            label, cell = label_of(line, ENTAILMENT_LABELS), (topic_id, run_id, key_point_id)
            if cell not in seen:
                seen[cell] = label
                yield (
                    line,
                    Entailment(
                        run_id=run_id,
                        topic_id=topic_id,
                        key_point_id=key_point_id,
                        label=label,
                        evidence=line.optional_text("evidence"),
                        is_quoted=_is_quoted(line),
                        **line.leaning(),
                    ),
                )
                continue
            what = f"key point {key_point_id!r} of run {run_id!r}, topic {topic_id!r}"
            if seen[cell] == label:
                line.keep("duplicate_entailment", f"{what} occurs twice with one label")
            else:
                got = f"has {show(label)} here and {show(seen[cell])} before"
                line.error("duplicate_entailment", f"{what} {got}, wanted one label")


def entailment_row(entailment: Entailment) -> dict[str, Any]:
    """A line of `entailments.jsonl`; a null label is not judged."""
    return {
        "topic_id": entailment.topic_id,
        "run_id": entailment.run_id,
        "key_point_id": entailment.key_point_id,
        "label": entailment.label,
        "evidence": entailment.evidence,
        "is_quoted": entailment.is_quoted,
        **entailment.known(),
    }


def label_of(line: Line, labels: tuple[L, ...]) -> L | None:
    """The `label` of an object, one of these in any case; any other is listed and not judged."""
    written = line.row.get("label")
    normal = written.strip().lower() if isinstance(written, str) else None
    label = next((label for label in labels if label == normal), None)
    if label is None and written is not None:
        what = f"{line.name('label')} is {show(written)}, wanted {', '.join(labels)}"
        line.keep("label", f"{what}; not judged")
    return label


def _is_quoted(line: Line) -> bool | None:
    written = line.row.get("is_quoted")
    if written is None or isinstance(written, bool):
        return written
    what = f"{line.name('is_quoted')} is {show(written)}, wanted true, false or null"
    line.keep("is_quoted", f"{what}; not used")
    return None
