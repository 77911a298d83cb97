# `make demo` and `make test` set up all they need in .venv; no other step comes before them.

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEMO := quaere-demo

# The first interpreter that is new enough; `make PYTHON=… demo` names another.
PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

.DEFAULT_GOAL := help
.PHONY: help install demo test check soak bench clean

help:
	@echo 'make demo    set up, index the bundled texts in $(DEMO), ask three questions'
	@echo 'make test    the tests, with the small counts of each property'
	@echo 'make check   lint, format, types, and that README and docs say what is true'
	@echo 'make soak    the same tests, with 1,000 examples of each property and 200 kills'
	@echo 'make bench   the figures of docs/benchmarks.md; QUAERE_DATA names the folder of public data sets'
	@echo 'make clean   remove what was made, but for .venv'

install: $(INSTALLED)

# Installed again only when what is to be installed has changed: the stamp is younger than both files.
$(INSTALLED): pyproject.toml constraints.txt
	@test -n '$(PYTHON)' || { echo 'quaere needs Python 3.11 or newer; name one: make PYTHON=/path/to/python demo' >&2; exit 1; }
	@echo 'Setting up $(VENV); the first time this takes some minutes.'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet -c constraints.txt -e '.[all,dev]'
	@touch $@

demo: $(INSTALLED)
	@$(BIN)/quaere demo $(DEMO)

# An independent reader checks the pages that citations of PDFs name.
test: $(INSTALLED)
	@.ci/need pdftotext=poppler-utils
	$(BIN)/pytest

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest tests/docs tests/architecture tests/agent/test_cli_page.py

soak: $(INSTALLED)
	@.ci/need pdftotext=poppler-utils
	$(BIN)/pytest --hypothesis-profile soak --timeout 3600

bench: $(INSTALLED)
	@if test -n "$$QUAERE_DATA"; then $(BIN)/python -m quaere.evals.bench "$$QUAERE_DATA"; \
	else echo 'QUAERE_DATA names no folder of public data sets: only the encoder is measured'; \
	$(BIN)/python -m quaere.evals.encoder_speed; fi

clean:
	rm -rf $(DEMO) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .bench
