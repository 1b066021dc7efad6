"""Teams with a folder of RAGDoll or nuggetizer use every command on it, and can go back."""

from ragdoll_folder import ragdoll, scores

__all__ = ["ragdoll"]

SUPPORT_METRICS = {  # -1 leaves both denominators there, an uncited sentence stays in recall's
    "r1": {"weighted_precision_first_citation": 0.75, "weighted_recall_first_citation": 0.5},
    "r2": {"weighted_precision_first_citation": 0.0, "weighted_recall_first_citation": 0.0},
}


def test_a_failed_call_of_theirs_is_no_score_but_widens_the_bounds(judge, ragdoll):
    ran = judge("score", str(ragdoll), "--json")
    assert ran.code == 0, ran.err
    of = scores(ran)
    strict = of["r1", "V_strict"]
    # By hand: one of two vital nuggets is judged, and stated.
    assert (strict["value"], strict["low"], strict["high"]) == (1.0, 0.5, 1.0)
    assert (strict["n"], strict["n_unjudged"]) == (1, 1)
    assert of["r2", "support_precision"]["value"] == 0.0
    assert of["r2", "support_precision"]["n_unjudged"] == 1
    for run, metrics in SUPPORT_METRICS.items():
        for theirs, ours in (("precision", "support_precision"), ("recall", "support_recall")):
            assert of[run, ours]["value"] == metrics[f"weighted_{theirs}_first_citation"]
    # Their table, which takes the failed nugget for one that is missing, is held against it.
    assert "other_metrics" in ran.err
    assert "4 of 8 values" in ran.err


def test_their_reasons_and_texts_are_shown_beside_an_answer(judge, ragdoll):
    ran = judge("show", str(ragdoll), "r2", "t1", "--passages")
    assert ran.code == 0, ran.err
    assert "how tides work" in ran.out
    assert "Sentence 1 of r2." in ran.out
    assert "not judged (unparseable)" in ran.out
    assert "could not parse support label" in ran.out
    assert "The text of d00." in ran.out


def test_a_broken_line_names_their_file_and_not_a_temporary_one(judge, ragdoll):
    with (ragdoll / "assignments.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"qid": "t1", "run_id": "r3", "nuggets": "none"}\n')
    ran = judge("score", str(ragdoll))
    assert ran.code == 2
    assert "theirs/assignments.jsonl:3" in ran.err
    assert "a list" in ran.err
