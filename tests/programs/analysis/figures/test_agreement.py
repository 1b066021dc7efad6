"""The pictures say what was found, and are the same bytes each time."""

import json
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.analysis.figures.agreement import write_plots
from nuggetjudge.records.reading.problems import InputError, Problems

pytest.importorskip("matplotlib")


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def labels(tmp_path):
    def rows(shift):
        cells = [(t, d) for t in range(4) for d in range(5)]
        return [
            {"topic_id": f"t{t}", "passage_id": f"d{d}", "label": (t + d + shift * (d == 1)) % 3}
            for t, d in cells
        ]

    paths = [write(tmp_path / f"{i}.jsonl", rows(i)) for i in (0, 1)]
    return agree(*paths, Problems())


@pytest.fixture
def scores(tmp_path):
    def rows(sign):
        return [
            {"run_id": f"r{r}", "topic_id": f"t{t}", "measure": name, "value": r + sign * t % 3}
            for r in range(5)
            for t in range(4)
            for name in ("V_strict", "P(rel=2)@10", "a/b $x$ \\frac")
        ]

    paths = [write(tmp_path / f"{i}.jsonl", rows(i)) for i in (1, 2)]
    return agree(*paths, Problems())


def test_a_confusion_matrix_has_the_labels_and_counts_in_it(labels, tmp_path):
    (path,) = write_plots(labels, tmp_path / "plots")
    assert path == tmp_path / "plots" / "confusion.svg"
    texts = [element.text for element in ElementTree.parse(path).iter() if element.text]
    counts = [f"{n:,}" for row in labels["confusion"] for n in row]
    assert set(counts) <= set(texts)
    assert {"human", "judged", *labels["scale"]} <= set(texts)
    kappa = labels["cohen_kappa"]["unweighted"]
    assert any(f"kappa {kappa:.3f}" in text for text in texts)


def test_a_scatter_has_the_three_taus_written_in_it(scores, tmp_path):
    paths = write_plots(scores, tmp_path)
    names = ["scores-V_strict", "scores-P(rel=2)@10", "scores-a%2Fb%20%24x%24%20%5Cfrac"]
    assert [path.name for path in paths] == [f"{name}.svg" for name in names]
    text = " ".join(e.text for e in ElementTree.parse(paths[0]).iter() if e.text)
    taus = scores["measures"]["V_strict"]
    assert f"runs {taus['run_level']:.3f}" in text
    assert f"per topic {taus['topic_mean']:.3f}" in text
    assert f"all cells {taus['pooled']:.3f}" in text


@pytest.mark.slow
@pytest.mark.parametrize("form", ["svg", "png"])
def test_the_same_figures_give_the_same_bytes(labels, scores, form, tmp_path):
    for figures in (labels, scores):
        first = [path.read_bytes() for path in write_plots(figures, tmp_path / "one", form)]
        again = [path.read_bytes() for path in write_plots(figures, tmp_path / "two", form)]
        assert first == again
        start = b"\x89PNG" if form == "png" else b"<?xml"
        assert all(data.startswith(start) for data in first)


def test_text_that_would_steer_the_picture_is_drawn_as_text(tmp_path):
    rows = [{"passage_id": f"d{i}", "label": ["$x", "<b>\x07\\y{"][i % 2]} for i in range(4)]
    path = write(tmp_path / "labels.jsonl", rows)
    (plot,) = write_plots(agree(path, path, Problems()), tmp_path)
    texts = [element.text for element in ElementTree.parse(plot).iter()]
    assert "$x" in texts
    assert "<b>?\\y{" in texts


def test_figures_that_are_undefined_are_drawn_as_none(tmp_path):
    rows = [{"run_id": "r", "topic_id": "all", "measure": "V", "value": 0.5}]
    path = write(tmp_path / "scores.jsonl", rows)
    (plot,) = write_plots(agree(path, path, Problems()), tmp_path)
    assert "runs -, n 1" in plot.read_text(encoding="utf-8")


def test_without_matplotlib_it_says_what_to_install(labels, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install '.\[plots\]'") as error:
        write_plots(labels, tmp_path / "plots")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "plots").exists()
