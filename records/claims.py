"""Claims: what an answer says, one by one, and whether each states a key point of its topic."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args

from .entailments import label_of
from .nuggets import TOPIC_FIELDS
from .reading.fields import Line, read_lines
from .reading.problems import Problems
from .rows import Row

ClaimLabel = Literal["no", "yes"]
CLAIM_LABELS: tuple[ClaimLabel, ...] = get_args(ClaimLabel)


class Claim(Row):
    """A claim; `label` says whether it states at least one key point, None: not judged."""

    text: str
    label: ClaimLabel | None


class ClaimSet(Row):
    """The claims of an answer, in its order; None: nobody could say what it claims."""

    run_id: str
    topic_id: str
    claims: tuple[Claim, ...] | None


def read_claims(path: Path, problems: Problems) -> Iterator[ClaimSet]:
    """Read `claims.jsonl`, a line per topic and run, lazily: `claims`, or null.

    A claim is a text, not judged, or an object with `text` and `label`. A label other than yes
    and no becomes None (not judged, never no) and is listed as `label`; null becomes None too.
    An empty claim is skipped.

    Errors noted: no topic or run, `claims` missing or no list, a topic and run twice.
    """
    seen: dict[tuple[str, str], int] = {}
    for line in read_lines(path, problems):
        topic_id, run_id = line.id(*TOPIC_FIELDS), line.id("run_id")
        is_extracted = "claims" not in line.row or line.row["claims"] is not None
        items = line.objects("claims", text_as="text") if is_extracted else None
        if topic_id is None or run_id is None or (is_extracted and items is None):
            continue
        if (first := seen.get((topic_id, run_id))) is not None:
            what = f"the claims of run {run_id!r}, topic {topic_id!r} are in line {first} already"
            line.error("duplicate_claims", f"{what}, wanted them once")
            continue
        seen[topic_id, run_id] = line.number
        claims = None if items is None else tuple(_claims(items))
        yield ClaimSet(run_id=run_id, topic_id=topic_id, claims=claims)


def claims_row(found: ClaimSet) -> dict[str, Any]:
    """A line of `claims.jsonl`: null claims were not extracted, a null label is not judged."""
    claims = found.claims
    rows = claims if claims is None else [claim.model_dump() for claim in claims]
    return {"topic_id": found.topic_id, "run_id": found.run_id, "claims": rows}


def _claims(items: list[Line]) -> Iterator[Claim]:
    for item in items:
        text = item.text("text", "claim")
        if text is not None and text.strip():
            yield Claim(text=text, label=label_of(item, CLAIM_LABELS))
        elif text is not None:
            item.skip("empty_claim", f"{item.name('text')} is empty, wanted a claim")
