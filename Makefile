# Two commands do all the set-up: `make demo` and `make test`.
# They need Python >= 3.11 and the package index; everything else goes into .venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready

.PHONY: demo test check bench constraints clean

demo: $(READY)
	$(BIN)/judge run examples/collection/judge.yaml

test: $(READY)
	$(BIN)/python -m pytest

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python -m benchmarks --smoke

# The environment, made again whenever what it is made from changes.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	touch $(READY)

# Names and versions of all packages, without any index address.
constraints:
	uv pip compile --quiet --no-header --no-annotate --universal --python-version 3.11 --extra test pyproject.toml -o constraints.txt

clean:
	rm -rf $(VENV) results build *.egg-info
