package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The file that init writes contains only what differs from the defaults, so flags of
// fit work on top of it.
func TestInitWritesWhatDiffers(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	write(t, "stores.csv", storesTable)
	must(t, "init", "sales.csv")
	for line := range strings.Lines(read(t, "kft.yaml")) {
		if key, _, _ := strings.Cut(strings.TrimSpace(line), ":"); strings.Contains(" solver variant inference duplicates delimiter split terms seed ", " "+key+" ") {
			t.Errorf("kft.yaml contains a default: %s", line)
		}
	}
	r := must(t, "fit", "--inference", "mean-field", "--sweeps", "2", "--rank", "2")
	if !strings.Contains(read(t, "kft.yaml"), "target: units") || !strings.Contains(r.stdout, "Wrote model.kft") {
		t.Errorf("%s", r.stdout)
	}
	if r := must(t, "fit", "--side", "store=stores.csv", "--sweeps", "2", "--rank", "2"); !strings.Contains(r.stdout, "Side: store: ") {
		t.Errorf("the side table changes nothing:\n%s", r.stdout)
	}
	if r := must(t, "spec"); !strings.Contains(r.stdout, "solver: cavi") {
		t.Errorf("spec does not list the defaults:\n%s", r.stdout)
	}
}

// The settings that the file shows as examples can be used as they are.
func TestInitShowsUsableSettings(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	write(t, "stores.csv", storesTable)
	if r := must(t, "init", "sales.csv"); strings.Contains(r.stdout, "Scale:") {
		t.Errorf("init speaks of a scale, which fit chooses:\n%s", r.stdout)
	}
	text := read(t, "kft.yaml")
	for _, key := range []string{"terms: ", "transform: ", "side: ", "split: "} {
		if strings.Count(text, "\n# "+key) != 1 {
			t.Fatalf("kft.yaml does not show %s:\n%s", key, text)
		}
		text = strings.Replace(text, "\n# "+key, "\n"+key, 1)
	}
	write(t, "kft.yaml", text)
	r := must(t, "spec")
	for _, part := range []string{"store,item,time:20", "transform: log1p", "store=stores.csv", "split: 'time:last=3'"} {
		if !strings.Contains(r.stdout, part) {
			t.Errorf("the specification lacks %q:\n%s", part, r.stdout)
		}
	}
}

func TestInitNamesTheMissingTable(t *testing.T) {
	inEmptyFolder(t)
	write(t, "kft.yaml", "version: 1\n")
	initRefused(t, exitFailed, []string{"missing.csv: no such file"}, "init", "missing.csv")
}

// A table of another country is recognised by init, and the model reads such tables.
func TestInitRecognisesNumbers(t *testing.T) {
	inEmptyFolder(t)
	var text strings.Builder
	text.WriteString("Filiale;Artikel;Datum;Umsatz\n")
	for i := range 9 * 8 * 6 {
		fmt.Fprintf(&text, "%d;%d;%02d.01.2016;%d.%03d,5 €\n", i%9, i/9%8, 1+i/72, 1+i%9, i*37%1000)
	}
	write(t, "t.csv", text.String())
	r := must(t, "init", "t.csv")
	for _, part := range []string{"Target: Umsatz", "Modes:  Filiale, Artikel, time=Datum", "decimal comma and thousands separated by point"} {
		if !strings.Contains(r.stdout, part) {
			t.Errorf("no %q in\n%s", part, r.stdout)
		}
	}
	r = must(t, "fit", "--rank", "1", "--sweeps", "1")
	if !strings.Contains(r.stdout, "432 rows") {
		t.Errorf("%s", r.stdout)
	}
	must(t, "evaluate", "model.kft", "t.csv")
	must(t, "evaluate", "model.kft", "t.csv", "--part", "test")
	must(t, "predict", "model.kft", "t.csv", "-o", "p.csv")
	// One decimal sign per file, as spreadsheets and pandas read them.
	predictions, err := os.ReadFile("p.csv")
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Split(strings.Split(string(predictions), "\n")[1], ";")
	if added := strings.Join(fields[4:9], " "); strings.Contains(added, ".") || strings.Count(added, ",") < 4 {
		t.Errorf("got the numbers %q beside a decimal comma", added)
	}
	must(t, "fit", "t.csv", "--target", "Umsatz", "--modes", "Filiale,Artikel,time=Datum", "--decimal", "comma", "--thousands", "point", "--rank", "1", "--sweeps", "1", "-o", "flags.kft")
	refused(t, exitFailed, []string{`line 2, column "Umsatz"`, "data.decimal (--decimal)"},
		"fit", "t.csv", "--target", "Umsatz", "--modes", "Filiale,Artikel,time=Datum")
	initRefused(t, exitUsage, []string{"--thousands", "already the decimal sign"}, "init", "t.csv", "--force", "--decimal", "comma", "--thousands", "comma")
	refused(t, exitUsage, []string{"--decimal", "cannot be a decimal sign"}, "fit", "t.csv", "--target", "Umsatz", "--modes", "Filiale", "--decimal", "x")
}

func TestInitReadsTwoColons(t *testing.T) {
	inEmptyFolder(t)
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, "%d::%d::%d::%d\n", 1+i%15, 100+i/15, 1+i*i%101%5, 978300760+i*i)
	}
	write(t, "ratings.dat", text.String())
	if r := must(t, "init", "ratings.dat"); !strings.Contains(r.stdout, "Target: c3\nModes:  c1, c2, hour(c4), date(c4)\nNote:") {
		t.Errorf("%s", r.stdout)
	}
	must(t, "fit", "--rank", "1", "--sweeps", "1")
	must(t, "fit", "ratings.dat", "--delimiter", "::", "--target", "c3", "--modes", "c1,c2", "--rank", "1", "--sweeps", "1")
	if r := must(t, "predict", "model.kft", "ratings.dat"); !strings.HasPrefix(r.stdout, "1,100,1,978300760,") {
		t.Errorf("%s", r.stdout[:80])
	}
	if r := must(t, "inspect", "ratings.dat", "--json"); !strings.Contains(r.stdout, `"delimiter": "::"`) {
		t.Errorf("%s", r.stdout)
	}
}

// Init and fit agree on what is missing: an empty field is, NaN is not.
func TestInitAndFitAgreeOnMissingTargets(t *testing.T) {
	inEmptyFolder(t)
	var text strings.Builder
	text.WriteString("store,item,units\n")
	for i := range 100 {
		units := fmt.Sprint(i * 7 % 11)
		switch i {
		case 3:
			units = "NaN"
		case 4:
			units = ""
		}
		fmt.Fprintf(&text, "s%d,i%d,%s\n", i%10, i/10, units)
	}
	write(t, "t.csv", text.String())
	if r := must(t, "init", "t.csv"); !strings.Contains(r.stdout, `Note:   column units, line 5: "NaN" is not a number`) || !strings.Contains(r.stdout, "units   number        12        1") {
		t.Errorf("%s", r.stdout)
	}
	refused(t, exitFailed, []string{"line 5", "NaN"}, "fit")
}

// A table about which nothing can be guessed gets a message that says what to give.
func TestInitSaysWhatToGive(t *testing.T) {
	inEmptyFolder(t)
	write(t, "texts.csv", "a,b\nx,1:2\ny,3:4\nx,3:4\ny,1:2\n")
	initRefused(t, exitFailed, []string{"texts.csv: no column looks like a target", "data.target (--target)", "the columns are a, b"}, "init", "texts.csv")
	write(t, "unique.csv", "id,value\n1,2.5\n2,3.5\n3,4.5\n4,5.5\n")
	initRefused(t, exitFailed, []string{"no column looks like ids", "data.modes (--modes)", "id hardly repeats"}, "init", "unique.csv")
	write(t, "wide.csv", "item,2015-01,2015-02,2015-03,2015-04,2015-05\na,1,2,3,4,5\nb,2,3,4,5,6\n")
	initRefused(t, exitFailed, []string{"the table is wide: 5 columns, 2015-01 to 2015-05", `melt(id_vars=["item"]`}, "init", "wide.csv")
	if r := must(t, "inspect", "wide.csv"); !strings.Contains(r.stdout, "the table is wide") {
		t.Errorf("%s", r.stdout)
	}
}

// initRefused checks how init refuses a call: by its exit code and parts of its
// message.
func initRefused(t *testing.T, code int, parts []string, args ...string) {
	t.Helper()
	r := call(t, args...)
	if r.code != code {
		t.Errorf("got exit %d, want %d", r.code, code)
	}
	for _, part := range parts {
		if !strings.Contains(r.stderr, part) {
			t.Errorf("%q does not contain %q", r.stderr, part)
		}
	}
}
