import json

from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.records import (
    CandidatePool,
    Passage,
    Problems,
    Ranking,
    Topic,
    read_candidates,
)

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=8)


@st.composite
def pools(draw):
    texts = draw(st.dictionaries(WORDS, WORDS, min_size=1, max_size=6))
    passages = {name: Passage(id=name, text=text, title=text[:2]) for name, text in texts.items()}
    pool = CandidatePool({}, passages)
    for topic_id in draw(st.lists(WORDS, min_size=1, max_size=3, unique=True)):
        ids = draw(st.permutations(list(texts)))
        scores = draw(st.sampled_from([(), tuple(float(n) for n in range(len(ids)))]))
        pool.rankings[topic_id] = Ranking(
            run_id="pool", topic_id=topic_id, passage_ids=tuple(ids), scores=scores
        )
        pool.topics[topic_id] = Topic(id=topic_id, text=draw(WORDS))
        if grades := draw(st.dictionaries(st.sampled_from(ids), st.integers(0, 4))):
            pool.qrels[topic_id] = grades
    return pool


def request(pool, topic_id):
    """A topic of the pool as castorini's tools write it."""
    ranking, grades = pool.rankings[topic_id], pool.qrels.get(topic_id, {})
    candidates = [{"docid": name} for name in ranking.passage_ids]
    for position, candidate in enumerate(candidates):
        passage = pool.passages[candidate["docid"]]
        candidate["doc"] = {"title": passage.title, "segment": passage.text}
        if ranking.scores:
            candidate["score"] = ranking.scores[position]
        if passage.id in grades:
            candidate["judgment"] = grades[passage.id]
    query = {"qid": topic_id, "text": pool.topics[topic_id].text}
    return {"query": query, "candidates": candidates}


@given(pool=pools())
def test_requests_are_read_as_they_were_written(pool, tmp_path_factory):
    path = tmp_path_factory.mktemp("pools") / "pool.jsonl"
    path.write_text(
        "\n".join(json.dumps(request(pool, name)) for name in pool.rankings), encoding="utf-8"
    )
    problems = Problems()
    assert read_candidates(path, problems) == pool
    assert len(problems) == 0


def test_a_list_of_docids_keeps_its_order_and_skips_repeats(write, problems, kinds):
    path = write({"topic_id": 3, "docids": ["b", "a", "b", None]}, {"topic_id": "3", "docids": []})
    pool = read_candidates(path, problems)
    assert pool.rankings["3"].passage_ids == ("b", "a")
    assert pool.rankings["3"].run_id == "file"
    assert kinds() == [
        (1, "duplicate_candidate", "skipped"),
        (1, "bad_candidate", "skipped"),
        (2, "duplicate_topic", "error"),
    ]


def test_the_published_example_of_a_request_is_read(write, problems):
    path = write(
        {
            "query": {"qid": "12", "text": "tidal power"},
            "candidates": [
                {
                    "docid": "s1",
                    "score": 7.5,
                    "judgment": 2,
                    "doc": {"title": "Tides", "segment": "Turbines turn with the tide."},
                },
                {"docid": "s2", "doc": {"contents": "Spring tides."}},
            ],
        }
    )
    pool = read_candidates(path, problems)
    assert pool.topics == {"12": Topic(id="12", text="tidal power")}
    assert pool.rankings["12"].passage_ids == ("s1", "s2")
    assert pool.passages["s1"] == Passage(
        id="s1", text="Turbines turn with the tide.", title="Tides"
    )
    assert pool.qrels == {"12": {"s1": 2}}
    assert len(problems) == 0


def test_grades_scores_and_documents_that_cannot_be_used_are_listed(write, problems, kinds):
    candidates = [
        {"docid": "a", "score": "high", "judgment": "good", "doc": {"segment": "A"}},
        {"docid": "b", "judgment": 1.5, "doc": {"segment": ""}},
        {"docid": "c", "doc": 3},
        {"docid": "a", "doc": {"segment": "not A"}},
    ]
    row = {"query": {"qid": "1", "text": "q"}, "candidates": candidates}
    pool = read_candidates(write(row), problems)
    assert pool.rankings["1"].passage_ids == ("a", "b", "c")
    assert pool.qrels == {}
    assert sorted(kinds()) == [
        (1, "bad_field", "error"),
        (1, "bad_grade", "skipped"),
        (1, "bad_grade", "skipped"),
        (1, "bad_score", "kept"),
        (1, "duplicate_candidate", "skipped"),
        (1, "duplicate_passage", "error"),
        (1, "empty_passage", "skipped"),
    ]


def test_a_retrieval_run_is_a_pool_of_rankings(write, problems):
    pool = read_candidates(write("1 Q0 a 1 2.0 x", name="x.run"), problems)
    assert pool.rankings["1"].passage_ids == ("a",)
    assert pool.passages == {}


def test_the_real_candidates_are_20_for_each_of_12_topics(shared_data, problems):
    pool = read_candidates(shared_data / "rag24_e2e/candidates.jsonl", problems)
    assert [len(ranking.passage_ids) for ranking in pool.rankings.values()] == [20] * 12
    assert len(problems) == 0
