"""Read what frameworks return as the fields of a sample.

It knows the objects of LangChain, LlamaIndex, Haystack, DSPy and OpenAI's Responses by the names of
their fields, and imports none of these libraries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from .fields import ANSWER, CONTEXTS, QUESTION, get_fields

_REPLIES = ("replies", "answers")  # fields of a component in a Haystack pipeline
_FOUND = "documents"


def read_returned(value: Any) -> Mapping[str, Any] | None:
    """Return the fields of what a system returned, with the answer as text; None: it has no fields.

    >>> read_returned({"llm": {"replies": ["Tides."]}, "retriever": {"documents": ["Moon."]}})
    {'answer': 'Tides.', 'contexts': ['Moon.']}
    """
    if isinstance(value, str):
        return {ANSWER[0]: value}
    if (text := _read_message(value)) is not None:
        return {ANSWER[0]: text}
    if _get(value, "object") == "response" and isinstance(_get(value, "output"), list):
        return _read_output_items(value)
    there = get_fields(value)
    return None if there is None else unfold(there)


def unfold(there: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the same fields, with nested answers and contexts moved to the top.

    Nested fields are in the outputs of a pipeline's components, in the last of `messages`, and in
    an object under the name of the answer. Fields at the top take precedence.
    """
    name = next((name for name in ANSWER if there.get(name) is not None), None)
    if name is None:
        if {"data", _FOUND} <= there.keys():  # Haystack's GeneratedAnswer
            return {ANSWER[0]: there["data"], CONTEXTS[0]: there[_FOUND]} | dict(there)
        if isinstance(messages := there.get("messages"), list) and messages:
            return {**(read_returned(messages[-1]) or {}), **there}
        return _read_components(there)
    if isinstance(there[name], str | list | tuple | int | float):
        return there
    within = read_returned(there[name])
    if within is None or not any(name in within for name in ANSWER):
        return there
    return {**within, **{other: value for other, value in there.items() if other != name}}


def as_function(system: Any) -> Callable[[str], Any] | None:
    """Return the function that asks a system: itself, or of a chain or engine; None: there is none.

    A LangChain Runnable gets the question under the input name of its schema.
    """
    if hasattr(system, "invoke") and hasattr(system, "get_input_jsonschema"):
        name = _name_input(system)
        return lambda question: system.invoke(question if name is None else {name: question})
    if callable(system):
        return system  # type: ignore[no-any-return]
    query = getattr(system, "query", None)  # a query engine of LlamaIndex
    return query if callable(query) else None


def _name_input(runnable: Any) -> str | None:
    """Return the input key of a Runnable's question; None: it takes the question itself."""
    try:
        schema = runnable.get_input_jsonschema()
    except Exception:  # a chain may raise any error: its input is unknown
        return None
    names = list(schema.get("properties", ())) if schema.get("type") == "object" else []
    known = [name for name in QUESTION if name in names]
    return next(iter(known), names[0] if len(names) == 1 else None)


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _read_message(value: Any) -> str | None:
    """Return the text of a LangChain or Haystack message, or of a mapping with role and content.

    Parts that are not text, such as tool calls, are left out.
    """
    is_chat_row = isinstance(value, Mapping) and {"role", "content"} <= value.keys()
    if hasattr(value, "response_metadata") or is_chat_row:
        content = _get(value, "content")
    elif hasattr(value, "texts") and hasattr(value, "role"):
        content = list(value.texts)
    else:
        return None
    parts = content if isinstance(content, list) else [content]
    texts = [part if isinstance(part, str) else _get(part, "text") for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def _read_components(there: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the reply and the documents of the last pipeline components that have them."""
    outputs = [output for output in there.values() if isinstance(output, Mapping)]
    replies = [output[name] for output in outputs for name in _REPLIES if output.get(name)]
    found = [output[_FOUND] for output in outputs if isinstance(output.get(_FOUND), list)]
    if not replies or not isinstance(replies[-1], list):
        return there
    of_reply = dict(read_returned(replies[-1][0]) or {})
    contexts = {CONTEXTS[0]: found[-1]} if found else {}
    own = {name: value for name, value in there.items() if not isinstance(value, Mapping)}
    return of_reply | contexts | own


def _read_output_items(response: Any) -> Mapping[str, Any]:
    """Return the answer of OpenAI's Responses: file citations as marks, found chunks as contexts.

    The response has chunks if the request had include=["file_search_call.results"].
    """
    items = response["output"] if isinstance(response, Mapping) else response.output
    chunks = [chunk for item in items for chunk in _get(item, "results") or ()]
    contexts = [
        {
            "id": _get(chunk, "file_id"),
            "text": _get(chunk, "text"),
            "title": _get(chunk, "filename"),
        }
        for chunk in chunks
        if isinstance(_get(chunk, "text"), str)
    ]
    ids = {context["id"] for context in contexts}
    parts = [
        _mark_files(part, ids)
        for item in items
        if _get(item, "type") == "message"
        for part in _get(item, "content") or ()
        if isinstance(_get(part, "text"), str)
    ]
    return {ANSWER[0]: "\n".join(parts)} | ({CONTEXTS[0]: contexts} if contexts else {})


def _mark_files(part: Any, ids: Collection[str]) -> str:
    """Return the text of a part, with the id of each cited file in brackets at the citation."""
    text: str = _get(part, "text")
    cited: dict[int, list[str]] = {}
    for note in _get(part, "annotations") or ():
        name = _get(note, "file_id")
        if _get(note, "type") == "file_citation" and name in ids:
            cited.setdefault(_find_word_end(text, _get(note, "index")), []).append(name)
    return "".join(_cut_at(text, cited))


def _find_word_end(text: str, index: Any) -> int:
    """Return the end of the word at a citation's position."""
    start = index if isinstance(index, int) else len(text)
    found = re.compile(r"(?<=\S)(?=\s|$)").search(text, min(max(start, 0), len(text)))
    return found.start() if found else len(text)


def _cut_at(text: str, cited: Mapping[int, list[str]]) -> Iterator[str]:
    start = 0
    for end in sorted(cited):
        yield text[start:end]
        yield "".join(f"[{name}]" for name in dict.fromkeys(cited[end]))
        start = end
    yield text[start:]
