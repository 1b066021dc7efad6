"""The base class of judges: a DSPy module that asks a backend, or DSPy's own LM."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import dspy

from ..backends import open_backend
from ..backends.adapter import replace_instructions
from ..backends.config import ModelConfig
from ..backends.gateway import Backend, Reply
from ..backends.loop import run_async, run_sync
from ..backends.prompt import Baseline, Prompt, Scorer
from ..records.writing import writing
from .in_dspy import REASONS, BackendLM, SignatureOfJudge, ask_lm, ask_recorded, check_demos
from .instruments.own_words import OwnWords

if TYPE_CHECKING:
    from .fitted import FittedPrompt, JudgeFile

_plainly = object.__getattribute__  # without DSPy's checks, see Judge
_ONE_CALL = (dspy.Predict, dspy.ChainOfThought)  # modules that a compiled prompt can replace


class Judge(OwnWords, dspy.Module):  # type: ignore[misc]
    """A judge: one question, or a few, for a model. Replies are typed and checked.

    Call it as `judge(...)`, also inside a running event loop, or as `await judge.acall(...)`.

    Args:
        model: the model that answers: `"lexical"`, `"openai/gpt-4o"`, any LiteLLM name, or a
            ModelConfig. None: the LM of the caller's `dspy.context(lm=...)` or `dspy.configure`.
        backend: an open Backend, shared with other judges, instead of `model`.

    `fitted` returns a copy with the prompts of a judge file, if the judge has a name. A copy
    (`copy.deepcopy`, `judge.deepcopy()`) has its own instructions and shares the backend. A pickle
    holds the config of the model, never a key, and opens a new backend when it is loaded.
    docs/dspy.md says what else DSPy can do with a judge.

    Raises: JudgeError with a reason if the model gives no judgement; EndpointUnusable if no
        request can succeed. DSPy's own LM does not report why a reply ended: with it, refused and
        truncated replies are unparseable, and errors of its set-up are raised unchanged.
    """

    # DSPy checks each attribute access for a call of forward(), which costs more than the prompt.
    __getattribute__ = object.__getattribute__
    __signature__ = SignatureOfJudge()
    name: str = ""  # the name in a config
    scale: tuple[str, ...] = ()  # labels, worst to best, if it labels items
    version: str = "1"  # raised when a prompt, parser or default changes scores
    baselines: Mapping[str, Baseline] = {}  # lexical baseline of each predictor
    scorers: Mapping[str, Scorer] = {}  # and its confidence
    sampling: Mapping[str, float] = {}  # temperature, unless the model's entry sets one
    examples: Mapping[str, str | list[str]] = {}  # example inputs for `judge prompt`
    replicate: int = 0  # another number asks again, past the cache (test-retest)
    fitted_prompts: Mapping[str, FittedPrompt] = {}  # from its judge file
    fitted_on: frozenset[str] = frozenset()  # topics of its labels or lists

    def __init__(
        self, model: str | ModelConfig | None = None, *, backend: Backend | None = None
    ) -> None:
        super().__init__()
        if backend is None and model is not None:
            config = model if isinstance(model, ModelConfig) else ModelConfig(model=model)
            backend = open_backend(config)
        if self.sampling and backend is not None:
            chosen = backend.config.model_fields_set  # the user's temperature wins, even null
            if "temperature" not in chosen:
                free = {name: n for name, n in self.sampling.items() if name not in chosen}
                backend = backend.copy_with(**free)
        self.backend = backend
        self._prompts: dict[str, tuple[Prompt, type[dspy.Signature], list[Any]]] = {}
        self._varied: dict[str, tuple[Backend, Backend]] = {}

    def question(self, name: str) -> dspy.Predict:
        """Return the predictor of the question called `name`, also inside a dspy.ChainOfThought.

        Raises: TypeError for a module with several predictors, or none.
        """
        module = getattr(self, name)
        if isinstance(module, dspy.Predict):
            return module
        predictors = module.predictors()
        if len(predictors) != 1:
            what = f"{type(self).__name__}.{name}: {type(module).__name__} has {len(predictors)}"
            raise TypeError(f"{what} predictors, wanted one")
        return predictors[0]

    def questions(self) -> dict[str, dspy.Predict]:
        """Return the predictors of all questions, by name."""
        names = (name for name, _ in self.named_predictors())
        return {n: self.question(n) for n in dict.fromkeys(n.partition(".")[0] for n in names)}

    def prompt(self, name: str) -> Prompt:
        """Return the prompt of the question called `name`; a changed question is compiled again.

        Raises: ValueError for a worked example that does not fit the question.
        """
        predict = self.question(name)
        cached = self._prompts.get(name)
        if (
            cached is not None
            and cached[1] is _plainly(predict, "signature")
            and cached[2] == _plainly(predict, "demos")
        ):
            return cached[0]
        check_demos(name, predict.signature, predict.demos)
        baseline, scorer = self.baselines.get(name), self.scorers.get(name)
        prompt = self.find_prompt(name, predict.signature, baseline, scorer) or Prompt(
            predict.signature, predict.demos, baseline, scorer
        )
        self._prompts[name] = (prompt, predict.signature, list(predict.demos))
        return prompt

    def prompts(self) -> dict[str, Prompt]:
        """Return all compiled prompts, by the name of the question."""
        return {name: self.prompt(name) for name in self.questions()}

    def ask(self, name: str, **inputs: Any) -> Awaitable[Reply]:
        """Ask one question. Raises, when awaited: JudgeError."""
        is_alone = REASONS.get() is None and isinstance(getattr(self, name), _ONE_CALL)
        if self.backend is not None and is_alone:
            return self.backend.ask(self.prompt(name), inputs, self.replicate)
        return self._ask_in_dspy(name, inputs)

    def save_state(self, path: str | Path) -> None:
        """Write instructions, demonstrations and fit, for `judges.NAME.state` and DSPy's `load`.

        Args:
            path: a .json file; keys are never written to it.

        Raises: ValueError for another file ending; InputError if the file cannot be written.
        """
        if (file := Path(path)).suffix != ".json":
            raise ValueError(f"{file}: wanted a file that ends with .json")
        with writing(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            self.save(str(file))

    def vary_backend(self, **settings: Any) -> Backend:
        """Return the backend with other settings, opened once. Raises: TypeError if it has none."""
        if self.backend is None:
            raise TypeError(f"{type(self).__name__} has no model of its own")
        key = repr(settings)
        opened = self._varied.get(key)
        if opened is None or opened[0] is not self.backend:
            opened = self._varied[key] = (self.backend, self.backend.copy_with(**settings))
        return opened[1]

    def set_lm(self, lm: dspy.BaseLM | None) -> None:
        """Ask this LM from now on, instead of the judge's own model.

        An LM from `get_lm` gives the same answers as before. None: the LM of the caller's DSPy
        settings.
        """
        if isinstance(lm, BackendLM):
            self.backend, self.replicate, lm = lm.backend, lm.replicate, None
        else:
            self.backend, self.replicate = None, 0
        super().set_lm(lm)

    def get_lm(self) -> dspy.BaseLM | None:
        """Return the LM that answers: of the judge's model or `set_lm`; None: the caller's."""
        if self.backend is not None:
            return BackendLM(self.backend, self.replicate)
        return super().get_lm()

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """Return the longest reply that a model may give, built from the lexical judge's reply.

        A dry run continues from it, so that it does not count too few calls.
        """
        return reply

    def forward(self, *pair: Any, **inputs: Any) -> Any:
        """See the class: `judge(...)` calls this. With example and prediction, see `metric`."""
        if pair:
            return self.metric()(*pair, **inputs)
        return run_sync(self._call_decide(inputs))

    async def aforward(self, **inputs: Any) -> dspy.Prediction:
        """See the class: `await judge.acall(...)` calls this."""
        return await run_async(self._call_decide(inputs))

    def metric(self, **fields: Any) -> Any:
        """Return a metric for DSPy. Raises: TypeError unless the judge labels items."""
        raise TypeError(f"{type(self).__name__} gives no labels; call it with inputs by name")

    async def decide(self, **inputs: Any) -> dspy.Prediction:
        """Judge, on the judges' event loop; each judge defines it."""
        raise TypeError(f"{type(self).__name__} must define decide()")

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self.backend)] = self.backend  # connections and limits are shared, not copied
        changed = type(self).__new__(type(self))
        memo[id(self)] = changed
        memo[id(self._varied)] = self._varied
        state = {**self.__dict__, "_prompts": {}}
        changed.__dict__.update({name: copy.deepcopy(value, memo) for name, value in state.items()})
        return changed

    def copy_with_fit(self, state: JudgeFile) -> Self:
        """Return a copy of this judge with the prompts of a judge file.

        Raises: ValueError if the file belongs to another judge, version or scale, or has a question
            or labels that this judge does not have.
        """
        state.check(self.name, self.version, self.scale, self.model_name)
        self.check_takes(state.prompts)
        if not self.scale and (state.correction is not None or state.words is not None):
            raise ValueError(f"it corrects labels, and the {self.name} judge gives none")
        changed: Self = self.deepcopy()
        questions = changed.questions()
        for name, prompt in state.prompts.items():
            if (predict := questions.get(name)) is None:
                names = ", ".join(questions)
                raise ValueError(f"it has a prompt for {name!r}, the judge asks {names}")
            fields = predict.signature.fields
            for field in (field for demo in prompt.demos for field in demo):
                if field not in fields:
                    raise ValueError(f"an example has {field!r}, wanted {', '.join(fields)}")
            set_prompt(predict, prompt)
            check_demos(name, predict.signature, predict.demos)
        changed.fitted_prompts = dict(state.prompts)
        changed.fitted_on = self.fitted_on | set(state.fitted_on)
        return changed

    @property
    def has_logprobs(self) -> bool:
        """Whether scores come from the log-probabilities of the model's tokens."""
        if self.backend is None or self.own_words == "prompt":
            return False
        return self.backend.config.gives_probabilities

    @property
    def model_name(self) -> str:
        """The name of the model that answers, as in its config; "" for DSPy's own LM."""
        return self.backend.config.model if self.backend is not None else ""

    def __copy__(self) -> Self:
        changed = type(self).__new__(type(self))
        changed.__dict__.update(self.__dict__)
        return changed

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        entry = None if self.backend is None else self.backend.config
        keyless = {n: _without_keys(v) for n, v in state.items() if isinstance(v, dspy.Module)}
        return {**state, **keyless, "backend": entry, "_prompts": {}, "_varied": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if isinstance(entry := state["backend"], ModelConfig):
            self.backend = open_backend(entry)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._list_shown_fields().items())
        return f"{type(self).__name__}({shown})"

    def _list_shown_fields(self) -> dict[str, Any]:
        """The settings that distinguish this judge from others, by name."""
        own = self.backend.config if self.backend is not None else super().get_lm()
        options = {name: getattr(self, name, None) for name in ("window", "limit", "version")}
        fields = {"model": getattr(own, "model", None), **options}
        if demos := sum(len(predict.demos) for predict in self.predictors()):
            fields["demos"] = demos
        return {n: value for n, value in fields.items() if value is not None or n == "model"}

    async def _call_decide(self, inputs: dict[str, Any]) -> dspy.Prediction:
        """Call `decide`; add the reasoning of a dspy.ChainOfThought as `rationale`."""
        reasons: list[str | None] = []
        token = REASONS.set(reasons)
        try:
            prediction = await self.decide(**inputs)
        finally:
            REASONS.reset(token)
        if any(reason is not None for reason in reasons) and prediction.get("rationale") is None:
            prediction["rationale"] = reasons[0] if len(reasons) == 1 else reasons
        return prediction

    async def _ask_in_dspy(self, name: str, inputs: dict[str, Any], lm: Any = None) -> Reply:
        module, prompt, reasons = getattr(self, name), self.prompt(name), REASONS.get()
        index = len(reasons) if reasons is not None else 0
        if reasons is not None:
            reasons.append(None)
        if self.backend is None:
            lm = lm or self.question(name).lm or dspy.settings.lm
            if lm is None:
                raise ValueError(f"choose a model: {type(self).__name__}(model=...)")
            options = {"lm": lm} if isinstance(module, _ONE_CALL) else {}
            if name in self.instruments:
                reply = await self.ask_worded(prompt, inputs, lm)
            else:
                reply = await ask_lm(module, prompt, inputs, lm, options)
        elif isinstance(module, _ONE_CALL):
            predict = self.question(name)
            reply = await ask_recorded(predict, prompt, inputs, self.backend, self.replicate)
        else:
            lm = BackendLM(self.backend, self.replicate)
            module = module.deepcopy()  # an LM for a whole program does not apply to judges
            module.set_lm(lm)
            reply = await ask_lm(module, prompt, inputs, lm)
        if reasons is not None and (reason := reply.values.get("reasoning")) is not None:
            reasons[index] = str(reason)
        return reply


def _without_keys(module: dspy.Module) -> dspy.Module:
    """The module, with LMs without the key that DSPy keeps in their options."""
    if all(predict.lm is None for predict in module.predictors()):
        return module
    changed = module.deepcopy()
    for predict in changed.predictors():
        predict.lm = predict.lm and predict.lm.copy(api_key=None)
    return changed


def set_prompt(predict: dspy.Predict, prompt: FittedPrompt) -> None:
    """Give a predictor new instructions and worked examples."""
    predict.signature = replace_instructions(predict.signature, prompt.instructions)
    predict.demos = [dict(demo) for demo in prompt.demos]
