# Salve: every command of the README. Nothing here needs more than Go and make.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c

GO ?= go
BIN := bin
SEEDS ?= 1000
EVERY ?= 1
FROM ?= 0

# What salve-node downloads and unpacks with does without inlining: that keeps the program below 8 MB.
SLIM := net/http/... net crypto/tls crypto/x509 github.com/...

.PHONY: build demo demo-resume demo-pipeline demo-prow demo-prow-whole demo-triage test lint mutants gremlins vulnerabilities bench bench-drain bench-remove-operator bench-rescue-pods bench-node bench-pipeline bench-pipeline-validate bench-prow bench-triage bench-replay sweep control-plane prow prow-oracle oracle-pipelines prow-real client-azure-js cross release-snapshot release clean

build:
	$(GO) build -ldflags "-s -w" -o $(BIN)/salve ./cmd/salve
	$(GO) build -ldflags "-s -w" -o $(BIN)/salve-sim ./cmd/salve-sim
	CGO_ENABLED=0 $(GO) build -trimpath $(SLIM:%=-gcflags=%=-l) -ldflags "-s -w" -o $(BIN)/salve-node ./cmd/salve-node

# The main job, in front of your eyes, on the embedded Azure.
demo: build
	$(BIN)/salve rehearse wedged

# A recovery that is killed and goes on: real processes on a real control plane.
demo-resume: build control-plane
	$(GO) build -o $(BIN)/cluster ./internal/kubetest/cluster
	tools/demo-resume.sh

# A rollout of 28 steps that heals the cluster before the step that would get stuck.
demo-pipeline: build control-plane
	$(GO) build -o $(BIN)/cluster ./internal/kubetest/cluster
	tools/demo-pipeline.sh

# 5 February 2019 with Prow's own programs: the bad release, the alarm, the way back, the clean-up, the repair. A fifth
# of the jobs in two minutes; demo-prow-whole has all 415 strays beside 300 pods that run, in six: Prow's controller
# makes five pods a second.
demo-prow: $(BIN)/day
	$(BIN)/day -salve $(BIN)/salve -running 60 -started 23

demo-prow-whole: $(BIN)/day
	$(BIN)/day -salve $(BIN)/salve

.PHONY: $(BIN)/day
$(BIN)/day: build control-plane prow
	$(GO) build -o $@ ./internal/prow/prowtest/day

# A gate that failed for its cluster, and one that failed for its change.
demo-triage: build
	tools/demo-triage.sh

# What starts no goroutine and takes no lock: the race detector finds nothing there, and makes it several times slower.
SEQUENTIAL := salve salve/internal/chart salve/internal/hotfix/archive salve/internal/hotfix/payload \
	salve/internal/hotfix/writefiles salve/internal/pipeline/configuration salve/internal/report/chat \
	salve/internal/report/consistency salve/internal/report/page salve/internal/report/postmortem \
	salve/internal/triage/catalogue salve/internal/triage/cause salve/internal/triage/record \
	salve/internal/triage/results salve/internal/triage/show salve/internal/triage/simulation

# Scripts of cli whose commands do nothing side by side: they read, sign, check and report.
SEQUENTIAL_SCRIPTS := wrong-usage command-line config-file help sim misspelt report.* triage-.* hotfix-.* \
	prow-check prow-check-change prow-check-deploy pipeline-folder pipeline-graph pipeline-references pipeline-topology \
	pipeline-usage pipeline-yaml
space := $(subst ,, )
sequential_scripts := ^TestScript$$/^($(subst $(space),|,$(strip $(SEQUENTIAL_SCRIPTS))))$$

# All tests, with a sample of the sweeps; under the race detector what it can find something in. A program that is
# built with the detector lingers for a second at its end, unless it is told not to. go vet has seen all before. Many tests
# wait for processes and clusters: a third package at once uses what two leave.
test: control-plane
	$(GO) vet ./...
	cd examples/own-runbook && $(GO) vet ./...
	$(GO) test -vet=off -timeout 30m $(SEQUENTIAL)
	$(GO) test -vet=off -timeout 30m -run '$(sequential_scripts)' ./cli
	GORACE=atexit_sleep_ms=10 $(GO) test -race -vet=off -p 3 -timeout 30m -skip '$(sequential_scripts)' \
		$$($(GO) list ./... | grep -vxF "$$(printf '%s\n' $(SEQUENTIAL))")
	cd examples/own-runbook && SALVE_CONTROL_PLANE=$(CURDIR)/$(BIN)/control-plane $(GO) test ./...

# A real Kubernetes control plane for tests, from Go modules: about 12 minutes on
# two cores the first time, nothing when it is there.
control-plane:
	@GO=$(GO) tools/control-plane.sh $(BIN)/control-plane

# Prow's own programs, for tests: from a module of their own, about nine minutes of CPU the first time.
prow:
	@GO=$(GO) tools/prow.sh $(BIN)/prow

# Cut runs at every journal write and every call, and try random faults: without
# the race detector, for it is the same code some tens of thousands of times: about half an hour, or a third of it with
# EVERY=3, which takes every third point, beginning with FROM. Then
# kill the real program fifty times, on a real control plane.
sweep: control-plane
	$(GO) test -count=1 -timeout 40m -parallel 4 -v -run '^(TestCrashAnywhere|TestRandomFaults)$$' ./runbooks/recreatepool -whole -seeds $(SEEDS) \
		-every $(EVERY) -from $(FROM) \
		| grep --line-buffered -vE '^ *(=== |--- PASS: TestRandomFaults/)'
	$(GO) test -count=1 -timeout 40m -v -run '^TestKilledAtAnyMoment$$' ./internal/endtoend -kills 50

# Compare what Salve reads from a Prow configuration with what Prow's own package says, on generated
# configurations: make prow-oracle CONFIGURATIONS=20000. Prow's packages are built first, some minutes.
CONFIGURATIONS ?= 6000
prow-oracle:
	cd tools/prow-oracle && $(GO) vet . && $(GO) test -count=1 -timeout 60m -v -run . . -args -count $(CONFIGURATIONS)

# Compare how Salve reads pipelines and topologies with what github.com/Azure/ARO-Tools recorded of the same files. Its
# module is not to be had: make oracle-pipelines ARO_TOOLS=FOLDER, a checkout.
oracle-pipelines:
	cd tools/pipeline-oracle && $(GO) vet . && $(GO) test -count=1 -v . -args -aro-tools "$(abspath $(ARO_TOOLS))"

# Azure's SDK for JavaScript, as npm has it, against salve-sim serve: each call a row, works as real, refused as real
# or 501. It takes node 20 and npm.
client-azure-js: build control-plane
	$(GO) build -o $(BIN)/cluster ./internal/kubetest/cluster
	tools/client-azure-js/run.sh

# salve prow check on what the Prow of Kubernetes was configured to do in three years, from the module proxy.
prow-real:
	$(GO) test -count=1 -v -run '^TestQuietOnKubernetes$$' ./internal/prow/check -kubernetes

.PHONY: reference pictures docs

# docs/reference from the program: a page for each command, a schema for each JSON document.
reference:
	$(GO) test -count=1 -run '^TestReferenceIsWhatTheProgramIs$$' ./cli ./cmd/salve-node -reference

# The pictures of docs/ from their D2 sources.
pictures:
	cd tools/site && $(GO) run ./pictures ../../docs/pictures

# The documentation as a site in bin/site: plain files that need no server and no script. Dead links end it.
docs:
	cd tools/site && $(GO) run . -out ../../$(BIN)/site ../..

lint: $(BIN)/golangci-lint
	@test -z "$$(gofmt -l . | tee /dev/stderr)" || { echo 'run gofmt -w on the files above'; exit 1; }
	$(BIN)/golangci-lint run

# Delete calls, list elements, early returns and deferred calls, one at a time, and name those that no test dies
# for: make mutants MUTANTS='-changed-since main' or MUTANTS='-sample 50 engine journal'. Nothing is written into
# the work tree. Survivors that no test can kill are listed in docs/mutants.md.
mutants: $(BIN)/mutants control-plane
	$(BIN)/mutants $(MUTANTS)

# Negate conditions and swap operators, of one package after the other: make gremlins GREMLINS='engine journal'.
GREMLINS ?= engine journal runbook internal/permit internal/hotfix/slot
gremlins: $(BIN)/gremlins control-plane
	for package in $(GREMLINS); do $(BIN)/gremlins unleash --workers 2 --timeout-coefficient 10 "./$$package"; done

# Needs the vulnerability database, which is not everywhere to be had.
vulnerabilities: $(BIN)/govulncheck
	$(BIN)/govulncheck ./...

$(BIN)/govulncheck: tools/go.mod
	cd tools && $(GO) build -o ../$(BIN)/ tool

$(BIN)/golangci-lint $(BIN)/gremlins: $(BIN)/%: tools/%/go.mod
	cd tools/$* && $(GO) build -o ../../$(BIN)/ tool

# An SBOM names the program that made it by its hash: without paths it is the same on every machine.
$(BIN)/goreleaser: tools/goreleaser/go.mod
	cd $(<D) && $(GO) build -trimpath -o ../../$(BIN)/ github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
	cd $(<D) && $(GO) build -o ../../$(BIN)/ github.com/goreleaser/goreleaser/v2

$(BIN)/mutants: $(wildcard tools/mutants/*.go tools/mutants/switchboard/*.go)
	cd tools && $(GO) build -o ../$(BIN)/ ./mutants

bench:
	$(GO) test -count=1 -run '^TestMeasure' -v ./runbooks/recreatepool -measure | grep '^Benchmark'
	$(GO) test -run '^$$' -bench . -benchtime 3x ./cli
	$(GO) test -run '^$$' -bench . -benchtime 1x ./runbooks/recreatepool

# Drains on a real control plane, each beside its measure: kubectl, the API
# server's own speed, the same pods alone. About seven minutes.
bench-drain: control-plane
	$(GO) test -run '^$$' -bench '^BenchmarkDrain' -benchtime 1x -timeout 1h ./kube

# 5,000 custom resources in 200 namespaces, 500 of them stuck, beside kubectl
# delete --all, on a real control plane. About five minutes.
bench-remove-operator: control-plane
	$(GO) test -run '^$$' -bench '^BenchmarkRemoveOperator' -benchtime 1x -timeout 1h ./runbooks/removeoperator

# A rescue in a namespace of 10,000 pods, and the alarm beside 5,000 that run, on a
# real control plane. About six minutes.
bench-rescue-pods: control-plane
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 1h ./runbooks/rescuepods

# Whole processes of salve-node beside /bin/true and the smallest static Go program;
# what it costs to judge a staged program of 50 MiB.
bench-node:
	$(GO) test -run '^$$' -bench . -benchtime 200x ./cmd/salve-node
	$(GO) test -run '^$$' -bench . ./internal/hotfix/slot

# 10,000 steps that do nothing, and 1,000 that run true beside make and GNU
# parallel, where that is installed. About two minutes.
bench-pipeline:
	$(GO) test -run '^$$' -bench '^BenchmarkScheduler' -benchtime 1x ./internal/pipeline/command

# Validating a pipeline of 10,000 steps, in times of what parsing its text as YAML takes, and the memory of validating
# 100 pipelines with 100,000 steps together.
bench-pipeline-validate:
	$(GO) test -run '^$$' -bench 'BesideYAML|ValidateMany' -benchtime 2x ./internal/pipeline

# salve prow check beside Prow's own checkconfig: whole processes over 3,000 jobs in 16,000 lines; and a process of
# salve prow watch beside an API server with 50,000 pods and 20,000 ProwJobs. Three minutes, once make prow has built
# checkconfig.
bench-prow: build prow
	$(GO) test -count=1 -run '^TestProw(CheckBesideCheckconfig|WatchSteadyState)$$' -v ./cli -measure | grep -E '^ *prow|FAIL|panic'

# The search of salve triage beside GNU grep and ripgrep, those that are installed: 500 real literals in 1 GiB of log
# lines, in seconds of CPU. Needs the outside data; about three minutes.
bench-triage:
	$(GO) test -count=1 -timeout 30m -run '^TestMeasureSearch$$' -v ./internal/triage/catalogue -measure | grep -E 'literal scan|SKIP|here|FAIL|panic'
	cd tools/grouping-oracle && $(GO) test -count=1 -v . | grep -vE '^=== '
	$(GO) test -count=1 -timeout 30m -run '^$$' -bench . -benchtime 1x ./internal/triage/grouping | grep -E '^Benchmark|FAIL|panic'
	$(GO) test -count=1 -timeout 30m -run 'TestNothingIsFound|TestAPlanted' -v ./internal/triage/cause -nulls 10000 | grep -vE '^=== '
	$(GO) test -count=1 -timeout 60m -run '^TestVerdicts$$|^TestOtherThresholds' -v ./internal/triage/simulation -seeds 2000
	$(GO) test -count=1 -timeout 30m -run '^$$' -bench . -benchtime 1x ./internal/triage/simulation | grep -E '^Benchmark|bench_test|FAIL|panic'

# A thousand incident files of a recovered pool, replayed as salve replay --expect does. Half a minute, once it is built.
bench-replay:
	$(GO) test -count=1 -run '^TestMeasureReplay$$' -v ./runbooks/recreatepool -measure | grep -E '^Benchmark|FAIL|panic'

# Builds salve and salve-sim for macOS and Windows, and vets there what can be there, tests included. salve-node is
# Linux's alone. The first time it compiles everything once for each platform, some minutes; without paths in it, as a
# release does, which finds it done.
PLATFORMS ?= darwin/arm64 darwin/amd64 windows/amd64
cross:
	for platform in $(PLATFORMS); do \
		export GOOS=$${platform%/*} GOARCH=$${platform#*/} CGO_ENABLED=0 GOFLAGS=-trimpath; \
		echo "cross: $$platform"; \
		$(GO) vet ./...; \
		$(GO) build -ldflags "-s -w" -o $(BIN)/cross/$$GOOS-$$GOARCH/ ./cmd/salve ./cmd/salve-sim; \
	done

# GoReleaser takes the commit and its time from git only where git has a remote: one that can't exist will do.
releaser = PATH="$(CURDIR)/$(BIN):$$PATH" $(if $(shell git remote),,GIT_CONFIG_COUNT=1 \
	GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://home.invalid/salve) $(BIN)/goreleaser

# What a release of this commit would hold, in dist/: archives, packages, SBOMs, checksums, manifests of Homebrew and
# krew, the container image as an OCI layout, the Helm chart. Nothing is signed and nothing is sent anywhere. The same
# commit gives the same bytes.
release-snapshot: $(BIN)/goreleaser
	$(releaser) release --snapshot --clean --skip=sign
	tools/release-image.sh

# The same of a tag, signed where COSIGN_KEY names a key (docs/releasing.md).
release: $(BIN)/goreleaser
	$(releaser) release --clean $(if $(COSIGN_KEY),,--skip=sign)
	tools/release-image.sh

clean:
	rm -rf $(BIN) dist
