"""Log-probabilities of the mock server's tokens, in OpenAI's shape and after a grammar's mask."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping
from typing import Any

from mock_replies import WORDS, Body, Reply, Shares, label_sets, rng_of, schema_of

MASKED = -9999.0  # what OpenAI and vLLM write for a token that cannot be sampled
TOKEN = re.compile(r"\s?[A-Za-z]+|\d|\s+|.", re.DOTALL)
VALUE = re.compile(  # a string that may be a key, a number, or plain text from the start
    r'"(?P<text>(?:[^"\\]|\\.)*)"(?P<colon>\s*:)?|(?P<number>-?\d+(?:\.\d+)?)|\A(?P<plain>[^\s{["]\S*)'
)


def logprobs_of(reply: Reply, content: str, body: Body) -> Body:
    """Token logprobs in OpenAI's shape, after the grammar mask as vLLM gives them.

    Where a label starts, each offered label's first token shares the probability; a tenth of it
    sits on the label's first letter, as tokenisers allow, so readers must sum by prefix.
    """
    n_top = body.get("top_logprobs") or 0
    sets = label_sets(body)
    is_masked = schema_of(body) is not None
    given: Mapping[str, Any] = reply.probabilities or {}
    is_by_key = any(isinstance(part, Mapping) for part in given.values())
    asked: Shares = {} if is_by_key else given
    if asked:
        sets.insert(0, list(asked))
    starts: dict[int, tuple[str, list[str], Shares]] = {}
    for match in VALUE.finditer(content):
        told = match["text"] or match["number"] or match["plain"]
        if match["colon"] and is_by_key:
            asked = given.get(told, {})
        labels = next((labels for labels in sets if told in labels), None)
        if labels and not match["colon"]:
            starts[match.start(match.lastgroup or 0)] = (told, labels, asked)
    rng = rng_of(body)
    tokens = []
    for match in TOKEN.finditer(content):
        told = match.group()
        shares = {told: 0.999}
        if match.start() in starts:
            label, labels, asked = starts[match.start()]
            shares = _first_tokens(asked or _spread(label, labels, rng))
        best = sorted(shares.items(), key=lambda pair: -pair[1])
        top = [(token, math.log(share)) for token, share in best if share > 0]
        others = [f" {word}" for word in WORDS * 2]
        if is_masked:
            top += [(token, MASKED) for token in others]
        else:
            top += [(token, -8.0 - i) for i, token in enumerate(others)]
        own = next((lp for token, lp in top if token == told), MASKED)
        shown = [_token(token, lp) for token, lp in top[:n_top]]
        tokens.append({**_token(told, own), "top_logprobs": shown})
    return {"content": tokens, "refusal": None}


def _spread(label: str, labels: list[str], rng: random.Random) -> dict[str, float]:
    others = {other: rng.random() + 0.1 for other in labels if other != label}
    own = rng.uniform(0.5, 0.9) if others else 1.0
    total = sum(others.values())
    return {label: own} | {other: (1 - own) * w / total for other, w in others.items()}


def _first_tokens(probabilities: Mapping[str, float]) -> dict[str, float]:
    shares: dict[str, float] = {}
    for label, share in probabilities.items():
        first = TOKEN.match(label)
        piece = first.group() if first else label
        shares[piece] = shares.get(piece, 0.0) + share
    letters = [piece[0] for piece in shares]
    for piece in list(shares):
        if len(piece) > 1 and letters.count(piece[0]) == 1:
            shares[piece[0]] = 0.1 * shares[piece]
            shares[piece] *= 0.9
    return shares


def _token(token: str, logprob: float) -> Body:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}
