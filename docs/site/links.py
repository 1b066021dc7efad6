"""Pages as GitHub shows them: files beside docs/ as pages, their links, lists without a blank line.

A hook of mkdocs.yml. Pages keep links that work in the repository; what a link names outside docs/
is a page of the site where BESIDE has it, else plain text. llms.txt links to the site's pages.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
BESIDE = {  # file of the repository: its page
    "README.md": "index.md",
    "CHANGELOG.md": "about/changelog.md",
    "CONTRIBUTING.md": "about/contributing.md",
    "SECURITY.md": "about/security.md",
    "examples/demo/README.md": "examples/demo.md",
    "examples/keypoints/README.md": "examples/keypoints.md",
    "examples/long2rag/README.md": "examples/long2rag.md",
    "examples/summaries/README.md": "examples/summaries.md",
}
_HOMES = {page: file for file, page in BESIDE.items()}
_FENCE = re.compile(r"^ *```")
_STARTS = re.compile(r"^([-*] |1\. |\|)")  # what begins a list or a table
_GOES_ON = re.compile(r"^([-*] |\d+\. |\||  |$)")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages whose texts stand beside docs/."""
    for file, page in BESIDE.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    for_agents = (ROOT / "llms.txt").read_text(encoding="utf-8")
    text = re.sub(r"\]\(docs/(\S+)\.md\)", r"](\1.html)", for_agents)
    files.append(File.generated(config, "llms.txt", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """What Python-Markdown and this site's addresses need, of what GitHub shows as it is."""
    name = page.file.src_uri
    return linked(with_blank_lines(markdown), _HOMES.get(name, f"docs/{name}"), name)


def with_blank_lines(text: str) -> str:
    """A list or table right below a paragraph begins one, as in GitHub's Markdown."""
    lines: list[str] = []
    is_code = False
    for line in text.split("\n"):
        begins = not is_code and _STARTS.match(line)
        if begins and lines and not _GOES_ON.match(lines[-1]):
            lines.append("")
        is_code ^= bool(_FENCE.match(line))
        lines.append(line)
    return "\n".join(lines)


def linked(text: str, home: str, name: str) -> str:
    """Links of a file of the repository as those of its page.

    Args:
        home: the file, from the repository's root. name: its page, from docs/.
    """

    def moved(link: re.Match[str]) -> str:
        words, path, anchor = link[1], link[2], link[3] or ""
        target = os.path.normpath(PurePosixPath(home).parent / path)
        in_docs = target.removeprefix("docs/") if target.startswith("docs/") else None
        if (goal := BESIDE.get(target, in_docs)) is None:
            return words if (ROOT / target).exists() else link[0]  # which MkDocs then refuses
        return f"[{words}]({os.path.relpath(goal, PurePosixPath(name).parent)}{anchor})"

    return _LINK.sub(moved, text)
