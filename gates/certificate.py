"""Certificates of judges: the agreement that a judge reached with human labels.

A certificate is a JSON file. It is valid for one judge: prompt, model, version and settings. It
names the file of labels by its hash, and expires when that file changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from ..programs.analysis.leaderboards import group_measures
from ..programs.engine.manifest import read_manifest
from ..programs.protocols.table import programs
from ..records.kinds import find_kind
from ..records.reading.fields import shorten
from ..records.reading.lines import hash_file
from ..records.reading.problems import InputError, cell
from ..records.writing import write_file
from ..views.numbers import format_given, format_share
from .checks import Check

FORMAT = "nuggetjudge-certificate-1"
MEASURE = "certificate"  # of a check
_SHOWN = 3  # differences that a message names


@dataclass(frozen=True)
class Certificate:
    """The agreement of a judge with human labels.

    Attributes:
        judge: its name. identity: its prompt, model, version and settings, from a manifest or as
            given.
        requirements: for each requirement `figure`, `least`, `value`, `low`, `high` and `n`.
        labels: `file` (relative to the certificate's folder), `sha256`, `n` items with both labels,
            `n_uses` (certificates made with this file) and `n_judges` (judges among them).
        settings: how labels were read: scale, cut, sampling unit and level of intervals.
        issued: the time, in UTC.
    """

    judge: str
    identity: Mapping[str, Any]
    requirements: Sequence[Mapping[str, Any]]
    labels: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    issued: str = ""
    path: Path = Path()

    @property
    def is_passed(self) -> bool:
        """Whether every lower end of an interval reaches its requirement."""
        return bool(self.requirements) and not any(map(_misses, self.requirements))


def _misses(requirement: Mapping[str, Any]) -> bool:
    low = requirement.get("low")
    return low is None or not low >= requirement["least"]


def hash_identity(identity: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a judge's identity; the order of fields does not matter."""
    return hashlib.sha256(orjson.dumps(identity, option=orjson.OPT_SORT_KEYS)).hexdigest()


def write_certificate(certificate: Certificate) -> None:
    """Write a certificate to its path; replace an older file. Raises: InputError if it fails."""
    row = {
        "format": FORMAT,
        "is_passed": certificate.is_passed,
        "issued": certificate.issued,
        "judge": certificate.judge,
        "identity": certificate.identity,
        "identity_sha256": hash_identity(certificate.identity),
        "requirements": list(certificate.requirements),
        "labels": certificate.labels,
        "settings": certificate.settings,
    }
    write_file(certificate.path, orjson.dumps(row, option=orjson.OPT_INDENT_2) + b"\n")


def read_certificate(path: Path) -> Certificate:
    """Read a certificate. Raises: InputError if the file is not a certificate or was edited."""
    try:
        row = orjson.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path}: not JSON ({error}), wanted a certificate") from None
    how = "`judge check FILE --certify ... --out FILE` writes one"
    if not isinstance(row, dict) or row.get("format") != FORMAT:
        raise InputError(f"{path}: not a certificate of a judge; {how}")
    try:
        certificate = Certificate(
            row["judge"], row["identity"], row["requirements"], row["labels"], row["settings"],
            row["issued"], path,
        )  # fmt: skip
        is_whole = row["identity_sha256"] == hash_identity(certificate.identity)
        is_whole = is_whole and row["is_passed"] is certificate.is_passed
        is_whole = is_whole and {"file", "sha256"} <= certificate.labels.keys()
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: incomplete certificate ({shorten(repr(error))}); {how}"
        ) from None
    if not is_whole:
        raise InputError(f"{path}: was edited after it was written; {how}")
    return certificate


def check_certificates(
    folder: Path, certificates: Sequence[Certificate], measures: Collection[str] = ()
) -> list[Check]:
    """Check that the judges of a results folder have valid certificates.

    Args:
        measures: the checked measures; their judges need a certificate. (): all measures.

    Returns: a check for each judge that labelled the results. It passes with a certificate for
        exactly this judge, with all requirements met and unchanged labels.
    """
    judges = find_labelling_judges(folder)
    by_judge = {certificate.judge: certificate for certificate in certificates}
    for name, certificate in by_judge.items():
        if name not in judges:
            there = ", ".join(judges) or "none"
            raise InputError(f"{certificate.path}: for judge {name!r}; {folder} has {there}")
    needed = find_labelling_judges(folder, measures).keys() | by_judge.keys()
    return [
        _check(name, identity, by_judge.get(name))
        for name, identity in judges.items()
        if name in needed
    ]


def find_labelling_judges(
    folder: Path, measures: Collection[str] = ()
) -> dict[str, Mapping[str, Any]]:
    """Return the judges whose labels the scores of a folder use, with their identities.

    Judges that write lists, such as nuggets, are included only if no other judge was used.

    Args:
        measures: only judges of the tasks with these measures; (): of all tasks.
    """
    manifest = read_manifest(folder)
    judges: dict[str, Mapping[str, Any]] = manifest.get("judges", {})
    tasks = manifest["config"].get("program", [])
    chosen = [one for one in programs() if one.name in tasks]
    groups = group_measures(set(measures), tasks)
    if measures and None not in (of_group := [program for program, _ in groups]):
        chosen = [one for one in chosen if one in of_group]
    kinds = [find_kind(one.kind) for one in chosen]
    names = {kind.judge for kind in kinds if kind is not None}
    return {name: judges[name] for name in judges if name in names} or dict(judges)


def _check(name: str, identity: Mapping[str, Any], certificate: Certificate | None) -> Check:
    wanted = f"certificate of {name}"
    if certificate is None:
        why = f"judge {name} has no certificate; add --certificate FILE"
        return Check("", MEASURE, wanted, False, why, sentence=why)
    why = _why_invalid(name, identity, certificate)
    figures = ", ".join(
        f"{each['figure']} {format_share(each['value'])} (at least {format_share(each['low'])})"
        for each in certificate.requirements
    )
    found = f"{figures}, {certificate.labels.get('n', 0):,} labels, {certificate.issued[:10]}"
    return Check("", MEASURE, wanted, not why, why or found, sentence=why)


def _why_invalid(name: str, identity: Mapping[str, Any], certificate: Certificate) -> str:
    """Return why a certificate is not valid for a judge; "" if it is valid."""
    if hash_identity(identity) != hash_identity(certificate.identity):
        changes = list(_differences(certificate.identity, identity))
        more = f" and {len(changes) - _SHOWN} more" * (len(changes) > _SHOWN)
        what = f"{', '.join(changes[:_SHOWN])}{more}"
        return f"the certificate is for another judge {name}: {what}; certify this judge"
    for each in certificate.requirements:
        if _misses(each):
            low, least = format_share(each.get("low")), format_given(each["least"])
            what = f"the lower end of {each['figure']} is {low}, wanted {least}"
            return f"the judge {name} failed its certificate: {what}"
    labels = certificate.path.parent / certificate.labels["file"]
    if labels.is_file() and hash_file(labels) != certificate.labels["sha256"]:
        return f"the certificate of {name} has expired: {labels} has changed; certify again"
    return ""


def _differences(
    one: Mapping[str, Any], other: Mapping[str, Any], prefix: str = ""
) -> Iterator[str]:
    """Yield fields that differ, as `model.temperature 0.0 -> 0.5`."""
    for name in dict.fromkeys((*one, *other)):
        before, after = one.get(name), other.get(name)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _differences(before, after, f"{prefix}{name}.")
        elif before != after:
            yield f"{prefix}{name} {_show(before)} -> {_show(after)}"


def _show(value: Any) -> str:
    text = "none" if value is None else str(value)
    return cell(text[:12] if len(text) == 64 else text, 40)
