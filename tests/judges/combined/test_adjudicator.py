"""What an adjudicator is shown of the others: labels, counts and the words that they quoted."""

from nuggetjudge.judges.combined.jury import labels_as_text
from nuggetjudge.judges.verdicts import Verdict
from nuggetjudge.records.judgements import Evidence


def test_a_label_stands_with_its_count_and_the_words_of_one_quote():
    quoted = Verdict("full", evidence=(Evidence(of="passage", quote="the tides"),))
    text = labels_as_text(
        {"passage": "p"}, {"a": quoted, "b": Verdict("none"), "c": Verdict("full")}
    )
    assert sorted(text.splitlines()) == ['full: 2 of 3, going by "the tides"', "none: 1 of 3"]
