"""The server is killed after each label, again and again, under a page that stays open."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from browser.annotate.whole.conftest import rows_of

N = 200
KEYS = {"1": "none", "2": "partial", "3": "full", "0": None}
IN_FLIGHT = 8  # of so many kills one comes while the label is on its way


@pytest.fixture
def mortal(tmp_path):
    """`mortal()`: a new server over the same folder; (pid, link)."""
    rows = [
        {
            "topic_id": f"t{i % 10}", "run_id": "r", "sentence_id": str(i), "passage_id": "p",
            "label": ("none", "partial", "full")[i % 3], "question": f"question {i % 10}",
            "sentence": f"sentence {i}", "passage": f"passage {i}",
        }
        for i in range(N + 20)
    ]  # fmt: skip
    judged = tmp_path / "judged.jsonl"
    judged.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    command = [sys.executable, Path(__file__).with_name("mortal.py"), judged]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([*command, "support", tmp_path / "labels", str(N)], **pipes)
    alive = []

    def make():
        process.stdin.write("\n")
        process.stdin.flush()
        line = process.stdout.readline()
        pid, link = line.split(" ", 1)
        assert int(pid), link
        alive[:] = [int(pid)]
        return int(pid), link.strip()

    yield make
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    process.stdin.close()
    process.wait(10)


def test_of_200_labels_none_is_lost_and_none_doubled(mortal, chromium, tmp_path):
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(15_000)
    pid, link = mortal()
    page.goto(f"{link}#item")
    journal = tmp_path / "labels" / "ann.events.jsonl"
    queue = rows_of(next((tmp_path / "labels").glob("ann.*.queue.jsonl")))
    cells = [row["cell"] for row in queue if "cell" in row]
    pressed = []
    done = page.locator(".far span").first
    for n in range(N):
        page.locator(f".reading[data-n='{n}']").wait_for()
        key = list(KEYS)[(7 * n) % 4]
        is_in_flight = n % IN_FLIGHT == IN_FLIGHT - 1
        page.keyboard.press(key)
        pressed.append(KEYS[key])
        if not is_in_flight:
            done.get_by_text(f"{n + 1} of {N}", exact=True).wait_for()
            assert len(rows_of(journal)) == n + 1
        os.kill(pid, signal.SIGKILL)
        pid, link = mortal()
        assert context.request.get(link).ok  # the new link, opened in another tab
        if is_in_flight:
            done.get_by_text(f"{n + 1} of {N}", exact=True).wait_for()
    kept = rows_of(journal)
    assert [row["label"] for row in kept] == pressed
    assert [row["cell"] for row in kept] == cells
    assert [row["seq"] for row in kept] == list(range(1, N + 1))
    assert len({row["id"] for row in kept}) == N
    context.close()
