package cpu

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// Path names an instruction set. On one path results have the same bits for any
// number of threads; results of different paths agree up to rounding.
type Path string

// All paths, fastest first.
const (
	AVX512  Path = "avx512"
	AVX2    Path = "avx2"
	Generic Path = "generic"
)

// displayName holds the names of instruction sets for messages.
var displayName = map[Path]string{AVX512: "AVX-512", AVX2: "AVX2"}

// pathVariable is the environment variable that selects a path.
const pathVariable = "KFT_CPU"

// Paths returns the paths that this CPU supports, fastest first. Generic is
// always the last of them.
func Paths() []Path { return append(nativePaths(), Generic) }

// ChoosePath returns the path named by KFT_CPU, or the fastest path if the
// variable is empty.
func ChoosePath() (Path, error) {
	name := os.Getenv(pathVariable)
	if name == "" {
		return Paths()[0], nil
	}
	all := []string{string(AVX512), string(AVX2), string(Generic)}
	if !slices.Contains(all, name) {
		return "", fmt.Errorf("%s=%q: unknown instruction set%s; use one of %s", pathVariable, name, suggest.Hint(name, all), strings.Join(all, ", "))
	}
	if !slices.Contains(Paths(), Path(name)) {
		return "", fmt.Errorf("%s=%s: this CPU does not support %s; unset the variable to use the fastest supported instruction set", pathVariable, name, displayName[Path(name)])
	}
	return Path(name), nil
}
