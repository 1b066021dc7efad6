"""What an agent did for one item: steps that follow from inputs, replies and index alone."""

from __future__ import annotations

from typing import Any

Step = dict[str, Any]  # path, kind, name and what belongs to its kind; see docs/formats.md


class Trace:
    """The steps of one item, each with a path: `0` is the agent, `0.2` its third step, and so on.

    Steps that run at the same time get their parts before they start, so paths do not depend on
    which ends first. A trace holds no times, cache hits or attempts.

    Args:
        path: of the step whose parts these are.
    """

    def __init__(self, path: str = "0") -> None:
        self.path = path
        self._made: list[tuple[Step, Trace | None]] = []

    def add(self, kind: str, name: str, **about: Any) -> str:
        """One more step, after those that are there; its path."""
        path = f"{self.path}.{len(self._made)}"
        self._made.append(({"path": path, "kind": kind, "name": name, **about}, None))
        return path

    def part(self, kind: str, name: str, **about: Any) -> Trace:
        """One more step that has steps of its own."""
        path = f"{self.path}.{len(self._made)}"
        part = Trace(path)
        self._made.append(({"path": path, "kind": kind, "name": name, **about}, part))
        return part

    def reserve(self) -> tuple[str, Step]:
        """One more step whose content is filled in when it is known: its path, and itself."""
        path = f"{self.path}.{len(self._made)}"
        step: Step = {"path": path}
        self._made.append((step, None))
        return path, step

    def end(self, outcome: str, **about: Any) -> None:
        """The last step of an item, in the place of an earlier end."""
        if self.has_ended:
            self._made.pop()
        self.add("end", outcome, **about)

    @property
    def has_ended(self) -> bool:
        """Whether its last step is the end."""
        return bool(self._made) and self._made[-1][0].get("kind") == "end"

    def steps(self) -> list[Step]:
        """All steps in the order of their paths, but those that were cut off before they began."""
        rows = []
        for step, part in self._made:
            if "kind" in step:
                rows.append(step)
            if part is not None:
                rows += part.steps()
        return rows
