"""List-wise reranking by RankLLM: RankGPT over any endpoint, RankZephyr and FIRST over vLLM.

RankLLM 0.25 is imported beside current libraries, without vLLM and without its console output.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import io
import logging
import os
import sys
import types
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from ...backends.errors import EndpointUnusable, JudgeError
from ...backends.http import bypass_proxy
from ...backends.secrecy import Secrets
from ...records.judgements import Reason
from ...records.reading.problems import InputError, need, pip_install
from ..defaults import STRIDE, WINDOW
from ..encoders import not_loaded
from ..scored import Ranked, Scored, by_rank

ENCODING = "cl100k_base"  # RankLLM counts tokens with it, for all models


@functools.cache
def rank_llm() -> types.SimpleNamespace:
    """The parts of RankLLM in use. Raises: InputError if it is missing or cannot be imported."""
    need("rank_llm", "rerank")
    try:
        with contain():
            data = importlib.import_module("rank_llm.data")
            listwise = importlib.import_module("rank_llm.rerank.listwise")
    except ImportError as error:
        why = str(error).splitlines()[0]
        what = f"rank_llm cannot be imported ({why})"
        raise InputError(f"{what}; {pip_install('rerank')} in a separate environment") from None
    except OSError:
        what = f"the file of {ENCODING} is not in TIKTOKEN_CACHE_DIR and cannot be downloaded"
        raise InputError(f"{what}; pip install litellm, which includes it") from None
    return types.SimpleNamespace(
        SafeOpenai=listwise.SafeOpenai,
        RankListwiseOSLLM=listwise.RankListwiseOSLLM,
        Candidate=data.Candidate,
        Query=data.Query,
        Request=data.Request,
        templates=Path(str(listwise.__file__)).parent.parent / "prompt_templates",
    )


@contextlib.contextmanager
def contain() -> Iterator[None]:
    """Let RankLLM 0.25 be imported without its missing dependencies, and undo its side effects.

    It always imports vLLM and, from transformers 4.57, two functions that have
    moved; downloads a tokenizer that LiteLLM includes; prints; sets up logging; and sets OpenAI's
    global key.
    """
    import openai
    import tiktoken
    from transformers import modeling_utils, pytorch_utils

    from ...backends.vllm_engine import is_installed

    stubs: dict[str, Any] = {}
    if not is_installed():
        stubs = {name: types.ModuleType(name) for name in ("vllm", "vllm.outputs")}
        for stub in stubs.values():
            stub.RequestOutput = object  # named in annotations
    moved = ("find_pruneable_heads_and_indices", "prune_linear_layer")
    absent = [name for name in moved if not hasattr(modeling_utils, name)]
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    key, proxy = openai.api_key, getattr(openai, "proxy", None)
    folder = os.environ.get("TIKTOKEN_CACHE_DIR")
    litellm = importlib.util.find_spec("litellm")
    try:
        if folder is None and litellm is not None and litellm.origin is not None:
            own = Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"
            os.environ["TIKTOKEN_CACHE_DIR"] = str(own)
        tiktoken.get_encoding(ENCODING)  # tiktoken keeps it
        sys.modules.update(stubs)
        for name in absent:
            if hasattr(pytorch_utils, name):
                setattr(modeling_utils, name, getattr(pytorch_utils, name))
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        for name in absent:
            if hasattr(modeling_utils, name):
                delattr(modeling_utils, name)
        for name in stubs:
            sys.modules.pop(name, None)
        if folder is None:
            os.environ.pop("TIKTOKEN_CACHE_DIR", None)
        openai.api_key, openai.proxy = key, proxy  # type: ignore[attr-defined]
        root.handlers[:] = handlers
        root.setLevel(level)


CONTEXT_SIZE = 4096  # tokens; RankLLM's own default
TIMEOUT_S = 120.0
RETRIES = 2  # after a request without a reply; RankLLM's own never end
PROMPTS = ("rank_gpt", "rank_gpt_apeer", "rank_lrl", "rank_zephyr")


class RankLlm:
    """Reranks passages with RankLLM's prompts, parsing and sliding window, over an endpoint.

    Passages are shortened evenly, by words, until a window fits into `context_size`. RankLLM reads
    every number in a reply as a mention: repeated and unknown numbers are dropped, passages that
    are not mentioned follow in their old order, and a reply without a number changes nothing.

    Args:
        model: its name at the endpoint.
        api_base: of an OpenAI-compatible endpoint, such as "http://127.0.0.1:8000/v1".
        prompt: one of RankLLM's own: rank_gpt, rank_gpt_apeer, rank_lrl or rank_zephyr.
        window, stride: passages in a call, and how far the next one moves towards the front.
        context_size: the model's limit for prompt and reply, in tokens (cl100k_base).
        timeout_s: for a request; one without a reply is sent twice more.

    Attributes:
        counts: "windows" in all, "mended" (the reply was not a permutation) and "failed" (no
            passage was named, so the order stayed).

    Raises: InputError if the `rerank` extra is missing or a window cannot fit; ValueError for
        another prompt or an invalid window. `rerank` raises JudgeError if there is no
        reply, and EndpointUnusable if no reply can come.
    Source: arXiv:2304.09542 (RankGPT), arXiv:2312.02724 (RankZephyr), arXiv:2406.15657 (FIRST).

    Example:
        RankLlm("Qwen/Qwen3-8B", api_base="http://127.0.0.1:8000/v1").rerank(query, ranked, texts)
    """

    def __init__(
        self,
        model: str,
        *,
        api_base: str,
        api_key: str | None = None,
        prompt: str = "rank_gpt",
        window: int = WINDOW,
        stride: int = STRIDE,
        context_size: int = CONTEXT_SIZE,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        if prompt not in PROMPTS:
            raise ValueError(f"prompt is {prompt!r}, wanted one of {', '.join(PROMPTS)}")
        _check_window(window, stride)
        kind = _over_endpoint(rank_llm().SafeOpenai)
        self._open(
            kind,
            model=model,
            keys="unused",  # the client below has the key
            prompt_template_path=rank_llm().templates / f"{prompt}_template.yaml",
            window_size=window,
            stride=stride,
            context_size=context_size,
        )
        openai = need("openai", "rerank")
        bypass_proxy(api_base)
        self._ranker.client = openai.OpenAI(
            base_url=api_base,
            api_key=api_key or "unused",
            timeout=timeout_s,
            max_retries=RETRIES,
        )
        self._ranker.secrets = Secrets([api_key] if api_key else [])

    @classmethod
    def local(
        cls,
        model: str,
        *,
        first: bool = False,
        window: int = WINDOW,
        stride: int = STRIDE,
        context_size: int = CONTEXT_SIZE,
    ) -> Self:
        """Use a model in this process, through vLLM, with prompts of RankZephyr.

        Args:
            model: a folder or a name on the hub, such as "castorini/rank_zephyr_7b_v1_full".
            first: use the probabilities of the first token, for models trained with FIRST
                ("castorini/first_mistral").

        Raises: InputError if vLLM is missing or cannot load the model, or like the class.
        """
        from ...backends.vllm_engine import is_installed

        _check_window(window, stride)
        if not is_installed():
            raise InputError("vllm is not installed: pip install vllm, or set an endpoint")
        made = cls.__new__(cls)
        made._open(
            _counting(rank_llm().RankListwiseOSLLM),
            model=model,
            use_logits=first,
            use_alpha=first,
            window_size=window,
            stride=stride,
            context_size=context_size,
        )
        return made

    def rerank(self, query: str, ranked: Sequence[Scored], texts: Mapping[str, str]) -> Ranked:
        """See `Reranker`: all passages, with scores 1, 1/2, 1/3, ..."""
        n, library = len(ranked), rank_llm()
        if n < 2:
            return by_rank(name for name, _ in ranked)
        candidates = [
            library.Candidate(name, score, {"contents": texts[name]}) for name, score in ranked
        ]
        request = library.Request(library.Query(query, "0"), candidates)
        reranked = self._ranker.sliding_windows(
            request, rank_start=0, rank_end=n, top_k_retrieve=n, populate_invocations_history=False
        )
        return by_rank(candidate.docid for candidate in reranked.candidates)

    def _open(self, kind: type, **settings: Any) -> None:
        self.counts: Counter[str] = Counter(windows=0, mended=0, failed=0)
        try:
            with contain():
                self._ranker: Any = kind(**settings)
        except Exception as error:  # vLLM raises many kinds
            raise not_loaded(settings["model"], error) from None
        self._ranker.counts = self.counts
        _limit_cutting(self._ranker, settings["context_size"])


def _check_window(window: int, stride: int) -> None:
    if window < 2 or not 1 <= stride <= window:
        wanted = "wanted window >= 2 and stride from 1 to window"
        raise ValueError(f"{wanted}, got {window} and {stride}")


def _counting(kind: Any) -> type:
    """The reranker, with a count of the repairs of each window's reply."""

    class Counting(kind):  # type: ignore[misc]
        def receive_permutation(
            self, result: Any, permutation: str, rank_start: int, rank_end: int, *rest: Any
        ) -> Any:
            read = self._inference_handler._clean_response(permutation, use_alpha=self._use_alpha)
            named = [number.lstrip("0") for number in read.split()]
            numbers = {str(number) for number in range(1, rank_end - rank_start + 1)}
            self.counts["windows"] += 1
            if numbers.isdisjoint(named):
                self.counts["failed"] += 1
            elif sorted(named) != sorted(numbers):
                self.counts["mended"] += 1
            return super().receive_permutation(result, permutation, rank_start, rank_end, *rest)

    return Counting


def _over_endpoint(kind: Any) -> type:
    """The reranker with our own client, whose retries end."""

    class OverEndpoint(_counting(kind)):  # type: ignore[misc]
        def run_llm(self, prompt: Any, current_window_size: int | None = None) -> tuple[str, int]:
            return _reply(self.client, self._model, prompt, self.secrets), 0

        def get_num_tokens(self, prompt: list[dict[str, str]]) -> int:
            # RankLLM's own client raises if a passage holds a mark such as <|endoftext|>.
            encode = need("tiktoken", "rerank").get_encoding(ENCODING).encode_ordinary
            return sum(len(encode(text)) for message in prompt for text in message.values())

    return OverEndpoint


def _reply(client: Any, model: str, messages: Any, secrets: Secrets) -> str:
    openai = need("openai", "rerank")
    try:
        completion = client.chat.completions.create(model=model, messages=messages, temperature=0)
        return completion.choices[0].message.content or ""
    except openai.APIError as error:
        detail = secrets.blank(f"{type(error).__name__} from {client.base_url}: {error}")
        if getattr(error, "status_code", None) in (401, 402, 403, 404):
            raise EndpointUnusable(detail[:300]) from None
        raise JudgeError(Reason.ERROR, detail) from None
    except (AttributeError, LookupError, TypeError, ValueError):
        detail = f"not a chat completion from {client.base_url}"
        raise JudgeError(Reason.ERROR, detail) from None


def _limit_cutting(ranker: Any, context_size: int) -> None:
    """Raise if RankLLM would try forever to shorten passages that have no word left."""
    handler = ranker._inference_handler
    generate = handler.generate_prompt

    def generate_within(result: Any, **options: Any) -> Any:
        if options["max_length"] < 1:
            n = options["rank_end"] - options["rank_start"]
            what = f"{n} passages do not fit into {context_size} tokens, even if shortened"
            raise InputError(f"{what}; raise context_size or lower the window")
        return generate(result=result, **options)

    handler.generate_prompt = generate_within
