package childprocess

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the system kill the process when this one ends.
func endWithParent(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
