//go:build !unix || solaris || illumos || aix

package atomicfile

import "os"

func lock(*os.File) lockState { return noLocks }

func syncFolder(*os.File) error { return nil }
