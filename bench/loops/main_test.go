package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "trace.txt")
	// Two loops of the busiest thread, one of them with a loop inside, and one of another thread.
	const trace = "7\t1\ta.f:1\t4\t8\t1000\t8000000\t3000000\n7\t2\ta.g:2\t4\t2\t10\t1000\t500\n7\t1\ta.h:3\t4\t4\t999000\t4000000\t1000000\n8\t1\tb.f:1\t4\t4\t5\t9000000\t9000000\n"
	if err := os.WriteFile(name, []byte(trace), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run([]string{name}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2 loops; seconds of one thread, and of 4 equally fast ones",
		"in loops 12.00, divided evenly 3.00, with waiting 4.00; between loops 1.00\n",
		"in all 13.00 and 5.00: 2.6 times as fast, 1.4 times as fast as 2\n",
		"1000.0 of      1 loops with    8000.0 of work  a.f:1\n",
		"999.0 of      1 loops with    4000.0 of work  a.h:3\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got\n%swant %q", out.String(), want)
		}
	}
	if err := os.WriteFile(name, []byte("7\t1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{name}, &out); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("got error %v, want one of line 1", err)
	}
}
