package main

import (
	"fmt"
	"runtime"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

// versionCommand prints what this program is.
type versionCommand struct{}

// Run prints the version, the platform and the instructions in use.
func (versionCommand) Run(e *env) error {
	path, err := cpu.Choose()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "kft %s (%s, %s/%s, %s)\n", kft.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, path)
	return err
}
