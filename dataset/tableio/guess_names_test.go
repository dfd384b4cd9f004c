package tableio

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// namedTables are tables in which the name of a column misleads, or its values do.
func namedTables() []guessTable {
	return []guessTable{
		{name: "spare parts", target: "value", modes: []string{"plant", "machine", "part"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("plant,machine,part,value\n")
				for i := range 5 * 6 * 12 {
					fmt.Fprintf(w, "s%d,m%d,p%d,%.2f\n", i%5, i/5%6, i/30, 10*r.Float64())
				}
			}},
		{name: "parts of the rows", target: "units", modes: []string{"shop", "item"},
			leftOut: map[string]string{"split": "with the values train, valid, test and unused, split: column:split", "part": "; split: column:part uses it", "fold": "numbers folds"},
			text: func(w *strings.Builder, r *rand.Rand) {
				w.WriteString("shop,item,split,part,fold,units\n")
				for i := range 20 * 15 {
					fmt.Fprintf(w, "s%d,i%d,%s,%s,%d,%d\n", i%20, i/20, []string{"Train", "dev"}[r.IntN(2)], []string{"train", "validation"}[r.IntN(2)], r.IntN(5), r.IntN(50))
				}
			}},
	}
}
