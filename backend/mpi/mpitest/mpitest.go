// Package mpitest starts programs on several ranks of MPI in tests, with each launcher that
// is installed.
package mpitest

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// A Launcher starts the ranks of a job.
type Launcher struct {
	Kind string // as [mpi.World.Library] names the library
	Path string
}

// Launchers runs a test for each launcher that is installed, and skips those that are not.
func Launchers(t *testing.T, test func(t *testing.T, l Launcher)) {
	for _, l := range []struct {
		Launcher
		name, remedy string
	}{
		{Launcher{Kind: "Open MPI"}, "mpirun.openmpi", "openmpi-bin"},
		{Launcher{Kind: "MPICH"}, "mpirun.mpich", "mpich"},
	} {
		t.Run(l.Kind, func(t *testing.T) {
			path, err := exec.LookPath(l.name)
			if err != nil {
				t.Skipf("%s is not installed; the package %s has it", l.name, l.remedy)
			}
			l.Path = path
			test(t, l.Launcher)
		})
	}
}

// limit is the time after which a job that hangs is ended.
const limit = 2 * time.Minute

// Command returns a command that runs a program on a number of ranks.
func (l Launcher) Command(t *testing.T, ranks int, program string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, l.Path, append([]string{"-n", strconv.Itoa(ranks), program}, args...)...)
	// The ranks of a test share few CPUs, and tests may run as root.
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_mpi_yield_when_idle=1", "OMPI_MCA_btl_vader_single_copy_mechanism=none", "GOMAXPROCS=2")
	cmd.WaitDelay = 5 * time.Second
	return cmd
}
