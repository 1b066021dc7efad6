"""What a system read to answer: texts, mappings with ids, or the documents of other libraries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...records.reading.fields import shorten
from ...records.reading.problems import InputError
from .cells import is_missing, list_in, listed

# `context` is what chains of LangChain return, `source_documents` what older ones did.
CONTEXTS = ("contexts", "retrieved_contexts", "retrieval_context", "context", "source_documents")
_TEXT = ("text", "page_content", "content", "contents", "segment", "passage")
_ID = ("id", "docid", "_id", "id_", "doc_id", "node_id")


@dataclass(frozen=True)
class Context:
    """A passage that the system read, best first among its sample's.

    `id`: its own, or "": one is made of its text. What stands in files is never empty.
    """

    id: str
    text: str
    title: str = ""


def contexts_of(contexts: Any, at: str) -> tuple[Context, ...]:
    """The contexts of a sample, in their order.

    Args:
        contexts: None, a text, or a list of texts, of mappings `{id, text, title}`, or of objects
            with `text` or `page_content`, `id` and `metadata`; a list also as the text that a CSV
            file has of it.

    Raises: InputError naming the one that has no text.
    """
    if contexts is None:
        return ()
    if isinstance(contexts, str) and (items := list_in(contexts)) is not None:
        contexts = items
    return tuple(_context(each, f"{at}.contexts[{i}]") for i, each in enumerate(listed(contexts)))


def _context(context: Any, at: str) -> Context:
    if isinstance(context, Context):
        return context
    if isinstance(context, str):
        return Context("", context)
    inner = getattr(context, "node", context)  # LlamaIndex has it beside its score
    text = _value(inner, _TEXT)
    if not isinstance(text, str):
        what = f"wanted text, or something with a text ({', '.join(_TEXT)})"
        there = f"; it has {', '.join(map(str, context))}" if isinstance(context, Mapping) else ""
        raise InputError(f"{at}: is {shorten(repr(context), 60)}, {what}{there}")
    about = _value(inner, ("metadata",))
    about = about if isinstance(about, Mapping) else {}
    name = next((v for v in (_value(inner, _ID), _value(about, _ID)) if v is not None), "")
    title = next((v for of in (inner, about) if (v := _value(of, ("title",)))), "")
    return Context(str(name).strip(), text, title if isinstance(title, str) else "")


def _value(item: Any, names: tuple[str, ...]) -> Any:
    """The first of these that it has, as a key or an attribute; None: none of them."""
    for name in names:
        value = item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)
        if not (is_missing(value) or callable(value)):
            return value
    return None
