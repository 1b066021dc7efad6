"""Leaderboards with measures of other names, and the figures of TREC AutoJudge's own tool."""

import pytest

from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.records.reading.problems import InputError, Problems

# autojudge-evaluate 1.1.0 (LeaderboardEvaluator) on the two leaderboards below.
THEIRS = {
    "tau_b": 0.8,
    "spearman": 0.9082706766917292,
    "pearson": 0.7950592131302507,
    "tau_top_10": 0.6444444444444445,
    "tau_top_15": 0.7333333333333333,
}
SIDES = {
    "nugget_coverage": lambda r, t: (r * 7 + t * 3) % 23 + r,
    "V": lambda r, t: (r * 5 + t * t * 4) % 19 + r * 1.5,
}


@pytest.fixture
def boards(tmp_path):
    paths = []
    for measure, value in SIDES.items():
        lines = []
        for r in range(20):
            values = [value(r, t) for t in range(3)]
            cells = [(f"t{t}", v) for t, v in enumerate(values)] + [("all", sum(values) / 3)]
            lines += [f"r{r}\t{topic}\t{measure}\t{v}\n" for topic, v in cells]
        paths.append(tmp_path / f"{measure}.eval.txt")
        paths[-1].write_text("".join(lines), encoding="utf-8")
    return paths


def test_run_level_figures_are_those_of_the_tracks_tool(boards):
    figures = agree(*boards, Problems(), measures={"V": "nugget_coverage"})
    ours = figures["measures"]["nugget_coverage=V"]["coefficients"]["run_level"]
    assert {name: ours[name]["value"] for name in THEIRS} == pytest.approx(THEIRS, abs=1e-12)
    assert ours["tau_top_15"]["n"] == 15


def test_measures_of_other_names_have_to_be_named_and_there(boards):
    with pytest.raises(InputError, match="no measure in common; name two by --measure"):
        agree(*boards, Problems())
    with pytest.raises(InputError, match=r"V\.eval\.txt: no measure 'W'"):
        agree(*boards, Problems(), measures={"W": "nugget_coverage"})


def test_measures_of_labels_are_refused(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text('{"topic_id": "1", "passage_id": "p", "label": 1}\n', encoding="utf-8")
    with pytest.raises(InputError, match="has labels, wanted scores"):
        agree(path, path, Problems(), measures={"V": "W"})
