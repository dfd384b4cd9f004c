package doctest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/experiment"
	"github.com/kernel-fried-tensor/kft/spec"
)

// examples returns the example specifications by name.
func examples(t *testing.T) map[string]spec.Spec {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "examples", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found no examples: %v", err)
	}
	specs := map[string]spec.Spec{}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "experiment-") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, warnings, err := spec.Parse(text, file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, w := range warnings {
			t.Error(w)
		}
		s.Fill()
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		specs[strings.TrimSuffix(filepath.Base(file), ".yaml")] = s
	}
	return specs
}

// experiments returns the example experiments by name.
func experiments(t *testing.T) map[string]experiment.Spec {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "examples", "experiment-*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found no experiments: %v", err)
	}
	byName := map[string]experiment.Spec{}
	for _, file := range files {
		e, err := experiment.Load(file)
		if err != nil {
			t.Error(err)
		}
		for _, w := range e.Warnings {
			t.Error(w)
		}
		byName[strings.TrimSuffix(filepath.Base(file), ".yaml")] = e
	}
	return byName
}

// The experiments of the two tables of the paper have all their specifications, and
// no two experiments write to the same folder.
func TestExperimentsAreComplete(t *testing.T) {
	all := experiments(t)
	for name, want := range map[string]int{"experiment-iowa-paper": 13, "experiment-iowa-bayes": 4, "experiment-iowa": 3, "experiment-movielens": 3, "experiment-retail": 4} {
		if got := len(all[name].Configurations); got != want {
			t.Errorf("%s: got %d configurations, want %d", name, got, want)
		}
	}
	outputs := map[experiment.Folder]string{}
	for name, e := range all {
		if other, taken := outputs[e.Output]; taken {
			t.Errorf("%s and %s both write to %s", name, other, e.Output)
		}
		outputs[e.Output] = name
	}
}

// The first table of the paper is complete: two groupings of the modes, two variants
// and two spaces. So are its ablations.
func TestExamplesAreComplete(t *testing.T) {
	specs := examples(t)
	for way, term := range map[string]string{"pway": "store,item,time", "2way": "store,item*time"} {
		for _, variant := range []string{"wlr", "ls"} {
			for _, space := range []string{"primal", "dual"} {
				name := strings.Join([]string{"iowa", way, variant, space}, "-")
				s, found := specs[name]
				if !found {
					t.Errorf("%s is missing", name)
					continue
				}
				cores, _, _ := strings.Cut(s.Terms[0], ":")
				if cores != term || s.Side.Variant != variant || s.Side.Space != space || s.Fit.Ridge != "uniform" {
					t.Errorf("%s: got term %s, variant %s, space %s and ridge %s", name, s.Terms[0], s.Side.Variant, s.Side.Space, s.Fit.Ridge)
				}
			}
		}
	}
	for name, want := range map[string]struct{ variant, placebo string }{
		"iowa-plain": {"plain", ""}, "iowa-side": {"side", ""}, "iowa-wlr-constant": {"wlr", "constant"}, "iowa-wlr-noise": {"wlr", "noise"},
		"iowa-additive": {"additive", ""}, "movielens-plain": {"plain", ""}, "movielens-wlr-dual": {"wlr", ""},
	} {
		s, found := specs[name]
		if !found || s.Side.Variant != want.variant || s.Side.Placebo != want.placebo {
			t.Errorf("%s (found: %v): got variant %q and placebo %q, want %q and %q", name, found, s.Side.Variant, s.Side.Placebo, want.variant, want.placebo)
		}
	}
}

// Every example is listed in the table of examples/README.md, except that the
// suffixes -dual and -primal share a line.
func TestExamplesAreListed(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "examples", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Concat(slices.Collect(maps.Keys(examples(t))), slices.Collect(maps.Keys(experiments(t))))
	for _, name := range names {
		start := strings.TrimSuffix(strings.TrimSuffix(name, "-dual"), "-primal")
		if !strings.Contains(string(readme), "| "+start) && !strings.Contains(string(readme), ", "+start) {
			t.Errorf("examples/README.md does not list %s", name)
		}
	}
}

// TestExamplesTrain runs one sweep of two examples on the real data if available,
// and otherwise of one example on the tables of the concept pages.
func TestExamplesTrain(t *testing.T) {
	data := os.Getenv("KFT_DATA")
	if data == "" {
		data = filepath.Join(root, "..", "shared", "data")
	}
	data, err := filepath.Abs(data)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.Abs(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	sh := newShell(t, program(t))
	sh.fast = true
	if !exists(filepath.Join(data, "iowa-liquor")) {
		t.Log("the real data is not available: using the tables of the concept pages")
		writeIowaTables(t, sh.folder)
	} else if err := os.Symlink(data, filepath.Join(sh.folder, "data")); err != nil {
		t.Fatal(err)
	}
	names := []string{"iowa-pway-wlr-primal", "movielens-wlr-dual"}
	if !exists(filepath.Join(sh.folder, "data", "movielens-small")) {
		names = names[:1]
	}
	for _, name := range names {
		out := strings.Join(sh.output(t, "kft fit -q --sweeps 1 --lambda 10 --spec "+filepath.Join(folder, name+".yaml")), "\n")
		if !strings.Contains(out, "Wrote model.kft") {
			t.Errorf("%s: kft fit wrote no model:\n%s", name, out)
		}
	}
}

// writeIowaTables writes the tables of the concept pages in the form of the Iowa data.
func writeIowaTables(t *testing.T, folder string) {
	t.Helper()
	tables := makeTables()
	to := filepath.Join(folder, "data", "iowa-liquor")
	if err := os.MkdirAll(to, 0o777); err != nil {
		t.Fatal(err)
	}
	renamed := strings.NewReplacer("units", "bottles", "store,city,lat,lon,area", "store,city,lat,lon,zip", "category,price,pack,tags", "category_name,state_bottle_cost,pack,tags")
	for from, name := range map[string]string{"sales.csv": "sales_2015_2016.csv.gz", "stores.csv": "stores.csv", "items.csv": "items.csv"} {
		lines := strings.Split(strings.TrimSpace(renamed.Replace(string(tables[from]))), "\n")
		more := map[string][2]string{"stores.csv": {",county", ",Story"}, "items.csv": {",bottle_volume_ml,state_bottle_retail", ",750,9.5"}}[from]
		for i := range lines {
			if i == 0 {
				lines[i] += more[0]
			} else {
				lines[i] += more[1]
			}
		}
		if err := os.WriteFile(filepath.Join(to, name), []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
