"""`judge models`: presets of open models, and the lines that each stands for."""

from __future__ import annotations

import sys

from ..options import AsJson
from ..tables import aligned, write_note, write_objects


def models(
    name: str | None = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List open models that judge, or print the config lines of one.

    Example: judge run judge.yaml --model preset:qwen3-8b --api-base http://127.0.0.1:8000/v1

    Args:
        name: A preset, to print as config lines.
    """
    from ...backends.presets.naming import preset_of
    from ...backends.presets.table import PRESETS
    from ...records.reading.problems import InputError

    try:
        chosen = PRESETS if name is None else {name: preset_of(name)}
    except ValueError as error:
        raise InputError(str(error)) from None
    if as_json:
        write_objects({"name": each, **vars(one)} for each, one in chosen.items())
    elif name is not None:
        sys.stdout.write(_lines(name))
    else:
        rows = [["preset", "model", "licence", "tokens", "prompt", "known as a judge"]]
        for each, one in PRESETS.items():
            prompt = "its own" if one.own_prompt else "any"
            length = "-" if one.context_length is None else f"{one.context_length:,}"
            licence, used = one.licence or "see its card", one.used or "-"
            rows.append([each, one.model, licence, length, prompt, used])
        sys.stdout.write(aligned(rows, are_words=True))
        more = "Config lines and sources: judge models NAME."
        write_note(f"Use: --model preset:NAME --api-base URL. {more}\n")


def _lines(name: str) -> str:
    """An entry of a config that says the same as the preset, with what to know of the model."""
    import yaml

    from ...backends.presets.table import PRESETS, SERVED

    preset = PRESETS[name]
    notes = [
        f"preset:{name} stands for these lines; vllm serve {preset.model}",
        f"licence: {preset.licence or 'not clear, see its card'}; {preset.source}",
    ]
    if preset.used:
        notes.append(f"known as a judge: {preset.used}")
    notes.append(preset.note)
    entry = {"api_base": SERVED, **preset.entry()}
    text = yaml.safe_dump({"models": {"default": entry}}, sort_keys=False)
    return "".join(f"# {line}\n" for line in notes) + text
