"""Questions by category and target domain: categories from a judge, and so many of each pair."""

from collections import Counter

import pytest
from json_lines import read_rows, write_rows
from mock_server import MockServer, Refusal, input_of

from nuggetjudge.plugins.collections.categories import QuestionCategorizer
from nuggetjudge.plugins.collections.long2rag import build_long2rag
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import InputError

SEEDS = {"s1": ("Why do dams break?", ""), "s2": ("Why do mills burn?", "why"), "s3": ("How?", "")}
MORE = "one two three four five six seven eight nine ten"


def brain(body):
    system, asked = body["messages"][0]["content"], input_of(body)
    if '"methodological"' in system:
        return {"category": "causal"}
    if '"unambiguous"' in system:
        meets = {"uncommon", "clear", "unambiguous", "complex"}
        names = (*meets, "opinion")
        return {name: "yes" if name in meets else "no" for name in names}
    if "wanted" in asked:
        text = f"{asked['question']} {asked['domain']}"
        depth = "more complex" in system
        more = MORE if asked["domain"] == "law" else "one"  # 11 words longer, or 2
        return {"questions": [f"{text} {'d' if depth else 'w'}{i} {more}?" for i in (1, 2)]}
    return {"kind": "complex", "subquestions": [asked["question"]]}


def built(tmp_path, server, **settings):
    rows = [{"id": name, "text": text, "category": of} for name, (text, of) in SEEDS.items()]
    seeds = write_rows(tmp_path / "seeds.jsonl", rows)
    fixed = {"run.out": tmp_path / "out", "long2rag.categorize": True, "long2rag.evolve": 2}
    fixed |= {"long2rag.domains": "law, film,law", "long2rag.per_pair": 3}
    sets = ["run.cache=false", f"models.default.api_base={server.base_url}"]
    config = load_config(None, fixed | settings, sets, "hosted_vllm/mock")
    return build_long2rag(seeds, None, config), read_rows(tmp_path / "out" / "topics.jsonl")


def test_each_pair_of_category_and_domain_has_at_most_so_many_questions(tmp_path):
    with MockServer(brain=brain) as server:
        manifest, topics = built(tmp_path, server)
        asked = [input_of(request.body) for request in server.requests]
    assert {row["domain"] for row in asked if "domain" in row} == {"law", "film"}
    pairs = Counter((row["category"], row["domain"]) for row in topics)
    assert pairs == dict.fromkeys(
        [(category, domain) for category in ("causal", "why") for domain in ("law", "film")], 3
    )
    assert manifest["statistics"]["grid"] == {"each": 3, "pairs": 4, "full": 4}
    assert len({row["id"] for row in topics}) == len(topics) == 12
    causal_law = [r for r in topics if (r["category"], r["domain"]) == ("causal", "law")]
    assert {row["seed"] for row in causal_law} == {"s1", "s3"}  # no seed before the others
    n_law_depth = sum(r["domain"] == "law" and r["evolved"] == "depth" for r in topics)
    assert manifest["statistics"]["depth_in_range"] == n_law_depth > 0


def test_a_seed_without_a_category_is_left_out_and_given_ones_are_kept(tmp_path):
    def refuse(index, body):
        is_asked = '"methodological"' in body["messages"][0]["content"]
        return Refusal() if is_asked and "How?" in input_of(body)["question"] else None

    with MockServer(brain=brain, faults=refuse) as server:
        manifest, topics = built(tmp_path, server)
        asked = [r.body for r in server.requests if '"methodological"' in r.body["messages"][0]["content"]]  # fmt: skip # noqa: E501
    assert "Why do mills burn?" not in {input_of(body)["question"] for body in asked}
    assert {row["seed"] for row in topics} == {"s1", "s2"}
    assert [row["topic_id"] for row in manifest["excluded"]] == ["s3"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"long2rag.evolve": 0}, "need --evolve"),
        ({"long2rag.domains": ""}, "needs --domains"),
    ],
)
def test_a_grid_that_cannot_be_made_is_refused(settings, message, tmp_path):
    with MockServer(brain=brain) as server, pytest.raises(InputError, match=message):
        built(tmp_path, server, **settings)


@pytest.mark.parametrize(
    ("question", "category"),
    [
        ("Who built the dam?", "factual"), ("Explain tides.", "explanatory"),
        ("How do owls differ from hawks?", "comparative"), ("Is it worth it?", "subjective"),
        ("How can I graft a tree?", "methodological"), ("Why did it burn?", "causal"),
        ("What would happen without bees?", "hypothetical"), ("Will ice melt?", "predictive"),
    ],
)  # fmt: skip
def test_words_tell_the_eight_categories(question, category):
    assert QuestionCategorizer("lexical")(question=question).category == category
