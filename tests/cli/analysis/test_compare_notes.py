"""What `judge compare` and `judge gate` say on stderr before anybody believes their figures."""

import json
import shutil

WARNED = "Made with this judge: thin. These scores are not independent of the judge."


def test_what_was_compared_and_on_whom_the_judge_leans_is_said(judge, tmp_path, example):
    assert judge("run", "demo/judge.yaml", "--out", "judged", "--quiet").code == 0
    path = tmp_path / "judged" / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(manifest | {"independence": {"thin": ["judge"]}}), "utf-8")
    for command in (
        ("compare", "judged"),
        ("compare", "judged", "--json"),
        ("gate", "judged", "--min", "V_strict=0"),
    ):
        assert WARNED in judge(*command).err, command
    assert f"judged: {WARNED}" in judge("gate", "judged", "--baseline", "judged").err

    shutil.copytree(tmp_path / "judged", tmp_path / "other")
    ran = judge("compare", "judged", "other", "--as", "judges")
    assert "another label (nuggets;" in ran.out, ran.err
    assert "Compared: nuggets. Both also judged support (--kind)." in ran.err
    named = judge("compare", "judged", "other", "--kind", "support", "--as", "judges")
    assert "another label (support;" in named.out, named.err
    assert "Compared:" not in named.err
