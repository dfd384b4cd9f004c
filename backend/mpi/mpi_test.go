package mpi_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/mpi"
	"github.com/kernel-fried-tensor/kft/backend/mpi/mpitest"
)

// TestOverRanks runs TestMessages on four ranks of each installed launcher.
func TestOverRanks(t *testing.T) {
	program := filepath.Join(t.TempDir(), "ranks.test")
	build := exec.Command("go", "test", "-c", "-tags", "native", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	mpitest.Launchers(t, func(t *testing.T, l mpitest.Launcher) {
		out, err := l.Command(t, 4, program, "-test.v", "-test.run", "^TestMessages$").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if n := strings.Count(string(out), "--- PASS: TestMessages"); n != 4 || strings.Count(string(out), l.Kind) < 4 {
			t.Errorf("got %d ranks that passed, want 4 of %s:\n%s", n, l.Kind, out)
		}
	})
}

func TestLaunched(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  map[string]string
		want mpi.Launch
		ok   bool
	}{
		{map[string]string{}, mpi.Launch{}, false},
		{map[string]string{"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "3", "PMIX_RANK": "3"}, mpi.Launch{Size: 4, Rank: 3, Open: true}, true},
		{map[string]string{"PMI_SIZE": "2", "PMI_RANK": "1"}, mpi.Launch{Size: 2, Rank: 1}, true},
		{map[string]string{"PMIX_RANK": "5"}, mpi.Launch{Rank: 5}, true},
		{map[string]string{"PMIX_RANK": "5", "SLURM_NTASKS": "8"}, mpi.Launch{Size: 8, Rank: 5}, true},
		{map[string]string{"PMI_SIZE": "many"}, mpi.Launch{}, false},
	} {
		got, ok := mpi.Launched(func(name string) string { return c.env[name] })
		if got != c.want || ok != c.ok {
			t.Errorf("%v: got %+v, %t, want %+v, %t", c.env, got, ok, c.want, c.ok)
		}
	}
}
