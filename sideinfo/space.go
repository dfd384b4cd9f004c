package sideinfo

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// Spaces lists the kinds of operators New builds.
func Spaces() []string { return []string{"primal", "primal-rff", "dual", "dual-rff", "dual-paper"} }

// New builds the operator of a space. The primal one takes no kernel; k may be
// nil there.
func New(space string, f Features, k kernel.Kernel, opt Options) (Operator, []string, error) {
	switch space {
	case "primal":
		return Primal(f, opt)
	case "primal-rff":
		return PrimalFourier(f, k, opt)
	case "dual":
		return Dual(f, k, opt)
	case "dual-rff":
		return DualFourier(f, k, opt)
	case "dual-paper":
		return DualPaper(f, k, opt)
	}
	return nil, nil, fmt.Errorf("unknown space %q%s: spaces are %s", space, suggest.Hint(space, Spaces()), strings.Join(Spaces(), ", "))
}
