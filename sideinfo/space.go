package sideinfo

import (
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// Spaces returns the spaces of operators that New builds.
func Spaces() []string { return []string{"primal", "primal-rff", "dual", "dual-rff", unwhitened} }

// New builds the operator of a space. The space primal uses no kernel; k may be nil
// there. The strings are notices for the user.
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
	case unwhitened:
		return DualUnwhitened(f, k, opt)
	}
	return nil, nil, fielderr.Errorf("side.space", "unknown space %q%s; use one of %s", space, suggest.Hint(space, Spaces()), strings.Join(Spaces(), ", "))
}
