"""What a notebook shows of a judge: the arguments that it is made with and called with."""

from __future__ import annotations

import inspect
from inspect import Parameter, Signature
from typing import Any

_OPEN = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


class SignatureOfJudge:
    """`inspect.signature` of a class of judges, and of a judge, where `*args` would stand."""

    def __get__(self, judge: Any, kind: type[Any]) -> Signature:
        return _of_class(kind) if judge is None else _of_judge(judge)


def _of_class(kind: type[Any]) -> Signature:
    by_name: dict[str, Parameter] = {}
    for base in kind.__mro__:
        made = vars(base).get("__init__")
        if made is None:
            continue
        parameters = list(inspect.signature(made).parameters.values())[1:]
        for parameter in parameters:
            if parameter.kind not in _OPEN:
                by_name.setdefault(parameter.name, parameter)
        if not any(parameter.kind in _OPEN for parameter in parameters):
            break
    # Those of a base come after *args, so `model` keeps its place and the options follow it.
    return Signature(sorted(by_name.values(), key=lambda parameter: parameter.kind))


def _of_judge(judge: Any) -> Signature:
    declared = inspect.signature(judge.decide)
    if all(parameter.kind not in _OPEN for parameter in declared.parameters.values()):
        return declared
    named = [each for each in declared.parameters.values() if each.kind not in _OPEN]
    inputs = [_input(name, Parameter.empty) for name in judge.inputs]
    optional = [_input(name, "") for name in getattr(type(judge), "optional", ())]
    return declared.replace(parameters=[*inputs, *optional, *named])


def _input(name: str, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation="str")
