"""RankLLM 0.25 as it can be imported: beside current libraries, without vLLM, in silence."""

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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...records.reading.problems import InputError, need, pip_install

ENCODING = "cl100k_base"  # that RankLLM counts tokens by, whatever the model


@functools.cache
def rank_llm() -> types.SimpleNamespace:
    """What is used of RankLLM. Raises: InputError if it is not there or cannot be imported."""
    need("rank_llm", "rerank")
    try:
        with contained():
            data = importlib.import_module("rank_llm.data")
            listwise = importlib.import_module("rank_llm.rerank.listwise")
    except ImportError as error:
        why = str(error).splitlines()[0]
        what = f"rank_llm cannot be imported ({why})"
        raise InputError(f"{what}; {pip_install('rerank')} by itself") from None
    except OSError:
        what = f"the file of {ENCODING} is not in TIKTOKEN_CACHE_DIR and cannot be fetched"
        raise InputError(f"{what}; pip install litellm, which carries it") from None
    return types.SimpleNamespace(
        SafeOpenai=listwise.SafeOpenai,
        RankListwiseOSLLM=listwise.RankListwiseOSLLM,
        Candidate=data.Candidate,
        Query=data.Query,
        Request=data.Request,
        templates=Path(str(listwise.__file__)).parent.parent / "prompt_templates",
    )


@contextlib.contextmanager
def contained() -> Iterator[None]:
    """Let RankLLM 0.25 be imported and made without what it needs, and undo what it does.

    It imports vLLM also where it is not used, and from transformers 4.57 two functions that have
    moved; fetches a tokenizer that LiteLLM carries; prints; sets up logging; and sets OpenAI's
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
        tiktoken.get_encoding(ENCODING)  # which keeps it
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
