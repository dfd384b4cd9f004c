// Package buildinfo names the version of this module that a program was built from.
package buildinfo

import "runtime/debug"

const module = "github.com/kernel-fried-tensor/kft"

// Unknown is the version of a program that was built without one, such as a test.
const Unknown = "(devel)"

// Version returns the version of the module that the program was built from.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Path == module && info.Main.Version != "" {
			return info.Main.Version
		}
		for _, d := range info.Deps {
			if d.Path == module {
				return d.Version
			}
		}
	}
	return Unknown
}
