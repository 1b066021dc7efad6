"""Rating matrices with missing cells, and every way to fill them: what bounds are held against."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from hypothesis import strategies as st

MAX_MISSING = 5


@st.composite
def pools_and_contexts(draw, *, most_texts=4, most_questions=4, missing=True):
    """(ratings, pool rows, context rows): the texts of a context may stand in the pool or not."""
    n_texts = draw(st.integers(0, most_texts))
    n_questions = draw(st.integers(1, most_questions))
    cells = st.sampled_from([0.0, 2.0, 3.0, 5.0] + [np.nan] * missing)
    row = st.lists(cells, min_size=n_questions, max_size=n_questions)
    ratings = np.array(draw(st.lists(row, min_size=n_texts, max_size=n_texts)))
    ratings = ratings.reshape(n_texts, n_questions)
    for i, j in np.argwhere(np.isnan(ratings))[MAX_MISSING:]:
        ratings[i, j] = 0.0
    pool = list(range(draw(st.integers(0, n_texts))))
    order = draw(st.permutations(range(n_texts)))
    return ratings, pool, order[: draw(st.integers(0, n_texts))]


def completions(ratings: np.ndarray, fill: Sequence[float] = (0.0, 5.0)) -> Iterator[np.ndarray]:
    """The matrix with its missing cells filled in every way."""
    missing = np.isnan(ratings)
    for values in itertools.product(fill, repeat=int(missing.sum())):
        full = ratings.copy()
        full[missing] = values
        yield full


def holds(bounds, value) -> bool:
    """Whether a value lies in the bounds, up to the last bits of a division."""
    return bounds.low - 1e-9 <= value <= bounds.high + 1e-9
