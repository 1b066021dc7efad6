"""The pictures of docs/learn/concepts.md (an answer, from question to score) and architecture.md.

    .venv/bin/python -m benchmarks.pages.pictures

Texts, labels and the score come from a run of the lexical judge on one question of the demo; the
layers of the architecture come from the rules for imports in pyproject.toml.
"""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import nuggetjudge as nj
from nuggetjudge.records import Problems, read_passages
from nuggetjudge.views.numbers import format_share

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "images" / "concept.svg"
LAYERS = ROOT / "docs" / "images" / "layers.svg"
ROLES = {
    "plugins": "report, labelling, exports, collections ...: joins by entry points",
    "cli": "the command judge",
    "gates": "results against bounds",
    "evaluation": "Python: run, evaluate, compare",
    "calibration": "fits judges to labels",
    "programs": "the tasks, and the code that runs them",
    "agents": "judges of several steps",
    "judges": "one question to a model",
    "retrieval": "finds and ranks passages",
    "backends": "ask models; cache, budget",
    "views": "tables in every format",
    "records": "every file format",
    "metrics": "numbers in, numbers out",
}
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
<title>{title}</title>
<style>
text {{ font: 15px system-ui, sans-serif; fill: #1c1f23 }}
.who {{ font-size: 12px; fill: #555e68 }}
.step {{ font-weight: 600 }}
.ground {{ fill: #f1efe9 }} .card {{ fill: #ffffff; stroke: #e3e0d8 }}
.yes {{ fill: #146e3c; font-weight: 600 }} .no {{ fill: #a3261d; font-weight: 600 }}
.annex {{ stroke-dasharray: 5 4 }}
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
    head = HEAD.format(
        width=WIDTH, height=y, title=escape(f"From a question to a score: V_strict {score}")
    )
    return head + "\n".join(parts) + "\n</svg>\n"


def draw_layers() -> str:
    """The folders as SVG, a row for each layer: a folder may import those in the rows below."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = rules["tool"]["importlinter"]["contracts"][0]
    layers = [[name.split(".")[1] for name in row.split(" | ")] for row in contract["layers"]]
    parts, y = [], 12
    for folders in layers:
        if folders != layers[0]:
            parts.append(f'<path class="arrow" d="M{WIDTH // 2} {y - 12}v9m-4 -4l4 4l4 -4"/>')
        width = (WIDTH - 10) // len(folders)
        for n, name in enumerate(folders):
            x, style = 10 + n * width, " annex" if name == "plugins" else ""
            frame = f'<rect class="card{style}" x="{x}" y="{y}" width="{width - 10}"'
            parts.append(f'{frame} height="34" rx="5"/>')
            parts.append(_text(x + 12, y + 22, "step", f"{name}/"))
            parts.append(_text(x + 122, y + 22, "who", ROLES[name]))
        y += 46
    head = HEAD.format(width=WIDTH, height=y, title="A folder may import the folders below it")
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
    """Write both pictures."""
    PICTURE.write_text(draw(judge()), encoding="utf-8")
    LAYERS.write_text(draw_layers(), encoding="utf-8")


if __name__ == "__main__":
    main()
