"""What tests of the labelling page work on: judged texts, a running server, a page."""

import json
from dataclasses import dataclass, field
from typing import Any

from watching import STILL

WORDS = (
    "All bridges move. Flexible decks shed load that rigid ones must carry, which is why designers "
    "let them. What they must not do is move in time with the wind."
)


def nugget_rows(n: int = 6, answers: int = 1, text: str = WORDS) -> list[dict[str, Any]]:
    """Answers with the nuggets that a judge assigned: `n` to each, one topic an answer."""
    labels = ("not_support", "partial_support", "support")
    return [
        {
            "qid": f"t{answer}",
            "query": f"why do bridges sway, and how are they kept steady? ({answer})",
            "run_id": "secret-run",
            "answer_text": text,
            "nuggets": [
                {
                    "id": f"n{i}",
                    "text": f"Fact {i} of {answer}: decks that can give absorb loads better.",
                    "importance": "vital",
                    "assignment": labels[i % 3],
                }
                for i in range(n)
            ],
        }
        for answer in range(answers)
    ]


def rating_rows(n: int = 4, text: str = WORDS) -> list[dict[str, Any]]:
    """Passages that a judge rated from 0 to 5, each for a question."""
    return [
        {
            "topic_id": "t0", "passage_id": f"p{i}", "question_id": "0",
            "label": str((2 * i) % 6), "question": f"what keeps a bridge steady? ({i})",
            "context": text,
        }
        for i in range(n)
    ]  # fmt: skip


@dataclass
class Site:
    """A server that runs, and what is in its journals."""

    work: Any
    links: dict[str, str]
    server: Any

    def labels(self, name: str = "ann") -> list[Any]:
        """The labels that hold, in the order of their cells."""
        with self.work.sessions[name].journal() as journal:
            return sorted(journal.state.labels(), key=lambda one: (one.cell, one.repeat))

    def events(self, name: str = "ann") -> list[dict[str, Any]]:
        """All that was kept, in its order, as it stands on the disk."""
        with self.work.sessions[name].journal() as journal:
            lines = journal.path.read_text("utf-8").splitlines() if journal.path.exists() else []
        return [json.loads(line) for line in lines]


@dataclass
class Shown:
    """A page of the site, and what it did that it must not."""

    page: Any
    root: str
    logged: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    asked: list[Any] = field(default_factory=list)  # what the server has not answered yet

    def settled(self) -> None:
        """When all is answered, and nothing has been drawn for a moment."""
        for _ in range(40):
            self.page.evaluate(STILL)
            if not self.asked:
                return
        raise AssertionError(f"not answered: {[one.url for one in self.asked]}")

    def at(self, view: str) -> "Shown":
        """The page opened anew with this hash."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.root}#{view}" if view else self.root)
        self.page.locator("html[data-ready=yes]").wait_for(timeout=10_000)
        self.settled()
        return self

    def presses(self, *keys: str) -> None:
        """Keys, one after the other; what each does is drawn before the next."""
        for key in keys:
            self.page.keyboard.press(key)
            self.settled()

    @property
    def position(self) -> int:
        """The position in the queue that is shown."""
        return int(self.page.locator(".reading").get_attribute("data-n"))

    @property
    def spoken(self) -> str:
        """What was last said to people who do not see the page."""
        return self.page.locator(".live").inner_text()

    def misdeeds(self) -> list[str]:
        """Errors, dialogs, refused scripts, and requests to anybody else."""
        others = [one for one in self.requests if not one.startswith((self.root, "data:"))]
        return [*self.logged, *others, *self.page.evaluate("() => window.refused ?? []")]
