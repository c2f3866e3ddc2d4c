# Coverdict's commands. They work from a fresh clone and need make and Python 3.11 or newer.

# The interpreter of .venv; empty means the first of CANDIDATES that is new enough.
PYTHON ?=
PORT ?= 8000
BROWSER ?= 1
# Further arguments for pytest: make test ARGS="tests/config -x"
ARGS ?=
# The tests of `make test-fast`: the library, the services and the queries.
FAST := tests/evaluation $(wildcard tests/annotation/*/services tests/annotation/*/queries)
# One part of the benchmark: make bench ONLY=answering
ONLY ?=
DATA ?=

CANDIDATES := python3.11 python3.12 python3.13 python3.14 python3
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
BIN := .venv/bin
MANAGE := $(BIN)/python manage.py
UV := $(shell uv --version >/dev/null 2>&1 && command -v uv)
LOCKING := --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet

# An environment that production settings accept; the checks connect to no server.
PRODUCTION := DJANGO_SETTINGS_MODULE=annotation.config.settings.production \
	ALLOWED_HOSTS=coverdict.example.org \
	DATABASE_URL=postgres://coverdict@127.0.0.1/coverdict \
	CELERY_BROKER_URL=redis://127.0.0.1/0
LOCAL := DJANGO_SETTINGS_MODULE=annotation.config.settings.local
DEMO := DJANGO_SETTINGS_MODULE=annotation.config.settings.demo

VAR := $(or $(COVERDICT_VAR),var)
COLLECTED := $(VAR)/staticfiles/staticfiles.json
STATIC := $(shell find static 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast test-widths check bench lock audit clean venv tools

help: ## List these commands
	@grep -hE '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | \
		while IFS='|' read -r target text; do printf '%-20s %s\n' "$$target" "$$text"; done

setup: .venv/.runtime $(BIN)/coverdict $(COLLECTED) ## Build .venv from the lock, collect static files, migrate the local database
	@echo "setup: migrating the database"
	@$(LOCAL) $(MANAGE) migrate --no-input --verbosity 0
	@echo "setup: ready"

demo: .venv/.runtime $(COLLECTED) ## Serve the sample project on this machine (PORT=8000; BROWSER=0 opens no browser; EMPTY=1: no sample)
	@$(if $(EMPTY),LOG_LEVEL=$${LOG_LEVEL:-WARNING} $(LOCAL),$(DEMO)) $(MANAGE) demo --port $(PORT) $(if $(filter 0,$(BROWSER)),--no-browser)$(if $(EMPTY), --empty)

test: tools ## Run the tests (ARGS= goes to pytest)
	@echo "test: pytest $(ARGS)"
	@$(BIN)/python -m pytest -q -n 4 $(ARGS)

test-fast: tools ## Run the tests of evaluation, services and queries in a minute, without slow ones
	@echo "test-fast: leaves out pages, API, admin, files, browsers, processes of their own and what is marked slow"
	@NOPG=1 $(BIN)/python -m pytest -q -n 2 --no-migrations -m "not (browser or process or slow)" $(FAST) $(ARGS)

test-widths: tools ## Run axe-core over every page, light and dark, at 390, 820, 1280 and 1920
	@EVERY_WIDTH=1 REQUIRE_BROWSER=1 $(BIN)/python -m pytest -q -n 3 tests/annotation/web/test_accessibility_in_browser.py

check: tools ## Format, lint, types, import contracts, templates, migrations, production settings
	@echo "check: ruff format" && $(BIN)/ruff format --check --quiet .
	@echo "check: ruff" && $(BIN)/ruff check --quiet .
	@echo "check: mypy" && $(BIN)/mypy --no-error-summary
	@echo "check: import contracts" && $(BIN)/lint-imports
	@echo "check: djlint" && $(BIN)/djlint templates --lint --quiet
	@echo "check: missing migrations" && $(LOCAL) $(MANAGE) makemigrations --check --dry-run
	@echo "check: production settings" && \
		SECRET_KEY="$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(64))')" $(PRODUCTION) \
		$(MANAGE) check --deploy --fail-level WARNING
	@echo "check: all good"

bench: tools ## Run the benchmark; print a table and write var/bench.json (ONLY=name for one part)
	@$(BIN)/python -m tests.bench $(ONLY)

lock: $(if $(UV),,venv) ## Resolve requirements/*.in into requirements/*.txt, with hashes and without addresses
	@echo "lock: requirements/library.txt, runtime.txt and dev.txt"
ifeq ($(UV),)
	@$(BIN)/python -m venv var/uv && var/uv/bin/python -m pip install --quiet uv
endif
	@cd requirements && $(or $(UV),../var/uv/bin/uv) pip compile $(LOCKING) runtime.in --output-file runtime.txt
	@cd requirements && $(or $(UV),../var/uv/bin/uv) pip compile $(LOCKING) library.in -c runtime.txt --output-file library.txt
	@cd requirements && $(or $(UV),../var/uv/bin/uv) pip compile $(LOCKING) dev.in --output-file dev.txt

audit: | venv ## Compare the locked requirements with a database of advisories; SKIPPED, an error, if it is out of reach
	@{ [ -x var/audit/bin/pip-audit ] || { $(BIN)/python -m venv var/audit && var/audit/bin/python -m pip install --quiet pip-audit; }; } \
		|| { echo "audit: SKIPPED: pip-audit cannot be installed, see above"; exit 3; }
	@$(BIN)/python requirements/audit.py var/audit/bin/pip-audit

clean: ## Remove .venv, caches and collected files; the database under var/ stays
	@echo "clean: .venv, caches, collected static files"
	@rm -rf .venv $(VAR)/uv var/audit $(VAR)/staticfiles .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find annotation evaluation tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment. Files in .venv have the time of its last installation, so that a second run does nothing.

venv:
	@if [ -x $(BIN)/python ]; then \
		if [ -n "$(PYTHON)" ]; then \
			asked=$$("$(PYTHON)" -c 'import sys; print(sys.version_info[:2])') || exit 2; \
			have=$$($(BIN)/python -c 'import sys; print(sys.version_info[:2])') || exit 2; \
			[ "$$asked" = "$$have" ] || { echo ".venv is of Python $$have and PYTHON of $$asked: run make clean first"; exit 2; }; \
		fi; \
	else \
		for python in $(or $(PYTHON),$(CANDIDATES)); do \
			"$$python" -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && found=$$python && break; \
		done; \
		[ -n "$$found" ] || { echo "No Python 3.11 or newer among: $(or $(PYTHON),$(CANDIDATES)). Name one: make setup PYTHON=python3.12"; exit 2; }; \
		[ -w . ] || { echo "This folder cannot be written to: clone the project to one of your own."; exit 2; }; \
		echo "setup: .venv with $$found"; \
		if [ -n "$(UV)" ]; then "$(UV)" venv --quiet --allow-existing --no-python-downloads --python "$$found" .venv; \
		else "$$found" -m venv .venv || { echo "No .venv could be made; if the lines above speak of a missing venv or ensurepip, on Debian: apt install python3-venv"; rm -rf .venv; exit 2; }; fi; \
	fi

tools: .venv/.dev

# If .venv has the tools, install their lock, which contains the runtime's. A sync of the runtime's lock would remove
# the tools. No recipe calls $(MAKE), because make runs such lines even with -n.
.venv/.runtime: requirements/runtime.txt | venv
	@if [ -e .venv/.dev ]; then $(call install,sync,dev.txt); else $(call install,install -r,runtime.txt); fi
	@touch $@

.venv/.dev: requirements/dev.txt requirements/runtime.txt | venv
	@$(call install,sync,dev.txt)
	@touch .venv/.runtime $@

# The program `coverdict` of this folder; the package itself is not installed into .venv.
$(BIN)/coverdict: | venv
	@printf '#!/bin/sh\nPYTHONPATH="%s$${PYTHONPATH:+:$$PYTHONPATH}" exec "%s" -m annotation.command_line "$$@"\n' \
		"$(CURDIR)" "$(CURDIR)/$(BIN)/python" > $@
	@chmod +x $@

# The manifest has the time of the last collection. STATIC lists folders too, because removing a file changes its folder.
$(COLLECTED): .venv/.runtime $(STATIC)
	@echo "setup: collecting static files"
	@$(DEMO) $(MANAGE) collectstatic --no-input --verbosity 0
	@touch $@

define install
echo "setup: installing requirements/$(2)"; \
if [ -n "$(UV)" ]; then "$(UV)" pip $(1) requirements/$(2) --quiet --python $(BIN)/python --require-hashes --only-binary :all:; \
else $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements/$(2); fi
endef
