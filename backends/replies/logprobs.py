"""Computes the probability of each label of a reply from the log-probabilities of its tokens.

A label may begin within a token (`": "full`) and be cut anywhere (`part`, `ial`), and so may the
labels that the model did not choose. So the tokens are followed from the start of the label
to the one that distinguishes the labels, and each alternative on the way counts for the
labels that it begins or holds. If no listed alternative begins a label, the label has an upper
bound: an unlisted token is at most as probable as the least probable listed one, and as the
remainder to 1. Texts are compared in plain form: bytes, written as one character each since a token
may end within a character, in lower case without white space, `_` and `-`.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import orjson

# A token in plain form, and the probability of each text at its place, its own included.
Token = tuple[str, dict[str, float]]
LabelPath = tuple[str, ...]  # an output field, or a field and a key of its map
Shares = dict[str, float]  # by label, or by the text so far

MIN_PROBABILITY = (
    1e-9  # less probable alternatives are dropped, such as masked tokens (-9999, -inf)
)
MAX_LOGPROB = 1e-3  # a value of 0 after rounding
MIN_ON_LABELS = 0.5  # share that labels need; below it, the model was not about to write a label
MIN_FORCED = 1e-6  # the same if a schema allows labels only
MIN_OUTSIDE = 0.01  # smaller probabilities outside the labels are not reported
MAX_GRADES = 101  # a wider range of integers is a count, not a scale

_LOWER, _GAPS = bytes(range(256)).lower(), b" \t\r\n_-"
_PIECE = re.compile(  # of valid JSON: a key or string, a bracket, or another value
    r'("(?:[^"\\]++|\\.)*+")(\s*+:)?|[{}\[\]]|[^\s{}\[\],:"]++'
)


def read_tokens(logprobs: Any) -> list[Token]:
    """Read the tokens of `choices[].logprobs` in OpenAI's form; [] if missing or broken."""
    try:
        return [_token(row) for row in logprobs["content"]]
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        return []


def find_label_paths(schema: Mapping[str, Any]) -> dict[LabelPath, dict[str, str]]:
    """Find the labels in a reply's JSON schema: their plain forms, by output field or map key.

    Labels are enums and integers from 0 up, of at most MAX_GRADES values. Labels that
    differ only in case, white space, `_` and `-` are ambiguous and left out.
    """
    parts: dict[LabelPath, Any] = {}
    for name, part in schema["properties"].items():
        parts[(name,)] = part
        parts |= {(name, key): inner for key, inner in part.get("properties", {}).items()}
    return {path: labels for path, part in parts.items() if (labels := _labels(part))}


def weigh_labels(
    text: str,
    tokens: Sequence[Token],
    paths: Mapping[LabelPath, Mapping[str, str]],
    least: float = MIN_ON_LABELS,
) -> tuple[dict[str, Any], dict[str, Any], list[Token]]:
    """Compute the probabilities of the labels in a parsed reply.

    Probability outside the labels (`"unknown`, or alternatives that the endpoint did not
    list) is removed, and each label's share of the rest is returned.

    Args:
        text: the reply. tokens: from `read_tokens`; they may include thoughts before the reply.
        paths: from `find_label_paths`.
        least: probability that labels need. Use MIN_FORCED if a schema forced the label: a
            server that reports log-probabilities before the grammar's mask may put most of the
            probability on other words, which does not affect the shares of the labels.

    Returns: three values.
        Output field -> {label: probability} with the sum 1; for a map, the same by key. A field
        or key is missing if the endpoint listed no alternatives, the tokens do not spell the reply,
        the listed labels have less than `least`, or the upper bounds of the others exceed it.
        In the same form, the probability outside the labels, if it is at least MIN_OUTSIDE.
        The tokens that are needed to compute the same values again.
    """
    plain = _plain(text.encode("utf-8", "replace"))
    begin = "".join(token for token, _ in tokens).rfind(plain) if paths else -1
    if begin < 0:
        return {}, {}, []
    starts = list(accumulate((len(token) for token, _ in tokens), initial=0))[:-1]
    probabilities: dict[str, Any] = {}
    outside: dict[str, Any] = {}
    used: set[int] = set()
    at, done = begin, 0
    for path, start in _values(text):
        if path not in paths:
            continue
        at, done = at + len(_plain(text[done:start].encode("utf-8", "replace"))), start
        first = _index(starts, at)
        shares, bounds, end = _chances(tokens, first, at - starts[first], paths[path])
        used.update(range(first, end))
        listed, unlisted = math.fsum(shares.values()), math.fsum(bounds.values())
        if listed < least or unlisted > listed:
            continue
        total = listed + unlisted
        shares = {label: (share + bounds[label]) / total for label, share in shares.items()}
        _put(probabilities, path, shares)
        if 1 - listed >= MIN_OUTSIDE:
            _put(outside, path, 1 - listed)
    needed = range(_index(starts, begin), len(tokens))
    return (
        probabilities,
        outside,
        [(tokens[i][0], tokens[i][1] if i in used else {}) for i in needed],
    )


def spell_tokens(text: str, chances: Mapping[LabelPath, Mapping[str, float]]) -> list[Token]:
    """Write a reply as tokens with these probabilities, which `weigh_labels` can read again.

    Args:
        text: JSON, with a label at each path. chances: by path, the probability of each label.

    >>> paths = {("label",): {"yes": '"yes"', "no": '"no"'}}
    >>> tokens = spell_tokens('{"label":"yes"}', {("label",): {"yes": 0.75, "no": 0.25}})
    >>> weigh_labels('{"label":"yes"}', tokens, paths)[0]
    {'label': {'yes': 0.75, 'no': 0.25}}
    """
    tokens: list[Token] = []
    done = 0
    for path, start in _values(text):
        tokens.append((_plain(text[done:start].encode()), {}))
        written = next(match[0] for match in [_PIECE.match(text, start)] if match)
        is_text = written.startswith('"')
        shares = chances[path].items()
        forms = {_plain(orjson.dumps(label if is_text else int(label))): p for label, p in shares}
        tokens.append((_plain(written.encode()), forms))
        done = start + len(written)
    return [*tokens, (_plain(text[done:].encode()), {})]


def _put(values: dict[str, Any], path: LabelPath, value: Any) -> None:
    if len(path) == 1:
        values[path[0]] = value
    else:
        values.setdefault(path[0], {})[path[1]] = value


def _chances(
    tokens: Sequence[Token], i: int, skip: int, labels: Mapping[str, str]
) -> tuple[Shares, Shares, int]:
    """Follow the tokens from i on; token i begins with `skip` characters before the label.

    Returns: each label's probability; its upper bound beyond that, since the endpoint lists only
        some alternatives; and the index of the first token that was not needed. The first two are
        empty if nothing is known.
    """
    lead, prefix, alive = tokens[i][0][:skip], "", dict(labels)
    steps: list[tuple[Shares, float, dict[str, str]]] = []
    while len(alive) > 1 and i < len(tokens):
        token, others = tokens[i]
        chances: Shares = {}
        for other, p in others.items():
            if other.startswith(lead) or lead.startswith(other):
                spelled = prefix + other[len(lead) :]
                chances[spelled] = chances.get(spelled, 0.0) + p
        prefix += token[len(lead) :]
        left = {label: form for label, form in alive.items() if _fits(prefix, form)}
        if not left or (not others and len(left) < len(alive)):
            return {}, {}, i
        if others:
            rest = max(0.0, 1 - math.fsum(others.values()))
            # The sampled token may be less probable than the listed ones, so it sets no bound.
            listed = [p for other, p in others.items() if other != token] or others.values()
            steps.append((chances, min(rest, *listed), alive))
        lead, alive, i = "", left, i + 1
    if len(alive) > 1:
        return {}, {}, i
    shares, bounds = dict.fromkeys(alive, 1.0), dict.fromkeys(alive, 0.0)
    for chances, bound, could in reversed(steps):
        shares, bounds = _share_alternatives(chances, bound, could, shares, bounds)
    return shares, bounds, i


def _share_alternatives(
    chances: Mapping[str, float],
    bound: float,
    could: Mapping[str, str],
    later: Mapping[str, float],
    later_bounds: Mapping[str, float],
) -> tuple[Shares, Shares]:
    """Share one token's alternatives among the labels; `later` has the shares of later tokens.
    An alternative that leaves the same labels open as the actual token is shared by `later`.
    Any other that leaves several labels open is shared in proportion to their other shares,
    evenly if those are 0. If no alternative begins a label, the label gets the bound: an
    unlisted alternative may begin it.
    """
    shares, bounds = dict.fromkeys(could, 0.0), dict.fromkeys(could, 0.0)
    begun: set[str] = set()
    unsettled: list[tuple[list[str], float]] = []
    for spelled, p in chances.items():
        fitting = [label for label, form in could.items() if _fits(spelled, form)]
        begun.update(fitting)
        if fitting == list(later):
            for label in fitting:
                shares[label] += p * later[label]
                bounds[label] += p * later_bounds[label]
        elif len(fitting) == 1:
            shares[fitting[0]] += p
        elif fitting:
            unsettled.append((fitting, p))
    settled = dict(shares)
    for fitting, p in unsettled:
        total = sum(settled[label] for label in fitting)
        for label in fitting:
            shares[label] += p * (settled[label] / total if total else 1 / len(fitting))
    return shares, bounds | dict.fromkeys(could.keys() - begun, bound)


def _fits(spelled: str, form: str) -> bool:
    """Whether a reply that goes on with `spelled` may hold the label, or holds it."""
    if len(spelled) <= len(form):
        return form.startswith(spelled)
    # A string ends with its closing quote; a number must end here.
    after = spelled[len(form)]
    return spelled.startswith(form) and (form[-1] == '"' or not (after.isalnum() or after == "."))


def _values(text: str) -> Iterator[tuple[LabelPath, int]]:
    """Each string, number or literal in the reply's JSON: its path and its start."""
    path: list[Any] = []  # the key at each depth, None in a list
    for match in _PIECE.finditer(text, text.find("{")):
        piece = match[0]
        if piece in ("{", "["):
            path.append(None)
        elif piece in ("}", "]"):
            path.pop()
        elif match[2]:
            path[-1] = orjson.loads(match[1])
        elif path:  # otherwise the end of a code fence
            yield tuple(path), match.start()


def _index(starts: Sequence[int], at: int) -> int:
    """The first token that starts at this character, or the token that holds it."""
    i = bisect_left(starts, at)
    return i if i < len(starts) and starts[i] == at else i - 1


def _labels(part: Mapping[str, Any]) -> dict[str, str]:
    low, high = part.get("minimum", -1), part.get("maximum", math.inf)
    is_scale = part.get("type") == "integer" and low >= 0 and high - low < MAX_GRADES
    values = part.get("enum", range(low, high + 1) if is_scale else ())
    labels = {str(value): _plain(orjson.dumps(value)) for value in values}
    return labels if len(set(labels.values())) == len(values) > 1 else {}


def _token(row: Any) -> Token:
    text, own = _text_and_chance(row)
    others: dict[str, float] = {}
    for other in row.get("top_logprobs") or ():
        name, p = _text_and_chance(other)
        others[name] = others.get(name, 0.0) + p
    if others:
        others.setdefault(text, own)  # sampled from below the listed ones
    return text, {name: p for name, p in others.items() if p >= MIN_PROBABILITY}


def _text_and_chance(row: Any) -> tuple[str, float]:
    raw, logprob = row.get("bytes"), row["logprob"]
    text = bytes(raw) if isinstance(raw, list) and raw else row["token"].encode()
    if logprob is not None and logprob > MAX_LOGPROB:
        raise ValueError("not a log-probability (a logit, perhaps)")
    return _plain(text), 0.0 if logprob is None else math.exp(min(logprob, 0.0))


def _plain(text: bytes) -> str:
    return text.translate(_LOWER, _GAPS).decode("latin-1")
