"""Lexical baselines on text that nobody tidied: no passage may end a run or its dry run."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges.lexical.overlap import update_nuggets

FILES = (
    "crux_duc/passages.jsonl",
    "rag24_e2e/passages.jsonl",
    "rag24_support/passages.jsonl",
    "rag24_relevance/pairs.jsonl",
    "dl23_llmjudge/pairs.jsonl",
)
KEPT = ("question", "n", "way", "domain", "category", "wanted", "turns", "max_turns")


@pytest.mark.parametrize(
    "passage",
    [
        "The study used several of the new materials (Mento et al, 1999)7. Wind moves decks.",
        'The museum sold the 5"x7" print to a school. Wind moves decks.',
        "Tools can[1]'t open the old lock today. Wind moves decks.",
        "We had all of this because it was there. Bridges sway in strong wind at night.",
    ],
    ids=["note number behind brackets", "inches", "note inside a word", "stop words alone"],
)
def test_nuggets_are_made_of_any_passage(passage):
    asked = {"question": "why do bridges sway", "nuggets": [], "limit": 30}
    texts = update_nuggets({**asked, "passages": {"1": passage}})["updated"]
    assert texts
    assert not any(text.startswith("We had all") for text in texts)


@pytest.mark.slow
def test_every_baseline_answers_for_every_passage_of_the_judged_data(case, shared_data):
    judge = case.make("lexical")
    texts = list(dict.fromkeys(_passages(shared_data)))
    if not texts:
        pytest.skip(f"no passages found in {shared_data}")
    for before, text in zip(texts[-1:] + texts, texts, strict=False):
        asked = {name: _filled(name, value, [text, before]) for name, value in case.asked.items()}
        try:
            judge(**asked)
        except JudgeError:  # a judgement that failed by its reason, as of an empty list
            continue
        except Exception as error:
            pytest.fail(f"{case.name}: {error!r} on {text!r}")


def _passages(data: Path) -> Iterator[str]:
    for path in filter(Path.is_file, (data / name for name in FILES)):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield next(row[n] for n in ("text", "segment", "passage", "passage_text") if n in row)


def _filled(name: str, value: Any, texts: list[str]) -> Any:
    """What a judge is asked, with passages in the place of its texts."""
    if isinstance(value, str):
        return value if name in KEPT else texts[0]
    if isinstance(value, list) and isinstance(value[0], str):
        return [text for text, _ in zip(texts * len(value), value, strict=False)]
    if isinstance(value, dict):
        return dict(zip(value, texts, strict=False))
    return value
