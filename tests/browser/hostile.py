"""A results folder in which every text, id and name is written to be run by a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RUN = "alert(document.domain)"
TEXTS = {
    "script": f"<script>{RUN}</script>",
    "end of script": f"</script><script>{RUN}</script>",
    "comment": f"<!--<script>{RUN}</script>-->",
    "unclosed comment": "<!--<script>",
    "image": f'<img src=x onerror="{RUN}">',
    "svg": f"<svg onload={RUN}><animate onbegin={RUN} attributeName=x>",
    "frame": f"<iframe srcdoc='<script>{RUN}</script>'></iframe>",
    "math": f"<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img {RUN}&gt;'>",
    "noscript": f'<noscript><p title="</noscript><img src=x onerror={RUN}>">',
    "base": "<base href=https://evil.example/><a href=x>x</a>",
    "refresh": "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "plain text": "<plaintext>",
    "text area": "</textarea></title></style><textarea>",
    "link": f"javascript:{RUN}",
    "data link": f"data:text/html,<script>{RUN}</script>",
    "form": "<form action=https://evil.example><input name=attributes></form>",
    "template": f"{{{{constructor.constructor('{RUN}')()}}}} ${{{RUN}}} <%= {RUN} %>",
    "quotes": f'"\'`><x onclick={RUN}>\\"',
    "entities": "&lt;script&gt; &amp;amp; &#60;b&#62;",
    "line separators": "one\u2028two\u2029three",
    "ANSI": "\x1b[31mred\x1b]0;title\x07",
    "control": "bell\x07 delete\x7f next\x85 end",
    "bidi": "\u202egnp.exe\u202c \u2066inside\u2069",
    "unseen": "zero\u200bwidth\ufeff soft\u00adhyphen",
    "prototype": "__proto__ constructor toString hasOwnProperty",
    "formula": '=HYPERLINK("https://evil.example","x")',
    "beyond 16 bits": "𝒳 👩‍👩‍👧 e\u0301",
    "long word": "w" * 2_000,
}
LONGEST = "w" * 1_000_000  # one passage
NAMES = ["__proto__", "constructor", "<img/src=x/onerror=alert(1)>", "=1+1", "javascript:alert(1)"]


def _lines(path: Path, rows: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def topic_ids() -> list[str]:
    """Of the texts, in their order: NAMES, and then numbers."""
    return NAMES + [f"t{i}" for i in range(len(NAMES), len(TEXTS))]


def inputs(home: Path) -> dict[str, Path]:
    """Topics, passages, nuggets and runs; topic ids are NAMES and then numbers, runs NAMES.

    The text of a topic is its question, an answer's sentence, a passage and a nugget.
    """
    topics = [
        {"topic_id": topic, "query": text}
        for topic, text in zip(topic_ids(), TEXTS.values(), strict=True)
    ]
    ids = [(topic["topic_id"], topic["query"]) for topic in topics]
    passages = [
        {"docid": f"{''.join(text.split())[:40]}/{i}", "text": text}
        for i, (_, text) in enumerate(ids)
    ]
    passages[-1]["text"] = LONGEST
    banks = [
        {
            "qid": topic,
            "query": text,
            "nuggets": [
                {"text": text, "importance": "vital"},
                {"text": f"{text} again", "importance": "okay"},
            ],
        }
        for topic, text in ids
    ]
    for run in NAMES:
        rows = [
            {
                "run_id": run,
                "topic_id": topic,
                "topic": text,
                "references": [passages[i]["docid"]],
                "response_length": 2,
                "answer": [
                    {"text": text, "citations": [0]},
                    {"text": f"Again: {text}", "citations": []},
                ],
            }
            for i, (topic, text) in enumerate(ids)
        ]
        _lines(home / "runs" / f"{run.replace('/', ' ')}.jsonl", rows)
    return {
        "topics": _lines(home / "topics.jsonl", topics),
        "passages": _lines(home / "passages.jsonl", passages),
        "nuggets": _lines(home / "nuggets.jsonl", banks),
        "runs": home / "runs",
    }


def made_hostile(results: Path) -> None:
    """What a model said, in the files of a results folder: reasons, raw replies, its name."""
    texts = list(TEXTS.values())[:-1]
    by_topic = dict(zip(topic_ids(), texts, strict=False))
    for name in ("assignments.jsonl", "support.jsonl"):
        lines = (results / name).read_text("utf-8").split("\n")
        rows = [json.loads(line) for line in lines if line]
        for row in rows:
            text = by_topic.get(row.get("qid") or row.get("topic_id"), "")
            for judged in row.get("nuggets", [row]):
                judged["rationale"] = f"Why: {text}"
        _lines(results / name, rows)
    unjudged = [
        {
            "stage": "support", "topic_id": NAMES[i % 5], "run_id": NAMES[i % 5], "sentence": 0,
            "citation": text[:80], "n": 1, "reason": "parse", "detail": text, "raw": text,
        }
        for i, text in enumerate(texts)
    ]  # fmt: skip
    _lines(results / "unjudged.jsonl", unjudged)
    manifest = json.loads((results / "manifest.json").read_text("utf-8"))
    del manifest["files"]  # digests: edited results are refused
    for model in manifest["config"]["models"].values():
        model["model"] = f"openai/{TEXTS['image']}"
    manifest["answered_by"] = [TEXTS["image"], TEXTS["end of script"]]
    manifest["unjudged_by_reason"] = {TEXTS["svg"]: 2}
    (results / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def shown(text: str) -> str:
    """The text as the page shows it: what cannot be seen as an escape."""
    unseen = [*range(9), 0xB, 0xC, *range(0xE, 0x20), *range(0x7F, 0xA0), 0xAD, 0x61C, 0xFEFF]
    unseen += [*range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x206A)]
    escapes = {c: f"\\x{c:02x}" if c < 0x100 else f"\\u{c:04x}" for c in unseen}
    return text.translate(escapes)
