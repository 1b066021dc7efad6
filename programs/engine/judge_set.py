"""The judges of a run, built from its config; judges with the same model share its backend."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from ...backends import open_backend
from ...backends.batch.ledger import Batches
from ...backends.budget import Budget, get_price
from ...backends.cache import FOLDER, ReplyCache, RunReplies
from ...backends.config import MAX_QUESTIONS, ModelConfig
from ...backends.gateway import Backend, Gateway
from ...backends.secrecy import check_keys
from ...judges.base import Judge
from ...judges.instruments.files import read_instrument
from ...judges.items import ItemJudge
from ...judges.table import Kind, find_judge, item_judges
from ...records.reading.lines import hash_file
from ...records.reading.problems import InputError, raise_at, unreadable
from ..config.base import JudgeName
from ..config.judge_sections import Member, make_verifier, without_verifier
from ..config.sections import Config, JudgeConfig
from .decision_judges import Obstacle, list_obstacles, raise_obstacles


def open_cache(config: Config, judges: Iterable[JudgeName] | None = None) -> ReplyCache | None:
    """Open the reply cache of a config; None if nothing would be kept in it.

    If the config has no cache, the run has its own, which is empty until an agent works.

    Args:
        judges: the judges to ask; None: any model of the config may be asked.
    """
    named = None if judges is None else (m for j in judges for _, m in config.get_models(j))
    models = config.models.values() if named is None else named
    if all(model.sends_nothing for model in models):
        return None
    if config.run.cache is False:
        if config.run.executor == "batch":
            return None  # refused: later rounds need the kept replies of every stage
        return RunReplies(config.run.out / "journal" / FOLDER)
    return ReplyCache(config.run.cache if isinstance(config.run.cache, Path) else None)


def check_judges(config: Config, judges: Iterable[JudgeName]) -> None:
    """Raise InputError for wrong settings of these judges, before anything is spent.

    It needs no keys or endpoints and asks nothing.
    """
    judge_set = JudgeSet(config, cache=None, budget=make_budget(config), asks=False)
    for name in judges:
        if config.judge(name).has_files or config.judge(name).verify is not None:
            judge_set[name]


def list_sparing_inputs(name: JudgeName) -> tuple[str, ...]:
    """List inputs of `data:` that may leave a judge nothing to do."""
    kind = find_judge(name)
    return kind.spared_by if kind is not None else ()


def check_models(config: Config, judges: Iterable[JudgeName]) -> None:
    """Raise EndpointUnusable if models of these judges lack a key; report used proxies.

    Offline runs and runs with other workers are not checked. For a judge that may have nothing to
    do, a missing key is reported only when it is asked.

    Raises: InputError if a decision model should do more than label.
    """
    names = list(judges)
    check_decisions(config, names)
    if config.run.offline or config.run.asks_elsewhere:
        return
    sure = _list_sure(config, names)
    models = dict(entry for judge in sure for entry in config.get_models(judge)).values()
    check_keys(models)
    if asked := [model for model in models if model.way == "http" or model.uses_litellm]:
        from ...backends.http import announce_proxy  # with aiohttp

        for model in asked:
            announce_proxy(model)


def check_decisions(config: Config, judges: Iterable[JudgeName]) -> None:
    """Raise InputError with each judge that needs more than its decision model supports.

    Judges that inputs may make unnecessary are left out. Nothing is asked.
    """
    raise_obstacles(find_obstacles(config, judges))


def find_obstacles(config: Config, judges: Iterable[JudgeName]) -> list[Obstacle]:
    """List unsupported features of decision models by judge; see `check_decisions`."""
    judge_set = JudgeSet(config, cache=None, budget=make_budget(config), asks=False)
    return list_obstacles(config, _list_sure(config, judges), judge_set.__getitem__)


def _list_sure(config: Config, judges: Iterable[JudgeName]) -> list[JudgeName]:
    """List judges that are asked with any inputs."""
    return [j for j in judges if not any(getattr(config.data, n) for n in list_sparing_inputs(j))]


def check_prices(config: Config, judges: Iterable[JudgeName]) -> None:
    """Raise InputError if there is a limit in dollars and an unknown price."""
    if config.run.max_cost is None:
        return
    for alias, model in (entry for judge in judges for entry in config.get_models(judge)):
        if get_price(model) is None:
            what = f"set models.{alias}.price, or use max_tokens"
            raise InputError(f"max_cost: the price of model {model.model!r} is unknown; {what}")


def make_budget(config: Config) -> Budget:
    """Make the budget of a config."""
    return Budget(config.run.max_calls, config.run.max_tokens, config.run.max_cost)


class JudgeSet:
    """Opens each model once and builds each judge once, when it is first used.

    Args:
        asks: False if other workers ask, so that keys and endpoints are not needed here.

    Attributes:
        part: the current part of the work, for a dry run that counts parts separately.
        trusted: entries of `models:` that gave a judgement in this run or earlier.
    """

    part = ""

    def __init__(
        self, config: Config, *, cache: ReplyCache | None, budget: Budget, asks: bool = True
    ) -> None:
        self._config = config
        self._cache = cache
        self._budget = budget
        self._asks = asks
        self._backends: dict[str, Backend] = {}
        self._judges: dict[JudgeName, Judge] = {}
        self._about: dict[int, dict[str, Any]] = {}  # hash of an identity, by id of its judge
        self._own = config.items.judge
        self.trusted: set[str] = set()

    def __getitem__(self, name: JudgeName) -> Any:
        """Return a judge by its name. Raises: InputError for wrong settings or files."""
        if name not in self._judges:
            self._judges[name] = self._build_judge(name)
        return self._judges[name]

    def item_judge(self, name: str) -> ItemJudge:
        """Return a judge of items by name or YAML file.

        Raises: InputError for another name, or a broken file.
        """
        is_known = name in item_judges()
        if not is_known:
            self._own = name
        judge: ItemJudge = self[name if is_known else "item"]
        return judge

    def use_file(self, path: Path) -> None:
        """Use the judge of this YAML file as `item`."""
        self._own = str(path)

    def change(self, name: JudgeName, settings: JudgeConfig) -> None:
        """Change the settings of a judge that is not built yet."""
        self._config = self._config.with_judge(name, settings)

    def find_name(self, judge: Judge) -> JudgeName:
        """Return the name of a judge. Raises: ValueError for a judge of another set."""
        for name, built in self._judges.items():
            if built is judge:
                return name
        raise ValueError(f"{type(judge).__name__} is not a judge of this run")

    def backend(self, alias: str) -> Backend:
        """Return the backend of an entry of `models:`. Raises: InputError if there is none."""
        if alias not in self._backends:
            if alias != "default" and alias not in self._config.models:
                raise InputError(f"no model {alias!r} under models:")
            self._backends[alias] = self._open_backend(alias, self._config.model(alias))
            self.trust(self.trusted)
        return self._backends[alias]

    def trust(self, aliases: Iterable[str]) -> None:
        """Note that these models gave judgements; later failures do not end the run."""
        self.trusted |= set(aliases)
        for alias in self.trusted & self._backends.keys():
            backend = self._backends[alias]
            if isinstance(backend, Gateway):
                backend.trust()

    def keep_replies(self) -> None:
        """Keep replies for this run from now on, even without a cache, for an agent."""
        if isinstance(self._cache, RunReplies):
            self._cache.open()

    def settle_replies(self) -> None:
        """Write arrived replies to disk, before an outcome that depends on them."""
        if self._cache is not None:
            self._cache.settle()

    def has_reply(self, key: bytes) -> bool:
        """Return whether the reply cache has an answer to the question of this key."""
        return self._cache is not None and self._cache.get(key) is not None

    def identities(self) -> dict[str, Any]:
        """Return the identity of each built judge: everything that could change a judgement."""
        return {name: self._make_identity(name) for name in self._judges}

    def _make_identity(self, name: JudgeName) -> dict[str, Any]:
        return self._whole_identity(name, self._judges[name], self._config.judge(name))

    def _whole_identity(self, name: JudgeName, judge: Any, settings: JudgeConfig) -> dict[str, Any]:
        of_judge = partial(self._identity, name)
        if not settings.is_composed:
            return of_judge(judge, settings)
        from .composed_judges import cascade_identity, jury_identity, make_verified_identity

        if settings.cascade is not None:
            return cascade_identity(judge, settings, of_judge)
        if settings.verify is not None:
            first = self._whole_identity(name, judge.first, without_verifier(settings))
            return first | make_verified_identity(judge, settings, of_judge)
        return jury_identity(judge, settings, of_judge)

    def _identity(self, name: JudgeName, judge: Judge, settings: JudgeConfig) -> dict[str, Any]:
        model = self._config.model(settings.model)
        return {
            "judge": type(judge).__name__,
            "version": judge.version,
            "prompts": {n: p.prompt_hash() for n, p in judge.prompts().items()},
            "window": getattr(judge, "window", None),
            "limit": getattr(judge, "limit", None),
            "state": _hash(settings.state),
            "model": {
                **model.identity(),
                **_get_sampling(judge),
                "recording": _hash(model.file),
            },
            **self._about.get(id(judge), {}),
            **_describe_explaining(judge),
        }

    def fingerprint(self, names: Sequence[JudgeName], settings: Any = None) -> str:
        """Return a short hash of these judges' identities and settings; it names their journal."""
        parts = [[self._make_identity(name) for name in names], settings]
        text = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
        return _short(text)

    async def aclose(self) -> None:
        """Close all connections."""
        for backend in self._backends.values():
            await backend.aclose()

    def _open_backend(self, alias: str, model: ModelConfig) -> Backend:
        run = self._config.run
        name = _short(f"{alias} {model.endpoint_id}")  # another endpoint has other batches
        ledger = run.out / "journal" / f"batches-{name}.jsonl"
        return open_backend(
            model,
            cache=self._cache,
            budget=self._budget,
            offline=run.offline or not self._asks,
            batches=Batches(run.batch, ledger) if run.executor == "batch" else None,
        )

    def _build_judge(self, name: JudgeName) -> Judge:
        settings = self._config.judge(name)
        if not settings.is_composed:
            return self._first(name)
        from .composed_judges import make_cascade, make_jury, make_verified

        if settings.cascade is not None:
            return make_cascade(name, self._config, self._build_member)
        if settings.jury is None:
            judge = self._first(name)
        else:
            judge = make_jury(name, self._config, self._build_member)
            if name == "answerability":
                _check_eta(judge, self._config)
        if settings.verify is None:
            return judge
        return make_verified(name, self._config, judge, self._verifier(name))

    def _first(self, name: JudgeName) -> Judge:
        """Return the judge of this name without its verifier."""
        return self._one(name, self._config)

    def _verifier(self, name: JudgeName) -> Judge:
        """Return the verifier of a judge."""
        settings = make_verifier(self._config.judge(name))
        return self._one(name, self._config.with_judge(name, settings))

    def _build_member(self, name: JudgeName, member: Member) -> Judge:
        """Build a member of a jury or a stage of a cascade."""
        judge = self._one(name, self._config.with_judge(name, member.settings))
        judge.replicate = member.replicate
        if member.temperature is not None and judge.backend is not None:
            judge.backend = judge.backend.copy_with(temperature=member.temperature)
        return judge

    def _one(self, name: JudgeName, config: Config) -> Judge:
        kind = find_judge(name)
        assert kind is not None  # the config names no other
        options, about = _setup(kind, name, config, self._own)
        if not config.judge(name).example:
            options["example"] = False
        if (window := get_window(name, config)) is not None:
            options["window"] = window
        make = config.judge(name).load(name)
        judge: Judge = make(backend=self.backend(config.judge(name).model), **options)
        judge.name = judge.name or name  # in judge files
        is_explained = isinstance(judge, ItemJudge) and config.has_explainer(name)
        if isinstance(judge, ItemJudge) and not is_explained:
            judge = _explaining(judge, name, config)
        if (examples := config.judge(name).demonstrations) is not None:
            from ...judges.demonstrations import with_demonstrations

            judge = with_demonstrations(judge, examples)
        judge, wording = in_own_words(judge, name, config)
        if (state := config.judge(name).state) is not None:
            from .composed_judges import load_fitted

            judge = load_fitted(judge, state)
        if name == "answerability":
            _check_eta(judge, config)
        self._about[id(judge)] = about | wording
        return self._explained(name, config, judge) if is_explained else judge

    def _explained(self, name: JudgeName, config: Config, judge: Judge) -> Judge:
        """Return the judge of a decision model with the model that explains its labels.

        Raises: InputError if that is not possible.
        """
        from .composed_judges import make_explained

        settings = config.judge(name).model_copy(
            update={"model": config.run.explainer, "state": None, "demonstrations": None}
        )
        writer = self._one(name, config.with_judge(name, settings))
        explained = make_explained(name, judge, writer)
        about = {"explainer": self._identity(name, writer, settings)}
        self._about[id(explained)] = self._about[id(judge)] | about
        return explained


def _setup(
    kind: Kind, name: JudgeName, config: Config, own: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return options of a judge, and what they add to its identity.

    Args:
        own: the YAML file of a custom judge.

    Raises: InputError for a file that does not fit.
    """
    options = {}
    for option, setting in kind.options.items():
        section, _, field = setting.rpartition(".")
        options[option] = getattr(
            getattr(config, section) if section else config.judge(name), field
        )
    about = {option: options[option] for option in kind.in_identity}
    if name == "item":
        from ...judges.custom import read_custom_judge

        options["definition"] = read_custom_judge(Path(own or ""))
    made = {o: read_text(v) if isinstance(v, Path) else v for o, v in options.items()}
    return {option: value for option, value in made.items() if value is not None}, about


def _explaining(judge: ItemJudge, name: JudgeName, config: Config) -> ItemJudge:
    """Return the judge with explanations as in this config; the lexical judge quotes by default.

    Raises: InputError if the judge cannot explain.
    """
    settings, (_, model) = config.judge(name), config.get_model(name)
    evidence = settings.evidence
    if evidence is None and model.way == "lexical" and (judge.quotable or judge.source):
        evidence = True
    with raise_at(f"judges.{name}"):
        return judge.explaining(evidence=evidence, reasoning=settings.reasoning)


def _get_sampling(judge: Judge) -> dict[str, Any]:
    """Return the temperature and top-p of a judge with its own values."""
    config = judge.backend and judge.backend.config
    return {name: getattr(config, name) for name in judge.sampling} if config else {}


def _describe_explaining(judge: Judge) -> dict[str, Any]:
    """Return what explanations add to the identity of a judge, besides its prompt."""
    if not isinstance(judge, ItemJudge) or not judge.says_why:
        return {}
    quoted = judge.evidence.values() if judge.evidence else judge.quotes
    has_evidence = bool(judge.evidence or judge.quotes_by_rule)
    return {
        "evidence": list(quoted) if has_evidence else [],
        "requires_evidence": judge.requires_evidence,
        "reasoning": judge.rationale is not None or judge.reasons_by_rule,
    }


def _check_eta(judge: Any, config: Config) -> None:
    labels, eta = judge.correction and judge.correction.labels, config.coverage.eta
    if labels and int(labels[-1]) < eta:
        what = f"its best label is {labels[-1]}, so no label would reach eta {eta}"
        raise InputError(f"{config.judge('answerability').state}: {what}")


def _short(text: str | bytes) -> str:
    text = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(text).hexdigest()[:12]


def _hash(path: Path | None) -> str | None:
    return None if path is None else hash_file(path)


_OF_ITS_OWN_PROMPT = ("evidence", "reasoning", "demonstrations")


def get_window(name: JudgeName, config: Config) -> int | None:
    """Return the items per call, from config or prompt file. Raises: InputError if both differ.

    A decision model gets as many items as fit its request, because it reads their text once.
    """
    window, path = config.judge(name).window, config.judge(name).prompt
    if window is None and config.get_model(name)[1].way == "decision":
        known = find_judge(name)
        window = MAX_QUESTIONS if known is not None and known.is_windowed else None
    if path is None:
        return window
    instrument = read_instrument(path)
    of_file, kind = instrument.definition.window, find_judge(name)
    if of_file is None:
        return window
    if window not in (None, of_file):
        raise instrument.wrong("window", f"{of_file}, but judges.{name}.window is {window}")
    if kind is not None and not kind.is_windowed:
        raise instrument.wrong("window", f"the {name} judge takes one item per call")
    return of_file


def in_own_words(judge: Judge, name: JudgeName, config: Config) -> tuple[Judge, dict[str, Any]]:
    """Return the judge with the prompt of its section, and the change of its identity.

    Raises: InputError for a prompt that cannot be read or does not fit the judge.
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
                why = f"belongs to the judge's own prompt, which {settings.prompt} replaces"
                raise InputError(f"judges.{name}.{what}: {why}")
        identity = {"prompt_file": {"sha256": instrument.sha256, "fenced": False}}
        return judge.with_prompt(instrument), identity
    except ValueError as error:
        at = "prompt" if settings.instructions is None else "instructions"
        raise InputError(f"judges.{name}.{at}: {error}") from None


def _instructions(name: JudgeName, config: Config) -> str:
    instructions = config.judge(name).instructions
    if name == "answer_writer" and config.generate.instructions is not None:
        what = "generate.instructions is the same setting; use one of them"
        raise InputError(f"judges.{name}.instructions: {what}")
    return (read_text(instructions) if isinstance(instructions, Path) else instructions) or ""


def read_text(path: Path | None) -> str | None:
    """Read a file of instructions. Raises: InputError if it is empty or not text."""
    try:
        text = None if path is None else path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(str(path), error) from None
    if text == "":
        raise InputError(f"{path}: the file is empty, wanted instructions")
    return text
