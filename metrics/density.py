"""How many answers a context gives for its length, against the passages that a report needs."""

from .value import Value

WEIGHT = 0.5  # arXiv:2506.20051, equation 6: w


def density(
    n_answered: float,
    tokens: float,
    n_answerable: float,
    required_tokens: float,
    weight: float = WEIGHT,
) -> float | None:
    """Answers per token of a text, divided by those of the required passages P**, to the power w.

    Args:
        n_answered: answerable questions that the text answers, from 0 to `n_answerable`.
        tokens: length of the text, >= 0.
        n_answerable: questions that P** answers, >= 0.
        required_tokens: length of P**, >= 0, counted in the same way.
        weight: w > 0; below 1 it draws the values towards 1.

    Returns: a number >= 0; 1 is as dense as P**, and a text can be denser than that. 0 for a text
        that answers nothing, the empty context included. None where it is not defined: no question
        is answerable, P** has no tokens, or a text of no tokens answers something.
    Raises: ValueError for a number out of range.
    Source: arXiv:2506.20051, equation 6.

    >>> density(n_answered=4, tokens=400, n_answerable=8, required_tokens=200)  # sqrt(.01 / .04)
    0.5
    """
    for name, number in (("tokens", tokens), ("required_tokens", required_tokens)):
        if not number >= 0:
            raise ValueError(f"{name} is {number}, wanted >= 0")
    if not 0 <= n_answered <= n_answerable:
        raise ValueError(f"n_answered is {n_answered}, wanted 0 to n_answerable = {n_answerable}")
    if not weight > 0:
        raise ValueError(f"weight is {weight}, wanted > 0")
    if not n_answerable or not required_tokens:
        return None
    if not n_answered:
        return 0.0
    if not tokens:
        return None
    return float((n_answered * required_tokens / (tokens * n_answerable)) ** weight)


def density_value(
    coverage: Value,
    n_answerable: int,
    tokens: float,
    required_tokens: float,
    weight: float = WEIGHT,
    *,
    between: tuple[float, float] | None = None,
) -> Value:
    """Density of a context or report whose coverage is known, with its bounds.

    Equation 6 takes the answered questions as a share of the answerable ones, which is the
    coverage. So questions that missing ratings leave open count as they do in the coverage, in the
    value and in the bounds.

    Args:
        coverage: of the text, as `coverage` gives it.
        n_answerable: questions known to be answerable, >= 0.
        tokens, required_tokens, weight: as in `density`.
        between: the fewest and the most tokens that P** can have, where missing ratings leave it
            open.

    Returns: the density, with `n` and `n_unjudged` of the coverage. Undefined where `density` or
        the coverage is; without bounds where missing ratings leave that open.
    Raises: ValueError for a number out of range.
    Source: arXiv:2506.20051, equation 6.

    >>> density_value(Value(0.5, n=8, n_unjudged=2, low=0.25, high=1.0), 4, 100, 100, weight=1)
    Value(value=0.5, n=8, n_unjudged=2, low=0.25, high=1.0)
    """
    least, most = between or (required_tokens, required_tokens)
    if not least <= required_tokens <= most:
        raise ValueError(f"required_tokens is {required_tokens}, wanted {least} to {most}")
    low, value, high = (
        None
        if share is None
        else density(share * n_answerable, tokens, n_answerable, required, weight)
        for share, required in (
            (coverage.low, least),
            (coverage.value, required_tokens),
            (coverage.high, most),
        )
    )
    if between and high is not None:
        low = low or 0.0  # of no tokens too
    if low is None or high is None:
        low = value = high = None
    return Value(value, coverage.n, coverage.n_unjudged, low, high)
