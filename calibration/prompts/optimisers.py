"""Better prompts for a judge, found by DSPy's optimisers on human labels."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...records.judgements import Reason
from ...records.reading.problems import pip_install

if TYPE_CHECKING:
    import dspy

    from ...backends.gateway import Backend, Gateway
    from ...judges.base import Judge
    from ...judges.fitted import FittedPrompt
    from ...judges.items import ItemJudge
    from .asking import Way
    from .tasks import Example, Marks, Task
    from .trials import Trials

# Options of each method and their defaults, under DSPy's names; None: docs/reference/fitting.md.
OPTIONS: dict[str, dict[str, Any]] = {
    "few-shot": {"k": 8},
    "bootstrap": {
        "max_bootstrapped_demos": 4,
        "max_labeled_demos": 8,
        "max_rounds": 1,
        "num_candidate_programs": 8,
    },
    "mipro": {
        "num_candidates": 6,
        "num_trials": 10,
        "max_bootstrapped_demos": 4,
        "max_labeled_demos": 4,
        "minibatch_size": 35,
    },
    "simba": {"bsize": None, "num_candidates": 6, "max_steps": 8, "max_demos": 4},
    "gepa": {"max_metric_calls": None, "reflection_minibatch_size": 3},
}
METHODS = tuple(OPTIONS)
_N_EXAMPLES = {"k", "max_bootstrapped_demos", "max_labeled_demos", "max_demos"}
LIST_EXAMPLES = 2  # examples if each is a whole list with all its inputs
_MAY_BE_ZERO = ("max_demos", "max_labeled_demos")
NO_PROMPT = "changes a prompt, so it needs a language model"
SIMBA_BATCH = 32  # calls, as in DSPy
GEPA_ROUNDS = 5  # passes over train and dev


@dataclass(frozen=True)
class Optimised:
    """The result of an optimiser.

    Attributes:
        prompts: by predictor; the judge's own prompt if none was better on dev.
        dev_gain_before, dev_gain_after: mean gain on dev in [0, 1] of the judge's own prompt and
            of the chosen one; None if the budget did not suffice for all of dev.
        gain_by_chance, gain_if_perfect: gain on dev of answers that ignore the item (None:
            unknown, as for lists), and of perfect answers.
        n_dev: items, or lists, of dev.
        n_candidates: prompts that were scored on all of dev, including the judge's own.
        stopped_by: "budget", or "" if the method came to its end.
        calls: requests that were sent.
        n_failed_before, n_failed_after: items of dev without a judgement under either prompt.
    """

    prompts: dict[str, FittedPrompt]
    dev_gain_before: float | None
    dev_gain_after: float | None
    gain_by_chance: float | None
    gain_if_perfect: float
    n_dev: int
    n_candidates: int
    stopped_by: str
    calls: int
    n_failed_before: int = 0
    n_failed_after: int = 0

    def check_tried(self, n_reserved: int) -> None:
        """Raise JudgeError (budget) if only the judge's own prompt was scored on all of dev."""
        if self.stopped_by and self.n_candidates < 2:
            from ...backends.errors import JudgeError

            what = "the search ended before a new prompt was scored on all of dev"
            raise JudgeError(Reason.BUDGET, f"{what}; {n_reserved} calls were kept to test it on")


def optimise(
    judge: ItemJudge,
    train: Sequence[Example],
    dev: Sequence[Example],
    *,
    method: str,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    prompt_model: Backend | None = None,
    log: Path | None = None,
    threads: int = 8,
    keep_calls: int = 0,
) -> Optimised:
    """Search for instructions and worked examples with which a judge agrees better with people.

    Every request goes through the gateway of the judge's backend (proposals through that of
    `prompt_model`), with its cache, budget and retries. A repeated search repeats no finished call,
    and takes the same steps if `seed`, data and options are the same. The chosen prompt is
    the best of those with replies on all of dev.

    Args:
        train, dev: labelled items, of different topics. Candidates are made from train and
            chosen on dev.
        method: one of METHODS. options: see OPTIONS.
        prompt_model: proposes instructions; None: the judge's own model, with no limit on the
            reply's length.
        log: JSONL of candidates as they are scored on dev; created anew with the first.
        threads: parallel calls; the number does not change results.
        keep_calls: requests of the judge's budget to reserve for the test of the result.

    Raises: ValueError for invalid combinations; ModuleNotFoundError with the package to install;
        JudgeError if proposals cannot be read, or the endpoint is lost; EndpointUnusable.
    """
    get_gateway(judge, method)
    from .tasks import ItemMarks, make_kappa_gains, tasks

    check_parts(train, dev, "items", threads)
    gains = make_kappa_gains([e.label for e in dev], judge.scale, is_ordered=judge.is_ordered)
    marks = ItemMarks(judge, gains)
    search = Search(judge, tasks(judge, train), tasks(judge, dev), marks, n_dev=len(dev))
    return search.run(
        method=method,
        seed=seed,
        options=options or {},
        prompt_model=prompt_model,
        log=log,
        threads=threads,
        keep_calls=keep_calls,
    )


@dataclass(frozen=True)
class Search:
    """A search for a prompt: a judge, its tasks, and the scores of answers.

    Attributes:
        train, dev: calls of the judge, or lists that it makes.
        n_dev: items, or lists, of dev.
        way: how to ask about one of them; None: in one call.
    """

    judge: Judge
    train: Sequence[Task]
    dev: Sequence[Task]
    marks: Marks
    n_dev: int
    way: Way | None = None

    def run(
        self,
        *,
        method: str,
        seed: int,
        options: Mapping[str, Any],
        prompt_model: Backend | None,
        log: Path | None,
        threads: int,
        keep_calls: int,
    ) -> Optimised:
        """Search for a better prompt. Args and errors: see `optimise`."""
        from dspy.utils.exceptions import AdapterParseError, LMError

        from ...backends.errors import JudgeOutputError
        from .asking import Proposals, Stopped, ask_once, confine_dspy, reserve_calls
        from .tasks import get_predictor
        from .trials import Trials

        judge, marks = self.judge, self.marks
        backend = get_gateway(judge, method)
        proposer = get_gateway(judge, method, prompt_model) if prompt_model else backend
        learnt = list(self.train)
        random.Random(seed).shuffle(learnt)  # some of DSPy's samplers have no seed
        settings = check_options(method, options, len(learnt), is_of_lists(judge))
        lm = Proposals(proposer, proposer.config.max_tokens if prompt_model else None).lm()
        budgets = {id(budget): budget for budget in (backend.budget, proposer.budget)}.values()
        n_before = sum(budget.usage.requests for budget in budgets)
        trials = Trials(
            judge, learnt, self.dev, marks, way=self.way or ask_once, log=log, threads=threads
        )
        stopped_by = ""
        with (
            contextlib.closing(trials),
            reserve_calls(backend.budget, keep_calls),
            confine_dspy(lm),
        ):
            try:
                trials.score(trials.student.judge)
                marks.start(trials.default.gain)
                trials.score(_METHODS[method](trials, lm, seed, threads, **settings).judge)
            except Stopped as stopped:
                trials.settle()
                if stopped.__cause__ is not None:
                    raise stopped.__cause__ from None
                stopped_by = "budget"
            except (AdapterParseError, LMError) as error:
                what = f"--method {method} got no usable proposal"
                why = f"{what} ({str(error).split(chr(10))[0]})"
                raise JudgeOutputError(Reason.UNPARSEABLE, why) from None
        scored = trials.rank_candidates()
        best = scored[0] if scored else trials.default
        return Optimised(
            {get_predictor(judge): best.prompt},
            trials.default.gain,
            best.gain,
            marks.by_chance,
            marks.if_perfect,
            self.n_dev,
            len(scored),
            stopped_by,
            sum(budget.usage.requests for budget in budgets) - n_before,
            trials.default.n_failed,
            best.n_failed,
        )


def get_gateway(judge: Judge, method: str, backend: Backend | None = None) -> Gateway:
    """The gateway to the model whose prompt a method changes, or to another model.

    Raises: ValueError for an unknown method, or a judge without a language model.
    """
    from ...backends.gateway import Gateway

    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}, wanted one of {', '.join(METHODS)}")
    gateway = backend or judge.backend
    if not isinstance(gateway, Gateway):
        raise ValueError(f"--method {method} {NO_PROMPT}")
    if judge.own_words == "prompt":
        what = f"the {judge.name} judge has a prompt from a file (its setting prompt)"
        raise ValueError(f"{what}; remove the setting to optimise the built-in prompt")
    return gateway


def check_parts(train: Sequence[Any], dev: Sequence[Any], what: str, threads: int) -> None:
    """Raise ValueError if there is nothing to train or choose on, or no thread."""
    if not train or not dev:
        n = f"{len(train)}, {len(dev)}"
        raise ValueError(f"wanted {what} to train on and to choose on, got {n}")
    if threads < 1:
        raise ValueError(f"threads must be 1 or more, got {threads}")


def is_of_lists(judge: Judge) -> bool:
    """Whether it makes lists, whose worked examples are long, so that fewer are shown."""
    from ...judges.makers.lists import ListMaker

    return isinstance(judge, ListMaker)


def _few_shot(trials: Trials, lm: dspy.LM, seed: int, threads: int, **options: Any) -> Any:
    from dspy.teleprompt import LabeledFewShot

    return LabeledFewShot(**options).compile(trials.student, trainset=_examples(trials.train))


def _bootstrap(trials: Trials, lm: dspy.LM, seed: int, threads: int, **options: Any) -> Any:
    from dspy.teleprompt import BootstrapFewShotWithRandomSearch

    search = BootstrapFewShotWithRandomSearch(trials.marks.metric, num_threads=threads, **options)
    return search.compile(trials.student, **_data(trials))


def _mipro(
    trials: Trials,
    lm: dspy.LM,
    seed: int,
    threads: int,
    *,
    num_trials: int,
    minibatch_size: int,
    **options: Any,
) -> Any:
    from dspy.teleprompt import MIPROv2

    models = {"prompt_model": lm, "task_model": lm}
    search = MIPROv2(
        trials.marks.metric,
        auto=None,
        seed=seed,
        num_threads=threads,
        track_stats=False,
        **models,
        **options,
    )
    with _surviving_proposals():
        return search.compile(
            trials.student,
            **_data(trials),
            num_trials=num_trials,
            minibatch=minibatch_size < len(trials.dev),
            minibatch_size=min(minibatch_size, len(trials.dev)),
            program_aware_proposer=False,  # a single predictor, whose code is not informative
        )


@contextlib.contextmanager
def _surviving_proposals() -> Iterator[None]:
    """Let MIPROv2 keep the current instructions in place of an unreadable proposal.

    If none can be read, it ends with the error of the first.
    """
    from dspy.teleprompt import mipro_optimizer_v2 as dspys
    from dspy.utils.exceptions import AdapterParseError, LMError

    class Proposer(dspys.GroundedProposer):  # type: ignore[misc]
        def propose_instructions_for_program(self, *args: Any, **options: Any) -> Any:
            self.n_proposals = 0
            self.failures: list[Exception] = []
            proposals = super().propose_instructions_for_program(*args, **options)
            if self.failures and len(self.failures) == self.n_proposals:
                raise self.failures[0]
            return proposals

        def propose_instruction_for_predictor(
            self, program: Any, predictor: Any, **options: Any
        ) -> str:
            self.n_proposals += 1
            try:
                return str(super().propose_instruction_for_predictor(program, predictor, **options))
            except (AdapterParseError, LMError) as error:
                self.failures.append(error)
                return str(predictor.signature.instructions)

    before, dspys.GroundedProposer = dspys.GroundedProposer, Proposer
    try:
        yield
    finally:
        dspys.GroundedProposer = before


def _simba(trials: Trials, lm: dspy.LM, seed: int, threads: int, **options: Any) -> Any:
    from dspy.teleprompt import SIMBA

    metric = trials.marks.metric_with_feedback
    search = SIMBA(metric=metric, prompt_model=lm, num_threads=threads, **options)
    search.strategies = [_after_scoring(trials, search.bsize, way) for way in search.strategies]
    return search.compile(trials.student, trainset=_examples(trials.train), seed=seed)


def _gepa(
    trials: Trials,
    lm: dspy.LM,
    seed: int,
    threads: int,
    *,
    max_metric_calls: int | None,
    **options: Any,
) -> Any:
    from dspy.teleprompt import GEPA

    n_calls = max_metric_calls or GEPA_ROUNDS * (len(trials.train) + len(trials.dev))
    search = GEPA(
        trials.marks.metric_with_feedback,
        max_metric_calls=n_calls,
        reflection_lm=lm,
        use_merge=False,  # merging takes two predictors
        num_threads=threads,
        perfect_score=trials.marks.solved,
        seed=seed,
        **options,
    )
    return search.compile(trials.student, **_data(trials))


_METHODS: dict[str, Callable[..., Any]] = {
    "few-shot": _few_shot,
    "bootstrap": _bootstrap,
    "mipro": _mipro,
    "simba": _simba,
    "gepa": _gepa,
}


def get_options(method: str, *, lists: bool = False) -> dict[str, Any]:
    """The options of a method with their defaults, for items or for lists."""
    fewer = dict.fromkeys(OPTIONS[method].keys() & _N_EXAMPLES, LIST_EXAMPLES) if lists else {}
    return OPTIONS[method] | fewer


def check_options(
    method: str, chosen: Mapping[str, Any], n_train: int, lists: bool = False
) -> dict[str, Any]:
    """All options of a method, after every check that is possible before a call."""
    for name, value in chosen.items():
        if name not in OPTIONS[method]:
            names = ", ".join(OPTIONS[method])
            raise ValueError(f"--method {method} has no option {name!r}, only {names}")
        low = 0 if name in _MAY_BE_ZERO else 1
        if type(value) is not int or value < low:
            raise ValueError(f"--method {method}: {name} is {value!r}, wanted at least {low}")
    options = get_options(method, lists=lists) | dict(chosen)
    if method == "mipro" and find_spec("optuna") is None:
        raise ModuleNotFoundError(f"--method mipro needs optuna: {pip_install('optimise')}")
    if method == "gepa" and find_spec("gepa") is None:
        raise ModuleNotFoundError("--method gepa needs gepa: pip install gepa")
    if method == "simba":
        options["bsize"] = options["bsize"] or min(SIMBA_BATCH, n_train)
        if n_train < options["bsize"]:
            what = f"--method simba wants {options['bsize']} calls to train on (bsize)"
            raise ValueError(f"{what}, got {n_train}; add labels or lower bsize")
    return options


def _examples(tasks: Sequence[Task]) -> list[dspy.Example]:
    return [task.example for task in tasks]


def _data(trials: Trials) -> dict[str, list[dspy.Example]]:
    return {"trainset": _examples(trials.train), "valset": _examples(trials.dev)}


def _after_scoring(trials: Trials, n_calls: int, strategy: Any) -> Any:
    """SIMBA uses train only, so its best prompt is scored on dev before each new one."""

    def run(*args: Any, **settings: Any) -> Any:
        trials.score_promising(n_calls)
        return strategy(*args, **settings)

    run.__name__ = strategy.__name__
    return run
