package doctest

import (
	"slices"
	"testing"
)

const twoBlocks = "# Title\n\n```console\n$ kft a \\\n    b\none 1.5 s\ntwo\n$ kft c\n```\n\ntext\n\n```console norun\n$ rm -rf /\n```\nend\n"

func TestParsePage(t *testing.T) {
	p := parsePage(twoBlocks)
	if p.String() != twoBlocks {
		t.Fatalf("reassembled page: got\n%s", p)
	}
	if len(p.blocks) != 2 || !p.blocks[0].run || p.blocks[1].run || len(p.blocks[0].commands) != 2 {
		t.Fatalf("got blocks %+v", p.blocks)
	}
	if c := p.blocks[0].commands[0]; c.text() != "kft a \\\n    b" || !slices.Equal(c.output, []string{"one 1.5 s", "two"}) {
		t.Errorf("got first command %+v", c)
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		shown, real []string
		want        bool
	}{
		{[]string{"took 1.5 s, 12.5 MB"}, []string{"took 20 s, 3 KB"}, true},
		{[]string{"R2 0.5"}, []string{"R2 0.6"}, false},
		{[]string{"a", "...", "d"}, []string{"a", "b", "c", "d"}, true},
		{[]string{"a", "...", "d"}, []string{"a", "b", "c"}, false},
		{[]string{"a", "...", "a"}, []string{"a"}, false},
		{[]string{"a"}, []string{"a", "b"}, false},
	} {
		if got := (&command{output: c.shown}).matches(c.real); got != c.want {
			t.Errorf("%q shown for %q: got %v, want %v", c.shown, c.real, got, c.want)
		}
	}
}

func TestReplaceKeepsEllipsis(t *testing.T) {
	c := command{output: []string{"x", "...", "y", "z"}}
	c.replace([]string{"1", "2", "3", "4", "5"})
	if want := []string{"1", "...", "4", "5"}; !slices.Equal(c.output, want) {
		t.Errorf("got %q, want %q", c.output, want)
	}
}
