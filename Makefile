# kft: see README.md. Everything is built without cgo.
export CGO_ENABLED := 0
GO ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X main.version=$(VERSION)

.PHONY: demo test race check bench peers scale fuzz release clean

demo: ## make a table, train, evaluate: nothing needed but Go
	$(GO) run ./cmd/kft demo

test: ## all tests
	KFT_PYTHON="$$(sh internal/setup/python.sh)" $(GO) test -timeout 14m ./...

# The race detector needs cgo and a C compiler; it covers what is concurrent.
race: ## the concurrent packages under the race detector
	CGO_ENABLED=1 $(GO) test -race -short -timeout 14m ./backend/... ./dataset ./experiment ./fit ./publicdata ./tune .

check: ## format, vet, static analysis, both architectures
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt: the files above need formatting"; exit 1; }
	$(GO) vet ./...
	GOARCH=arm64 $(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

bench: ## speed, as ratios measured in one run
	$(GO) run ./cmd/kft bench

peers: ## kft and other tools on the same splits: hours on the real data; see bench/peers
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/kft ./cmd/kft
	sh bench/peers/peers.sh bin/kft

scale: ## the same with 30 million observations
	$(GO) run ./cmd/kft bench --only scaling

fuzz: ## a minute for each fuzz target
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 60s -fuzzminimizetime 20x $$p || exit 1; \
	  done; done

release: ## static binaries in dist/
	@mkdir -p dist
	@for t in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64; do \
	  os=$${t%/*}; arch=$${t#*/}; ext=; [ $$os = windows ] && ext=.exe; \
	  echo "dist/kft-$$os-$$arch$$ext"; \
	  GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o dist/kft-$$os-$$arch$$ext ./cmd/kft || exit 1; \
	done
	@cd dist && sha256sum kft-* > SHA256SUMS

clean:
	rm -rf dist bin kft-demo
