# Build, test and release kft. See README.md for its use and CONTRIBUTING.md for the rules.
# Everything is built without cgo, except the race detector.
export CGO_ENABLED := 0
GO ?= go
STATICCHECK := -modfile=.ci/staticcheck.mod honnef.co/go/tools/cmd/staticcheck
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X main.version=$(VERSION)
PYTHON = KFT_PYTHON="$$(sh internal/setup/python.sh)"
# The packages that start goroutines.
CONCURRENT := ./backend/... ./dataset/... ./experiment ./solver ./publicdata ./tune ./model ./train/... ./serve .
TARGETS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: demo help test python-test wheels race cover check tidy bench scale loops ranks paper accuracy simulate peers ledger load soak throughput native container fuzz attack vulnerabilities release clean

demo: ## generate a table, train and evaluate; needs only Go
	$(GO) run ./cmd/kft demo

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-15s %s\n", $$1, $$2 }' Makefile

test: ## run all tests
	$(PYTHON) $(GO) test -timeout 14m ./...
	$(MAKE) python-test

native: ## build bin/kft-native, which runs over several processes of MPI; see docs/clusters.md
	$(GO) build -tags native -trimpath -ldflags '$(LDFLAGS)' -o bin/kft-native ./cmd/kft

python-test: ## test the Python package: types, scikit-learn's checks, the Python examples of the documentation
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/kft ./cmd/kft
	sh internal/setup/python_test.sh bin/kft

race: ## run the tests of the concurrent packages under the race detector; needs a C compiler
	CGO_ENABLED=1 $(GO) test -race -short -timeout 14m $(CONCURRENT)

cover: ## measure test coverage: per package and in total, profile in bin/cover.out
	@mkdir -p bin
	$(PYTHON) $(GO) test -timeout 30m -coverpkg=./... -coverprofile=bin/cover.out ./... > bin/cover.log || { cat bin/cover.log; exit 1; }
	@awk -f .ci/coverage.awk bin/cover.out | LC_ALL=C sort > bin/cover.txt
	@cat bin/cover.txt

check: tidy ## check format, go.mod, vet (amd64 and arm64) and staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt: the files above need formatting; run gofmt -w ."; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags native ./backend/mpi ./cmd/kft
	$(GO) vet -tags looptrace ./internal/parallel
	GOARCH=arm64 $(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

tidy: ## check that go.mod and go.sum are tidy
	@$(GO) mod tidy -diff || { echo "go.mod: it is not tidy; run go mod tidy"; exit 1; }

bench: ## measure the speed of the engine, as ratios within one run
	$(GO) run ./cmd/kft bench

throughput: ## measure reading, evaluation and prediction with MODEL=model.kft TABLE=table.csv on CORES=1,2,4,8,16 cores
	$(GO) run ./bench/throughput -model '$(MODEL)' -table '$(TABLE)' $(if $(CORES),-cores '$(CORES)') -o docs/figures/throughput.svg

scale: ## measure the cost per cell on up to 30 million cells, and fits on 1 to all CPUs; FIT='table.csv --term ...' gives the fit
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/kft ./cmd/kft
	bin/kft bench --only scaling
	$(GO) run ./bench/scale -kft bin/kft $(if $(THREADS),-threads $(THREADS)) -o docs/figures/scale.svg -- $(FIT)

loops: ## record the parallel loops of a fit, one after the other, and print what limits it on THREADS=16 threads; FIT='table.csv --term ...' gives the fit
	$(GO) build -tags looptrace -trimpath -ldflags '$(LDFLAGS)' -o bin/kft-looptrace ./cmd/kft
	KFT_LOOPTRACE=bin/loops.txt bin/kft-looptrace fit $(FIT) -q --threads $(or $(THREADS),16) -o bin/loops.kft
	$(GO) run ./bench/loops bin/loops.txt

ranks: ## measure fits on RANKS=1,2,4,8 processes of MPI with one thread each; FIT='table.csv --term ...' gives the fit, LAUNCH='mpirun -n' the launcher
	$(MAKE) native
	$(GO) run ./bench/scale -kft bin/kft-native -launch '$(or $(LAUNCH),mpirun -n)' -threads '$(or $(RANKS),1,2,4,8)' -- $(FIT)

paper: ## fit a table of the size of the paper's: SHAPE=retail, alcohol or movielens, FOLDER for the table, MEMORY=1.5GiB, THREADS=2
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/kft ./cmd/kft
	$(GO) run ./bench/paper -kft bin/kft $(if $(SHAPE),-shape $(SHAPE)) $(if $(FOLDER),-folder $(FOLDER)) $(if $(MEMORY),-memory $(MEMORY)) $(if $(THREADS),-threads $(THREADS))

simulate: ## measure coverage and bias on simulated tables, 20 or 60 per row; takes minutes
	$(GO) run ./bench/simulate

accuracy: ## measure the time to some validation losses, of kft and of LightGBM; DATA=iowa-liquor PYTHON_PEERS=python THREADS=2
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/kft ./cmd/kft
	$(GO) run ./bench/accuracy -kft bin/kft $(if $(DATA),-data '$(DATA)') $(if $(PYTHON_PEERS),-python '$(PYTHON_PEERS)') $(if $(THREADS),-threads $(THREADS)) -o docs/figures/accuracy.svg

peers: ## compare kft with other tools on the same splits; takes hours on the real data, see bench/peers
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/kft ./cmd/kft
	sh bench/peers/peers.sh bin/kft

ledger: ## measure the default model on tables of many kinds; see bench/ledger
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/kft ./cmd/kft
	sh bench/ledger/ledger.sh bin/kft

load: ## measure the server with MODEL=model.kft, on this machine; TABLE=table.csv gives the cells, SECONDS the time
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/kft ./cmd/kft
	$(GO) run ./bench/load -kft bin/kft -model '$(MODEL)' $(if $(TABLE),-table '$(TABLE)') -seconds $(or $(SECONDS),10)

soak: ## 10 minutes of requests, reloads, slow clients and malformed requests; MODEL and SECONDS as in load
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/kft ./cmd/kft
	$(GO) run ./bench/load -kft bin/kft -model '$(MODEL)' -soak -seconds $(or $(SECONDS),600)

container: ## build the image kft of the server, with podman, docker or buildah
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/kft ./cmd/kft
	$$(command -v podman || command -v docker || command -v buildah) build -t kft -f deploy/Containerfile bin

fuzz: ## run each fuzz target for one minute
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 60s -fuzzminimizetime 20x $$p || exit 1; \
	  done; done

attack: ## read many damaged and crafted files and print the counts; a smaller number is part of make test
	@mkdir -p bin
	@KFT_ATTACK=full $(GO) test -count=1 -timeout 4h -v -run '^TestAttack' ./... > bin/attack.log || { grep -v -e 'no test' -e '^PASS' -e '^===' bin/attack.log; exit 1; }
	@grep -oh 'attack on .*' bin/attack.log

vulnerabilities: ## look for known vulnerabilities in the linked code; needs the Go vulnerability database
	$(GO) run $(GOVULNCHECK) ./...

release: ## build static binaries for all platforms in dist/, with the licences of the modules in them
	@mkdir -p dist
	@for t in $(TARGETS); do \
	  os=$${t%/*}; arch=$${t#*/}; ext=; [ $$os = windows ] && ext=.exe; \
	  echo "dist/kft-$$os-$$arch$$ext"; \
	  GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o dist/kft-$$os-$$arch$$ext ./cmd/kft || exit 1; \
	done
	@$(GO) run ./internal/notices ./cmd/kft > dist/NOTICES
	@cd dist && sha256sum kft-* NOTICES > SHA256SUMS

wheels: release ## build a Python wheel for each platform in dist/wheels and install the one for this machine as a test
	sh internal/setup/wheels.sh

clean: ## remove everything that the other targets wrote
	rm -rf dist bin kft-demo
