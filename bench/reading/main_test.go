package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// The test binary is the process that reads, if it is called with -once.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-once" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestRun measures a small table and checks that every number of threads is listed.
func TestRun(t *testing.T) {
	o := options{testtable.WriteSales(t, 500), "units", "store,item,time=year+month"}
	var out strings.Builder
	if err := run(t.Context(), o, "1,2", 1, &out); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); lines != 5 {
		t.Errorf("got %d lines:\n%s", lines, out.String())
	}
	for _, threads := range []string{"0", "two"} {
		if err := run(t.Context(), o, threads, 1, &out); err == nil {
			t.Errorf("threads %q: got no error", threads)
		}
	}
	o.target = "nothing"
	if err := readOnce(t.Context(), o, 1, &out); err == nil || !strings.Contains(fmt.Sprint(err), "nothing") {
		t.Errorf("unknown target: got %v", err)
	}
}
