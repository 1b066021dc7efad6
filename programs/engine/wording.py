"""Judges in the words that a config gives them: their instructions, or a whole prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...judges.base import Judge
from ...judges.instruments.files import read_instrument
from ...judges.table import kind_of
from ...records.reading.problems import InputError, unreadable
from ..config.names import JudgeName
from ..config.sections import Config

_OF_ITS_OWN_PROMPT = ("evidence", "reasoning", "demonstrations")


def window_of(name: JudgeName, config: Config) -> int | None:
    """Things in a call, by the config or a prompt file. Raises: InputError if they differ."""
    window, path = config.judge(name).window, config.judge(name).prompt
    if path is None:
        return window
    instrument = read_instrument(path)
    of_file, kind = instrument.definition.window, kind_of(name)
    if of_file is None:
        return window
    if window not in (None, of_file):
        raise instrument.wrong("window", f"{of_file}, and judges.{name}.window is {window}")
    if kind is not None and not kind.is_windowed:
        raise instrument.wrong("window", f"the {name} judge takes one thing at a time")
    return of_file


def in_own_words(judge: Judge, name: JudgeName, config: Config) -> tuple[Judge, dict[str, Any]]:
    """The judge with the words of its section, and what they add to its identity.

    Raises: InputError for words that cannot be read, or do not fit the judge.
    """
    settings = config.judge(name)
    try:
        if settings.instructions is not None:
            return judge.with_instructions(_instructions(name, config)), {}
        if settings.prompt is None:
            return judge, {}
        instrument = read_instrument(settings.prompt)
        reply = instrument.definition.reply
        is_own_json = reply is not None and reply.form == "json" and not reply.field
        for what in ("demonstrations",) if is_own_json else _OF_ITS_OWN_PROMPT:
            if getattr(settings, what, None):
                why = f"goes with the judge's own prompt, which {settings.prompt} replaces"
                raise InputError(f"judges.{name}.{what}: {why}")
        identity = {"prompt_file": {"sha256": instrument.sha256, "fenced": False}}
        return judge.with_prompt(instrument), identity
    except ValueError as error:
        at = "prompt" if settings.instructions is None else "instructions"
        raise InputError(f"judges.{name}.{at}: {error}") from None


def _instructions(name: JudgeName, config: Config) -> str:
    instructions = config.judge(name).instructions
    if name == "answer_writer" and config.generate.instructions is not None:
        what = "generate.instructions says the same; take one of them"
        raise InputError(f"judges.{name}.instructions: {what}")
    return (text_of(instructions) if isinstance(instructions, Path) else instructions) or ""


def text_of(path: Path | None) -> str | None:
    """What a file of instructions says. Raises: InputError if that is nothing, or no text."""
    try:
        text = None if path is None else path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(str(path), error) from None
    if text == "":
        raise InputError(f"{path}: the file is empty, wanted instructions")
    return text
