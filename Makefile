# heartroom. `make` alone lists the targets; a target's comment is its line there.
# All that is made stays in this folder: .venv, client/node_modules, server/heartroom/web/static.

VENV   := .venv
BIN    := $(VENV)/bin
STATIC := server/heartroom/web/static
WORKERS ?= 4
CODE   := server tests bench scripts tools

export PATH := $(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where this is set every process that a test starts compiles heartroom anew, and each worker of pytest all tests.
unexport PYTHONDONTWRITEBYTECODE

# A stamp is as new as what it stands for, so nothing is done twice.
VENV_READY   := $(VENV)/venv.stamp
PLAY_READY   := $(VENV)/play.stamp
TEST_READY   := $(VENV)/test.stamp
AUDIT_READY  := $(VENV)/audit.stamp
NPM_READY    := client/node_modules/npm.stamp
PEERS_READY  := bench/peers/node_modules/npm.stamp
CLIENT_READY := $(STATIC)/index.html

CLIENT_SOURCES := $(shell find client -mindepth 1 \( -name node_modules -o -name tests \) -prune -o ! -name '.*' -print)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help play test unit lint types format client audit bench faults hostile clean lock

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

play: $(PLAY_READY) $(CLIENT_READY) ## set up what is missing and start the server; its page's address is printed (ARGS='--port 9000')
	@exec heartroom serve $(ARGS)

test: ## set up what is missing, then all checks and all tests, side by side
	@$(MAKE) --no-print-directory --jobs=3 lint types unit

unit: $(TEST_READY) $(CLIENT_READY) ## the tests alone (ARGS='tests/games -k undo')
	@python -m tools.chromium
	@exec pytest -n $(WORKERS) $(ARGS)

lint: $(TEST_READY) $(NPM_READY) ## style, formatting and import rules of the server; types of the client
	ruff check $(wildcard $(CODE))
	ruff format --check $(wildcard $(CODE))
	lint-imports --no-logo
	npm run --silent --prefix client check

types: $(TEST_READY) ## mypy --strict
	mypy $(wildcard $(CODE))

format: $(TEST_READY) ## put the Python code in shape
	ruff check --fix-only $(wildcard $(CODE))
	ruff format $(wildcard $(CODE))

client: $(CLIENT_READY) ## build the client

bench: $(TEST_READY) $(CLIENT_READY) ## measure the server under load (ARGS='…'), see bench/README.md
	@exec python -m bench $(ARGS)

bench-%: $(TEST_READY) $(CLIENT_READY) ## one part of it: bench-engine, bench-watch4, bench-table4, bench-idle
	@exec python -m bench --only $* $(ARGS)

bench-nodes: $(TEST_READY) $(CLIENT_READY) ## what an action costs at four nodes beside one, over one store and a cluster
	@exec python -m bench.nodes $(ARGS)

bench-open: $(TEST_READY) $(CLIENT_READY) ## latencies of one node at rates that do not wait for it
	@exec python -m bench.open $(ARGS)

bench-failover: $(TEST_READY) $(CLIENT_READY) ## what a failover loses, and what it costs to lose nothing
	@exec python -m bench.failover $(ARGS)

bench-sizes: $(TEST_READY) $(CLIENT_READY) ## bytes of a session in the store, between nodes and to viewers
	@exec python -m bench.sizes $(ARGS)

bench-model: $(TEST_READY) ## how many nodes and shards a million players want (ARGS='--set players=100000')
	@exec python -m bench.model $(ARGS)

bench-peers: $(TEST_READY) $(CLIENT_READY) $(PEERS_READY) ## beside Colyseus and boardgame.io, which are installed for it
	@exec python -m bench.peers $(ARGS)

audit: $(AUDIT_READY) ## ask whether weaknesses are known of what is pinned
	@python -m tools.audit

faults: $(TEST_READY) ## the long fault test: kills, pauses and cuts while people play (ARGS='--kills 100 --seed 1')
	@exec python -m tests.faults $(ARGS)

hostile: $(TEST_READY) ## the long test with hostile clients: idle, deaf, slow, flooding, fuzzing (ARGS='--frames 10000000 --seed 1')
	@exec python -m tests.faults.hostile $(ARGS)

lock: $(VENV_READY) ## pin the newest versions of all requirements
	pip install --quiet uv
	tools/lock.sh

clean: ## remove all that was made, but not the saved games
	rm -rf $(VENV) client/node_modules bench/peers/node_modules $(STATIC) server/*.egg-info build dist \
	    .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache test-results
	find . -name __pycache__ -prune -exec rm -rf {} +

$(VENV_READY): tools/venv.sh
	tools/venv.sh $(VENV)
	@touch $@

$(PLAY_READY): $(VENV_READY) requirements/play.txt requirements/client.txt pyproject.toml
	pip install --quiet -r requirements/play.txt -r requirements/client.txt
	pip install --quiet --no-deps -e .
	@touch $@

$(TEST_READY): $(PLAY_READY) requirements/test.txt
	pip install --quiet -r requirements/test.txt
	@touch $@

$(AUDIT_READY): $(PLAY_READY) requirements/audit.txt
	pip install --quiet -r requirements/audit.txt
	@touch $@

$(NPM_READY): $(PLAY_READY) client/package.json client/package-lock.json
	npm ci --prefix client --no-audit --no-fund
	@touch $@

$(PEERS_READY): $(PLAY_READY) bench/peers/package.json bench/peers/package-lock.json
	npm ci --prefix bench/peers --no-audit --no-fund --loglevel=error
	@touch $@

$(CLIENT_READY): $(NPM_READY) $(CLIENT_SOURCES)
	npm run --silent --prefix client build
	@touch $@
