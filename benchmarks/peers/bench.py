"""W8: CPU of a call by other evaluation tools, against the same judgement here, on one mock.

Each tool is installed from the package index into an environment of its own under .venv-peers/,
with what decides its cost pinned; one that cannot be installed is left out and named.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from .. import client
from ..processes import ROOT, light_server, measure
from ..tables import Bound, Report

if TYPE_CHECKING:
    from ..judging import Kind

FOLDER = ROOT / ".venv-peers"
N_OURS = 10_000


@dataclass(frozen=True, eq=False)
class Peer:
    """A tool, how it is asked for what a judgement of ours gives, and what the mock says to it.

    `least`: how many times the CPU of our call it takes at least.
    """

    name: str
    what: str
    requires: tuple[str, ...]
    kind: Kind
    content: str
    least: float
    n: int  # of its judgements
    replies: Mapping[str, str] = field(default_factory=dict)


_NLI = {"statements": [{"statement": "It is so.", "reason": "It says so.", "verdict": 1}]}
PEERS = (
    Peer(
        "nuggetizer",
        "AsyncNuggetizer.assign, ten nuggets",
        ("nuggetizer==0.0.5", "openai==3.54.0", "tiktoken==0.14.0"),
        "assign",
        json.dumps(["support"] * 10),
        10,
        2_000,
    ),
    Peer(
        "ragas",
        "Faithfulness, two calls each",
        ("ragas==0.4.3", "langchain-community==0.3.31", "openai==1.109.1", "instructor==1.3.2"),
        "support",
        '{"statements": ["It is so."]}',
        30,
        300,
        {"NLI": json.dumps(_NLI)},
    ),
    Peer(
        "deepeval",
        "GEval with LocalModel, as shipped",
        ("deepeval==4.3.1", "openai==3.54.0"),
        "support",
        '{"score": 8, "reason": "It says so."}',
        150,
        200,
    ),
)


def bench(is_smoke: bool) -> Report:
    """Interleaved rounds of each tool, with one of ours of each kind in each round."""
    n_rounds, share = (1, 10) if is_smoke else (3, 1)
    installed = {peer: python for peer in PEERS if (python := _installed(peer)) is not None}
    ours: dict[Kind, list[float]] = defaultdict(list)
    theirs: dict[Peer, list[float]] = defaultdict(list)
    for _ in range(n_rounds):
        for kind in dict.fromkeys(peer.kind for peer in PEERS):
            with light_server(client.SAYS[kind]) as server:
                n = N_OURS // share
                ours[kind].append(client.measured(server, kind, n=n)["cpu_us"])
        for peer, python in installed.items():
            theirs[peer].append(_per_call(peer, python, peer.n // share))
    rows: list[tuple[str, ...]] = [
        ("tool", "CPU us a call", "lowest-highest", "x ours", "what is asked")
    ]
    rows += [_row("nuggetjudge", times, 1.0, client.WHAT[kind]) for kind, times in ours.items()]
    bounds = []
    for peer, times in theirs.items():
        ratio = median(a / b for a, b in zip(times, ours[peer.kind], strict=True))
        rows.append(_row(peer.requires[0].replace("==", " "), times, ratio, peer.what))
        bounds.append(Bound(f"{peer.name} by ours", ratio, peer.least, "x", is_least=True))
    absent = [f"{peer.name} could not be installed." for peer in PEERS if peer not in installed]
    return Report(f"other tools on the same mock, median of {n_rounds} rounds", rows, bounds,
                  [*absent, "nuggetizer counts tokens with a vocabulary from the network; here it "
                   "counts bytes."])  # fmt: skip


def _per_call(peer: Peer, python: Path, n: int) -> float:
    with light_server(peer.content, replies=peer.replies) as server:
        figures = measure("peers.clients", python=str(python), name=peer.name, url=server.url, n=n)
    return float(figures["cpu_us"])


def _row(name: str, cpu: list[float], ratio: float, what: str) -> tuple[str, ...]:
    spread = f"{min(cpu):,.0f}-{max(cpu):,.0f}"
    return (name, f"{median(cpu):,.0f}", spread, f"{ratio:,.1f}", what)


def _installed(peer: Peer) -> Path | None:
    """The Python of the tool's environment, made now if it is not there; None: it cannot be."""
    folder = FOLDER / peer.name
    python, done = folder / "bin" / "python", folder / "installed.json"
    wanted = json.dumps(peer.requires)
    if done.is_file() and done.read_text() == wanted:
        return python
    sys.stderr.write(f"installing {peer.name} into {folder}\n")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([*pip, *peer.requires], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        output = getattr(error, "stderr", None) or str(error)
        sys.stderr.write(f"{output.strip().splitlines()[-1]}\n")
        return None
    done.write_text(wanted)
    return python
