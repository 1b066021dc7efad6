"""The parts that a long narrative asks for: of topics, of nuggets, and as one numbered text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..reading.fields import Line, show

OF_TOPIC = ("sub_narratives", "subnarratives", "sub-narratives", "subNarratives")
OF_NUGGET = ("mapped_sub_narrative", "sub_narrative", "subnarrative")
_TEXT = ("text", "sub_narrative", "subnarrative", "narrative", "title")
_QUOTES = "\"'“”"
_NUMBER = re.compile(r"^\d+\. ", re.MULTILINE)


def sub_narratives_of_topic(line: Line) -> tuple[str, ...]:
    """Those of a topic: a list of texts, or of objects with a text; () where it has none.

    What is no text, or is there twice, is not used, and listed.
    """
    field, written = line.first(*OF_TOPIC) or ("", [])
    if not isinstance(written, list):
        line.keep("bad_sub_narratives", f"{line.name(field)} is {show(written)}, wanted a list")
        return ()
    texts: dict[str, None] = {}
    for item in written:
        is_object = isinstance(item, dict)
        raw = next((item[name] for name in _TEXT if name in item), None) if is_object else item
        text = plain(raw) if isinstance(raw, str) else ""
        if not text or text in texts:
            what = f"{line.name(field)} has {show(item)}{' twice' if text else ', wanted text'}"
            line.keep("bad_sub_narratives", f"{what}; not used")
        else:
            texts[text] = None
    return tuple(texts)


def sub_narrative_of_nugget(item: Line) -> str:
    """The one that a nugget is of; "" where it names none. What is no text is not used, and listed.

    The quotation marks that the nuggets of TREC RAG 2025 have around it are left out.
    """
    field, written = item.first(*OF_NUGGET) or ("", "")
    if isinstance(written, str):
        return plain(written)
    item.keep("bad_sub_narrative", f"{item.name(field)} is {show(written)}, wanted text; not used")
    return ""


def plain(text: str) -> str:
    """A sub-narrative in one line, without quotation marks around it.

    >>> plain(' "Key advantages\\n of tides" ')
    'Key advantages of tides'
    """
    text = " ".join(text.split())
    while len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES:
        text = text[1:-1].strip()
    return text


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """The sub-narratives that nuggets name, each once, in their order."""
    return tuple(dict.fromkeys(name for name in names if name))


def numbered(texts: Sequence[str]) -> str:
    """The texts as one, a line each, as judges read them; `parts_of` takes it apart again.

    >>> numbered(["what it costs", "how it works"])
    '1. what it costs\\n2. how it works'
    """
    return "\n".join(f"{i}. {' '.join(text.split())}" for i, text in enumerate(texts, 1))


def parts_of(text: str) -> list[str]:
    """The sub-narratives in one text: of `numbered`, or one a line without numbers.

    >>> parts_of("1. what it costs\\n2. how it works"), parts_of("")
    (['what it costs', 'how it works'], [])
    """
    lines = (_NUMBER.sub("", line).strip() for line in text.splitlines())
    return [line for line in lines if line]
