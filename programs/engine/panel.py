"""The judges of a run, built from its config; those that name the same model share its backend."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import orjson

from ...backends import open_backend
from ...backends.batch.ledger import Batches
from ...backends.budget import Budget
from ...backends.cache import ReplyCache
from ...backends.gateway import Backend
from ...judges import (
    AnswerabilityGrader,
    AnswerWriter,
    ClaimExtractor,
    ClaimJudge,
    Decontextualizer,
    EntailmentJudge,
    ItemJudge,
    KeyPointExtractor,
    KeyPointFilter,
    KeyPointMerger,
    ListwiseRanker,
    NuggetAssigner,
    NuggetImportance,
    Nuggetizer,
    OwnJudge,
    QuestionDecomposer,
    QuestionEvolver,
    QuestionScorer,
    RelevanceJudge,
    RequestWriter,
    SetwiseRanker,
    SubQuestionGenerator,
    SupportJudge,
    read_judge_file,
)
from ...judges.base import Judge
from ...metrics.tokens import token_counter
from ...records.reading.problems import InputError
from ..config.sections import ITEM_JUDGES, Config, JudgeName

J = TypeVar("J", bound=Judge)


class Panel:
    """Opens each model once and builds each judge once, when it is first asked for.

    Args:
        asks: False where workers elsewhere do: here neither keys nor endpoints are needed.
    """

    def __init__(
        self, config: Config, *, cache: ReplyCache | None, budget: Budget, asks: bool = True
    ) -> None:
        self._config = config
        self._cache = cache
        self._budget = budget
        self._asks = asks
        self._backends: dict[str, Backend] = {}
        self._judges: dict[JudgeName, Judge] = {}
        self._settings: dict[JudgeName, dict[str, Any]] = {}  # that a judge's identity has besides

    @property
    def nuggetizer(self) -> Nuggetizer:
        """Makes nugget lists."""
        limit = self._config.nuggets.most
        return self._judge("nuggetizer", Nuggetizer, limit=limit)

    @property
    def importance(self) -> NuggetImportance:
        """Rates nuggets."""
        return self._judge("importance", NuggetImportance)

    @property
    def assigner(self) -> NuggetAssigner:
        """Looks for nuggets in answers."""
        grades = self._config.judge("assigner").grades
        return self._judge("assigner", NuggetAssigner, **({"grades": grades} if grades else {}))

    @property
    def support(self) -> SupportJudge:
        """Grades citations."""
        return self._judge("support", SupportJudge)

    @property
    def relevance(self) -> RelevanceJudge:
        """Grades passages."""
        return self._judge("relevance", RelevanceJudge)

    @property
    def answerability(self) -> AnswerabilityGrader:
        """Grades how well texts answer questions."""
        judge = self._judge("answerability", AnswerabilityGrader)
        labels, eta = judge.correction and judge.correction.labels, self._config.coverage.eta
        if labels and int(labels[-1]) < eta:
            what = f"its best label is {labels[-1]}, so that nothing would reach eta {eta}"
            raise InputError(f"{self._config.judge('answerability').state}: {what}")
        return judge

    @property
    def subquestions(self) -> SubQuestionGenerator:
        """Makes the questions that a report answers."""
        return self._judge("subquestions", SubQuestionGenerator)

    @property
    def request(self) -> RequestWriter:
        """Makes the request that a report responds to."""
        return self._judge("request", RequestWriter)

    @property
    def decontextualizer(self) -> Decontextualizer:
        """Makes standalone passages from documents. Raises: ValueError, see token_counter."""
        name = self._config.coverage.tokenizer  # says where a document is cut
        self._settings["decontextualizer"] = {"tokenizer": name}
        return self._judge("decontextualizer", Decontextualizer, count=token_counter(name))

    @property
    def keypoint_extractor(self) -> KeyPointExtractor:
        """Finds key points in documents."""
        settings = {"rounds": self._config.keypoints.rounds}
        self._settings["keypoint_extractor"] = settings
        return self._judge("keypoint_extractor", KeyPointExtractor, **settings)

    @property
    def keypoint_merger(self) -> KeyPointMerger:
        """Joins key points that say the same."""
        return self._judge("keypoint_merger", KeyPointMerger)

    @property
    def keypoint_filter(self) -> KeyPointFilter:
        """Says which key points answer the question."""
        numbers = self._config.keypoints
        settings = {"threshold": numbers.threshold, "samples": numbers.samples}
        self._settings["keypoint_filter"] = settings
        return self._judge("keypoint_filter", KeyPointFilter, **settings)

    @property
    def claim_extractor(self) -> ClaimExtractor:
        """Says what an answer claims."""
        return self._judge("claim_extractor", ClaimExtractor)

    @property
    def entailment(self) -> EntailmentJudge:
        """Looks for key points in responses."""
        return self._judge("entailment", EntailmentJudge)

    @property
    def claim(self) -> ClaimJudge:
        """Says which claims state a key point."""
        return self._judge("claim", ClaimJudge)

    @property
    def question_scorer(self) -> QuestionScorer:
        """Scores questions."""
        return self._judge("question_scorer", QuestionScorer)

    @property
    def question_evolver(self) -> QuestionEvolver:
        """Makes new questions from others."""
        return self._judge("question_evolver", QuestionEvolver)

    @property
    def question_decomposer(self) -> QuestionDecomposer:
        """Splits questions for retrieval."""
        return self._judge("question_decomposer", QuestionDecomposer)

    @property
    def answer_writer(self) -> AnswerWriter:
        """Writes answers from passages."""
        numbers = self._config.generate
        settings = {"words": numbers.words, "citations": numbers.citations}
        self._settings["answer_writer"] = settings
        own = _text(numbers.instructions)
        return self._judge("answer_writer", AnswerWriter, **settings, instructions=own)

    @property
    def listwise(self) -> ListwiseRanker:
        """Puts passages in order."""
        return self._judge("listwise", ListwiseRanker)

    @property
    def setwise(self) -> SetwiseRanker:
        """Picks the best of a few passages."""
        return self._judge("setwise", SetwiseRanker)

    def item_judge(self, name: str) -> ItemJudge:
        """A judge of items by its name, or by the YAML file that says what it is.

        Raises: InputError for another name, or a broken file.
        """
        if name in ITEM_JUDGES:
            judge: ItemJudge = getattr(self, name)
            return judge
        return self._judge("item", OwnJudge, definition=Path(name))

    def named(self, name: JudgeName) -> Judge:
        """The judge that a section under `judges:` is about."""
        if name == "item":
            return self.item_judge(self._config.items.judge or "")
        judge: Judge = getattr(self, name)
        return judge

    def name_of(self, judge: Judge) -> JudgeName:
        """The name of a judge of this panel. Raises: ValueError if it is none."""
        for name, built in self._judges.items():
            if built is judge:
                return name
        raise ValueError(f"{type(judge).__name__} is no judge of this panel")

    def backend(self, alias: str) -> Backend:
        """What answers for an entry of `models:`. Raises: InputError if there is none."""
        if alias not in self._backends:
            if alias != "default" and alias not in self._config.models:
                raise InputError(f"no model {alias!r} under models:")
            run, model = self._config.run, self._config.model(alias)
            name = _short(f"{alias} {model.endpoint_id}")  # another endpoint has other batches
            ledger = run.out / "journal" / f"batches-{name}.jsonl"
            self._backends[alias] = open_backend(
                model,
                cache=self._cache,
                budget=self._budget,
                offline=run.offline or not self._asks,
                batches=Batches(run.batch, ledger) if run.executor == "batch" else None,
            )
        return self._backends[alias]

    def identities(self) -> dict[str, Any]:
        """What makes up each judge that was built: all that could change a judgement."""
        found: dict[str, Any] = {}
        for name, judge in self._judges.items():
            _, model = self._config.model_of(name)
            found[name] = {
                "judge": type(judge).__name__,
                "version": judge.version,
                "prompts": {n: p.prompt_hash() for n, p in judge.prompts().items()},
                "window": getattr(judge, "window", None),
                "limit": getattr(judge, "limit", None),
                "state": _hash(self._config.judge(name).state),
                "model": {**model.identity(), "recording": _hash(model.recording)},
                **self._settings.get(name, {}),
            }
        return found

    def fingerprint(self, names: Sequence[JudgeName], settings: Any = None) -> str:
        """Short hash of these judges' identities, and of settings; names their journal."""
        everything = self.identities()
        parts = [[everything[name] for name in names], settings]
        text = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
        return _short(text)

    async def aclose(self) -> None:
        """Let go of all connections."""
        for backend in self._backends.values():
            await backend.aclose()

    def _judge(self, name: JudgeName, kind: type[J], **options: Any) -> J:
        if name not in self._judges:
            alias, _ = self._config.model_of(name)
            window = self._config.judge(name).window
            if window is not None:
                options["window"] = window
            built = kind(backend=self.backend(alias), **options)
            state = self._config.judge(name).state
            self._judges[name] = built if state is None else _fitted(built, state)
        judge = self._judges[name]
        assert isinstance(judge, kind)
        return judge


def _fitted(judge: J, path: Path) -> J:
    """The judge as a judge file has it. Raises: InputError if the file does not fit it."""
    assert isinstance(judge, ItemJudge)  # the config allows no other
    try:
        fitted = judge.fitted(read_judge_file(path))
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    correction = fitted.correction
    if correction is not None and not set(correction.labels or ()) <= set(judge.scale):
        got, wanted = ", ".join(correction.labels or ()), ", ".join(judge.scale)
        raise InputError(f"{path}: it gives the labels {got}, a run wants {wanted}")
    return fitted


def _text(path: Path | None) -> str | None:
    """What a file of instructions says. Raises: InputError if that is nothing, or no text."""
    try:
        text = None if path is None else path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    if text == "":
        raise InputError(f"{path}: the file is empty, wanted instructions")
    return text


def _short(text: str | bytes) -> str:
    text = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(text).hexdigest()[:12]


def _hash(path: Path | None) -> str | None:
    return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()
