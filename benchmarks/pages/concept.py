"""The picture of docs/learn/concepts.md: one answer from question to score.

    .venv/bin/python -m benchmarks.pages.concept

Texts, labels and the score come from a run of the lexical judge on one question of the demo.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import nuggetjudge as nj
from nuggetjudge.records import Problems, read_passages
from nuggetjudge.views.numbers import format_share

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "images" / "concept.svg"
TOPIC = "demo-bees"
PASSAGES = ("bees-02", "bees-03")
ANSWER = (
    "Bees gather in a tight winter cluster with their queen inside and shiver their flight "
    "muscles to make heat."
)
WIDTH, LEFT, LINE, PER_LINE = 640, 120, 20, 62  # pixels; characters
LABELS = (  # label, style, words
    ("support", "yes", "stated in full"),
    ("partial_support", "", "stated in part"),
    ("not_support", "no", "missing"),
)
# It has a ground of its own, so that it can be read on a light and on a dark page.
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" \
height="{height}" role="img">
<title>From a question to a score: {title}</title>
<style>
text {{ font: 15px system-ui, sans-serif; fill: #1c1f23 }}
.who {{ font-size: 12px; fill: #555e68 }}
.step {{ font-weight: 600 }}
.ground {{ fill: #f1efe9 }} .card {{ fill: #ffffff; stroke: #e3e0d8 }}
.yes {{ fill: #146e3c; font-weight: 600 }} .no {{ fill: #a3261d; font-weight: 600 }}
.score {{ font-size: 22px; font-weight: 700 }} .arrow {{ stroke: #8a939d; fill: none }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e6e8eb }} .who {{ fill: #a7b0ba }}
.ground {{ fill: #1f242a }} .card {{ fill: #14171a; stroke: #2c323a }}
.yes {{ fill: #6fd39b }} .no {{ fill: #ff9b8f }}
}}
</style>
<rect class="ground" width="{width}" height="{height}" rx="8"/>
"""


def judge() -> Mapping[str, Any]:
    """The judged answer, as a row of `assignments.jsonl`."""
    asked = [{"id": TOPIC, "question": "how do honey bees survive the winter", "answer": ANSWER}]
    bank = ROOT / "examples" / "demo" / "nuggets.jsonl"
    result = nj.evaluate(asked, "nuggets", bank=bank, model="lexical")
    [row] = result.judgements["assignments"]
    return {**row, "V_strict": result.rows(["V_strict"])[0].value}


def draw(judged: Mapping[str, Any]) -> str:
    """The picture as SVG, one card a step."""
    passages = read_passages(ROOT / "examples" / "demo" / "passages.jsonl", Problems())
    vital = [nugget for nugget in judged["nuggets"] if nugget["importance"] == "vital"]
    stated = sum(nugget["assignment"] == "support" for nugget in vital)
    quoted = [f"{name}: {passages[name].text.split('. ')[0]}." for name in PASSAGES]
    shown = [
        line
        for n, nugget in enumerate(vital, 1)
        for line in _wrap(f"{n}. {nugget['text']}", indent="\u2007\u2007 ")
    ]
    n_okay = len(judged["nuggets"]) - len(vital)
    shown.append(("who", f"and {n_okay} that are worthwhile, but not vital"))
    labels = [
        (style, f"{_list(vital, label)}: {label}, {words}")
        for label, style, words in LABELS
        if _list(vital, label)
    ]
    score = format_share(judged["V_strict"])
    said = f"{stated} of {len(vital)} vital nuggets are stated in full"
    steps = [
        ("Question", "you", _wrap(judged["query"] + "?")),
        ("Passages", "your corpus", [line for text in quoted for line in _wrap(text)]),
        ("Answer", "your system", _wrap(judged["answer_text"])),
        ("Nuggets", "judge or you", shown),
        ("Labels", "judge", labels),
        ("Score", "arithmetic", [("score", f"V_strict {score}"), ("", said)]),
    ]
    parts, y = [], 12
    for place, (name, who, lines) in enumerate(steps):
        height = LINE * max(len(lines), 2) + 18
        if place:
            parts.append(f'<path class="arrow" d="M{LEFT + 20} {y - 12}v9m-4 -4l4 4l4 -4"/>')
        parts.append(_card(y, height, name, who))
        for n, (style, text) in enumerate(lines):
            parts.append(_text(LEFT + 12, y + 24 + n * LINE, style, text))
        y += height + 12
    head = HEAD.format(width=WIDTH, height=y, title=escape(f"V_strict {score}"))
    return head + "\n".join(parts) + "\n</svg>\n"


def _list(nuggets: Sequence[Mapping[str, Any]], label: str) -> str:
    """The numbers of the nuggets with this label."""
    return ", ".join(str(n) for n, each in enumerate(nuggets, 1) if each["assignment"] == label)


def _wrap(text: str, indent: str = "") -> list[tuple[str, str]]:
    return [("", line) for line in textwrap.wrap(text, PER_LINE, subsequent_indent=indent)]


def _card(y: int, height: int, name: str, who: str) -> str:
    frame = f'<rect class="card" x="{LEFT}" y="{y}" width="{WIDTH - LEFT - 10}"'
    return "\n".join(
        (
            f'{frame} height="{height}" rx="5"/>',
            _text(14, y + 23, "step", name),
            _text(14, y + 41, "who", who),
        )
    )


def _text(x: int, y: int, style: str, text: str) -> str:
    named = f' class="{style}"' if style else ""
    return f'<text x="{x}" y="{y}"{named}>{escape(text, quote=False)}</text>'


def main() -> None:
    """Write the picture."""
    PICTURE.write_text(draw(judge()), encoding="utf-8")


if __name__ == "__main__":
    main()
