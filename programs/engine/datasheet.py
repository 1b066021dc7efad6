"""Datasheets, DATASHEET.md: their layout, and the parts that every one of them has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_LICENCE = (
    "Not stated by the program. The texts keep the terms of their sources, and what was",
    "generated may be bound by those of its model. The maker has to state both.",
)


def datasheet(title: str, about: str, parts: Mapping[str, Iterable[str]]) -> str:
    """The text of a datasheet: lines under headings, the licence last, which nobody here knows.

    Holds no time, cost or address.
    """
    lines = [f"# {title}", "", about]
    for heading, part in {**parts, "Licence": _LICENCE}.items():
        lines += ["", f"## {heading}", *part]
    return "\n".join(lines) + "\n"


def sources(hashes: Mapping[str, str]) -> Iterator[str]:
    """Files by their names, with their hashes."""
    for path, digest in hashes.items():
        yield f"- `{plain(Path(path).name)}`, SHA-256 `{digest}`"


def generated(manifest: Mapping[str, Any], made: Mapping[str, str]) -> Iterator[str]:
    """A table of what was made, by judge, and which models answered."""
    rows = [["what", "judge", "version", "prompts", "model"]]
    for name, what in made.items():
        if judge := manifest["judges"].get(name):
            prompts = ", ".join(judge["prompts"].values())
            model = plain(judge["model"]["model"])
            rows.append([what, judge["judge"], judge["version"], prompts, model])
    yield from table(rows)
    yield ""
    if answered := [name for name in manifest["answered_by"] if name != "lexical"]:
        yield f"The models gave their names as {', '.join(map(plain, answered))}."
    if any("lexical" in row["model"]["model"] for row in manifest["judges"].values()):
        yield "`lexical` counts shared words and is no language model: good for trying the tools."


def left_out(manifest: Mapping[str, Any]) -> list[str]:
    """Topics, lines of files and others that are not in the collection."""
    return [
        *(
            f"- topic `{plain(row['topic_id'])}`: {row['stage']} not made ({row['reason']})"
            for row in manifest["left_out"]
        ),
        *(f"- {n:,} {kind} (problems.jsonl)" for kind, n in manifest["problems"].items()),
        *(f"- {n:,} {what}" for what, n in manifest["counts"].items()),
    ]


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A Markdown table, the header first."""
    header, *body = rows
    yield f"| {' | '.join(header)} |"
    yield "|" + "---|" * len(header)
    for row in body:
        yield f"| {' | '.join(row)} |"


def plain(text: str) -> str:
    """A name for Markdown, whatever it holds."""
    return "".join(c if c.isprintable() and c not in "|`<>" else "?" for c in text)
