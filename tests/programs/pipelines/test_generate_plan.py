"""What can be seen before an answer is paid for: calls, limits of the layout, names of runs."""

import json

import pytest

from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.pipelines.generate import plan_generate
from nuggetjudge.records.reading.problems import InputError


@pytest.fixture
def planned(tmp_path):
    """The plan for two topics, of which one has two passages and the other none."""
    (tmp_path / "topics.tsv").write_text(
        "t1\twhat makes the tides\nt2\twhere does kelp grow\n", encoding="utf-8"
    )
    rows = [{"docid": n, "text": "The moon pulls the sea. " * 40} for n in ("p1", "p2")]
    (tmp_path / "passages.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    price = "models.default.price={input: 2.0, output: 8.0}"
    sets = ["models.default.api_base=http://127.0.0.1:9/v1", price]

    def plan(tag="bm25", topic="t1", **settings):
        lines = [f"{topic} Q0 p{n} {n} {9 - n} {tag}\n" for n in (1, 2)]
        (tmp_path / "r.run").write_text("".join(lines), encoding="utf-8")
        given = {
            "data.topics": tmp_path / "topics.tsv",
            "data.passages": [tmp_path / "passages.jsonl"],
            "data.retrieval": [str(tmp_path / "r.run")],
            "run.out": tmp_path / "out",
            **settings,
        }
        given = {name: value for name, value in given.items() if value is not None}
        return plan_generate(load_config(None, given, sets, "hosted_vllm/mock"))

    return plan


def test_a_plan_has_a_call_for_each_context_and_leaves_nothing(planned, tmp_path):
    (plan,) = planned(**{"generate.words": 100})
    assert (plan.judge, plan.calls) == ("answer_writer", 1)
    sentence = {"text": "The moon pulls the sea.", "citations": [1, 2]}  # of five words
    text = json.dumps({"answer": [sentence] * 20})
    size = len(text) + sum(map(text.count, '{}[]":,'))  # a mark is half a token
    assert plan.completion_tokens == size // 4 + 1
    texts = 2 * 40 * len("The moon pulls the sea. ") // 4  # 4 characters a token
    assert texts < plan.prompt_tokens < texts + 400
    assert plan.cost == pytest.approx((2 * plan.prompt_tokens + 8 * plan.completion_tokens) / 1e6)
    assert not (tmp_path / "out").exists()


def test_a_plan_counts_the_first_passages_only(planned):
    (two,), (one,) = planned(), planned(**{"generate.k": 1})
    assert two.prompt_tokens - one.prompt_tokens > 200


@pytest.mark.parametrize("name", ["topics", "passages", "retrieval"])
def test_what_is_not_named_is_told(name, planned):
    with pytest.raises(InputError, match=rf"no {name}: name a file \(data\.{name}, --{name}\)"):
        planned(**{f"data.{name}": None})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"generate.k": 21}, r"generate\.k: 21, wanted 20 at most \(TREC RAG 2024\)"),
        ({"generate.words": 401}, r"generate\.words: 401, wanted 400 at most \(TREC RAG 2024\)"),
        ({"generate.k": 101}, r"generate\.k"),
        ({"generate.layout": "rag23"}, r"generate\.layout"),
        ({"generate.run_id": "a b"}, "an id without white space"),
        ({"generate.run_id": "a/b"}, "run 'a/b' cannot name a file"),
        ({"generate.run_id": ".b"}, r"run '\.b' cannot name a file"),
        ({"generate.run_id": "x" * 250}, "cannot name a file"),
        ({"tag": "../b"}, r"run '\.\./b' cannot name a file"),
    ],
)
def test_settings_that_would_give_a_bad_run_are_refused(settings, message, planned):
    with pytest.raises(InputError, match=message):
        planned(**settings)


def test_the_layout_of_2025_takes_longer_answers_but_those_of_2026_have_limits(planned, tmp_path):
    long = {"generate.layout": "rag25", "generate.words": 1500, "generate.k": 100}
    assert planned(**long)[0].calls == 1
    (tmp_path / "topics.tsv").write_text("rag2026-1\twhat makes the tides\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"wanted 1024 at most \(TREC RAG 2026\)"):
        planned(topic="rag2026-1", **long)
    few = {"generate.layout": "rag25", "generate.citations": 4}
    with pytest.raises(InputError, match=r"generate\.citations: 4, wanted 3 at most"):
        planned(topic="rag2026-1", **few)
