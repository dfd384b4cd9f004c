package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A synthetic data set can be fitted with its own specification, and the score is close to
// that of the true distribution.
func TestDataSynthetic(t *testing.T) {
	inEmptyFolder(t)
	r := must(t, "data", "synthetic", "--shape", "alcohol", "--rows", "50000", "-o", "set")
	found := regexp.MustCompile(`R2 of log1p (\d\.\d+)`).FindStringSubmatch(r.stdout)
	if found == nil {
		t.Fatalf("no score of the true distribution in\n%s", r.stdout)
	}
	best, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("set")
	must(t, "fit", "--quiet", "--sweeps", "12")
	r = must(t, "evaluate", "model.kft", "sales_2015_2016.csv.gz", "--part", "test", "--json")
	var score struct {
		R2Scale float64 `json:"r2_scale"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &score); err != nil {
		t.Fatalf("%v in\n%s", err, r.stdout)
	}
	if score.R2Scale < best-0.08 || score.R2Scale > best+0.02 {
		t.Errorf("test R2 of log1p: got %.4f, the true distribution has %.4f", score.R2Scale, best)
	}
}

// Tables that were made from invoices with errors can be fitted with their specification.
func TestDataIowa(t *testing.T) {
	inEmptyFolder(t)
	var text strings.Builder
	text.WriteString("Date,Store Number,City,Item Number,Category Name,Bottles Sold\nnever,1,Ames,2,Gin,3\n")
	for i := range 400 {
		text.WriteString(strconv.Itoa(i%12+1) + "/05/2015," + strconv.Itoa(i%8) + ",Ames," + strconv.Itoa(100+i%15) + ",Gin," + strconv.Itoa(i%7+1) + "\n")
	}
	write(t, "raw.csv", text.String())
	r := must(t, "data", "iowa", "raw.csv", "--years", "2015", "-o", "out/iowa")
	for _, part := range []string{"Read 401 rows", "date missing or invalid (first: raw.csv, line 2: \"never\")", "out/iowa/sales_2015.csv.gz", "8 stores, 15 items", "cd out/iowa && kft fit"} {
		if !strings.Contains(r.stdout, part) {
			t.Errorf("no %q in\n%s", part, r.stdout)
		}
	}
	if r := call(t, "data", "iowa", "raw.csv", "--years", "2015", "-o", "out/iowa"); r.code != exitUsage || !strings.Contains(r.stderr, "out/iowa/sales_2015.csv.gz, out/iowa/stores.csv, out/iowa/items.csv, out/iowa/kft.yaml already exist; choose another folder or allow overwriting (-o chooses another folder, --force overwrites)") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	must(t, "data", "iowa", "raw.csv", "--years", "2015", "-o", "out/iowa", "--force")
	t.Chdir("out/iowa")
	must(t, "fit", "--quiet", "--sweeps", "2")
}

func TestDataWrongCalls(t *testing.T) {
	inEmptyFolder(t)
	write(t, "raw.csv", "a,b\n1,2\n")
	write(t, "file", "")
	write(t, "stores.csv", "Date,Store Number,City,Item Number,Category Name,Bottles Sold\n1/5/2015,1,Ames,2,Gin,3\n")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"iowa", "raw.csv", "-o", "out", "--years", "2016-2015"}, "the first year is after the last"},
		{[]string{"iowa", "raw.csv", "-o", "out", "--years", "lately"}, "not a year or a range of years"},
		{[]string{"iowa", "raw.csv", "-o", "file/out"}, "file"},
		{[]string{"synthetic", "--shape", "alcohol", "-o", "out", "--rows", "100000", "--scale", "0.1"}, "use one of them"},
		{[]string{"synthetic", "--shape", "alcohol", "-o", "out", "--seed", "0"}, "--seed"},
		{[]string{"synthetic", "--shape", "alcohol", "-o", "out", "--scale", "NaN"}, "--scale"},
		{[]string{"synthetic", "--shape", "alcohol", "-o", "out", "--rows", "20000", "--threads", "-1"}, "--threads"},
		{[]string{"iowa", "stores.csv", "-o", ".", "--force"}, "stores.csv is part of the download"},
		{[]string{"synthetic", "--shape", "beer", "-o", "out"}, "alcohol"},
	} {
		if r := call(t, append([]string{"data"}, c.args...)...); r.code == exitGood || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%q: exit %d, %s", c.args, r.code, r.stderr)
		}
	}
	if _, err := os.Stat("out"); err == nil {
		t.Error("a folder was created")
	}
}
