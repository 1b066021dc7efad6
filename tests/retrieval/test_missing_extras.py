"""Rerankers whose libraries are not installed: one line that says what to install."""

import sys

import pytest

from nuggetjudge.records.reading.problems import InputError, pip_install
from nuggetjudge.retrieval.rerank.pointwise import CrossEncoderReranker, MonoT5
from nuggetjudge.retrieval.rerank.rankllm import RankLlm, rank_llm

MISSING = {
    "cross-encoder": (CrossEncoderReranker, {}, "sentence_transformers", "dense"),
    "monoT5": (MonoT5, {}, "torch", "dense"),
    "RankLLM": (RankLlm, {"api_base": "http://127.0.0.1:1/v1"}, "rank_llm", "rerank"),
}


@pytest.mark.parametrize(("make", "options", "module", "extra"), MISSING.values(), ids=MISSING)
def test_a_missing_extra_is_one_line(monkeypatch, make, options, module, extra):
    rank_llm.cache_clear()
    for name in [name for name in sys.modules if name.startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    with pytest.raises(InputError) as caught:
        make("some/model", **options)
    assert str(caught.value) == f"{module} is not installed: {pip_install(extra)}"
