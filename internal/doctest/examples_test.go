package doctest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/experiment"
	"github.com/kernel-fried-tensor/kft/model"
)

// examples returns the example specifications by name.
func examples(t *testing.T) map[string]model.Spec {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "examples", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	specs := map[string]model.Spec{}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "experiment-") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := model.Parse(text, file)
		if err != nil {
			t.Error(err)
			continue
		}
		spec.Fill()
		if err := spec.Validate(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		specs[strings.TrimSuffix(filepath.Base(file), ".yaml")] = spec
	}
	return specs
}

// experiments returns the example experiments by name.
func experiments(t *testing.T) map[string]experiment.Spec {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "examples", "experiment-*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no experiments: %v", err)
	}
	specs := map[string]experiment.Spec{}
	for _, file := range files {
		spec, err := experiment.Load(file)
		if err != nil {
			t.Error(err)
		}
		specs[strings.TrimSuffix(filepath.Base(file), ".yaml")] = spec
	}
	return specs
}

// The experiments of the paper's two tables have all their specifications; no two
// write to the same folder.
func TestExperimentsAreComplete(t *testing.T) {
	all := experiments(t)
	for name, want := range map[string]int{"experiment-iowa-paper": 13, "experiment-iowa-bayes": 4, "experiment-iowa": 3, "experiment-movielens": 3, "experiment-retail": 4} {
		if got := len(all[name].Configurations); got != want {
			t.Errorf("%s has %d configurations, not %d", name, got, want)
		}
	}
	outputs := map[experiment.Folder]string{}
	for name, spec := range all {
		if other, taken := outputs[spec.Output]; taken {
			t.Errorf("%s and %s both write to %s", name, other, spec.Output)
		}
		outputs[spec.Output] = name
	}
}

// The paper's first table is whole: two ways to group the modes, two variants, two
// spaces; and so are its ablations.
func TestExamplesAreComplete(t *testing.T) {
	specs := examples(t)
	for way, term := range map[string]string{"pway": "store,item,time", "2way": "store,item*time"} {
		for _, variant := range []string{"wlr", "ls"} {
			for _, space := range []string{"primal", "dual"} {
				name := strings.Join([]string{"iowa", way, variant, space}, "-")
				spec, ok := specs[name]
				if !ok {
					t.Errorf("there is no %s", name)
					continue
				}
				cores, _, _ := strings.Cut(spec.Terms[0], ":")
				if cores != term || spec.Side.Variant != variant || spec.Side.Space != space || spec.Fit.Ridge != "uniform" {
					t.Errorf("%s has term %s, variant %s, space %s and ridge %s", name, spec.Terms[0], spec.Side.Variant, spec.Side.Space, spec.Fit.Ridge)
				}
			}
		}
	}
	for name, want := range map[string]struct{ variant, replace string }{
		"iowa-plain": {"plain", ""}, "iowa-side": {"side", ""}, "iowa-wlr-constant": {"wlr", "constant"}, "iowa-wlr-noise": {"wlr", "noise"},
		"iowa-additive": {"additive", ""}, "movielens-plain": {"plain", ""}, "movielens-wlr-dual": {"wlr", ""},
	} {
		spec, ok := specs[name]
		if !ok || spec.Side.Variant != want.variant || spec.Side.Replace != want.replace {
			t.Errorf("%s (there: %v) has variant %q and replacement %q", name, ok, spec.Side.Variant, spec.Side.Replace)
		}
	}
}

// Every example is named in the table of examples/README.md, but for the endings
// that share a line.
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

// TestExamplesTrain trains two of them for a sweep on the real data, where it is,
// and one on the concept pages' tables where it is not.
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
		t.Log("the real data is not there: made-up sales stand for it")
		madeUp(t, sh.folder)
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
			t.Errorf("%s does not train:\n%s", name, out)
		}
	}
}

// madeUp writes the pages' tables in the form of the Iowa data.
func madeUp(t *testing.T, folder string) {
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
