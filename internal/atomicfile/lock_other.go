//go:build !unix || solaris || illumos || aix

package atomicfile

import "os"

const canRenameOpen = false

func lock(*os.File) lockState { return noLocks }

func syncFolder(*os.File) error { return nil }
