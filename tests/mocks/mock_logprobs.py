"""Log-probabilities of the mock server's tokens, in OpenAI's shape and after a grammar's mask."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Mapping
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
    n_top, is_masked = body.get("top_logprobs") or 0, schema_of(body) is not None
    words = enumerate(f" {word}" for word in WORDS * 2)
    others = [_token(word, MASKED if is_masked else -8.0 - i) for i, word in words]
    starts = dict(_labels(reply.probabilities or {}, content, body))
    tokens = []
    for match in TOKEN.finditer(content):
        label = match.group()
        shares = starts.get(match.start(), {label: 0.999})
        best = sorted(shares.items(), key=lambda pair: -pair[1])
        top = [_token(token, math.log(share)) for token, share in best if share > 0] + others
        own = next((row for row in top if row["token"] == label), _token(label, MASKED))
        tokens.append(own | {"top_logprobs": top[:n_top]})
    return {"content": tokens, "refusal": None}


def _labels(given: Mapping[str, Any], content: str, body: Body) -> Iterator[tuple[int, Shares]]:
    """Where a label starts, and the shares of its tokens: those given, or drawn."""
    rng, sets = rng_of(body), label_sets(body)
    is_by_key = any(isinstance(part, Mapping) for part in given.values())
    asked = {} if is_by_key else given
    if asked:
        sets.insert(0, list(asked))
    for match in VALUE.finditer(content):
        label = match["text"] or match["number"] or match["plain"]
        if match["colon"]:
            asked = given.get(label, {}) if is_by_key else asked
        elif labels := next((labels for labels in sets if label in labels), None):
            yield (
                match.start(match.lastgroup or 0),
                _first_tokens(asked or _spread(label, labels, rng)),
            )


def _spread(label: str, labels: list[str], rng: random.Random) -> Shares:
    others = {other: rng.random() + 0.1 for other in labels if other != label}
    own = rng.uniform(0.5, 0.9) if others else 1.0
    total = sum(others.values())
    return {label: own} | {other: (1 - own) * w / total for other, w in others.items()}


def _first_tokens(probabilities: Shares) -> Shares:
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
