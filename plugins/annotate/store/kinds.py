"""The kinds of what people label, as events, files of words and the command line name them."""

from __future__ import annotations

from typing import Literal

Kind = Literal[
    "nuggets", "support", "ratings", "keypoints", "rubric", "relevance", "items", "bank", "verify"
]
