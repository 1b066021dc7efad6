"""Scores of an optimiser's candidates: answers on dev are recorded, and the best prompt is kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dspy

from ...backends.gateway import Gateway
from ...backends.prompt import Prompt
from ...judges.base import Judge, set_prompt
from ...judges.fitted import FittedPrompt
from ...records.writing import NewFile
from .asking import Answer, Stopped, Way, ask_once, make_key
from .tasks import Marks, Student, Task, get_predictor, get_prompt


class Candidate:
    """A tried prompt. `gain`: its mean on dev; None until each item of dev is answered."""

    def __init__(self, prompt: FittedPrompt, compiled: Prompt, number: int) -> None:
        self.prompt = prompt
        self.compiled = compiled
        self.number = number
        self.gain: float | None = None
        self.n_failed = 0  # items of dev without a judgement
        self.train_gains: dict[str, float] = {}  # by inputs
        self.dev_gains: dict[int, Sequence[float | None]] = {}  # by index in dev
        self.failures: dict[str, Answer] = {}

    @property
    def rank(self) -> tuple[float, bool, int, str]:
        """Sorts the best first; among equals the original prompt, then the shortest."""
        assert self.gain is not None
        text = self.prompt.model_dump_json()
        return -self.gain, self.number > 0, len(text), text


class Trials:
    """Asks the judge with the prompts of an optimiser, and records the results.

    The messages are the same as the fitted judge's, so both share all replies through the cache.
    A question whose reply was not a judgement is not asked again.

    Args:
        judge: its backend is a Gateway; its correction, if any, is not applied.
        train, dev: the tasks. marks: scores answers. way: how to ask one.
        log: JSONL, one line per candidate as it is scored on dev; created anew with the first.
    """

    def __init__(
        self,
        judge: Judge,
        train: Sequence[Task],
        dev: Sequence[Task],
        marks: Marks,
        *,
        way: Way = ask_once,
        log: Path | None = None,
        threads: int = 8,
    ) -> None:
        assert isinstance(judge.backend, Gateway)
        self._judge, self._gateway = judge, judge.backend
        self.train, self.dev, self.marks = train, dev, marks
        self._way = way
        self._in_train, self._in_dev = _indices_by_inputs(train), _indices_by_inputs(dev)
        self._samplers: dict[float | None, Gateway] = {}
        self._threads = threads
        self._lock = threading.Condition()
        self._n_under_way = 0
        self._stopped: Stopped | None = None
        self._log_path = log
        self._log: NewFile | None = None
        self.candidates: dict[str, Candidate] = {}
        self.student = Student(judge.deepcopy().question(get_predictor(judge)), self.answer)
        self.default = self._candidate(self.student.judge)

    def __deepcopy__(self, memo: dict[int, Any]) -> Trials:
        return self  # optimisers copy programs, and `answer` with them

    def answer(self, predict: dspy.Predict, inputs: Mapping[str, Any]) -> dspy.Prediction:
        """Answer one example with the predictor's prompt; its calls are traced like a predictor's.

        The prediction has the reply's fields, or `failure`, the reason for no judgement.
        Raises: Stopped.
        """
        if not predict.signature.instructions.strip():
            return dspy.Prediction(failure="the instructions are empty")
        candidate = self._candidate(predict)
        settings = (predict.lm or dspy.settings.lm).kwargs
        answer = self._ask(
            candidate, inputs, settings.get("rollout_id"), settings.get("temperature")
        )
        if dspy.settings.trace is not None:
            dspy.settings.trace.extend((predict, fields, reply) for fields, reply in answer.calls)
        return answer.prediction

    def score(self, predict: dspy.Predict) -> None:
        """Ask about all of dev; repeated questions come from the cache."""
        candidate = self._candidate(predict)
        with ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(lambda task: self._ask(candidate, task.inputs), self.dev))

    def score_promising(self, n_calls: int) -> None:
        """Score on dev the prompt with the best mean gain on at least n tasks of train, if new."""
        tried = [c for c in self.candidates.values() if len(c.train_gains) >= n_calls]
        if not tried:
            return
        best = max(tried, key=lambda c: (_mean(c.train_gains.values()), c.prompt.model_dump_json()))
        if best.gain is None:
            self.score(self.predict(best.prompt))

    def predict(self, prompt: FittedPrompt) -> dspy.Predict:
        """The judge's predictor with another prompt."""
        predict = self.student.judge.deepcopy()
        set_prompt(predict, prompt)
        return predict

    def rank_candidates(self) -> list[Candidate]:
        """Candidates with a gain on all of dev, the best first."""
        with self._lock:
            complete = [c for c in self.candidates.values() if c.gain is not None]
        return sorted(complete, key=lambda candidate: candidate.rank)

    def settle(self) -> None:
        """Wait for requests in threads that an optimiser left behind."""
        with self._lock:
            self._lock.wait_for(lambda: self._n_under_way == 0)

    def close(self) -> None:
        """Stop asking, and close the log."""
        self._stopped = self._stopped or Stopped()
        with self._lock:
            self._log_path = None
            if self._log is not None:
                self._log.close()

    def _ask(
        self,
        candidate: Candidate,
        inputs: Mapping[str, Any],
        replicate: int | None = None,
        temperature: float | None = None,
    ) -> Answer:
        """Record the call, unless it is one of several samples."""
        call = make_key(inputs)
        if replicate is None and call in candidate.failures:
            return candidate.failures[call]
        with self._lock:
            if self._stopped is not None:
                raise Stopped from self._stopped.__cause__
            self._n_under_way += 1
        gateway = self._gateway if replicate is None else self._sampler(temperature)
        try:
            answer = self._way(gateway, candidate, inputs, replicate or 0)
            if replicate is None:
                self._note(candidate, call, answer)
            return answer
        except Stopped as stopped:
            self._stopped = stopped
            raise
        finally:
            with self._lock:
                self._n_under_way -= 1
                self._lock.notify_all()

    def _candidate(self, predict: dspy.Predict) -> Candidate:
        prompt = get_prompt(predict)
        key = prompt.model_dump_json()
        with self._lock:
            candidate = self.candidates.get(key)
            if candidate is None:
                compiled = Prompt(predict.signature, prompt.demos)
                candidate = self.candidates[key] = Candidate(prompt, compiled, len(self.candidates))
        return candidate

    def _sampler(self, temperature: float | None) -> Gateway:
        """A gateway for different answers; at the endpoint's own temperature if that is in use."""
        if self._gateway.config.temperature is None:
            temperature = None
        with self._lock:
            if temperature not in self._samplers:
                self._samplers[temperature] = self._gateway.copy_with(temperature=temperature)
            return self._samplers[temperature]

    def _note(self, candidate: Candidate, call: str, answer: Answer) -> None:
        prediction = answer.prediction
        trained = [
            self.marks.gains(self.train[i], prediction) for i in self._in_train.get(call, ())
        ]
        chosen = {i: self.marks.gains(self.dev[i], prediction) for i in self._in_dev.get(call, ())}
        with self._lock:
            if "failure" in prediction:
                candidate.failures[call] = answer
            if trained:
                gains = [gain or 0.0 for of_task in trained for gain in of_task]
                candidate.train_gains[call] = _mean(gains)
            if chosen and candidate.gain is None:
                candidate.dev_gains |= chosen
                if len(candidate.dev_gains) == len(self.dev):
                    self._finish(candidate)

    def _finish(self, candidate: Candidate) -> None:
        task_gains = [gain for i in range(len(self.dev)) for gain in candidate.dev_gains[i]]
        candidate.n_failed = task_gains.count(None)
        gains = [gain or 0.0 for gain in task_gains]
        candidate.gain = sum(gains) / len(gains)
        if self._log_path is not None:
            log = self._log = self._log or NewFile(self._log_path)
            row = {
                "candidate": candidate.number,
                "gain": candidate.gain,
                "n": len(task_gains),
                "n_failed": candidate.n_failed,
                "calls": self._gateway.budget.usage.requests,
                "n_demos": len(candidate.prompt.demos),
                "instructions": candidate.prompt.instructions,
            }
            log.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode())
            log.flush()


def _indices_by_inputs(tasks: Sequence[Task]) -> dict[str, list[int]]:
    """Indices of the tasks with the same inputs, whose right answers may differ."""
    indices: dict[str, list[int]] = {}
    for i, task in enumerate(tasks):
        indices.setdefault(make_key(task.inputs), []).append(i)
    return indices


def _mean(gains: Collection[float]) -> float:
    return sum(gains) / len(gains)
