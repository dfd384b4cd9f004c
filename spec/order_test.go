package spec

import (
	"slices"
	"strings"
	"testing"
)

func TestOrders(t *testing.T) {
	for _, c := range []struct {
		term, want string
		n          int
	}{
		{"a", "a", 1},
		{"a,b:3", "a,b:3", 1},
		{"a,b,c:3", "a,b,c:3 a,c,b:3 b,a,c:3", 3},
		{"a*d,b,c:2,5@wlr", "a*d,b,c:2,5@wlr a*d,c,b:2,5@wlr b,a*d,c:2,5@wlr", 3},
		{"a,b,c,d:3", "", 12},
		{"a,b,c,d,e:3", "", 10},
	} {
		term, err := ParseTerm(c.term, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		seen := map[string]bool{}
		for _, o := range term.Orders() {
			got = append(got, o.String())
			cores := strings.Split(o.Order(), ",")
			reversed := slices.Clone(cores)
			slices.Reverse(reversed)
			if len(cores) > 1 && seen[strings.Join(reversed, ",")] || seen[o.Order()] {
				t.Errorf("%s: order %s appears twice", c.term, o.Order())
			}
			seen[o.Order()] = true
			again := term
			if !again.Reorder(o.Order()) || again.String() != o.String() {
				t.Errorf("%s: reordered to %s, got %s", c.term, o, again)
			}
		}
		if text := strings.Join(got, " "); c.want != "" && text != c.want {
			t.Errorf("%s: got %s, want %s", c.term, text, c.want)
		}
		if len(got) != c.n || got[0] != term.String() {
			t.Errorf("%s: got %d orders, the first %s; want %d, the given one first", c.term, len(got), got[0], c.n)
		}
	}
	term, _ := ParseTerm("a,b,c:3", nil)
	for _, wrong := range []string{"a,b", "a,b,d", "a,a,b", ""} {
		if term.Reorder(wrong) {
			t.Errorf("Reorder accepted %q", wrong)
		}
	}
}

func TestOrderKey(t *testing.T) {
	s, _, err := Parse([]byte("version: 1\norder: auto\n"), "kft.yaml")
	if err != nil || s.Order != "auto" {
		t.Fatalf("got order %q, %v", s.Order, err)
	}
	s = Spec{Data: Data{Files: []string{"t.csv"}, Target: "y", Modes: []string{"a", "b"}}}
	s.Fill()
	if s.Order != "given" {
		t.Errorf("got default %q, want given", s.Order)
	}
	s.Order = "best"
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "order") {
		t.Errorf("got error %v, want one of order", err)
	}
}
