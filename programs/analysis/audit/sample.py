"""The config by which a sample of a results folder's topics is judged again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from ....records.reading.problems import InputError
from ....records.rows import Topic
from ....records.writing import own_folder, write_file
from ...engine.folders.inputs import inputs_of
from ...engine.manifest import read_manifest
from ...inputs.collection import load_collection
from ...protocols.table import chosen, programs

TOPICS = "sample/topics.jsonl"  # in the folder of the audit
# What is kept of a judge's section: how it asks, and nothing of who answers.
_TAKEN_OVER = ("window", "grades", "titles", "scale", "sub_narratives")


def audit_sections(results: Path, out: Path, n_topics: int | None, seed: int) -> dict[str, Any]:
    """Sections of a config: the run's data and programs, the same nuggets, some of its topics.

    Topics are drawn without a look at scores. Who answers is left open: models, fits, juries,
    prompts and demonstrations of the first judge are not taken over.

    Args:
        out: the folder of the audit, into which the topics are written.
        n_topics: how many are drawn; None, or more than there are: all.

    Raises: InputError where inputs have changed or gone, and for a folder without answers.
    """
    config = inputs_of(results).checked("without it the sample cannot be judged again")
    manifest = read_manifest(results)
    if not manifest["data"].get("run_ids"):
        raise InputError(f"{results}: has no runs, so no order of them to audit")
    names = [one.name for one in chosen(config.program) if one.shown]  # others order no runs
    if not names:
        raise InputError(f"{results}: {', '.join(config.program)} orders no runs")
    ids = list(manifest["data"]["topic_ids"])
    drawn = ids
    if n_topics is not None and n_topics < len(ids):
        sampled = set(random.Random(seed).sample(sorted(ids), n_topics))
        drawn = [topic for topic in ids if topic in sampled]
    topics = load_collection(config.data).topics
    own_folder((out / TOPICS).parent)
    rows = [orjson.dumps(_topic_row(topics[name])) + b"\n" for name in drawn]
    write_file(out / TOPICS, b"".join(rows))
    sections = config.model_dump(mode="json", by_alias=True)
    made = {name: results / file for one in programs() for name, file in one.makes.items()}
    files = {name: str(path) for name, path in made.items() if path.is_file()}
    nuggets = {**sections["nuggets"], "how": "window", "start": "none", "fill": False}
    allowed = {"allow_missing": config.run.allow_missing, "concurrency": config.run.concurrency}
    return {
        **{name: section for name, section in sections.items() if name not in _NOT_TAKEN},
        "program": names,
        "data": {**sections["data"], **files, "topics": str(out / TOPICS)},
        "nuggets": nuggets,
        "judges": {
            name: _taken_over(of) for name, of in sections["judges"].items() if _taken_over(of)
        },
        "run": {**allowed, "out": str(out), "explain": False},
    }


_NOT_TAKEN = ("models", "judges", "run", "retrieve", "pipelines", "generate")


def _taken_over(section: Mapping[str, Any]) -> dict[str, Any]:
    return {name: section[name] for name in _TAKEN_OVER if section.get(name) is not None}


def _topic_row(topic: Topic) -> dict[str, Any]:
    row = {"id": topic.id, "title": topic.text, "background": topic.background}
    row |= {"domain": topic.domain, "category": topic.category}
    return {name: value for name, value in row.items() if value}
