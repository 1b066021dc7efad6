"""Certificates: what a judge reached, bound to the judge, and how often its labels were used.

Each certificate that is asked for, passed or not, adds a line to `label_uses.jsonl` beside it, so
that a judge which was chosen as the best of many by the same labels shows it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from ...gates.certificate import Certificate, hash_identity, write_certificate
from ...records.reading.lines import hash_file
from ...records.reading.problems import InputError
from ...records.tables import Table
from ...records.writing import write_file

USES = "label_uses.jsonl"


@dataclass(frozen=True)
class Identity:
    """The identity of a judge: its name, prompt, model, version and settings."""

    name: str
    fields: Mapping[str, Any]


def make_identity(
    name: str, model: str | None, prompt: Path | None, version: str | None, settings: Sequence[str]
) -> Identity:
    """Make the identity of a judge of another tool from the options of the command.

    Args:
        prompt: a file; the identity has its hash. settings: `NAME=VALUE`, such as temperature=0.

    Raises: InputError for a judge without model or prompt, or a setting of another form.
    """
    lacking = [o for o, x in (("--model NAME", model), ("--prompt FILE", prompt)) if x is None]
    if model is None or prompt is None:
        raise InputError(
            f"a certificate is for one judge: add {' and '.join(lacking)}, and --version and "
            "--setting if it has them (for a judge of nuggetjudge: --results DIR)"
        )
    values: dict[str, str] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise InputError(f"--setting {text}: wanted NAME=VALUE, such as temperature=0")
        values[key] = value
    fields = {
        "model": model, "prompt_sha256": hash_file(prompt), "version": version, "settings": values,
    }  # fmt: skip
    return Identity(name or "judge", fields)


def certify(figures: Mapping[str, Any], identity: Identity, labels: Path, out: Path) -> Certificate:
    """Write the certificate of a check, passed or not, and count the use of its labels.

    Args:
        labels: the file with people's labels.

    Raises: InputError if a file cannot be read or written.
    """
    digest = hash_file(labels)
    uses = _read_uses(out.parent / USES)
    issued = datetime.now(UTC).isoformat(timespec="seconds")
    use = {"labels": digest, "judge": hash_identity(identity.fields), "name": identity.name,
           "outcome": figures["outcome"], "at": issued}  # fmt: skip
    uses.append(use)
    of_these = [each for each in uses if each.get("labels") == digest]
    kept = ("figure", "least", "value", "low", "high", "n")
    certificate = Certificate(
        identity.name,
        identity.fields,
        [{name: each[name] for name in kept} for each in figures["requirements"]],
        {
            "file": os.path.relpath(str(labels), str(out.parent)),
            "sha256": digest,
            "n": figures["n"],
            "n_uses": len(of_these),
            "n_judges": len({each.get("judge") for each in of_these}),
        },
        {
            "scale": list(figures["scale"]),
            "cut": None if figures["cut"] is None else list(figures["cut"]["at"]),
            "clusters": figures["clusters"]["by"],
            "level": figures["level"],
        },
        issued,
        out,
    )
    write_certificate(certificate)
    lines = b"".join(orjson.dumps(each) + b"\n" for each in uses)
    write_file(out.parent / USES, lines)
    return certificate


def _read_uses(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    try:
        rows = [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    except orjson.JSONDecodeError as error:
        what = f"not JSON ({error}); wanted the list of uses of labels"
        raise InputError(f"{path}: {what}") from None
    return [row for row in rows if isinstance(row, dict)]


def describe_uses(certificate: Certificate) -> str:
    """Say how often the labels were used, with a warning if several judges used them."""
    n, judges = certificate.labels["n_uses"], certificate.labels["n_judges"]
    text = f"These labels were used for {n:,} certificate{'s' * (n > 1)} of {judges:,} judge"
    text += "s" * (judges > 1)
    if judges > 1:
        text += "; the best of several judges looks better than it is on the labels that chose it"
    return f"{text}."


def leave_out_fitted(
    table: Table, others: Sequence[Table], key: Sequence[str]
) -> tuple[Table, int]:
    """Leave out the rows that were used for fitting the judge.

    Args:
        others: label files that the judge, or its prompt, was fitted on.
        key: columns that identify a row; the topic, if there is one.

    Returns: the table with the other rows, and how many rows were left out.
    Raises: InputError if a file is the same as the table, lacks a key column, or leaves no row.
    """
    seen: set[tuple[str, ...]] = set()
    for other in others:
        if _hash(table.path) == _hash(other.path):
            raise InputError(
                f"{other.path}: the judge was fitted on these labels; check it on other labels"
            )
        if not key or not {*key} <= {*other.columns}:
            names = " and ".join(key) or "an id"
            raise InputError(
                f"--fitted-on {other.path}: has no column {names} to find its rows in "
                f"{table.path} (choose with --topic or --item)"
            )
        seen |= {_ids(line.row, key) for line in other.rows}
    rows = [line for line in table.rows if _ids(line.row, key) not in seen]
    n = len(table.rows) - len(rows)
    if not rows:
        raise InputError(f"{table.path}: all rows were used for fitting; check on other labels")
    return Table(table.path, table.columns, rows, table.notes), n


def _ids(row: Mapping[str, Any], key: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(row.get(name)) for name in key)


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else str(path)
