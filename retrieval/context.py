"""How much of a ranking becomes the context: what fits a token budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .scored import Ranked, Scored


def within_tokens(
    ranked: Sequence[Scored], texts: Mapping[str, str], limit: int, count: Callable[[str], int]
) -> Ranked:
    """The longest beginning of a ranking whose texts have at most `limit` tokens together.

    No passage is cut, and none is passed over for a shorter one further down: a first passage that
    is too long by itself leaves the context empty.

    Args:
        texts: of every passage, by id, as far as the limit reaches.
        limit: tokens, >= 0.
        count: tokens of a text, such as `metrics.token_counter("words")`.

    Raises: ValueError for a limit below 0 or a passage without text; it names the passage.

    >>> texts = {"a": "one two", "b": "three", "c": "four"}
    >>> ranked = [Scored("a", 3.0), Scored("b", 2.0), Scored("c", 1.0)]
    >>> within_tokens(ranked, texts, 3, lambda text: len(text.split()))
    [Scored(passage_id='a', score=3.0), Scored(passage_id='b', score=2.0)]
    """
    if limit < 0:
        raise ValueError(f"limit must be 0 or more tokens, got {limit}")
    n_tokens = 0
    for position, (name, _) in enumerate(ranked):
        if name not in texts:
            raise ValueError(f"ranked[{position}]: no text of passage {name!r}")
        n_tokens += count(texts[name])
        if n_tokens > limit:
            return list(ranked[:position])
    return list(ranked)
