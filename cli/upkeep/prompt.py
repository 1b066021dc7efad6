"""`judge prompt`: what a judge asks a model, word for word."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..flags import Given, settings
from ..options import AsJson, read_pairs
from ..signatures import Takes
from ..tables import shown, write_note, write_objects

if TYPE_CHECKING:
    from ...programs.prompts import RenderedPrompt


@settings()
def prompt(
    given: Given,
    name: str | None = None,
    *,
    item: list[str] | None = None,
    items: Path | None = None,
    n: Annotated[int, Takes("--n", min=1)] = 1,
    for_model: Annotated[str | None, Takes("--for")] = None,
    schema: bool = False,
    as_json: AsJson = False,
) -> None:
    """Print what a judge asks a model, word for word, with your item or a small example.

    Nothing is asked, and no key is needed. Without a name: the judges and their fields.

    Example: judge prompt support --item sentence='Ice floats.' --item "passage=$(cat page.txt)"
    / judge prompt assigner --items results/demo --n 5 --for gpt-4o --schema

    Args:
        name: A judge, your judge's YAML file, or a judge file of judge calibrate.
        item (FIELD=VALUE): A field of your item; repeat a field for several, as nugget=.
        items: A results folder, or a file of items or labels, for a judge that labels items.
        n: With --items: the first so many; those of one answer share a prompt.
        for_model (MODEL): Count the tokens for this model, where LiteLLM has its tokenizer.
        schema: Print the JSON Schema of the reply too.
    """
    from ...programs.prompts import render_prompts
    from ...records.reading.problems import InputError

    config = given.config()
    if name is None:
        _list_judges(given, as_json=as_json)
        return
    if items is not None and item:
        raise InputError("--items and --item: wanted one of them")
    prompts = render_prompts(
        config, name, read_pairs("--item", item or ()), items=items, n=n, counted_for=for_model
    )
    if as_json:
        write_objects(asdict(each) for each in prompts)
        return
    if missing := prompts[0].from_example:
        write_note(f"From an example, since --item does not give it: {', '.join(missing)}\n")
    for i, each in enumerate(prompts):
        text = ("\n" if i else "") + _text(each, has_schema=schema)
        sys.stdout.write(shown(text) if sys.stdout.isatty() else text)


def _list_judges(given: Given, *, as_json: bool) -> None:
    from ...programs.prompts import judge_fields, known_judges
    from ...views.printing import print_view
    from ...views.table import Column, Kind, Row, Table, View

    config = given.config()
    fields = {name: judge_fields(config, name) for name in known_judges()}
    if as_json:
        write_objects({"judge": name, "fields": list(each)} for name, each in fields.items())
        return
    columns = [Column("judge", Kind.NAME), Column("fields", Kind.TEXT, "fields for --item")]
    rows = [Row([name, ", ".join(each)]) for name, each in fields.items()]
    print_view(View(tables=[Table("", columns, rows)]))
    write_note("Print one: judge prompt NAME. Your judge's YAML file and judge files work too.\n")


def _text(prompt: RenderedPrompt, *, has_schema: bool) -> str:
    """A line about the prompt, then each message below its role."""
    about = f"{prompt.judge} judge, version {prompt.version}, question {prompt.question}"
    parts = [f"{about}: {prompt.tokens:,} tokens ({prompt.counted_by})\n"]
    if prompt.n_more:
        calls = f"{prompt.n_more:,} more call{'s' * (prompt.n_more > 1)}"
        parts.append(f"The item takes {calls} like this one.\n")
    for message in prompt.messages:
        parts.append(f"\n--- {message['role']} ---\n{message['content']}\n")
    if has_schema:
        text = "none: the endpoint is told no schema"
        if prompt.schema is not None:
            text = json.dumps(prompt.schema, indent=2, ensure_ascii=False)
        parts.append(f"\n--- schema of the reply ---\n{text}\n")
    return "".join(parts)
