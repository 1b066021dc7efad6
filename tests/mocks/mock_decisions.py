"""A decision server on 127.0.0.1: typed questions in, probabilities out, in both forms of the wire.

    with DecisionServer() as server:
        ask(model="hosted_vllm/decider", engine="decision", api_base=server.base_url)

`/v1/systemone` takes a state and a map of questions, `/v1/decisions` an input and a list of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web
from mock_api import CHARS_PER_TOKEN, Denied
from mock_server import MockServer

MAX_QUESTIONS = 200  # in one request, as the providers have it

Shares = Mapping[str, float]


def hashed(state: Any, question: Mapping[str, Any], labels: list[str]) -> Shares:
    """Probabilities that depend on the question alone, whatever it is asked together with."""
    weights = [
        1 + zlib.crc32(f"{question['instructions']}{label}".encode()) % 97 for label in labels
    ]
    return {label: weight / sum(weights) for label, weight in zip(labels, weights, strict=True)}


class DecisionServer(MockServer):
    """Answers typed questions.

    Args:
        decide: the probability of each label of a question, from state, question and labels (of a
            score: "0", "1", ...).
        lie: changes a reply before it is sent, in the form of its wire.
        others: as of MockServer.
    """

    def __init__(
        self,
        decide: Callable[[Any, Mapping[str, Any], list[str]], Shares] = hashed,
        lie: Callable[[dict[str, Any]], Any] = lambda reply: reply,
        **others: Any,
    ) -> None:
        super().__init__(**others)
        self.decide, self.lie = decide, lie

    def _routes(self) -> list[web.RouteDef]:
        return [web.post(f"/v1/{name}", self._handle) for name in ("systemone", "decisions")]

    def _completion(self, body: Any, fault: Any) -> Any:
        asked = body["questions"]
        if not 1 <= len(asked) <= MAX_QUESTIONS:
            raise Denied(400, f"wanted 1 to {MAX_QUESTIONS} questions, got {len(asked)}")
        is_openai = "input" in body
        if is_openai:
            answers: Any = [self._answer_openai(body["input"], question) for question in asked]
        else:
            answers = {name: self._answer(body["state"], q) for name, q in asked.items()}
        n = len(str({name: part for name, part in body.items() if name != "model"}))
        usage = {"input_tokens": n // CHARS_PER_TOKEN, "output_tokens": 0}
        if is_openai:
            usage |= {"total_tokens": usage["input_tokens"]}
        reply = {"model": body["model"], "answers": answers, "usage": usage}
        if is_openai:
            reply |= {"id": "decision_1", "object": "decision", "created_at": 1}
        return self.lie(reply)

    def _answer(self, state: Any, question: Mapping[str, Any]) -> dict[str, Any]:
        criteria = question["criteria"]
        if question["type"] == "score":
            shares = dict(self.decide(state, question, [str(i) for i in range(len(criteria))]))
            mean = sum(int(label) * p for label, p in shares.items())
            legend = {str(i): text for i, text in enumerate(criteria)}
            more = {"score": mean, "legend": legend}
        else:
            shares = dict(self.decide(state, question, list(criteria)))
            more = {"choice": max(shares, key=shares.__getitem__)}
        best = max(shares.values())
        return {"type": question["type"], **more, "confidence": best, "probabilities": shares}

    def _answer_openai(self, state: Any, question: Mapping[str, Any]) -> dict[str, Any]:
        name = {"name": question["name"]} if "name" in question else {}
        if question["type"] == "score":
            levels = [level["label"] for level in question["levels"]]
            shares = self.decide(state, question, [str(i) for i in range(len(levels))])
            rows = [
                {"value": i, "label": label, "probability": shares[str(i)]}
                for i, label in enumerate(levels)
            ]
            mean = sum(int(label) * p for label, p in shares.items())
            more: dict[str, Any] = {"score": mean, "probabilities": rows}
        else:
            labels = [choice["value"] for choice in question["choices"]]
            shares = self.decide(state, question, labels)
            rows = [{"value": label, "probability": shares[label]} for label in labels]
            more = {"choice": max(labels, key=shares.__getitem__), "probabilities": rows}
        best = max(shares.values())
        return {**name, "type": question["type"], **more, "confidence": best}
