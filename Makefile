# `make` lists the targets. `make demo` needs Go alone; `make test` puts its tools into .tools/, which git ignores.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:

# Processor of the Lambda binaries, in the words of Lambda; Go calls x86_64 amd64.
ARCH ?= arm64
GOARCH_arm64 := arm64
GOARCH_x86_64 := amd64
HOST_ARCH := $(if $(filter aarch64 arm64,$(shell uname -m)),arm64,x86_64)

# lambda.norpc leaves out net/rpc, which only the retired go1.x runtime needs, and grpcnotrace 0.6 MB of gRPC's, which the
# X-Ray SDK brings along. No paths, no commit and no build id: the same source is the same binary, so a deployment that
# changes nothing uploads nothing.
LAMBDA_BUILD = CGO_ENABLED=0 GOOS=linux GOARCH=$(GOARCH_$(ARCH)) \
	go build -trimpath -buildvcs=false -tags lambda.norpc,grpcnotrace -ldflags "-s -w -buildid="
FUNCTIONS := $(patsubst functions/%/main.go,%,$(wildcard functions/*/main.go))

# The root module, and those with a go.mod of their own: they have dependencies the root must not carry.
MODULES := . $(patsubst %/go.mod,%,$(wildcard */go.mod))
GO_TEST := go test -race -shuffle=on -count=1
# The CDK's packages take minutes to compile, and would again with the race detector, for tests that have no goroutines.
# jsii starts its Node before any code of the tests runs, hence the environment.
INFRA_TEST = JSII_NODE="$$(scripts/cdk-node.sh)" go test -C infra -shuffle=on -count=1
MAX_BYTES := 16777216
FUZZTIME ?= 10s
BENCH ?= .
CONFIG ?= weir.yaml

TOOLS := $(CURDIR)/.tools
export PATH := $(TOOLS)/bin:$(PATH)
# Some region must be named; nothing is called there.
export AWS_DEFAULT_REGION ?= eu-west-1

.PHONY: help check-help demo build build-all size sam-build build-AuthorizerFunction build-ReconcilerFunction test test-quick test-go \
	test-sim test-infra lab e2e e2e-sam synth lint-synth fuzz bench lint fmt-check vet lint-shell lint-template tidy-check verify tools clean check-arch

##@ Everyday
help: ## List targets
	@awk -F':.*## ' '/^##@/{print "\n" substr($$0,5)} /^[a-zA-Z0-9_-]+:.*## /{printf "  %-26s %s\n", $$1, $$2}' Makefile

demo: ## See Weir limit a tenant; needs Go and nothing else
	@go run ./cmd/weir demo

test-quick: ## Go tests without tools: a test that needs an engine skips itself
	go test ./...

test: check-help tools fmt-check vet lint-shell lint-template build-all size synth lint-synth e2e-sam test-sim test-go test-infra e2e ## Everything CI runs: tools, linters, binaries, SAM, all Go tests

##@ Lambda binaries
build: check-arch ## Build every Lambda for ARCH (arm64 or x86_64) into build/<arch>/<function>/bootstrap
	@for f in $(FUNCTIONS); do \
	  echo "build/$(ARCH)/$$f/bootstrap"; \
	  $(LAMBDA_BUILD) -o "build/$(ARCH)/$$f/bootstrap" "./functions/$$f"; \
	done

build-all: ## Build for arm64 and x86_64
	@$(MAKE) build ARCH=arm64
	@$(MAKE) build ARCH=x86_64

size: ## Print the size of the arm64 authorizer; fail above 16 MB
	@$(MAKE) build ARCH=arm64
	@bytes=$$(wc -c <build/arm64/authorizer/bootstrap); \
	awk -v b="$$bytes" 'BEGIN {printf "authorizer, arm64, stripped: %d bytes (%.2f MB)\n", b, b / 1048576}'; \
	if ((bytes > $(MAX_BYTES))); then echo "above the limit of $(MAX_BYTES) bytes" >&2; exit 1; fi

sam-build: check-arch ## sam build for ARCH, the template parameter and the binary alike
	ARCH=$(ARCH) sam build --parameter-overrides Architecture=$(ARCH)

# SAM does not tell make the architecture, so it comes from ARCH in the environment; sam-build sets both.
build-AuthorizerFunction: check-arch ## Called by `sam build`: the authorizer and the sample plans, into ARTIFACTS_DIR
	$(LAMBDA_BUILD) -o "$(ARTIFACTS_DIR)/bootstrap" ./functions/authorizer
	cp examples/plans.yaml "$(ARTIFACTS_DIR)/plans.yaml"

build-ReconcilerFunction: check-arch ## Called by `sam build`: the reconciler, into ARTIFACTS_DIR
	$(LAMBDA_BUILD) -o "$(ARTIFACTS_DIR)/bootstrap" ./functions/reconciler

check-arch: ## Fail unless ARCH is arm64 or x86_64
	@[[ -n "$(GOARCH_$(ARCH))" ]] || { echo "ARCH=$(ARCH): use arm64 or x86_64" >&2; exit 1; }

##@ Infrastructure
synth: tools ## Synthesise infra/weir.yaml, or CONFIG, into build/cdk.out; needs no account, network or Docker
	@$(MAKE) build ARCH=arm64
	@go build -C infra -o ../build/infra .
	@rm -rf build/cdk.out
	@cd infra && JSII_NODE="$$(../scripts/cdk-node.sh)" ../build/infra -config "$(CONFIG)" -out ../build/cdk.out -binaries ../build/arm64
	@go run ./cmd/weir doctor --synth build/cdk.out

##@ Tests
test-go: tools ## All Go tests but those of infra, with the race detector; a missing engine fails
	@for m in $(filter-out infra,$(MODULES)); do \
	  echo "== go test: $$m"; \
	  (cd "$$m" && WEIR_REQUIRE_TOOLS=1 $(GO_TEST) ./...); \
	done

test-infra: tools ## Go tests of the infrastructure, without the race detector
	@echo "== go test: infra"
	@$(INFRA_TEST) ./...

test-sim: ## The simulator's tests in full; under the race detector they are shortened
	go test -count=1 ./internal/sim

lab: tools ## Three Regions of real parts, a load, and a story of cuts and failures (90 s)
	@go run ./test/lab

live-plan: tools ## Change a plan in three Regions of real parts under a flood; the last line is JSON (2 min)
	@go run ./test/liveplan

e2e: tools ## Deploy everything into an emulated AWS by cdk and sam, use it over HTTP, change a plan (2 min)
	@WEIR_E2E=1 WEIR_REQUIRE_TOOLS=1 go test -count=1 -v -timeout 15m ./test/e2e

e2e-sam: tools ## sam build and sam local invoke, for real, where a container engine can be had
	@scripts/sam-local.sh

fuzz: ## Run each fuzz target for FUZZTIME (10s)
	@scripts/fuzz.sh "$(FUZZTIME)"

bench: ## Run the benchmarks that match BENCH (all)
	@for m in $(filter-out infra,$(MODULES)); do \
	  echo "== go test -bench: $$m"; \
	  (cd "$$m" && go test -run '^$$' -bench '$(BENCH)' -benchmem ./...); \
	done

##@ Quality
lint: check-help fmt-check vet lint-shell lint-template ## All linters; golangci-lint too, where it is installed
	@if command -v golangci-lint >/dev/null; then golangci-lint run; else echo "golangci-lint is not installed: left out"; fi

check-help: ## Fail if a target has no description
	@if grep -nE '^[a-zA-Z0-9_-]+:([^=]|$$)' Makefile | grep -v '## '; then echo "give these targets a ## text" >&2; exit 1; fi

fmt-check: ## Fail on Go files that gofmt would change
	@files=$$(git ls-files --cached --others --exclude-standard -- '*.go' | while read -r f; do [[ ! -f $$f ]] || echo "$$f"; done); \
	bad=$$(gofmt -l $$files); \
	if [[ -n $$bad ]]; then echo "gofmt -w:"; echo "$$bad"; exit 1; fi >&2

vet: ## go vet in every module
	@for m in $(MODULES); do echo "go vet: $$m"; (cd "$$m" && go vet ./...); done

lint-shell: ## shellcheck the scripts, where it is installed
	@if command -v shellcheck >/dev/null; then shellcheck .ci/run scripts/*.sh; else for f in .ci/run scripts/*.sh; do bash -n "$$f"; done; fi

lint-template: tools ## cfn-lint and sam validate on template.yaml
	cfn-lint template.yaml
	sam validate --lint --template template.yaml

# W3005: the CDK adds DependsOn to what a reference enforces already.
lint-synth: synth ## cfn-lint on the templates of the CDK
	cfn-lint --ignore-checks W3005 -- build/cdk.out/*.template.json

tidy-check: ## Fail if a go.mod or go.sum is not tidy
	@for m in $(MODULES); do (cd "$$m" && go mod tidy -diff); done

verify: tidy-check lint ## Before a push: tidy, formatted, linted, and nothing left uncommitted
	@git diff --exit-code
	@! git status --porcelain | grep . || { echo "the tree has files that are not committed" >&2; exit 1; }

##@ Tools
tools: ## Install the pinned tools into .tools/ (once)
	@scripts/tools.sh

clean: ## Remove build outputs; the tools stay (rm -r .tools removes them)
	rm -rf build .aws-sam
