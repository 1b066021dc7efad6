from nuggetjudge.records import read_trec_run


def test_the_best_score_is_first_and_ties_go_by_rank(write, problems, kinds):
    path = write(
        "12 Q0 b 2 7.5 bm25", "12 Q0 a 1 7.5 bm25", "12\tQ0\tc\t3\t9\tbm25", "7 Q0 a 1 1 bm25"
    )
    rankings = read_trec_run(path, problems)
    assert rankings["12"].passage_ids == ("c", "a", "b")
    assert rankings["12"].scores == (9.0, 7.5, 7.5)
    assert rankings["7"].run_id == "bm25"
    assert kinds() == [(1, "rank_order", "kept")]


def test_what_is_no_run_line_is_an_error(write, problems, kinds):
    path = write("1 Q0 a 1 2.0 x", "1 Q0 a 2 1.0 x", "1 Q0 b 2 nan x", "1 Q0 b 2 x", "1 Q0 b 2 1 y")
    assert read_trec_run(path, problems)["1"].passage_ids == ("a",)
    assert kinds() == [
        (2, "duplicate_candidate", "error"),
        (3, "bad_run", "error"),
        (4, "bad_run", "error"),
        (5, "mixed_runs", "error"),
    ]


def test_a_real_run_has_100_passages_for_each_of_its_30_topics(shared_data, problems):
    rankings = read_trec_run(shared_data / "crux_duc/runs/bm25.run", problems)
    assert len(rankings) == 30
    assert {len(ranking.passage_ids) for ranking in rankings.values()} == {100}
    assert len(problems) == 0
