"""Before key points are asked for: is the data there, and what will they take?"""

from __future__ import annotations

from ....judges.makers.keypoint_extractor import windows
from ....records.reading.problems import InputError
from ....records.rows import KeyPoint, KeyPointSet
from ...config.sections import Config
from ...engine.estimates import (
    KEYED_TOKENS,
    LABEL_TOKENS,
    Asked,
    Estimate,
    estimated,
    placeholder,
    reply_tokens,
)
from ...engine.panel import Panel
from ...inputs.collection import Collection
from .judging import ClaimStage, EntailStage

# Assumed where a number is only known once it was judged.
POINT_TOKENS, POINTS = 25, 8  # of a key point; from a window of a document
CLAIM_TOKENS, CLAIMS = 20, 12  # of an answer
QUOTE_TOKENS = 25


def check_keypoints(config: Config, collection: Collection) -> None:
    """Raise InputError if key points cannot be looked for in this data; list what is not used."""
    given = collection.documents if collection.key_points is None else collection.key_points
    where = config.data.documents if collection.key_points is None else config.data.keypoints
    for topic in given:
        if topic not in collection.topics and topic not in collection.beyond_limit:
            what = f"topic {topic!r} is not judged, so what stands here for it is not used"
            collection.problems.skip(where or "key points", 0, "unknown_topic", what)
    if given and not given.keys() & collection.topics.keys():
        raise InputError(f"{where}: nothing in it is of a topic that is judged")
    if collection.key_points is not None:
        return
    if not collection.documents:
        what = "name them (data.keypoints, --keypoints) or documents to make them from"
        raise InputError(f"keypoints needs key points: {what} (data.documents, --documents)")
    if blank := [t.id for t in collection.topics.values() if not t.text.strip()]:
        what = "key points are what answers a question; name a file of topics (--topics)"
        raise InputError(f"topic {blank[0]!r} has no text: {what}")


def keypoint_estimates(config: Config, collection: Collection, panel: Panel) -> list[Estimate]:
    """Calls, tokens and money by judge.

    Where key points are to be made, all rounds and 8 points a window are assumed, no two of them
    the same and all kept; of each answer 12 claims.
    """
    found: list[Estimate] = []
    sets = collection.key_points
    if sets is None:
        made, sets = _making(config, collection, panel)
        found += made
    sets = {t: s for t, s in sets.items() if t in collection.topics and s.key_points}
    judge = panel.entailment
    entail = EntailStage(collection, sets, judge)
    asked = Asked.of(judge.prompt(judge.predictor), map(entail.inputs, entail.items()))
    reply = reply_tokens(judge) + QUOTE_TOKENS * judge.window
    found.append(estimated(config, "entailment", asked, reply))
    if config.keypoints.precision:
        found += _precision(config, collection, panel, sets)
    return found


def _making(
    config: Config, collection: Collection, panel: Panel
) -> tuple[list[Estimate], dict[str, KeyPointSet]]:
    reader, rounds = panel.keypoint_extractor, config.keypoints.rounds
    find, join = reader.prompt("find"), panel.keypoint_merger.prompt("join")
    keep = panel.keypoint_filter
    reads, joins, checks = Asked(), Asked(), Asked()
    sets: dict[str, KeyPointSet] = {}
    inputs: dict[str, object]
    for topic in collection.topics.values():
        n_points = 0
        for document in collection.documents.get(topic.id, {}).values():
            for part in windows(document.text, reader.most_tokens, reader.overlap, reader.count):
                inputs = {"question": topic.question, "document": part, "known": []}
                for i in range(rounds):
                    reads.add(find, inputs, POINT_TOKENS * POINTS * i)
                n_points += POINTS
        texts = [placeholder(POINT_TOKENS) for _ in range(n_points)]
        points = tuple(KeyPoint(id=f"k{i}", text=text) for i, text in enumerate(texts))
        sets[topic.id] = KeyPointSet(topic_id=topic.id, query=topic.text, key_points=points)
        inputs = {"question": topic.question, "points": {}, "rejected": [], "faults": []}
        n_calls, n_listed = _merging(n_points, panel.keypoint_merger.most_points)
        for _ in range(n_calls):
            joins.add(join, inputs, POINT_TOKENS * n_listed)
        prompt = keep.prompt(keep.predictor)
        for text in texts:
            inputs = {"question": topic.question, "key_point": text}
            for _ in range(_asked_times(panel)):
                checks.add(prompt, inputs)
    many = POINT_TOKENS * POINTS
    return [
        estimated(config, "keypoint_extractor", reads, many),
        estimated(config, "keypoint_merger", joins, many * 2),
        estimated(config, "keypoint_filter", checks, LABEL_TOKENS),
    ], sets


def _merging(n_points: int, most: int) -> tuple[int, int]:
    """Calls that merge so many points, each with every other, and the points in one of them."""
    if n_points <= most:
        return int(n_points > 1), n_points
    n_blocks = -(-n_points // (most // 2))
    return n_blocks * (n_blocks - 1) // 2, -(-n_points * 2 // n_blocks)


def _asked_times(panel: Panel) -> int:
    """Requests for one point: more than one where samples stand in for log-probabilities."""
    return panel.keypoint_filter.samples if panel.keypoint_filter.method == "samples" else 1


def _precision(
    config: Config, collection: Collection, panel: Panel, sets: dict[str, KeyPointSet]
) -> list[Estimate]:
    stage = ClaimStage(collection, sets, panel.claim_extractor)
    split, judge = panel.claim_extractor.prompt("split"), panel.claim
    extracts = Asked.of(split, map(stage.inputs, stage.items()))
    listed = {topic: "".join(p.text for p in points.key_points) for topic, points in sets.items()}
    prompt = judge.prompt(judge.predictor)
    checks = Asked()
    for item in stage.items():
        inputs: dict[str, object] = {"key_points": listed[item.ids[0]], "claims": {}}
        for start in range(0, CLAIMS, judge.window):
            n = min(judge.window, CLAIMS - start)
            checks.add(prompt, inputs, CLAIM_TOKENS * n)
    return [
        estimated(config, "claim_extractor", extracts, CLAIM_TOKENS * CLAIMS),
        estimated(config, "claim", checks, KEYED_TOKENS * judge.window),
    ]
