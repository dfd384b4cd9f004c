package cpu

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/nearest"
)

// Path names one family of machine instructions. Results carry the same bits
// on one path whatever the number of threads; across paths they agree to
// rounding.
type Path string

// The paths, fastest first.
const (
	AVX512  Path = "avx512"
	AVX2    Path = "avx2"
	Generic Path = "generic"
)

// Variable is the environment variable that forces a path.
const Variable = "KFT_CPU"

// Paths returns the paths this machine can run, fastest first. Generic is
// always the last of them.
func Paths() []Path { return append(nativePaths(), Generic) }

// Choose returns the path named by KFT_CPU, or the fastest one where the
// variable is empty.
func Choose() (Path, error) {
	name := os.Getenv(Variable)
	if name == "" {
		return Paths()[0], nil
	}
	all := []string{string(AVX512), string(AVX2), string(Generic)}
	if !slices.Contains(all, name) {
		return "", fmt.Errorf("%s=%q is no path%s; use one of %s", Variable, name, nearest.Hint(name, all), strings.Join(all, ", "))
	}
	if !slices.Contains(Paths(), Path(name)) {
		return "", fmt.Errorf("%s=%s: this processor has not the instructions; unset the variable to take the fastest path it has", Variable, name)
	}
	return Path(name), nil
}
