"""The case made by hand: its texts are what its README says, and its scores come out as counted."""

import json
import os
import re
from collections import Counter
from pathlib import Path

import processes
import pytest
from json_lines import read_rows
from mock_server import MockServer
from sennick_brain import careful, rows

import nuggetjudge as nj
from nuggetjudge.judges.lexical.grounds import find_quote, is_quoted
from nuggetjudge.judges.makers.keypoints import windows
from nuggetjudge.metrics import (
    group_means,
    key_point_f1,
    key_point_precision,
    key_point_recall,
    micro_recall,
)
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.answers import read_answers
from nuggetjudge.records.documents import read_topic_documents
from nuggetjudge.records.key_points import read_claims, read_entailments, read_key_point_sets
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.topics import read_topics

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "keypoints"
README = (FOLDER / "README.md").read_text("utf-8")
DOCS = (ROOT / "docs" / "protocols" / "keypoints.md").read_text("utf-8")
PROBLEMS = Problems()
TOPICS = read_topics(FOLDER / "topics.jsonl", PROBLEMS)
DOCUMENTS = read_topic_documents(FOLDER / "documents.jsonl", PROBLEMS)
POINTS = read_key_point_sets(FOLDER / "keypoints.jsonl", PROBLEMS)
ANSWERS = {
    (answer.run_id, answer.topic_id): answer.text
    for path in sorted((FOLDER / "answers").iterdir())
    for answer in read_answers(path, PROBLEMS)
}
ENTAILMENTS = list(read_entailments(FOLDER / "labels" / "entailments.jsonl", PROBLEMS))
CLAIMS = list(read_claims(FOLDER / "labels" / "claims.jsonl", PROBLEMS))
LAGOON, FERRY = TOPICS


# The count of the README: yes of key points, yes of claims, KPF.
COUNTED = {
    ("thorough", LAGOON): ((11, 12), (18, 21), 132 / 149),
    ("brief", LAGOON): ((3, 12), (3, 3), 2 / 5), ("wander", LAGOON): ((2, 12), (3, 24), 1 / 7),
    ("thorough", FERRY): ((3, 4), (5, 6), 15 / 19), ("brief", FERRY): ((2, 4), (3, 3), 2 / 3),
}  # fmt: skip
MEANS = {  # over both topics; a topic without an answer is 0, and no part of KPP
    "thorough": {"KPR": 5 / 6, "KPP": 71 / 84, "KPF": (132 / 149 + 15 / 19) / 2},
    "brief": {"KPR": 3 / 8, "KPP": 1, "KPF": 8 / 15},
    "wander": {"KPR": 1 / 12, "KPP": 1 / 8, "KPF": 1 / 14},
}
MICRO = {"thorough": 14 / 16, "brief": 5 / 16, "wander": 2 / 16}


def labels_of(run, topic):
    return [e.label for e in ENTAILMENTS if (e.run_id, e.topic_id) == (run, topic)]


def claims_of(run, topic):
    (claims,) = (c.claims for c in CLAIMS if (c.run_id, c.topic_id) == (run, topic))
    return [claim.label for claim in claims]


def start_share(span, text):
    """Where a span begins, as a share of the document."""
    return find_quote(span, text)[0] / len(text)


def test_the_readers_have_nothing_to_say_about_the_files():
    assert list(PROBLEMS) == []
    assert set(ANSWERS) == set(COUNTED)


def test_the_documents_have_the_lengths_of_the_readme_and_take_two_windows():
    lengths = {
        name: len(document.text.split())
        for of_topic in DOCUMENTS.values()
        for name, document in of_topic.items()
    }
    assert lengths == {"sennick-inquiry": 2496, "sennick-return": 2468, "corrin-notice": 315}
    for name, n_words in lengths.items():
        assert f"| `{name}` | {n_words:,} |" in README
    n_windows = [len(windows(d.text)) for of in DOCUMENTS.values() for d in of.values()]
    assert n_windows == [2, 2, 1]


def test_topics_have_a_domain_and_a_category_and_twelve_and_four_key_points():
    assert all(topic.domain and topic.category for topic in TOPICS.values())
    assert {t: len(points.key_points) for t, points in POINTS.items()} == {LAGOON: 12, FERRY: 4}
    assert all(points.query == TOPICS[t].text for t, points in POINTS.items())


def test_every_span_stands_verbatim_in_one_of_its_sources_and_every_source_has_one():
    for topic, points in POINTS.items():
        for point in points.key_points:
            texts = [DOCUMENTS[topic][name].text for name in point.sources]
            assert point.spans
            assert all(any(span in text for text in texts) for span in point.spans)
            assert all(any(span in text for span in point.spans) for text in texts)


def test_the_lagoons_key_points_stand_at_the_beginning_in_the_middle_and_at_the_end():
    for name, document in DOCUMENTS[LAGOON].items():
        shares = sorted(
            start_share(span, document.text)
            for point in POINTS[LAGOON].key_points
            for span in point.spans
            if is_quoted(span, document.text)
        )
        assert shares[0] < 0.05, name
        assert any(0.4 < at < 0.6 for at in shares), name
        assert shares[-1] > 0.95, name
        # No window has all of them: who cuts a document off misses some.
        for window in windows(document.text):
            assert any(
                not is_quoted(span, window)
                for point in POINTS[LAGOON].key_points
                for span in point.spans
                if is_quoted(span, document.text)
            )


def test_answers_cite_their_references_and_count_their_words():
    for path in sorted((FOLDER / "answers").iterdir()):
        for row in rows(f"answers/{path.name}"):
            assert row["run_id"] == path.stem
            assert row["topic"] == TOPICS[row["topic_id"]].text
            cited = {at for sentence in row["answer"] for at in sentence["citations"]}
            assert cited == set(range(len(row["references"])))
            assert set(row["references"]) <= DOCUMENTS[row["topic_id"]].keys()
            n_words = sum(len(sentence["text"].split()) for sentence in row["answer"])
            assert row["response_length"] == n_words
    n_words = {answer: len(text.split()) for answer, text in ANSWERS.items()}
    assert n_words["brief", LAGOON] < 60 < 200 < n_words["wander", LAGOON]


def test_every_answer_is_labelled_for_every_key_point_with_a_quote_where_it_touches_it():
    for (run, topic), text in ANSWERS.items():
        entailments = [e for e in ENTAILMENTS if (e.run_id, e.topic_id) == (run, topic)]
        assert [e.key_point_id for e in entailments] == [p.id for p in POINTS[topic].key_points]
        for e in entailments:
            there = [is_quoted(quote.quote, text) for quote in e.evidence]
            assert e.is_quoted is (all(there) if there else None)
            assert e.is_quoted is not False
            assert e.evidence or e.label == "neutral"
    assert Counter(e.label for e in ENTAILMENTS) == {"yes": 21, "neutral": 22, "no": 1}
    partly = {
        (e.run_id, e.key_point_id) for e in ENTAILMENTS if e.label == "neutral" and e.evidence
    }
    assert partly == {
        ("thorough", "dredging"),
        ("thorough", "limit"),
        ("wander", "gates"),
        ("wander", "sowing"),
    }


@pytest.mark.parametrize(("run", "topic"), COUNTED)
def test_recall_precision_and_f1_of_our_labels_are_the_hand_count(run, topic):
    (n_points, of_points), (n_claims, of_claims), counted_f1 = COUNTED[run, topic]
    recall = key_point_recall(labels_of(run, topic))
    precision = key_point_precision(claims_of(run, topic))
    assert (recall.value, recall.n) == (pytest.approx(n_points / of_points), of_points)
    assert (precision.value, precision.n) == (pytest.approx(n_claims / of_claims), of_claims)
    f1 = key_point_f1(recall, precision).value
    assert f1 == pytest.approx(counted_f1)
    name = {LAGOON: "lagoon", FERRY: "ferry"}[topic]
    shares = f"{n_points}/{of_points} = {recall.value:.4f} | {n_claims}/{of_claims} = "
    assert f"| {name} | {run} | {shares}{precision.value:.4f} | " in README
    assert f"= {f1:.4f} |" in README


@pytest.mark.parametrize("run", MEANS)
def test_macro_and_micro_means_and_those_of_domains_are_the_hand_count(run):
    recalls = {t: key_point_recall(labels_of(run, t)) for r, t in COUNTED if r == run}
    by_domain = group_means(recalls, {t: topic.domain for t, topic in TOPICS.items()}, TOPICS)
    values = {name: mean.value for name, (mean, _) in by_domain.items()}
    of_ferry = recalls[FERRY].value if FERRY in recalls else 0
    assert values == {"environment": recalls[LAGOON].value, "transport": of_ferry}
    assert sum(values.values()) / 2 == pytest.approx(MEANS[run]["KPR"])
    labels = {t: labels_of(run, t) or ["no"] * len(POINTS[t].key_points) for t in TOPICS}
    assert micro_recall(labels).value == pytest.approx(MICRO[run])
    shown = " | ".join(f"{MEANS[run][name]:.4f}" for name in ("KPR", "KPP", "KPF"))
    assert f"| both | {run} | {shown} | {MICRO[run]:.4f} |" in README


def test_a_model_that_gives_our_labels_gets_the_hand_count(tmp_path):
    """Through the whole program: windows of one key point, claims extracted and judged."""
    named = {f"data.{name}": FOLDER / f"{name}.jsonl" for name in ("topics", "keypoints")}
    named |= {"program": ["keypoints"], "data.runs": [str(FOLDER / "answers")]}
    with MockServer(brain=careful) as server:
        sets = ["run.cache=false", f"models.default.api_base={server.base_url}"]
        config = load_config(None, named | {"run.out": tmp_path / "out"}, sets, "hosted_vllm/mock")
        result = nj.run(config)
    assert result.is_complete
    scores = {(r.run_id, r.topic_id, r.measure): r.value for r in result.scores}
    for (run, topic), ((n_points, of_points), (n_claims, of_claims), f1) in COUNTED.items():
        assert scores[run, topic, "KPR"] == pytest.approx(n_points / of_points)
        assert scores[run, topic, "KPP"] == pytest.approx(n_claims / of_claims)
        assert scores[run, topic, "KPF"] == pytest.approx(f1)
    for run, means in MEANS.items():
        for measure, value in means.items():
            assert scores[run, "all", measure] == pytest.approx(value), (run, measure)
    groups = [
        json.loads(line) for line in (tmp_path / "out" / "groups.jsonl").open(encoding="utf-8")
    ]
    micro = {row["run_id"]: row["value"] for row in groups if row["by"] == "micro"}
    assert micro == pytest.approx(MICRO)


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What each command of the README prints, in a folder that has the examples."""
    cwd = tmp_path_factory.mktemp("readme")
    (cwd / "examples").symlink_to(ROOT / "examples")
    (block,) = re.findall(r"```\n(judge run.*?)\n```", README, re.DOTALL)
    home = {**os.environ, "HOME": str(cwd), "XDG_CACHE_HOME": str(cwd / "cache")}
    outputs = {}
    for command in block.replace("\\\n", " ").splitlines():
        words = [*processes.JUDGE, *command.split()[1:]]
        done = processes.run(*words, cwd=cwd, env=home, check=True)
        outputs[" ".join(command.split())] = done.stdout
    return cwd, outputs


def test_the_commands_of_the_readme_score_given_key_points_and_make_others(printed):
    cwd, outputs = printed
    given, _, _, made = (text.splitlines() for text in outputs.values())
    for name, (*lines, blank, hints) in (("lexical", given), ("lexical-made", made)):
        assert (blank, hints.split("  ")[0]) == ("", f"why: judge show results/{name} thorough")
        title, _, head_of_table, *rows = lines
        assert title.startswith("Keypoints   KPR: ")
        assert head_of_table.split()[-3:] == ["KPP", "KPF", "answered"]  # and nothing is missing
        assert {line.split()[1] for line in rows[: len(MEANS)]} == set(MEANS)
        assert (cwd / "results" / name / "entailments.jsonl").is_file()
    assert "\n".join(given) in README
    points = read_key_point_sets(cwd / "results" / "lexical-made" / "keypoints.jsonl", Problems())
    assert set(points) == set(TOPICS)
    for topic, of_topic in points.items():
        for point in of_topic.key_points:
            texts = [DOCUMENTS[topic][name].text for name in point.sources]
            assert all(any(is_quoted(span, text) for text in texts) for span in point.spans)
    rested_on = [span for point in points[LAGOON].key_points for span in point.spans]
    missed = [
        point.id
        for point in POINTS[LAGOON].key_points
        if not any(a in b or b in a for a in point.spans for b in rested_on)
    ]
    assert (len(points[LAGOON].key_points), len(missed)) == (26, 7)  # as the README says
    # From both windows of each long document.
    for name, document in DOCUMENTS[LAGOON].items():
        spans = [s for p in points[LAGOON].key_points if name in p.sources for s in p.spans]
        shares = [
            start_share(span, document.text) for span in spans if is_quoted(span, document.text)
        ]
        assert min(shares) < 0.1, name
        assert max(shares) > 0.8, name


def test_the_lexical_judge_agrees_with_our_labels_as_the_readme_says(printed):
    _, outputs = printed
    _, agreed, compared, _ = outputs.values()
    (kappa,) = re.findall(r"Cohen kappa, unweighted +(\S+) +\[", agreed)
    (against_rest,) = re.findall(r"^yes .* (\S+) +\[\S+ \S+\]$", agreed, re.MULTILINE)
    assert f"kappa {kappa}" in README
    assert f"yes against the rest {against_rest}" in README
    assert "The judges give 7 of 44 items another label" in compared
    verdict, _, flips, *_ = compared.split("\n\n")
    assert f"{verdict}\n\n...\n\n{flips}\n" in DOCS


# The summaries of the example have the lengths that its README says, and its runs fit them.
SUMMARIES_FOLDER = Path(__file__).resolve().parents[2] / "examples" / "summaries"
SUMMARIES = {row["id"]: row for row in read_rows(SUMMARIES_FOLDER / "summaries.jsonl")}


def test_documents_and_summaries_have_the_lengths_of_the_readme():
    assert len(SUMMARIES) == 3
    for row in SUMMARIES.values():
        assert len(row["documents"]) == 4
        assert all(150 <= len(text.split()) <= 350 for text in row["documents"])
        assert 130 <= len(row["summary"].split()) <= 150


def test_both_runs_rank_four_passages_for_each_topic():
    for name in ("broad", "echo"):
        lines = [
            line.split()
            for line in (SUMMARIES_FOLDER / "runs" / f"{name}.run").open(encoding="utf-8")
        ]
        assert Counter(topic for topic, *_ in lines) == dict.fromkeys(SUMMARIES, 4)
        assert len({(topic, docid) for topic, _, docid, *_ in lines}) == len(lines)
        assert {run for *_, run in lines} == {name}
    of_others = [topic for topic, _, docid, *_ in lines if not docid.startswith(f"{topic}:")]
    assert sorted(of_others) == ["bridge-kelvick", "tram-veldmoor"]  # in echo


def test_summaries_answers_cite_their_references_and_count_their_words():
    for path in sorted((SUMMARIES_FOLDER / "answers").iterdir()):
        answers = read_rows(path)
        assert [row["topic_id"] for row in answers] == list(SUMMARIES)
        for row in answers:
            cited = {index for sentence in row["answer"] for index in sentence["citations"]}
            assert cited == set(range(len(row["references"])))
            assert row["run_id"] == path.stem
            n_words = sum(len(sentence["text"].split()) for sentence in row["answer"])
            assert row["response_length"] == n_words
