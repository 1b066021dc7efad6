"""What fitting changes beside prompts, as a parameter that DSPy saves and loads with a program."""

from __future__ import annotations

from typing import Any, Protocol

from dspy.predict.parameter import Parameter

from ..fitted.files import JudgeFile


class Fitted(Protocol):
    """A judge of items; what fits a judge that makes lists is its prompt alone."""

    def fit(self) -> JudgeFile | None: ...
    def take_fit(self, state: JudgeFile | None) -> None: ...


class Fit(Parameter):  # type: ignore[misc]
    """The correction, word weights and topics of a judge; DSPy saves the prompts by itself.

    Loading raises ValueError where they are of another judge, version, scale or model.
    """

    def __init__(self, judge: Fitted) -> None:
        self._judge = judge

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """Data of a judge file; {} of a judge that is not fitted."""
        state = self._judge.fit()
        return state.model_dump(mode="json") if state is not None else {}

    def load_state(self, state: dict[str, Any]) -> None:
        """See dump_state."""
        self._judge.take_fit(JudgeFile.model_validate(state) if state else None)

    def reset(self) -> None:
        """Forget it: DSPy drops the examples, and cut-offs are for scores of a whole prompt."""
        self._judge.take_fit(None)
