"""The command and the config entry for vLLM's server, as docs/backends.md shows them."""

import re
import shlex
from pathlib import Path

import yaml

PAGE = Path(__file__).resolve().parents[1] / "docs" / "backends.md"


def shown_command():
    """The words of the `vllm serve` command."""
    text = PAGE.read_text(encoding="utf-8")
    shown = re.search(r"^vllm serve (?:[^\\\n]|\\\n)*", text, re.MULTILINE)[0]
    return shlex.split(shown.replace("\\\n", " "))


def shown_entry():
    """The model entry that is shown below it."""
    text = PAGE.read_text(encoding="utf-8").split("\nvllm serve ")[1]
    return yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])["models"]["default"]
