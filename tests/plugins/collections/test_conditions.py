"""Documents under conditions: what each run lists, and that answers can be written from them."""

import pytest
from collections_to_build import write_documents, write_seeds
from json_lines import read_rows
from mock_server import MockServer, Refusal, input_of

from nuggetjudge.plugins.collections.conditions import build_conditions, cut_text
from nuggetjudge.plugins.collections.shortening import DocumentShortener
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.pipelines.generate import generate
from nuggetjudge.records.reading.problems import InputError

QUESTIONS = {"tide": "Why does the tide turn?", "kelp": "How does kelp bend?"}
TEXTS = {
    "tide": ["The moon pulls the sea. So the tide turns twice a day.", "Gulls sleep."],
    "kelp": ["Kelp bends with the swell. It has no roots."],
}


def brain(body):
    """The first sentence as the snippet, and its question as the summary."""
    asked = input_of(body)
    if "Summarize" in body["messages"][0]["content"]:
        return {"text": f"On: {asked['question']}"}
    return {"text": "" if "Gulls" in asked["document"] else asked["document"].split(".")[0] + "."}


def built(tmp_path, server, **settings):
    topics = write_seeds(tmp_path / "topics.jsonl", QUESTIONS)
    documents = write_documents(tmp_path / "documents.jsonl", TEXTS)
    fixed = {"run.out": tmp_path / "out", "long2rag.conditions": "30,snippet,summary"}
    sets = ["run.cache=false", f"models.default.api_base={server.base_url}"]
    config = load_config(None, fixed | settings, sets, "hosted_vllm/mock")
    return build_conditions(topics, documents, config), topics


def test_each_condition_is_a_run_over_its_own_texts_and_answers_come_of_all(tmp_path):
    with MockServer(brain=brain) as server:
        manifest, topics = built(tmp_path, server)
    texts = {row["id"]: row["text"] for row in read_rows(tmp_path / "out" / "passages.jsonl")}
    assert texts["tide:tide.1@full"] == TEXTS["tide"][0]
    assert texts["tide:tide.1@30"] == "The moon pulls the sea. So the"
    assert texts["tide:tide.1@snippet"] == "The moon pulls the sea."
    assert texts["kelp:kelp.1@summary"] == "On: How does kelp bend?"
    assert "tide:tide.2@snippet" not in texts  # nothing in it helps
    ranked = (tmp_path / "out" / "snippet.run").read_text().split("\n")[0]
    assert ranked.split() == ["tide", "Q0", "tide:tide.1@snippet", "1", "1.0", "snippet"]
    counts = manifest["statistics"]["conditions"]
    assert [counts["snippet"][name] for name in ("documents", "empty")] == [2, 1]
    assert counts["full"]["mean_words"] == (12 + 2 + 9) / 3  # by hand

    fixed = {"data.topics": topics, "data.retrieval": [str(tmp_path / "out" / "*.run")]}
    fixed |= {"data.passages": [tmp_path / "out" / "passages.jsonl"], "run.out": tmp_path / "gen"}
    generate(load_config(None, fixed, [], "lexical"))
    answers = {path.stem for path in (tmp_path / "gen" / "answers").iterdir()}
    assert answers == {"full", "30", "snippet", "summary"}


def test_a_topic_without_a_snippet_is_in_no_run_so_that_conditions_compare(tmp_path):
    def refuse(index, body):
        return Refusal() if "Kelp" in input_of(body).get("document", "") else None

    with MockServer(brain=brain, faults=refuse) as server:
        manifest, _ = built(tmp_path, server)
    assert [row["topic_id"] for row in manifest["excluded"]] == ["kelp"]
    for name in ("full", "30", "snippet", "summary"):
        assert "kelp" not in (tmp_path / "out" / f"{name}.run").read_text()


@pytest.mark.parametrize("conditions", ["0", "512,512", "snippets", ""])
def test_a_condition_that_is_none_is_refused_before_anything_is_asked(conditions, tmp_path):
    with (
        MockServer(brain=brain) as server,
        pytest.raises(InputError, match=r"long2rag\.conditions"),
    ):
        built(tmp_path, server, **{"long2rag.conditions": conditions})
    assert not server.requests


@pytest.mark.parametrize(
    ("text", "most", "cut"),
    [("ab cd ef", 5, "ab cd"), ("ab cd ef", 4, "ab"), ("abcdef", 3, "abc"), ("ab", 2, "ab")],
)
def test_a_text_is_cut_before_the_word_that_goes_beyond(text, most, cut):
    assert cut_text(text, most) == cut


def test_the_baselines_keep_what_shares_words_with_the_question_within_the_limit():
    shorten = DocumentShortener("lexical")
    asked = {"question": QUESTIONS["tide"], "document": f"Gulls sleep. {TEXTS['tide'][0]}"}
    assert shorten(**asked, words=9).text == "So the tide turns twice a day."
    assert shorten(**asked, way="summary", words=9).text == "So the tide turns twice a day."
    assert shorten(**asked | {"document": "Gulls sleep."}).text == ""
