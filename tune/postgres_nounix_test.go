//go:build !unix

package tune

import (
	"errors"
	"os"
	"os/exec"
)

var immediateStop = os.Kill

func giveToServer(string) error { return errors.New("the server is tested on Unix only") }

func asServer(*exec.Cmd) {}
