# Two commands do everything: `make run` (the gateway on this folder) and `make test`.
# Both set up what they need in .venv the first time; see scripts/setup.

VENV := .venv
BIN  := $(VENV)/bin
PATH_TO_SERVE ?= .
PORT ?= 8080

.PHONY: help run test check bench oracle soak clean

help:
	@echo "make run      the gateway, a workspace on this folder, the page and an agent that needs no key"
	@echo "              (make run PATH_TO_SERVE=/path/to/repo PORT=8080)"
	@echo "make test     everything the project promises, checked; under ten minutes"
	@echo "make check    format, lint and types"
	@echo "make bench    how fast, as ratios to a named peer or limit in the same run"
	@echo "make oracle   callers of 200 functions of the standard library, compared with jedi"
	@echo "make soak     the long runs: crashes, thousands of sessions, races"
	@echo "make clean    remove what the above have made"

run: $(VENV)/.run
	@exec $(BIN)/toolwire up "$(PATH_TO_SERVE)" --port $(PORT)

test: $(VENV)/.dev
	@sh scripts/system
	@$(BIN)/python -m pytest -q -n 3 --dist loadfile -m "not soak"

check: $(VENV)/.dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

bench: $(VENV)/.bench
	@$(BIN)/python benchmarks/all.py

oracle: $(VENV)/.dev
	@$(BIN)/python benchmarks/jedi_callers.py --show

soak: $(VENV)/.dev
	@$(BIN)/python -m pytest -m soak

clean:
	rm -rf $(VENV) .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.run: pyproject.toml constraints.txt scripts/setup
	@sh scripts/setup run

$(VENV)/.dev: pyproject.toml constraints.txt scripts/setup
	@sh scripts/setup dev

$(VENV)/.bench: pyproject.toml constraints.txt scripts/setup
	@sh scripts/setup bench
