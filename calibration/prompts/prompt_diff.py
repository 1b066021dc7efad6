"""What an optimiser changed in a judge's prompt, as a unified diff for people to read."""

from __future__ import annotations

import difflib
import json
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...judges.base import Judge
    from ...judges.fitted.files import FittedPrompt

WIDTH = 100


def prompt_diff(judge: Judge, prompts: Mapping[str, FittedPrompt]) -> str:
    """The judge's prompts against those of a judge file; empty where they are the same.

    Long lines are wrapped, and a worked example is written a field a line. What is the same in
    every prompt of the judge, the fields and the shape of the reply, is left out.

    Args:
        prompts: by predictor; one that the judge does not have is a ValueError.
    """
    questions = judge.questions()
    parts: list[str] = []
    for name, prompt in prompts.items():
        if name not in questions:
            raise ValueError(f"the {judge.name} judge asks no question called {name!r}")
        before = _lines(questions[name].signature.instructions, questions[name].demos)
        after = _lines(prompt.instructions, prompt.demos)
        where = f"{judge.name}.{name}"
        names = f"{where} as it was", f"{where} as fitted"
        parts += difflib.unified_diff(before, after, *names, lineterm="")
    return "".join(f"{line}\n" for line in parts)


def _lines(instructions: str, demos: Any) -> list[str]:
    lines = _wrapped(instructions.strip())
    for i, demo in enumerate(demos, 1):
        lines += ["", f"worked example {i}:"]
        for name, value in dict(demo).items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            lines += _wrapped(f"  {name}: {text}")
    return lines


def _wrapped(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in textwrap.wrap(line, WIDTH) or [""]]
