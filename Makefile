# All tasks of this project. `make help` lists them.
PREFIX ?= /usr/local
SWIFT ?= swift
# The optimised build includes the Swift runtime. On Linux the flags of Tools/dist/link.sh make it smaller, start
# faster, and independent of the folder that it is built in (docs/performance.md, "Size and start").
RELEASE = -c release --static-swift-stdlib --disable-local-rpath $(shell Tools/dist/link.sh) $(RELEASE_OPTIONS)
# In CI a warning is an error. All debug builds have the same options: with others, everything would be compiled
# again.
OPTIONS = $(if $(CI),-Xswiftc -warnings-as-errors)
# A package of its own, built in the same folder, so that the library is compiled once. The file of the plan is for one
# package, and SwiftPM would follow that of the other: without it, each makes its own.
EXAMPLES = --package-path Examples --scratch-path .build $(OPTIONS)
PLAN = .build/debug.yaml
BUILD_EXAMPLES = rm -f $(PLAN) && $(SWIFT) build $(EXAMPLES) --build-tests && rm -f $(PLAN)
export SWIFT_BACKTRACE = enable=no

.PHONY: help build release man demo test examples e2e sim fuzz fuzz-control fuzz-merge fuzz-logins diff sanitize soak \
    coverage figures cycles exhaust busy stacks kqueue torture mutants interop compare platforms layers lint \
    fmt docs bench bench-guard bench-cli install uninstall dist dist-check docs-site api-check api-baseline check-version \
    clean

help: ## lists the targets
	@grep -hE '^[a-z0-9-]+:.*##' Makefile | awk -F ':.*## ' '{printf "make %-13s %s\n", $$1, $$2}'

build: ## mcp-server and mcp-client, for debugging
	$(SWIFT) build $(OPTIONS) --product mcp-server
	$(SWIFT) build $(OPTIONS) --product mcp-client

release: ## both, optimised, with the Swift runtime included, and their manual pages: what `make install` installs
	$(SWIFT) build $(RELEASE) --product mcp-server
	$(SWIFT) build $(RELEASE) --product mcp-client
	@# See Sources/MCPCore/Bytes/String+Search.swift: it would be 1 MB of each.
	@bin="$$($(SWIFT) build $(RELEASE) --show-bin-path)" && for program in mcp-server mcp-client; do \
	    ! grep -qa _RegexParser "$$bin/$$program" || \
	    { echo "release: $$program contains an engine of regular expressions" >&2; exit 1; }; done
	@bin="$$($(SWIFT) build $(RELEASE) --show-bin-path)" && $(MAKE) --no-print-directory man BIN="$$bin"
	@bin="$$($(SWIFT) build $(RELEASE) --show-bin-path)" && printf '%s\n' "$${bin#"$$PWD/"}" >build/release

man: $(if $(BIN),,release) ## the manual pages, in build/man; BIN=… has programs that are built already
	$(if $(BIN),@mkdir -p build/man; date="$$(Tools/dist/date.sh)" || exit 1; export SOURCE_DATE_EPOCH="$$date"; \
	    "$(BIN)/mcp-client" help --man >build/man/mcp-client.1 && "$(BIN)/mcp-server" --man >build/man/mcp-server.1)

demo: ## the client talks to the daemon, over stdio and HTTP; prints every command
	@log=$$(mktemp); echo "building mcp-server and mcp-client ..." >&2; \
	    $(MAKE) --no-print-directory build >"$$log" 2>&1 || { cat "$$log" >&2; rm -f "$$log"; exit 1; }; rm -f "$$log"
	@Tests/demo.sh

# Several processes, one after another: otherwise tests that use real processes would delay those that measure
# waiting times, and a thousand tests at once would delay each other. The largest target is split by the names
# of its suites.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 12
SUITES = MCPCoreTests.[A-H] MCPCoreTests.[I-R] MCPCoreTests.[S-Z] MCPHarnessTests MCPAppsTests MCPFoundationTests \
    FuzzTests SimulationTests DaemonTests ClientCLITests FaultTests ConformanceTests DocsTests

export REPEAT NICE
test: ## all tests that need nothing but Swift, git and make; FILTER=… only those whose name contains it; REPEAT=…
	$(BUILD_EXAMPLES)
	@# Each package's tests directly behind its build: `swift test --skip-build` runs those of the last one.
	@export SWIFT=$(SWIFT); examples=0; others=0; \
	    Tests/run.sh $(EXAMPLES) -- $(if $(FILTER),'.*$(FILTER)',ExampleTests) || examples=$$?; \
	    $(if $(FILTER),[ $$examples = 4 ] ||) [ $$examples = 0 ] || exit $$examples; \
	    rm -f $(PLAN); $(SWIFT) build --build-tests $(OPTIONS) || exit; \
	    Tests/run.sh $(OPTIONS) -- $(if $(FILTER),'.*$(FILTER)',$(SUITES)) || others=$$?; \
	    $(if $(FILTER),[ "$$examples $$others" = "0 4" ] ||) exit $$others  # a name is in one of the packages

examples: ## the programs in Examples, a package of their own
	$(BUILD_EXAMPLES)

e2e: ## mcp-client host in Chromium (needs chromium and chromedriver; skipped without them)
	$(SWIFT) build --build-tests $(OPTIONS)
	@Tests/axe.sh
	@MCP_CENSUS=off LIMIT=1200 SWIFT=$(SWIFT) Tests/run.sh $(OPTIONS) -- E2ETests  # the browser's driver outlives its tests

NUMBER_OF_SEEDS = for n in '$(or $(SEEDS),1)' '1$(FROM)'; do case $$n in '' | 0* | *[!0-9]*) \
    echo "SEEDS is a number, at least 1, and FROM a number: SEEDS=$(SEEDS) FROM=$(FROM)" >&2; exit 2 ;; esac; done
sim: ## races of cancellation: SEEDS=… schedules (a million), from FROM=…; prints that of a seed that fails
	@$(NUMBER_OF_SEEDS)
	$(SWIFT) build --build-tests $(OPTIONS)
	MCP_SIM_SEEDS=$(or $(SEEDS),1000000) MCP_SIM_FROM=$(or $(FROM),0) $(SWIFT) test --skip-build $(OPTIONS) \
	    --filter '^SimulationTests\.ScheduleTests'

SECONDS ?= 30
fuzz: ## all targets under libFuzzer, SECONDS=… each: ONLY=json, SEED=…; keeps inputs in .build/fuzz (Linux, python3)
	@SWIFT=$(SWIFT) Tests/Fuzz/fuzz.py run --seconds $(SECONDS) $(if $(ONLY),--only "$(ONLY)") $(if $(SEED),--seed $(SEED))

fuzz-control: ## proves that the targets see: finds each planted mistake in SECONDS=…: ONLY="its name" (Linux, python3)
	@SWIFT=$(SWIFT) Tests/Fuzz/fuzz.py control --seconds $(SECONDS) $(if $(ONLY),--only "$(ONLY)")

fuzz-merge: ## adds the inputs of .build/fuzz that reach new code to Tests/Fuzz/Corpus: ONLY=json (Linux, python3)
	@SWIFT=$(SWIFT) Tests/Fuzz/fuzz.py merge $(if $(ONLY),--only "$(ONLY)")

CASES ?= 5000
DIFF_KINDS = json http schema pattern server
diff: ## our readers and server against others: KIND=json, http, schema, pattern or server; CASES=…, SEED=… (Linux, python3)
	$(if $(filter-out $(DIFF_KINDS),$(KIND)),@echo 'diff: KIND is one of: $(DIFF_KINDS)' >&2; exit 2)
	$(if $(filter-out server,$(or $(KIND),all)),@SWIFT=$(SWIFT) Tests/Fuzz/fuzz.py build)
	$(if $(filter server,$(or $(KIND),server)),$(SWIFT) build --product mcp-server $(OPTIONS))
	@Tests/Differential/run.sh --cases $(CASES) --seed $(or $(SEED),1) $(if $(KIND),--kind $(KIND))

sanitize: ## the daemon under load with KIND=thread, address or confinement; FILTER=all or a suite: the tests (Linux, python3)
	@SWIFT=$(SWIFT) MINUTES=$(MINUTES) Tests/Sanitize/sanitize.sh $(or $(KIND),thread) $(FILTER)

fuzz-logins: ## damaged OAuth metadata, challenges, tokens and keys: SEEDS=… mutations of each (20,000), from FROM=…
	@$(NUMBER_OF_SEEDS)
	$(SWIFT) build --build-tests $(OPTIONS)
	MCP_FUZZ_SEEDS=$(or $(SEEDS),20000) MCP_FUZZ_FROM=$(or $(FROM),1) $(SWIFT) test --skip-build $(OPTIONS) \
	    --filter '^MCPCoreTests\.(OAuth|JWT)MutationTests'

MINUTES ?= 2
soak: build ## peers come and go, the daemon is killed: MINUTES=…, ONLY=providers, SEED=…; nothing may be left (Linux, python3)
	@Tests/Soak/soak.py "$$($(SWIFT) build --show-bin-path)/mcp-server" --minutes $(MINUTES) \
	    $(if $(ONLY),--only $(ONLY)) $(if $(SEED),--seed $(SEED))

COUNT ?= 1000
cycles: build ## servers, clients and connections start and stop COUNT=… times; nothing may be left (Linux, python3)
	@Tests/Soak/cycles.py "$$($(SWIFT) build --show-bin-path)/mcp-server" --count $(COUNT)

exhaust: build ## no descriptors, no memory, a full disk: an answer or one line, and all works afterwards (Linux, python3)
	@Tests/Soak/exhaust.py "$$($(SWIFT) build --show-bin-path)/mcp-server"

coverage: ## lines that tests execute; fails below Tests/Coverage/floors.txt: FILTER=…, WRITE=1 raises floors (slow, python3)
	@SWIFT=$(SWIFT) Tests/Coverage/coverage.sh $(if $(WRITE),--write) $(if $(FILTER),-- $(FILTER))

busy: ## the tests of processes, signals and files with four busy loops beside them: REPEAT=20 NICE=19
	$(SWIFT) build --build-tests $(OPTIONS)
	@SWIFT=$(SWIFT) Tests/busy.sh $(OPTIONS)

stacks: ## JSON and JSON Schema with the stacks that threads have on Apple platforms, 512 KiB
	$(SWIFT) build --build-tests $(OPTIONS)
	@bin="$$($(SWIFT) build --show-bin-path)/swift-mcp-corePackageTests.xctest"; ulimit -s 512; \
	    "$$bin" --testing-library swift-testing --filter '^MCPCoreTests\.(JSON|RawJSON|Schema|CompiledSchema|Pattern|SmallStack)'

kqueue: ## the loop, HTTP, client tools and faults on the poller of Apple platforms, over a double of kqueue: FILTER=… (Linux)
	$(SWIFT) build --build-tests $(OPTIONS) -Xswiftc -DMCP_KQUEUE --scratch-path .build/kqueue
	@SWIFT=$(SWIFT) Tests/run.sh $(OPTIONS) -Xswiftc -DMCP_KQUEUE --scratch-path .build/kqueue -- \
	    $(if $(FILTER),'.*$(FILTER)',MCPCoreTests.[A-H] MCPCoreTests.[I-R] MCPCoreTests.[S-Z] DaemonTests FaultTests)

figures: ## the figures of the instruments that Tools/record.sh has run; WRITE=1 puts them into docs/reliability.md (python3)
	@Tools/figures.py $(if $(WRITE),--write)

# Suites that make the system calls of a scenario fail one by one; each prints the outcome.
TORTURE = listing wake
torture: ## makes system calls fail, one by one: ONLY=listing or ONLY=wake; prints the figures
	$(SWIFT) build --build-tests $(OPTIONS)
	@for name in $(or $(ONLY),$(TORTURE)); do case $$name in \
	    listing) filter='[A-Za-z]+\.(ListingTorture|DirectoryWatch|UnreadableFiles)Tests' ;; \
	    wake) filter='MCPCoreTests\.WakeTortureTests' ;; \
	    *) echo "torture: ONLY is one of: $(TORTURE)" >&2; exit 2 ;; esac; \
	    SWIFT=$(SWIFT) Tests/run.sh $(OPTIONS) -- "$$filter" || exit 1; done

MUTANTS ?= 30
mutants: ## changes the library in MUTANTS=… small ways, SEED=…, and reports which ones no test notices (slow, python3)
	SWIFT=$(SWIFT) Tools/mutants.py --count $(MUTANTS) --seed $(or $(SEED),1)

interop: build examples ## against the official Python SDK and the official JSON Schema test suite (needs a package index)
	$(SWIFT) build $(OPTIONS) --product schema-suite
	@bin="$$($(SWIFT) build --show-bin-path)"; Tests/Interop/run.sh "$$bin/mcp-server" "$$bin/mcp-client" && \
	    SCHEMA_SUITE_RUNNER="$$bin/schema-suite" Tests/Interop/schema-suite.sh

compare: release ## the same jobs with mcp-server and with programs from PyPI (a minute or two, not under load)
	Tests/Interop/compare.sh "$$($(SWIFT) build $(RELEASE) --show-bin-path)/mcp-server"

# Internals are measured too, so the library is built for testing, separately from the other builds.
BENCHMARKS = $(RELEASE) --package-path Benchmarks --scratch-path .build/bench -Xswiftc -enable-testing
bench: release ## the cost of calls, compared with other servers, and of each layer on its own
	$(SWIFT) build $(BENCHMARKS)
	@Benchmarks/run.py "$$($(SWIFT) build $(RELEASE) --show-bin-path)" .build/bench/release/benchmark-server \
	    .build/bench/release/benchmark-client
	@.build/bench/release/micro

bench-guard: release ## cost per call against the committed baseline and a client in C (needs valgrind)
	$(SWIFT) build $(BENCHMARKS) --product benchmark-client
	@Benchmarks/guard.py "$$($(SWIFT) build $(RELEASE) --show-bin-path)/mcp-server" .build/bench/release/benchmark-client

bench-cli: release ## one call from a command line, compared with clients from PyPI (VENV=… installs them there)
	@bin="$$($(SWIFT) build $(RELEASE) --show-bin-path)"; \
	    Benchmarks/cli.py "$$bin/mcp-client" "$$bin/mcp-server" $(if $(VENV),--install $(VENV))

# What is compiled for macOS besides the libraries and programs. The tests of mcp-client and its browser use
# Foundation throughout.
PLATFORM_TESTS = MCPCoreTests MCPHarnessTests MCPAppsTests SimulationTests DaemonTests FaultTests ConformanceTests
platforms: ## compiles for macOS, iOS and static Linux, up to the diagnostics (needs python3 and a package index)
	@$(MAKE) --no-print-directory -j 2 platform-macos platform-others

.PHONY: platform-macos platform-others
platform-others:
	@Tools/platforms/check.py --warnings --platform ios --platform musl

platform-macos:
	@Tools/platforms/check.py --warnings --platform macos --beside Examples --beside Benchmarks \
	    $(foreach name,$(PLATFORM_TESTS),--tests $(name))

layers: ## proves with the compiler which folder uses which
	@Tools/layers.sh

lint: ## format, sizes, forbidden imports and words
	@Tools/lint.sh

fmt: ## formats the sources
	$(SWIFT) format --in-place --parallel --recursive --configuration .swift-format \
	    Package.swift Sources Tests Examples

docs: ## regenerates the generated pages of docs/
	$(SWIFT) build --build-tests $(OPTIONS)
	MCP_WRITE_DOCS=1 $(SWIFT) test --skip-build $(OPTIONS) --filter "MCPCoreTests.(JSONDocument|Requirement)Tests"
	MCP_WRITE_DOCS=1 $(SWIFT) test --skip-build $(OPTIONS) --filter "ClientCLITests.ClientReferenceTests"

export PREFIX DESTDIR
# Nothing is built here: with sudo, the files would be root's.
install: ## programs, man pages, completions, service files of `make release`, into PREFIX (default /usr/local)
	@bin="$$(cat build/release 2>/dev/null)" && [ -x "$$bin/mcp-server" ] && \
	    [ -z "$$(find Package.swift Sources -type f -newer build/release)" ] || { \
	    echo 'install: the programs of this source are not built: run "make release" first' >&2; exit 1; }; \
	    Tools/dist/install.sh install "$$bin"

uninstall: ## removes what install wrote
	@Tools/dist/install.sh uninstall

# What is missing is said before anything is compiled.
dist: ## tarballs, Debian package, container, formula, SPDX and sums, in .build/dist (a clone, Linux, python3, strip)
	@Tools/dist/build.sh --check
	@$(MAKE) --no-print-directory release
	@Tools/dist/build.sh "$$($(SWIFT) build $(RELEASE) --show-bin-path)"

dist-check: dist ## uses the files of dist as a stranger would, installs the package into a minimal Debian (root); REBUILT=…
	@Tools/dist/check.sh "$$($(SWIFT) build $(RELEASE) --show-bin-path)"

# The name of a tag may have characters of make and of the shell in it.
unexport TAG
check-version: ## one version in the programs and the change log; TAG=v0.1.0 also of the tag
	@Tools/dist/check-version.sh '$(subst ','\'',$(value TAG))'

docs-site: ## the pages of docs/ and the API reference as static HTML, in .build/docs-site
	@SWIFT=$(SWIFT) Tools/docs-site/build.sh

api-check: ## the public API against Tools/api/*.json.gz; prints what would break programs
	@SWIFT=$(SWIFT) Tools/api/check.sh

api-baseline: ## makes the present API the baseline of api-check
	@SWIFT=$(SWIFT) Tools/api/check.sh --write

clean: ## removes all build products
	rm -rf .build build Examples/.build Benchmarks/.build
