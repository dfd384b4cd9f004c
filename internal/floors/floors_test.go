// Package floors holds the house rule: imports only go down.
package floors

import (
	"os/exec"
	"path"
	"strings"
	"testing"
)

const module = "github.com/kernel-fried-tensor/kft"

// floors lists every package outside internal with its floor, as
// docs/architecture.md draws them. A package may import packages of lower
// floors, and on its own floor only what lies inside its own folder.
var floors = map[string]int{
	"backend": 0, "backend/ref": 0, "backend/cpu": 0, "backend/backendtest": 0,
	"dataset": 0, "kernel": 0, "kernel/kerneltest": 0, "likelihood": 0, "tune": 0,
	"baseline": 1, "publicdata": 1, "tt": 1,
	"sideinfo": 2, "predictive": 1, "conformal": 2, "metrics": 2,
	"model":     3,
	"solver":    4,
	"modelfile": 5,
	"":          6,
	"bench":     7, "experiment": 7,
	"cmd/kft": 8,
}

func TestImportsGoDown(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", module+"/...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from := strings.TrimPrefix(strings.TrimPrefix(fields[0], module), "/")
		if internal(from) {
			checkInternal(t, from, fields[1:])
			continue
		}
		floor, known := floors[from]
		if !known {
			t.Errorf("package %s has no floor: give it one here and in docs/architecture.md", from)
			continue
		}
		for _, imported := range fields[1:] {
			to, ours := strings.CutPrefix(imported, module)
			to = strings.TrimPrefix(to, "/")
			if !ours || internal(to) {
				continue
			}
			lower, known := floors[to]
			if known && (lower < floor || lower == floor && sameFolder(from, to)) {
				continue
			}
			t.Errorf("%s (floor %d) imports %s (floor %d)", from, floor, to, lower)
		}
	}
}

func internal(p string) bool { return strings.Contains("/"+p+"/", "/internal/") }

// Packages under internal serve all floors, so they import none of them.
func checkInternal(t *testing.T, from string, imports []string) {
	for _, imported := range imports {
		if to, ours := strings.CutPrefix(imported, module+"/"); ours && !internal(to) {
			t.Errorf("internal package %s imports %s", from, to)
		}
	}
}

func sameFolder(from, to string) bool {
	root := func(p string) string { first, _, _ := strings.Cut(p, "/"); return path.Clean(first) }
	return root(from) == root(to)
}
