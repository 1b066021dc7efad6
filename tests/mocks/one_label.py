"""A model that gives one label wherever the schema lets it, so that a score can be had by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from mock_replies import Brain, instance, schema_of


def always(label: str) -> Brain:
    """A brain for the mock server."""

    class Chooses(random.Random):
        def choice(self, seq: Sequence[Any]) -> Any:
            return label if label in seq else seq[0]

    return lambda body: instance(schema_of(body), Chooses(0))
