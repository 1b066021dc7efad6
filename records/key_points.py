"""Key points of documents, and whether answers state them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args

from ..metrics.answer_scores import ENTAILMENT
from .groundedness import GROUNDEDNESS_LABELS, GroundednessLabel
from .judgements import Evidence, all_quoted, read_evidence
from .kinds import Kind, Labelled
from .nuggets import QUERY_FIELDS, TOPIC_FIELDS
from .reading.fields import Line, as_id, read_lines, show
from .reading.problems import Problems
from .rows import Explained, KeyPoint, KeyPointSet, Label, LabelScores, Row, key_point_ids

EntailmentLabel = Literal["no", "neutral", "yes"]
ENTAILMENT_LABELS: tuple[EntailmentLabel, ...] = get_args(EntailmentLabel)  # arXiv:2410.23000
ClaimLabel = Literal["no", "yes"]
CLAIM_LABELS: tuple[ClaimLabel, ...] = get_args(ClaimLabel)


class PointEntailment(Label):
    """Whether a response states a key point, contradicts it or neither (arXiv:2410.23000)."""

    NO = "no", "the response contradicts the key point: the two cannot both be true"
    NEUTRAL = (
        "neutral",
        "the response neither entails nor contradicts the key point; this includes a response "
        "that states only a part of it or is more general",
    )
    YES = (
        "yes",
        "the response entails the key point: all of it is stated in any wording, or clearly "
        "follows from the response",
    )


class Entailment(LabelScores):
    """The label of a key point in one answer.

    Attributes:
        run_id: the run that answered.
        topic_id: the topic.
        key_point_id: the key point.
        label: yes: the answer states the key point; no: it contradicts it; neutral: neither; None:
            not judged.
        evidence: the judge's quotes from the answer; () if it gave none.
        rationale: the judge's reason; None if it gave none.
        score: closeness to the best label, in [0, 1]; None if the judge gave none.
        probabilities, outside_probability: the probability of each label, and the probability
            outside the labels before they were scaled; None if the judge gave none.
        votes, method: the label of each member of a jury, and how the label was found; None for
            other judges.
        confidence, superseded: the confidence and the replaced label of a cascade's first stage;
            None for other judges.
        parts: the labels of the numbered parts from which code derives the label; None for others.
    """

    run_id: str
    topic_id: str
    key_point_id: str
    label: EntailmentLabel | None

    @property
    def is_quoted(self) -> bool | None:
        """Return whether all quotes are in the answer.

        None: the judge gave no quotes, or nothing was checked.
        """
        return all_quoted(self.evidence)


class Claim(Explained):
    """A claim of an answer, with its labels.

    Attributes:
        text: the claim.
        label: whether the claim states at least one key point: yes or no; None: not judged.
        in_documents: whether the documents support the claim; None: not requested or not judged.
        evidence: the judge's quotes; () if it gave none.
        rationale: the judge's reason; None if it gave none.
    """

    text: str
    label: ClaimLabel | None
    in_documents: GroundednessLabel | None = None


class ClaimSet(Row):
    """The claims of one answer.

    Attributes:
        run_id: the run that answered.
        topic_id: the topic.
        claims: the claims, in order; None: the claims are unknown.
    """

    run_id: str
    topic_id: str
    claims: tuple[Claim, ...] | None


def read_key_point_sets(path: Path, problems: Problems) -> dict[str, KeyPointSet]:
    """Read key points by topic, in file order: `qid`, `query` and `key_points`.

    A key point is a text, or an object with `text` (or `key_point`) and, if known, `id`,
    `spans` (verbatim texts of documents) and `sources` (their ids). It keeps its own id, or gets an
    id from its text (`key_point_ids`).

    Errors reported: no topic, no list, a topic twice, an id twice in a topic. An empty key point is
    skipped; a repeated text is kept and mentioned. Invalid spans and sources are mentioned and left
    out.

    Args:
        path: the file with the key points.
        problems: collects the faults of the file, by line.

    Returns:
        The key points of each topic.

    Raises: InputError if the file cannot be read.
    """
    return key_point_sets(read_lines(path, problems))


def key_point_sets(lines: Iterable[Line]) -> dict[str, KeyPointSet]:
    """Read the key points in these objects, as in `read_key_point_sets`."""
    sets: dict[str, KeyPointSet] = {}
    for line in lines:
        topic_id = line.id(*TOPIC_FIELDS)
        items = line.objects("key_points", text_as="text")
        if topic_id is None or items is None:
            continue
        if topic_id in sets:
            line.error("duplicate_topic", f"topic {topic_id!r} already has key points, wanted once")
            continue
        query = line.optional_text(*QUERY_FIELDS)
        if not query.strip():
            line.keep("no_query", f"the key points of topic {topic_id!r} have no query text")
        if not (points := _key_points(items)):
            line.keep("no_key_points", f"topic {topic_id!r} has no key points")
        sets[topic_id] = KeyPointSet(topic_id=topic_id, query=query, key_points=tuple(points))
    return sets


def key_point_set_row(points: KeyPointSet) -> dict[str, Any]:
    """Write a line of `keypoints.jsonl`, with `spans` and `sources` if there are any.

    Args:
        points: the key points of one topic.

    Returns:
        An object ready for JSON.
    """
    rows = []
    for point in points.key_points:
        row: dict[str, Any] = {"id": point.id, "text": point.text}
        if point.spans:
            row["spans"] = list(point.spans)
        if point.sources:
            row["sources"] = list(point.sources)
        rows.append(row)
    return {"query": points.query, "qid": points.topic_id, "key_points": rows}


def read_entailments(path: Path, problems: Problems) -> Iterator[Entailment]:
    """Read `entailments.jsonl` lazily, one line per topic, run and key point.

    A label other than yes, neutral and no becomes None (not judged, never no) and is
    listed as `label`; null, our own mark for not judged, becomes None too. In older files, evidence
    is a text with `is_quoted` beside it; an `is_quoted` that is neither true nor false is ignored
    and listed.

    Errors reported: an id or the label missing, a key point twice for an answer with two labels.
    With the same label, it is read once and mentioned.

    Args:
        path: the file with the entailments.
        problems: collects the faults of the file, by line.

    Returns:
        An iterator over the entailments, in file order.

    Raises: InputError if the file cannot be read.
    """
    for _, entailment in entailments_with_lines(read_lines(path, problems)):
        yield entailment


def entailments_with_lines(lines: Iterable[Line]) -> Iterator[tuple[Line, Entailment]]:
    """Read the entailments in these objects, as in `read_entailments`, each with its object."""
    seen: dict[tuple[str, str, str], EntailmentLabel | None] = {}
    for line in lines:
        topic_id, run_id = line.id(*TOPIC_FIELDS), line.id("run_id")
        key_point_id = line.id("key_point_id")
        if "label" not in line.row:
            line.missing("label")
        elif topic_id is not None and run_id is not None and key_point_id is not None:
            label, cell = line.label("label", ENTAILMENT_LABELS), (topic_id, run_id, key_point_id)
            if cell not in seen:
                seen[cell] = label
                yield (
                    line,
                    Entailment(
                        run_id=run_id,
                        topic_id=topic_id,
                        key_point_id=key_point_id,
                        label=label,
                        **{**line.read_label_scores(), "evidence": _evidence(line)},
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
    """Write a line of `entailments.jsonl`; a null label means not judged.

    Args:
        entailment: the entailment to write.

    Returns:
        An object ready for JSON.
    """
    return {
        "topic_id": entailment.topic_id,
        "run_id": entailment.run_id,
        "key_point_id": entailment.key_point_id,
        "label": entailment.label,
        "evidence": [each.as_row() for each in entailment.evidence],
        "is_quoted": entailment.is_quoted,
        **{k: v for k, v in entailment.as_fields().items() if k != "evidence"},
    }


def read_claims(path: Path, problems: Problems) -> Iterator[ClaimSet]:
    """Read `claims.jsonl` lazily, one line per topic and run: `claims`, or null.

    A claim is a text (not judged), or an object with `text` and `label`. A label other than yes
    and no becomes None (not judged, never no) and is listed as `label`; null becomes None too.
    An empty claim is skipped.

    Errors reported: no topic or run, `claims` missing or not a list, a topic and run twice.

    Args:
        path: the file with the claims.
        problems: collects the faults of the file, by line.

    Returns:
        An iterator over the claims of each answer, in file order.

    Raises: InputError if the file cannot be read.
    """
    return claim_sets(read_lines(path, problems))


def claim_sets(lines: Iterable[Line]) -> Iterator[ClaimSet]:
    """Read the claims in these objects, as in `read_claims`."""
    seen: dict[tuple[str, str], int] = {}
    for line in lines:
        topic_id, run_id = line.id(*TOPIC_FIELDS), line.id("run_id")
        is_extracted = "claims" not in line.row or line.row["claims"] is not None
        items = line.objects("claims", text_as="text") if is_extracted else None
        if topic_id is None or run_id is None or (is_extracted and items is None):
            continue
        if (first := seen.get((topic_id, run_id))) is not None:
            what = f"the claims of run {run_id!r}, topic {topic_id!r} are already in line {first}"
            line.error("duplicate_claims", f"{what}, wanted once")
            continue
        seen[topic_id, run_id] = line.number
        claims = None if items is None else tuple(_claims(items))
        yield ClaimSet(run_id=run_id, topic_id=topic_id, claims=claims)


def claims_row(claim_set: ClaimSet) -> dict[str, Any]:
    """Write a line of `claims.jsonl`.

    Null claims: the claims were not extracted. A null label: the claim was not judged.

    Args:
        claim_set: the claims of one answer.

    Returns:
        An object ready for JSON.
    """
    rows: list[dict[str, Any]] | None = None
    if claim_set.claims is not None:
        rows = [
            {
                "text": one.text,
                "label": one.label,
                **({"in_documents": one.in_documents} if one.in_documents else {}),
                **one.get_explanation(),
            }
            for one in claim_set.claims
        ]
    return {"topic_id": claim_set.topic_id, "run_id": claim_set.run_id, "claims": rows}


def _key_points(items: list[Line]) -> list[KeyPoint]:
    """The key points of one list, each with its own id."""
    texts = []
    for item in items:
        text = item.text("text", "key_point")
        if text is None:
            continue
        if text.strip():
            texts.append((text, item))
        else:
            item.skip("empty_key_point", f"{item.name('text')} is empty, wanted a key point")
    points = []
    named: dict[str, str] = {}  # id -> item
    for (text, item), hashed in zip(texts, key_point_ids([t for t, _ in texts]), strict=True):
        name_in_file, own_id = item.prefix.removesuffix("."), item.optional_id("id", "key_point_id")
        if own_id is None and "-" in hashed:
            item.keep(
                "duplicate_key_point", f"{name_in_file} has the text of a key point before it"
            )
        name = own_id or hashed
        if name in named:
            item.error(
                "duplicate_id", f"{name_in_file} has the id {name!r}, the id of {named[name]}"
            )
            continue
        named[name] = name_in_file
        points.append(KeyPoint(id=name, text=text, spans=_spans(item), sources=_sources(item)))
    return points


def _spans(item: Line) -> tuple[str, ...]:
    written = _list_field(item, "spans")
    spans = [span for span in written if isinstance(span, str) and span.strip()]
    if len(spans) < len(written):
        what = f"{len(written) - len(spans)} of {len(written)} are empty or not text; left out"
        item.keep("bad_spans", f"{item.name('spans')}: {what}")
    return tuple(spans)


def _sources(item: Line) -> tuple[str, ...]:
    written = _list_field(item, "sources")
    sources = [name for name in map(as_id, written) if name is not None]
    if len(sources) < len(written):
        what = f"{len(written) - len(sources)} of {len(written)} are not ids; left out"
        item.keep("bad_sources", f"{item.name('sources')}: {what}")
    return tuple(sources)


def _list_field(item: Line, field: str) -> list[object]:
    written = item.row.get(field)
    if written is None or isinstance(written, list):
        return written or []
    item.keep(f"bad_{field}", f"{item.name(field)} is {show(written)}, wanted a list; left out")
    return []


def _evidence(line: Line) -> tuple[Evidence, ...]:
    is_quoted, written = _is_quoted(line), line.row.get("evidence")
    if written is None:
        return ()
    evidence = read_evidence(written, of="response", is_quoted=is_quoted)
    if evidence is None:
        line.bad("evidence", written, "text, or a list of quotes")
    return evidence or ()


def _is_quoted(line: Line) -> bool | None:
    written = line.row.get("is_quoted")
    if written is None or isinstance(written, bool):
        return written
    what = f"{line.name('is_quoted')} is {show(written)}, wanted true, false or null"
    line.keep("is_quoted", f"{what}; ignored")
    return None


def _claims(items: list[Line]) -> Iterator[Claim]:
    for item in items:
        text = item.text("text", "claim")
        if text is not None and text.strip():
            documents = None
            if item.row.get("in_documents") is not None:
                documents = item.label("in_documents", GROUNDEDNESS_LABELS)
            yield Claim(
                text=text,
                label=item.label("label", CLAIM_LABELS),
                in_documents=documents,
                **item.read_explanation(),
            )
        elif text is not None:
            item.skip("empty_claim", f"{item.name('text')} is empty, wanted a claim")


def _read_labelled(lines: Iterable[Line]) -> Iterator[Labelled]:
    for line, one in entailments_with_lines(lines):
        yield line, (one.topic_id, one.run_id, one.key_point_id), one.label, one.get_confidence()


KEY_POINT_KIND = Kind(
    name="keypoints",
    key=("topic_id", "run_id", "key_point_id"),
    scale=PointEntailment,
    gains=ENTAILMENT,
    many="key points",
    length_of=("response", "response"),
    judge="entailment",
    rows="entailments",
    read=_read_labelled,
    files={
        "key_points": lambda row: "key_points" in row,
        "claims": lambda row: row.keys() >= {"claims", "run_id"},
        "entailments": lambda row: row.keys() >= {"label", "key_point_id", "is_quoted"},
    },
)
