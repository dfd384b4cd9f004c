package search_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/guess"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
)

// Columns that a mode determines are side information of it, unless the user said something
// about terms or side tables, or asks for forecasts.
func TestFactsInTheTable(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	text.WriteString("store,item,city,area,owner,price,units\n")
	for store := range 30 {
		for item := range 20 {
			if rng.Float64() < 0.8 {
				fmt.Fprintf(&text, "s%02d,i%02d,%s,%.1f,owner %c%c,%.2f,%.2f\n", store, item, []string{"Ames", "Boone", "Clive"}[store%3], 10+float64(store*7%50), 'a'+rune(store%26), 'a'+rune(store/26),
					1+float64(item*3%20)/4, 20+10*rng.NormFloat64())
			}
		}
	}
	file := filepath.Join(t.TempDir(), "sales.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	facts := []string{"store=" + file + ":city,area", "item=" + file + ":price"}
	for name, c := range map[string]struct {
		spec spec.Spec
		want []string
	}{
		"nothing given": {spec.Spec{}, facts},
		"terms":         {spec.Spec{Terms: []string{"store", "item"}}, nil},
		"side table":    {spec.Spec{Side: spec.Side{Tables: []string{"store=stores.csv"}}}, []string{"store=stores.csv"}},
		"forecast":      {spec.Spec{Split: "time:last=3"}, nil},
	} {
		s := c.spec
		s.Data.Files = []string{file}
		g, err := search.Complete(&s, tableio.Source{}, false)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(s.Side.Tables, c.want) {
			t.Errorf("%s: got the side tables %q, want %q", name, s.Side.Tables, c.want)
		}
		if owner := slices.ContainsFunc(g.Determined, func(d guess.Determined) bool { return d.Column == "owner" }); !owner {
			t.Errorf("%s: the names of owners, different for each store, are not among the candidates %v", name, g.Determined)
		}
	}
}
