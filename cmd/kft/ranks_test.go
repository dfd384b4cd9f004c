//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/backend/mpi/mpitest"
	"github.com/kernel-fried-tensor/kft/internal/synthetic"
)

// rankSales has about 30,000 rows, enough to be divided over ranks.
var rankSales = synthetic.Options{Stores: 100, Items: 200, Months: 18, Pairs: 5000, Seed: 1}

// nativeProgram builds the program with MPI once and returns its path.
func nativeProgram(t *testing.T) string {
	t.Helper()
	program(t)
	path, err := builtNative()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var builtNative = sync.OnceValues(func() (string, error) {
	path := filepath.Join(builtIn, "kft-native")
	build := exec.Command("go", "build", "-tags", "native", "-o", path, "github.com/kernel-fried-tensor/kft/cmd/kft")
	build.Dir, build.Stderr, build.Env = sourceFolder, os.Stderr, append(os.Environ(), "CGO_ENABLED=0")
	return path, build.Run()
})

// onRanks runs a program over ranks and returns its exit code and all of its output.
func onRanks(t *testing.T, l mpitest.Launcher, ranks int, env []string, program string, args ...string) (int, string) {
	t.Helper()
	cmd := l.Command(t, ranks, program, args...)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %s", err, out)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// alone runs a program as one process.
func alone(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// A fit over ranks gives the same model file as one process.
func TestFitOverRanks(t *testing.T) {
	native := nativeProgram(t)
	inEmptyFolder(t)
	writeSales(t, "sales.csv", rankSales)
	for name, flags := range map[string][]string{
		"map":        {"--inference", "map", "--solver", "als", "--sweeps", "2"},
		"mean-field": {"--inference", "mean-field", "--sweeps", "2"},
	} {
		fit := fitSales(append(flags, "-q", "--threads", "1", "--term", "store", "--term", "item,time:2", "--term", "store,along(time):3", "--term", "store,item,time:4")...)
		alone(t, native, append(fit, "-o", "one.kft")...)
		want := read(t, "one.kft")
		mpitest.Launchers(t, func(t *testing.T, l mpitest.Launcher) {
			file := name + l.Kind[:2] + ".kft"
			code, out := onRanks(t, l, 4, nil, native, append(fit, "-o", file)...)
			if code != exitGood || strings.Count(out, "Wrote "+file) != 1 {
				t.Fatalf("%s: exit %d:\n%s", name, code, out)
			}
			if read(t, file) != want {
				t.Errorf("%s: 4 ranks give another model than one process", name)
			}
		})
	}
}

// A table that is predicted over ranks has the bytes and the messages of one process, also those of
// errors.
func TestPredictOverRanks(t *testing.T) {
	native := nativeProgram(t)
	inEmptyFolder(t)
	writeSales(t, "sales.csv", mediumSales)
	must(t, fitSales("-q", "--rank", "2", "--sweeps", "1", "-o", "model.kft")...)
	// Several chunks of text, the first of which goes to rank 0.
	header, rows, _ := strings.Cut(read(t, "sales.csv"), "\n")
	long := header + "\n" + strings.Repeat(rows, 40)
	write(t, "long.csv", long)
	write(t, "unknown.csv", long+"2023,1,nowhere,nothing,3\n")
	write(t, "bad.csv", long+"2023,1\n")
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"long.csv"}, exitGood},
		{[]string{"long.csv", "--quantiles", ".1,.9", "--samples", "2"}, exitGood},
		{[]string{"unknown.csv"}, exitGood},
		{[]string{"unknown.csv", "--strict"}, exitFailed},
		{[]string{"bad.csv"}, exitFailed},
	} {
		args := append([]string{"predict", "model.kft"}, c.args...)
		want := call(t, append(args, "-o", "want.csv")...)
		mpitest.Launchers(t, func(t *testing.T, l mpitest.Launcher) {
			os.Remove("got.csv")
			code, out := onRanks(t, l, 4, nil, native, append(args, "-o", "got.csv")...)
			if code != c.code || want.code != c.code {
				t.Fatalf("%v: got exit %d, one process %d, want %d:\n%s", c.args, code, want.code, c.code, out)
			}
			if says := strings.ReplaceAll(want.stderr, "want.csv", "got.csv"); !strings.Contains(out, says) {
				t.Errorf("%v: got\n%s\nwant\n%s", c.args, out, says)
			}
			if c.code != exitGood {
				if _, err := os.Stat("got.csv"); err == nil {
					t.Errorf("%v: a table was written", c.args)
				}
			} else if read(t, "got.csv") != read(t, "want.csv") {
				t.Errorf("%v: 4 ranks write another table than one process", c.args)
			}
		})
	}
}

// Tables of other formats, evaluations and forecasts over ranks have the bytes of one process.
func TestTablesOverRanks(t *testing.T) {
	native := nativeProgram(t)
	inEmptyFolder(t)
	writeSales(t, "sales.csv", mediumSales)
	must(t, fitSales("-q", "--rank", "2", "--sweeps", "1", "-o", "model.kft")...)
	header, rows, _ := strings.Cut(read(t, "sales.csv"), "\n")
	write(t, "long.csv", header+"\n"+strings.Repeat(rows, 40))
	for _, c := range []struct {
		args   []string
		output string
	}{
		{[]string{"predict", "model.kft", "long.csv", "--quantiles", ".1,.9"}, "parquet"},
		{[]string{"predict", "model.kft", "long.csv"}, "arrow"},
		{[]string{"forecast", "model.kft", "--horizon", "12", "--draws", "2"}, "csv"},
		{[]string{"forecast", "model.kft", "--horizon", "6"}, "parquet"},
		{[]string{"evaluate", "model.kft", "long.csv", "--json"}, ""},
		{[]string{"evaluate", "model.kft", "sales.csv", "--part", "test"}, ""},
	} {
		args := c.args
		if c.output != "" {
			args = append(args, "-o", "want."+c.output)
		}
		want := call(t, args...)
		if want.code != exitGood {
			t.Fatalf("%v: %s", args, want.stderr)
		}
		mpitest.Launchers(t, func(t *testing.T, l mpitest.Launcher) {
			args := c.args
			if c.output != "" {
				args = append(args, "-o", "got."+c.output)
			}
			code, out := onRanks(t, l, 3, nil, native, args...)
			says := strings.ReplaceAll(want.stdout+want.stderr, "want.", "got.")
			if code != exitGood || !strings.Contains(out, says) {
				t.Errorf("%v: got exit %d and\n%s\nwant\n%s", args, code, out, says)
			}
			if c.output != "" && read(t, "got."+c.output) != read(t, "want."+c.output) {
				t.Errorf("%v: 3 ranks write another table than one process", args)
			}
		})
	}
}

// A fit over ranks keeps its rows on disk if they do not fit a limit, and is refused if the rest does not either.
func TestMemoryOverRanks(t *testing.T) {
	native := nativeProgram(t)
	inEmptyFolder(t)
	writeSales(t, "sales.csv", rankSales)
	fit := fitSales("-q", "--threads", "1", "--term", "store,item,time:4", "--inference", "mean-field", "--sweeps", "2")
	alone(t, native, append(fit, "-o", "one.kft")...)
	mpitest.Launchers(t, func(t *testing.T, l mpitest.Launcher) {
		code, out := onRanks(t, l, 2, nil, native, append(fit, "--memory", "64MiB", "--scratch", ".", "-o", "got.kft")...)
		if code != exitGood || read(t, "got.kft") != read(t, "one.kft") {
			t.Errorf("exit %d, or another model than without a limit:\n%s", code, out)
		}
		code, out = onRanks(t, l, 2, nil, native, append(fit, "--memory", "20MiB", "--scratch", ".", "-o", "none.kft")...)
		if code == exitGood || strings.Count(out, "kft: ") != 1 || !strings.Contains(out, "memory") {
			t.Errorf("a limit that is too small: exit %d:\n%s", code, out)
		}
	})
}

// Bad input ends all ranks with exit code 2 and one message, and nothing is written.
func TestBadInputOfRanks(t *testing.T) {
	native := nativeProgram(t)
	inEmptyFolder(t)
	writeSales(t, "sales.csv", mediumSales)
	for _, folder := range []string{"empty", "other"} {
		if err := os.Mkdir(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "other/sales.csv", strings.Replace(read(t, "sales.csv"), "\n2023,1,", "\n2023,2,", 1))
	fit := fitSales("-q", "--rank", "2", "--sweeps", "1", "--threads", "1", "-o", "model.kft")
	// onOne returns a command that does something before the program on rank 2 only.
	onOne := func(before string) []string {
		return []string{"-c", `if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 2 ]; then ` + before + `; fi; exec "$0" "$@"`, native}
	}
	before := listing(t)
	mpitest.Launchers(t, func(t *testing.T, l mpitest.Launcher) {
		for _, c := range []struct {
			name    string
			env     []string
			program string
			args    []string
			says    string
		}{
			{"static program", nil, program(t), fit, "this program is built without MPI; use kft-native"},
			{"no library", []string{"KFT_MPI_LIBRARY=/none.so"}, native, fit, "no MPI library found; install Open MPI or MPICH"},
			{"a library that is none", []string{"KFT_MPI_LIBRARY=libc.so.6"}, native, fit, "it has no function MPI_"},
			{"other arguments", nil, "sh", append(onOne(`set -- "$@" --seed 5`), fit...), "rank 2 of 3 on "},
			{"no file", nil, "sh", append(onOne("cd empty"), fit...), "sales.csv: no such file"},
			{"another file", nil, "sh", append(onOne("cd other"), fit...), "the table or its split differs from that of rank 0"},
			{"other instructions", nil, "sh", append(onOne("export KFT_CPU=generic"), fit...), "the instruction set of the CPU"},
			{"standard input", nil, native, append([]string{"fit", "-"}, fit[2:]...), "standard input (-) reaches rank 0 only"},
			{"a wrong timeout", []string{"KFT_MPI_TIMEOUT=soon"}, native, fit, "is not a time of at least 1s"},
			{"a wrong flag", nil, native, append(fit, "--bogus"), "unknown flag --bogus"},
		} {
			code, out := onRanks(t, l, 3, c.env, c.program, c.args...)
			if code != exitUsage || strings.Count(out, "kft: ") != 1 || !strings.Contains(out, c.says) {
				t.Errorf("%s: got exit %d, want 2 and one message with %q:\n%s", c.name, code, c.says, out)
			}
		}
		if after := listing(t); !slices.Equal(after, before) {
			t.Errorf("files: got %v, want %v", after, before)
		}
	})
}

// process returns the process of a rank of a program, 0 if there is none.
func process(t *testing.T, program string, rank int) int {
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if exe, err := os.Readlink(folder + "/exe"); err != nil || exe != program {
			continue
		}
		env, _ := os.ReadFile(folder + "/environ")
		for _, v := range bytes.Split(env, []byte{0}) {
			if text := string(v); text == fmt.Sprintf("OMPI_COMM_WORLD_RANK=%d", rank) || text == fmt.Sprintf("PMI_RANK=%d", rank) {
				var pid int
				fmt.Sscanf(filepath.Base(folder), "%d", &pid)
				return pid
			}
		}
	}
	return 0
}

// A rank that dies or hangs ends the job with a message that names it, and the fit resumes
// on another number of ranks to the same bytes. KFT_ATTACK=full kills 20 ranks.
func TestLostRank(t *testing.T) {
	native := nativeProgram(t)
	inEmptyFolder(t)
	writeSales(t, "sales.csv", rankSales)
	fit := fitSales("-q", "--threads", "1", "--term", "store,item,time:4", "--inference", "mean-field", "--sweeps", "4")
	alone(t, native, append(fit, "-o", "one.kft")...)
	want := read(t, "one.kft")
	kills := 1
	if os.Getenv("KFT_ATTACK") == "full" {
		kills = 20
	}
	mpitest.Launchers(t, func(t *testing.T, l mpitest.Launcher) {
		random := rand.New(rand.NewPCG(1, uint64(len(l.Kind))))
		for i := range kills + 1 {
			signal, says := syscall.SIGKILL, "" // the launcher may end the others before they say anything
			if i == kills {
				signal, says = syscall.SIGSTOP, "no sign of life for 2s; the job ends"
			}
			rank, state, file := random.IntN(3), fmt.Sprintf("%s-%d", l.Kind[:2], i), fmt.Sprintf("%s-%d.kft", l.Kind[:2], i)
			args := append(fit, "-o", file, "--checkpoint", state, "--checkpoint-every", "0s")
			cmd := l.Command(t, 3, native, args...)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr, cmd.Env = &out, &out, append(cmd.Env, "KFT_MPI_TIMEOUT=2s")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for blocks := random.IntN(4) + 1; blocks > 0; time.Sleep(20 * time.Millisecond) {
				if _, err := os.Stat(filepath.Join(state, "checkpoint-before.kft")); err == nil {
					blocks--
				}
			}
			if pid := process(t, native, rank); pid == 0 || syscall.Kill(pid, signal) != nil {
				t.Fatalf("rank %d cannot be killed:\n%s", rank, out.String())
			}
			if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() <= 0 {
				t.Errorf("%v of rank %d: got exit %v, want a failure:\n%s", signal, rank, err, out.String())
			}
			if text := out.String(); !strings.Contains(text, says) || says != "" && !strings.Contains(text, fmt.Sprintf("kft: rank %d of 3 on ", rank)) {
				t.Errorf("%v of rank %d: the message does not say so:\n%s", signal, rank, text)
			}
			if _, err := os.Stat(file); err == nil {
				t.Errorf("%v of rank %d: a model was written", signal, rank)
			}
			if code, text := onRanks(t, l, 2+i%2*2, nil, native, append(args, "--resume")...); code != exitGood || read(t, file) != want {
				t.Errorf("resumed: exit %d, the same model %t:\n%s", code, read(t, file) == want, text)
			}
		}
	})
}
