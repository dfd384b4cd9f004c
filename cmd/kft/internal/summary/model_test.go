package summary

import (
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	WriteTerms(&b, []kft.TermInfo{
		{Name: "store,item:2", Cores: []kft.CoreInfo{{Name: "store", Variant: "plain", Entities: 1200, Left: 1, Right: 2}, {Name: "item", Variant: "plain", Entities: 30, Left: 2, Right: 1}}},
		{Name: "series(store; time)", Series: 1200},
	})
	const want = `
term                 core        variant  entities  matrix
store,item:2         store       plain       1,200   1 x 2
                     item        plain          30   2 x 1
series(store; time)  along time  series      1,200       -

`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got%swant%s", got, want)
	}
}
