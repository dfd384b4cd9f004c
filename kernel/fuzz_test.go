package kernel_test

import (
	"testing"

	"github.com/kernel-fried-tensor/kft/kernel"
)

// FuzzParse checks that the text form of a parsed kernel parses to the same
// kernel.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"rbf", "rbf*periodic:12+matern12", `(matern32:ard[a,"b,c"]+constant)*periodic:1e+3:ard`, "((", "periodic:1e+", "rbf[\x00]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := kernel.Parse(text)
		if err != nil {
			return
		}
		again, err := kernel.Parse(k.String())
		if err != nil || again.String() != k.String() {
			t.Errorf("%q has the text form %q, which parses as %v, %v", text, k, again, err)
		}
	})
}
