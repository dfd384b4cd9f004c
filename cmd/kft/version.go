package main

import (
	"fmt"
	"runtime"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

// version is set by the linker in releases. Other builds use the version of the module.
var version string

func programVersion() string {
	if version != "" {
		return version
	}
	return kft.Version()
}

// versionCommand prints the version.
type versionCommand struct{}

// Run prints the version, the platform and the instruction set in use.
func (versionCommand) Run(e *env) error {
	path, err := cpu.ChoosePath()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "kft %s (%s, %s/%s, %s)\n", programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH, path)
	return err
}
