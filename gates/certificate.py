"""Certificates of judges: what a judge reached on people's labels, and for which judge it holds.

A certificate is a JSON file. It holds for one judge: its prompt, model, version and settings. It
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
    """What a judge reached on people's labels.

    Attributes:
        judge: its name. identity: prompt, model, version and settings, as in a manifest, or as they
            were given.
        requirements: `figure`, `least`, `value`, `low`, `high` and `n` of each.
        labels: `file` (from the certificate's folder), `sha256`, `n` with both labels, `n_uses` and
            `n_judges`: how often certificates were asked of them, and of how many judges.
        settings: how labels were read (scale, cut, what intervals go by, their level).
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
        """Whether every lower end reaches what was required."""
        return bool(self.requirements) and not any(map(_misses, self.requirements))


def _misses(requirement: Mapping[str, Any]) -> bool:
    low = requirement.get("low")
    return low is None or not low >= requirement["least"]


def hash_identity(identity: Mapping[str, Any]) -> str:
    """SHA-256 of a judge's identity, whatever the order of its fields."""
    return hashlib.sha256(orjson.dumps(identity, option=orjson.OPT_SORT_KEYS)).hexdigest()


def write_certificate(certificate: Certificate) -> None:
    """Write it to its path, replacing an older one. Raises: InputError if it cannot be written."""
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
    """Read a certificate. Raises: InputError if it is none, or one that was edited."""
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
        raise InputError(f"{path}: {shorten(repr(error))}: not whole; {how}") from None
    if not is_whole:
        raise InputError(f"{path}: was edited since it was written; {how}")
    return certificate


def check_certificates(
    folder: Path, certificates: Sequence[Certificate], measures: Collection[str] = ()
) -> list[Check]:
    """Hold certificates against the judges of a results folder.

    Args:
        measures: those that are checked, whose judges need one; (): all.

    Returns: a check for each judge whose labels the results rest on: passed with a certificate that
        was issued to this very judge, whose requirements were met, and whose labels have not
        changed.
    """
    judges = find_labelling_judges(folder)
    by_judge = {certificate.judge: certificate for certificate in certificates}
    for name, certificate in by_judge.items():
        if name not in judges:
            there = ", ".join(judges) or "none"
            raise InputError(f"{certificate.path}: of judge {name!r}; {folder} has {there}")
    needed = find_labelling_judges(folder, measures).keys() | by_judge.keys()
    return [
        _check(name, identity, by_judge.get(name))
        for name, identity in judges.items()
        if name in needed
    ]


def find_labelling_judges(
    folder: Path, measures: Collection[str] = ()
) -> dict[str, Mapping[str, Any]]:
    """The judges whose labels the results of a folder rest on, with their identities.

    Judges that only make something, such as nuggets, are not among them, unless there is no other.

    Args:
        measures: the judges of the tasks that give these alone; (): of all tasks.
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
        why = f"the judge {name} has no certificate (--certificate FILE)"
        return Check("", MEASURE, wanted, False, why, sentence=why)
    why = _why_invalid(name, identity, certificate)
    figures = ", ".join(
        f"{each['figure']} {format_share(each['value'])} (at least {format_share(each['low'])})"
        for each in certificate.requirements
    )
    found = f"{figures}, {certificate.labels.get('n', 0):,} labels, {certificate.issued[:10]}"
    return Check("", MEASURE, wanted, not why, why or found, sentence=why)


def _why_invalid(name: str, identity: Mapping[str, Any], certificate: Certificate) -> str:
    """Why a certificate does not hold for a judge; "": it does."""
    if hash_identity(identity) != hash_identity(certificate.identity):
        changes = list(_differences(certificate.identity, identity))
        more = f" and {len(changes) - _SHOWN} more" * (len(changes) > _SHOWN)
        what = f"{', '.join(changes[:_SHOWN])}{more}"
        return f"the certificate is of another judge {name}: {what}; certify this one"
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
    """The fields that differ, as `model.temperature 0.0 -> 0.5`."""
    for name in dict.fromkeys((*one, *other)):
        before, after = one.get(name), other.get(name)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _differences(before, after, f"{prefix}{name}.")
        elif before != after:
            yield f"{prefix}{name} {_show(before)} -> {_show(after)}"


def _show(value: Any) -> str:
    text = "none" if value is None else str(value)
    return cell(text[:12] if len(text) == 64 else text, 40)
