# accelweb's front door. Needs make, git and Python 3.11 or newer; everything else is installed into .venv.
#   make run                     the site with this very machine on it        (HOST=, PORT= to choose; LAB=1, PARQUET=1 add)
#   make dev                     the site while you work on it: reloads code, templates and styles
#   make test                    the fast tests, ten minutes at most          (ARGS="tests/report/format -k sparse" for a part)

SHELL = /bin/sh
# Compiled modules are kept: without them each process that starts Django compiles for 3 s, and each of pytest for 11 s.
unexport PYTHONDONTWRITEBYTECODE
PYTHON ?=
# Processes of tests. Tests wait for other processes a fifth of their time: one more than two cores.
JOBS ?=
ARGS ?=
# A part of the slow tests, by its number; without one the commit chooses it.
SLICE ?=
PY = .venv/bin/python
SEARCHED = $(or $(PYTHON),python3.11 python3.12 python3.13 python3 python3.14 python)
# Rooms without a database or a page: their tests take seconds.
PURE = tests/base tests/report tests/draw
PIP_TOOLS = pip-tools==7.6.2

# $(call installed,groups): .venv holds these groups of packages, whatever state it was in.
define installed
	@for python in $(SEARCHED); do \
	  if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	    exec $$python tools/install.py $(1); \
	  fi; \
	done; \
	echo "accelweb: needs Python 3.11 or newer with its venv module; tried: $(SEARCHED)." >&2; \
	echo "  Install one (Debian: python3 and python3-venv), or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; \
	exit 1
endef

# $(translated): the .mo files Django reads are as new as the .po files.
define translated
	@$(PY) -m tools.translations --compile
endef

.DEFAULT_GOAL := help
.PHONY: help run dev test test-changed test-all test-slice check mutants lint format docs bench translations release clean reset pins

help:
	@echo "make run     the site, with this machine on it: http://127.0.0.1:8000/   [HOST= PORT= LAB=1]"
	@echo "make dev     the site while you work on it, with three recorded machines  [PORT= TOOLBAR=1]"
	@echo "make test    the fast tests, of all rooms                                [ARGS='tests/report/format -k sparse' JOBS=3]"
	@echo "make test-changed  the fast tests of what you changed since main        [ARGS= JOBS=2]"
	@echo "make test-all    every test, the slow ones too; writes tests/slow.txt   [ARGS= JOBS=3]"
	@echo "make test-slice  a part of the slow tests                               [SLICE=2 JOBS=3]"
	@echo "make check   lint, and the tests of the rooms without a database or a page"
	@echo "make mutants what the tests notice of faults put into six rooms            [ARGS='--minutes 5 --room format']"
	@echo "make lint    ruff, mypy, import contracts, templates, styles, migrations, deployment checks"
	@echo "make format  the layout of Python, templates and style sheets"
	@echo "make docs    the tables of docs/ that are made from the code"
	@echo "make bench   ratios against bare Django on this machine                  [ARGS=--quick]"
	@echo "make translations  takes new texts into locale/, lists what is not translated yet"
	@echo "make release what must hold before a version goes out: translations, lint, tests"
	@echo "make clean   removes .venv and caches; keeps var/ (the database and its keys)"
	@echo "make reset   removes var/ too: the site starts empty"
	@echo "make pins    requirements*.txt anew from requirements*.in"

run:
	$(call installed,server $(if $(filter-out 0 no,$(PARQUET)),parquet))
	$(translated)
	@exec $(PY) manage.py up $(if $(filter-out 0 no,$(LAB)),--lab)

dev:
	$(call installed,server dev)
	$(translated)
	@exec $(PY) -m tools.dev

test:
	$(call installed,server dev)
	$(translated)
	@exec $(PY) -m pytest -n $(or $(JOBS),3) --tier fast $(ARGS)

test-changed:
	$(call installed,server dev)
	$(translated)
	@exec $(PY) -m tools.changed -n $(or $(JOBS),2) $(ARGS)

test-all:
	$(call installed,server dev)
	$(translated)
	@exec $(PY) -m pytest -n $(or $(JOBS),3) --record $(ARGS)

test-slice:
	$(call installed,server dev)
	$(translated)
	@exec $(PY) -m pytest -n $(or $(JOBS),3) --slice $(or $(SLICE),commit) $(ARGS)

check: lint
	@exec $(PY) -m pytest -q -n $(or $(JOBS),2) $(PURE) $(ARGS)

mutants:
	$(call installed,server dev)
	$(translated)
	@exec $(PY) -m tools.mutants --jobs $(or $(JOBS),2) $(ARGS)

lint:
	$(call installed,server dev)
	$(translated)
	@exec $(PY) tools/lint.py

format:
	$(call installed,server dev)
	$(PY) -m ruff check --fix --exit-zero --quiet .
	$(PY) -m ruff format .
	$(PY) -m djhtml --tabwidth 2 $$(git ls-files "templates/*.jinja")
	$(PY) -m tools.styles

docs:
	$(call installed,server dev)
	@exec $(PY) tools/docs.py

bench:
	$(call installed,server dev)
	$(translated)
	@exec $(PY) -m bench $(ARGS)

translations:
	$(call installed,server)
	@exec $(PY) -m tools.translations

release:
	$(call installed,server dev)
	@$(PY) -m tools.translations --check
	$(translated)
	@$(PY) tools/lint.py
	@exec $(PY) -m pytest -n $(or $(JOBS),3)

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

reset:
	@if [ -x $(PY) ]; then $(PY) manage.py up --check-stopped; fi
	rm -rf var

pins:
	$(call installed,server)
	@$(PY) -m uv pip install --quiet --python $(PY) $(PIP_TOOLS)
	@$(PY) tools/pins.py
