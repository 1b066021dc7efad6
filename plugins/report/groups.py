"""The section on groups of topics: means by domain, by category, and by length of documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...programs.analysis.groups import GROUPS, GroupMeans, compute_group_means, read_topic_groups
from ...programs.protocols.scoreboard import LENGTH
from ...records.reading.problems import InputError, Problems
from .source import Source


def make_groups(source: Source) -> Mapping[str, Any] | None:
    """Return `by`: grouping -> measure -> `groups`, as (name, topics), and `runs`, best first.

    The `means` of a run have (value, judgements, missing judgements) over all topics, then by
    group. None if the topics have no domain, no category and no documents.
    """
    by: dict[str, Any] = {}
    for name in GROUPS:
        try:
            groups = read_topic_groups(source.paths, name, Problems())
        except InputError:  # the inputs have no such groups, or are missing
            continue
        if len(groups[1]) > 1:
            measures = (m for m in source.measures if m != LENGTH)
            by[name] = {
                m: _of_measure(compute_group_means(source.scores, groups, name, m))
                for m in measures
            }
    return {"by": by} if by else None


def _of_measure(means: GroupMeans) -> dict[str, Any]:
    names = list(means.groups)
    rows = []
    for run, (every, by_group) in means.runs.items():
        found = [every[0], *(by_group[name][0] if name in by_group else None for name in names)]
        shown = [None if one is None else [one.value, one.n, one.n_unjudged] for one in found]
        rows.append({"run": run, "means": shown})
    return {"groups": [[n, means.groups[n]] for n in names], "n": means.n_topics, "runs": rows}
