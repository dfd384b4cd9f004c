package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// answers splits the output of kft predict --pipe.
func answers(t *testing.T, output string) (all []pipeAnswer, tables []string) {
	t.Helper()
	in := bufio.NewReader(strings.NewReader(output))
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return all, tables
		}
		var a pipeAnswer
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatal(err)
		}
		table := make([]byte, a.Bytes)
		if _, err := io.ReadFull(in, table); err != nil {
			t.Fatal(err)
		}
		all, tables = append(all, a), append(tables, string(table))
	}
}

func pipeLine(fields, body string) string {
	return fmt.Sprintf("{\"bytes\":%d%s}\n%s", len(body), fields, body)
}

// A pipe answers requests one by one, goes on after one that fails, and ends with its
// input.
func TestPredictPipe(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--rank", "1", "-o", "m.kft")...)
	sales := read(t, "sales.csv")
	two := strings.Join(strings.SplitAfterN(sales, "\n", 4)[:3], "")
	requests := pipeLine(`,"quantiles":[0.1]`, two) + pipeLine("", "store,item\na,b\n") + pipeLine(`,"samples":2`, two) + pipeLine(`,"quantiles":[2]`, two) + pipeLine(`,"only":["prediction"]`, two)
	r := callWith(t.Context(), strings.NewReader(requests), "predict", "m.kft", "--pipe")
	if r.code != exitGood || r.stderr != "" {
		t.Fatalf("exit %d: %s", r.code, r.stderr)
	}
	all, tables := answers(t, r.stdout)
	if len(all) != 6 {
		t.Fatalf("got %d answers", len(all))
	}
	if got := strings.Join(all[0].Columns, ","); got != "store,item,year,month" {
		t.Errorf("the model reads %s", got)
	}
	for i, want := range []string{"", "prediction,median,sd,sd_model,sd_noise,q0.1,unseen", "", "prediction,median,sd,sd_model,sd_noise,sample_1,sample_2,unseen", "", "prediction"} {
		if want == "" {
			continue
		}
		file, err := ipc.NewFileReader(bytes.NewReader([]byte(tables[i])))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range file.Schema().Fields() {
			names = append(names, f.Name)
		}
		if got := strings.Join(names, ","); got != want || all[i].Rows != 2 {
			t.Errorf("answer %d: %d rows of %s", i, all[i].Rows, got)
		}
	}
	if e := all[2].Error; e == nil || e.Code != "unknown_column" || !strings.Contains(e.Text, "X, column") {
		t.Errorf("got %+v", e)
	}
	if e := all[4].Error; e == nil || e.Code != "quantiles" {
		t.Errorf("got %+v", e)
	}

	model, err := os.ReadFile("m.kft")
	if err != nil {
		t.Fatal(err)
	}
	other := callWith(t.Context(), strings.NewReader(pipeLine("", string(model))+pipeLine(`,"quantiles":[0.1]`, two)), "predict", "-", "--pipe")
	if _, again := answers(t, other.stdout); len(again) != 2 || again[1] != tables[1] {
		t.Errorf("a model in the first request predicts something else: %s", other.stderr)
	}
}

func TestPredictPipeBadRequests(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--rank", "1", "-o", "m.kft")...)
	for _, c := range []struct{ model, input, says string }{
		{"m.kft", "no JSON\n", "not a line of JSON"},
		{"m.kft", "{", "does not end"},
		{"m.kft", strings.Repeat("x", longestRequest+1), "does not end"},
		{"m.kft", `{"bytes":1000000000000000}` + "\nshort", "ended after 5 of"},
		{"m.kft", `{"bytes":-1}` + "\n", "a request of -1 bytes"},
		{"-", "", "ended before a model"},
		{"-", pipeLine("", "no model"), "model"},
	} {
		r := callWith(t.Context(), strings.NewReader(c.input), "predict", c.model, "--pipe")
		if r.code != exitFailed || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%.20q: exit %d, %s", c.input, r.code, r.stderr)
		}
	}
	if r := call(t, "predict", "m.kft", "sales.csv", "--pipe"); r.code != exitUsage {
		t.Errorf("a table besides --pipe: exit %d, %s", r.code, r.stderr)
	}
}
