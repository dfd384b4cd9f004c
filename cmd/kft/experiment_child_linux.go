package main

import (
	"os/exec"
	"syscall"
)

// endWithParent has the system end the process when this one is killed.
func endWithParent(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
