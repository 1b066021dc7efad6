"""The package as a whole: its examples are true, and importing it is cheap."""

import subprocess
import sys

import nuggetjudge.metrics


def test_importing_the_metrics_imports_no_heavy_library():
    code = (
        "import sys, nuggetjudge; before = set(sys.modules); import nuggetjudge.metrics;"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before};"
        "print(sorted(new - set(sys.stdlib_module_names) - {'nuggetjudge'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_metrics_import_nothing_else_of_ours():
    code = (
        "import sys, nuggetjudge; before = set(sys.modules); import nuggetjudge.metrics;"
        "ours = [m for m in set(sys.modules) - before if m.startswith('nuggetjudge.')];"
        "sys.exit(any(not m.startswith('nuggetjudge.metrics') for m in ours))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_everything_exported_exists():
    for name in nuggetjudge.metrics.__all__:
        assert hasattr(nuggetjudge.metrics, name)
