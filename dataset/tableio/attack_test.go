package tableio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

// The environment of the attacks. KFT_ATTACK=full asks for the full number of files.
// The other is set for the process that reads them.
const (
	attackVariable = "KFT_ATTACK"
	childVariable  = "KFT_ATTACK_CHILD"
)

const (
	fewAttacks  = 250
	fullAttacks = 10_000

	attackTime   = 5 * time.Second
	attackMemory = 200 << 20 // and ten times the file
)

// attackCounts is what became of damaged files.
type attackCounts struct{ read, refused, crashed, hung, memory, inconsistent int }

// TestAttackTables reads damaged Arrow and Parquet files in a process of its own, which
// may crash, and counts what happens.
func TestAttackTables(t *testing.T) {
	if part := os.Getenv(childVariable); part != "" {
		readAttacks(t, part)
		return
	}
	t.Parallel()
	n := fewAttacks
	if os.Getenv(attackVariable) == "full" {
		n = fullAttacks
	}
	for _, format := range []string{"arrow", "parquet"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			for i, seed := range formatSeeds(t, format) {
				path := datasettest.WriteFile(t, "t."+format, string(seed))
				if outcome, problem := attackFile(path, seed); outcome != "read" {
					t.Errorf("the sound table %d: %s %s", i, outcome, problem)
				}
			}
			var c attackCounts
			for from := 0; from < n; {
				from = c.run(t, format, from, n)
			}
			t.Logf("attack on %-11s %6d files: %6d read, %6d refused, %d crashed, %d hung, %d took too much memory, %d inconsistent",
				format, n, c.read, c.refused, c.crashed, c.hung, c.memory, c.inconsistent)
			if c.crashed+c.hung+c.memory+c.inconsistent > 0 {
				t.Errorf("damaged %s files do harm", format)
			}
			if c.read+c.refused != n || c.refused < n/4 {
				t.Errorf("%d files were read and %d refused of %d", c.read, c.refused, n)
			}
		})
	}
}

// run starts a process that reads the files [from, to) and returns the next file to
// read.
func (c *attackCounts) run(t *testing.T, format string, from, to int) int {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "-test.run=^TestAttackTables$", "-test.timeout=2h")
	command.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", childVariable, format, from, to))
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	next := from
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), " ", 3)
		number := -1
		if len(fields) > 1 {
			number, _ = strconv.Atoi(fields[1])
		}
		if number != next {
			continue // written by the testing package
		}
		switch fields[0] {
		case "read":
			c.read++
		case "refused":
			c.refused++
		case "memory":
			c.memory++
		case "inconsistent":
			c.inconsistent++
		case "hung":
			c.hung++
		default:
			continue
		}
		if len(fields) > 2 && fields[2] != "" {
			t.Logf("%s file %d: %s: %s", format, number, fields[0], fields[2])
		}
		next++
	}
	if err := command.Wait(); err != nil && next < to {
		number := next - 1 // counted above
		if !strings.Contains(problems.String(), "hung") {
			c.crashed++
			number = next
			next++
		}
		t.Logf("%s file %d: %v\n%.5000s", format, number, err, problems.String())
	} else if next < to {
		t.Fatalf("the process ended at file %d of %d", next, to)
	}
	return next
}

// readAttacks is the process that reads the files.
func readAttacks(t *testing.T, part string) {
	var format string
	var from, to int
	if _, err := fmt.Sscan(part, &format, &from, &to); err != nil {
		t.Fatal(err)
	}
	seeds := formatSeeds(t, format)
	path := filepath.Join(t.TempDir(), "t."+format)
	for number := from; number < to; number++ {
		file := mutated(seeds, number)
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		watch := time.AfterFunc(attackTime, func() {
			fmt.Println("hung", number)
			stacks := make([]byte, 1<<16)
			fmt.Fprintf(os.Stderr, "hung\n%s\n", stacks[:runtime.Stack(stacks, true)])
			os.Exit(3)
		})
		before := restartPeak()
		outcome, problem := attackFile(path, file)
		if took := peakMemory() - before; took > 10*len(file)+attackMemory {
			outcome, problem = "memory", fmt.Sprintf("%d MB for %d bytes", took>>20, len(file))
		}
		watch.Stop()
		fmt.Println(outcome, number, problem)
	}
}

// attackSchema names columns of the stored tables. Others are read as samples.
func attackSchema() dataset.Schema {
	modes, err := dataset.ParseModes("string,category,pair=string+int32")
	if err != nil {
		panic(err)
	}
	return dataset.Schema{Target: "double", Modes: modes, Duplicates: "sum"}
}

// attackFile reads a file in all ways. It returns "read", "refused" or "inconsistent".
func attackFile(path string, file []byte) (outcome, problem string) {
	ctx := context.Background()
	_, sampleErr := ReadSample(Files(path), Format{}, 1<<30)
	one, oneErr := Read(ctx, Files(path), attackSchema(), Format{}, 1)
	three, threeErr := Read(ctx, Files(path), attackSchema(), Format{}, 3)
	streamed, streamedErr := Read(ctx, Reader("stream", bytes.NewReader(file)), attackSchema(), Format{}, 2)
	for _, err := range []error{sampleErr, oneErr, threeErr, streamedErr} {
		var input *dataset.InputError
		if err != nil && !errors.As(err, &input) {
			return "inconsistent", fmt.Sprintf("error of type %T: %v", err, err)
		}
	}
	if (oneErr == nil) != (threeErr == nil) || oneErr != nil && oneErr.Error() != threeErr.Error() && !sameDamage(oneErr, threeErr) {
		return "inconsistent", fmt.Sprintf("one thread: %v; three threads: %v", oneErr, threeErr)
	}
	for _, table := range []*dataset.Table{one, three, streamed} {
		if table != nil {
			if problem := tableProblem(table); problem != "" {
				return "inconsistent", problem
			}
		}
	}
	if oneErr == nil && (one.Hash != three.Hash || one.Counts != three.Counts) {
		return "inconsistent", "the table depends on the number of threads"
	}
	if oneErr == nil {
		to := Output{Format: []string{"text", "parquet", "arrow"}[len(file)%3]}
		err := AppendColumns(ctx, Files(path), attackSchema(), one.Dicts, Format{}, 2, io.Discard, to, nil, func(*Batch, *AddedValues) error { return nil })
		var input *dataset.InputError
		if err != nil && !errors.As(err, &input) {
			return "inconsistent", fmt.Sprintf("writing: error of type %T: %v", err, err)
		}
	}
	if sampleErr != nil || oneErr != nil {
		return "refused", ""
	}
	return "read", ""
}

// sameDamage reports whether two errors are about damage. With several damaged columns
// it is not determined which of them is found first.
func sameDamage(a, b error) bool {
	return strings.Contains(a.Error(), "damaged") && strings.Contains(b.Error(), "damaged")
}

// tableProblem checks what all others rely on.
func tableProblem(t *dataset.Table) string {
	for m, codes := range t.Codes {
		if len(codes) != len(t.Y) {
			return fmt.Sprintf("%d codes for %d values", len(codes), len(t.Y))
		}
		for _, code := range codes {
			if code < 0 || int(code) >= t.Dicts[m].Len() {
				return fmt.Sprintf("code %d of %d ids", code, t.Dicts[m].Len())
			}
		}
	}
	for _, y := range t.Y {
		if math.IsNaN(float64(y)) || math.IsInf(float64(y), 0) {
			return "a value is not finite"
		}
	}
	return ""
}

// restartPeak starts a new measurement of the most memory of the process, and returns
// what it has now. It measures only on Linux.
func restartPeak() int {
	if memoryOf("VmRSS:") > 100<<20 {
		runtime.GC()
	}
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	return memoryOf("VmRSS:")
}

func peakMemory() int { return memoryOf("VmHWM:") }

func memoryOf(field string) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), field)
	var kilobytes int
	_, _ = fmt.Sscan(rest, &kilobytes)
	return kilobytes << 10
}
