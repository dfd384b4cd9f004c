// Package layering tests that packages import only packages of lower layers, and that packages
// and files stay small.
package layering

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kernel-fried-tensor/kft"

// layers lists all packages outside internal, from the top layer to the bottom one,
// as in docs/architecture.md. The root package is ".". A package may import packages
// of lower layers, and within its own layer only packages in the same top folder.
var layers = [][]string{
	{
		"cmd/kft", "cmd/kft/internal/celltext", "cmd/kft/internal/childprocess", "cmd/kft/internal/completion", "cmd/kft/internal/progress", "cmd/kft/internal/summary",
		"cmd/kft/internal/textformat",
	},
	{"bench", "bench/accuracy", "bench/capacity", "bench/load", "bench/loops", "bench/paper", "bench/reading", "bench/scale", "bench/simulate", "bench/throughput", "experiment", "serve"},
	{"."},
	{"report"},
	{"forecast"},
	{"errorcode", "search", "search/automatic", "search/power", "search/tuning"},
	{"train", "train/checkpoint", "train/collective", "train/design", "train/fitdata", "train/operators", "explain"},
	{"update"},
	{"evaluate"},
	{"multitarget"},
	{"model"},
	{"fitrecord", "history", "blend"},
	{"panel", "ledger", "heaping", "conformal", "copula"},
	{"spec", "modelfile", "solver", "solver/moments", "solver/penalty", "solver/division", "footprint", "response"},
	{"metrics", "relevance", "sideinfo", "sideinfo/lowrank", "sidetable", "baseline", "publicdata"},
	{"predictive", "predictive/noisemodel", "predictive/targetscale", "tt", "tt/entity", "tt/factor", "tt/regression", "tt/seriesterm"},
	{
		"backend", "backend/backendtest", "backend/observed", "backend/cpu", "backend/cpu/internal/asmgen", "backend/cpu/internal/chaingen", "backend/mpi", "backend/mpi/mpitest", "backend/ref",
		"dataset", "dataset/columnar", "dataset/covariate", "dataset/delimited", "dataset/guess", "dataset/guess/numbertext", "dataset/guess/relation", "dataset/split", "dataset/tableio", "dataset/timeline",
		"dataset/internal/calendar", "dataset/internal/datasettest", "dataset/internal/fieldtext", "dataset/internal/fingerprint",
		"dataset/internal/inflate", "dataset/internal/magic", "dataset/internal/modeid", "dataset/internal/numeric", "dataset/internal/packed", "dataset/internal/periodtext", "dataset/internal/scratch", "dataset/internal/timepart",
		"kernel", "kernel/kerneltest", "likelihood", "series", "series/dynamics", "tune",
	},
}

// internals lists the packages under internal. All layers may import them, so they
// import only each other.
var internals = []string{
	"internal/atomicfile", "internal/browser", "internal/buildinfo", "internal/cholesky", "internal/columnname", "internal/digits", "internal/doctest", "internal/fielderr", "internal/figure", "internal/flat", "internal/garbage", "internal/gather", "internal/golden", "internal/gradcheck", "internal/hashtable",
	"internal/layering", "internal/notices", "internal/paged", "internal/parallel", "internal/peers", "internal/plural", "internal/radix", "internal/randstream", "internal/specfile", "internal/suggest", "internal/synthetic", "internal/sysmemory", "internal/testtable", "internal/wholeid", "internal/words",
}

func TestImports(t *testing.T) {
	imports := listImports(t)
	layerOf := map[string]int{}
	for i, layer := range layers {
		for _, name := range layer {
			layerOf[name] = i
		}
	}
	for from, all := range imports {
		layer, listed := layerOf[from]
		internal := slices.Contains(internals, from)
		if !listed && !internal {
			t.Errorf("package %s is not listed; add it to this test and to docs/architecture.md", from)
			continue
		}
		for _, to := range all {
			if slices.Contains(internals, to) {
				continue
			}
			lower, listed := layerOf[to]
			switch {
			case !listed: // reported as a package of its own
			case internal:
				t.Errorf("%s imports %s; internal packages import only internal packages", from, to)
			case lower < layer || lower == layer && topFolder(from) != topFolder(to):
				t.Errorf("%s (layer %d) imports %s (layer %d); imports must go to a lower layer", from, len(layers)-layer, to, len(layers)-lower)
			}
		}
	}
	for _, name := range slices.Concat(slices.Concat(layers...), internals) {
		if _, exists := imports[name]; !exists {
			t.Errorf("package %s is listed but does not exist", name)
		}
	}
}

// listImports returns the packages of the module, except for examples, with their
// imports from the module.
func listImports(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", module+"/...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from, _ := local(fields[0])
		if topFolder(from) == "examples" {
			continue
		}
		imports[from] = nil
		for _, path := range fields[1:] {
			if to, ours := local(path); ours {
				imports[from] = append(imports[from], to)
			}
		}
	}
	return imports
}

// local returns an import path relative to the module, "." for its root.
func local(path string) (name string, ours bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

func topFolder(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}
