package main

import (
	"strings"
	"testing"
)

// Names from tables and models cannot control the terminal.
func TestTerminalEscapes(t *testing.T) {
	inEmptyFolder(t)
	write(t, "t.csv", "store\x1b[31m,item,units\x1b]0;title\a\n"+strings.Repeat("a\x1b[2J,b,1\na\x1b[2J,c,2\nb,b,3\nb,c,5\n", 20))
	for _, args := range [][]string{
		{"inspect", "t.csv"},
		{"fit", "t.csv", "--target", "units\x1b]0;title\a", "--modes", "shop=store\x1b[31m,item", "--duplicates", "mean", "--rank", "1", "--sweeps", "1", "--split", "random:60/20/20", "-o", "m.kft"},
		{"inspect", "m.kft"},
		{"predict", "m.kft", "--cell", "shop=a\x1b[2K,item=b"},
		{"fit", "t.csv", "--target", "none\x1b[31m", "--modes", "item"},
		{"predict", "m.kft", "absent\x1b[31m.csv"},
	} {
		r := call(t, args...)
		if strings.ContainsAny(r.stdout+r.stderr, "\x1b\a") || args[0] != "fit" && !strings.Contains(r.stdout+r.stderr, `\x1b`) {
			t.Errorf("kft %q: exit %d\n%q", args, r.code, r.stdout+r.stderr)
		}
	}
	// A table is data and stays as it is.
	if r := must(t, "predict", "m.kft", "t.csv"); !strings.Contains(r.stdout, "\na\x1b[2J,b,1,") {
		t.Errorf("%q", r.stdout)
	}
}

func TestTooManyThreads(t *testing.T) {
	inEmptyFolder(t)
	write(t, "t.csv", "a,b,y\n1,1,1\n")
	for _, threads := range []string{"1000000", "9000000000"} {
		refused(t, exitUsage, []string{"--threads: " + threads + " is out of range; use 0 to 4096"}, "fit", "t.csv", "--target", "y", "--modes", "a,b", "--threads", threads)
	}
	refused(t, exitUsage, []string{"--threads: x is not a whole number"}, "fit", "t.csv", "--target", "y", "--modes", "a,b", "--threads", "x")
}
