"""Reads the file of DSPy's `program.save("x.json")` as the judge file of one of its judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dspy
from pydantic import ValidationError

from ..records.reading.settings import parse_json_file
from .fitted import FORMAT, FittedPrompt, JudgeFile, is_saved_by_dspy, read_judge_file

if TYPE_CHECKING:
    from .base import Judge

_THINKING = "predict"  # the predictor in a dspy.ChainOfThought


def read_state(path: Path, judge: Judge) -> JudgeFile:
    """Read a judge file, or a file that DSPy's `save` wrote for the judge or a program with it.

    Only the judge's own fields of demonstrations are used. Demonstrations without a label are left
    out, because DSPy's optimisers add examples of the surrounding program.

    Raises: InputError for a file of another kind; ValueError for a program without the judge, or
        with several judges of its kind.
    """
    _, row = parse_json_file(path, "a judge file")
    if isinstance(row, dict) and row.get("format") != FORMAT and is_saved_by_dspy(row):
        return _read_saved(row, judge)
    return read_judge_file(path)


def _read_saved(row: Mapping[str, Any], judge: Judge) -> JudgeFile:
    questions = judge.questions()
    by_place: dict[str, dict[str, Any]] = {}
    for name, predict in questions.items():
        for place, saved in _find_saved(row, name):
            if _fits(saved, predict.signature):
                by_place.setdefault(place, {})[name] = saved
    places = [place for place, saved in by_place.items() if saved.keys() == questions.keys()]
    if not places:
        raise ValueError(_say_what_is_there(row, judge))
    if len(places) > 1:
        names = ", ".join(place.rstrip(".") or "the judge itself" for place in places)
        what = f"it has {len(places)} judges that could be the {judge.name} judge ({names})"
        raise ValueError(f"{what}; save one of them: program.NAME.save_state(path)")
    prompts = {
        name: _make_prompt(saved, questions[name].signature)
        for name, saved in by_place[places[0]].items()
    }
    return _read_fit(row.get(f"{places[0]}fit"), judge).model_copy(update={"prompts": prompts})


def _find_saved(row: Mapping[str, Any], name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each saved predictor of that name, with the place of its judge: "", "check." and so on."""
    for key, saved in row.items():
        if _is_predictor(saved) and (key == name or key.endswith(f".{name}")):
            yield key.removesuffix(name), saved


def _is_predictor(saved: Any) -> bool:
    return isinstance(saved, dict) and isinstance(saved.get("signature"), dict)


def _fits(saved: Mapping[str, Any], signature: type[dspy.Signature]) -> bool:
    """Whether it has the inputs that the judge needs, which identifies it among equal names."""
    titles = [field.get("prefix") for field in saved["signature"].get("fields", ())]
    wanted = [f for f in signature.input_fields.values() if f.is_required()]
    return all(field.json_schema_extra["prefix"] in titles for field in wanted)


def _make_prompt(saved: Mapping[str, Any], signature: type[dspy.Signature]) -> FittedPrompt:
    demos = [{n: demo[n] for n in signature.fields if n in demo} for demo in saved.get("demos", ())]
    outputs = signature.output_fields.keys()
    complete = [demo for demo in demos if outputs & demo.keys()]
    return FittedPrompt(instructions=saved["signature"]["instructions"], demos=tuple(complete))


def _read_fit(fit: Any, judge: Judge) -> JudgeFile:
    """The fit besides the prompt; without a fit, only the identity of the judge."""
    if not fit:
        return JudgeFile(
            judge=judge.name, version=judge.version, scale=judge.scale, model=judge.model_name
        )
    try:
        return JudgeFile.model_validate(fit)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(f"fit: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _say_what_is_there(row: Mapping[str, Any], judge: Judge) -> str:
    names = ", ".join(judge.questions())
    there = [key for key, saved in row.items() if _is_predictor(saved)]
    if any(key.endswith(f"{name}.{_THINKING}") for key in there for name in judge.questions()):
        what = f"DSPy saved {names} within a dspy.ChainOfThought, which a run does not use"
        return f"{what}; optimise the judge itself"
    what = f"the file that DSPy saved has no prompt {names} of the {judge.name} judge"
    return f"{what}, only {', '.join(there)}" if there else what
