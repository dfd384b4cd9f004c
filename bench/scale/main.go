// Command scale measures how a fit scales with the number of threads, or of processes of MPI with
// one thread each: it runs the same kft fit with each number, prints the seconds of its stages, and
// checks that all models have the same bytes.
//
//	go run ./bench/scale -kft bin/kft-native -launch 'mpirun -n' -threads 1,2,4,8 sales.csv --target units --term store,item,time:20
//
//	go run ./bench/scale -kft bin/kft -threads 1,2,4 -o scale.svg sales.csv --target units --term store,item,time:20
//
// Without arguments for kft fit it generates a synthetic table of 3,028,076 rows.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/internal/figure"
)

// stages of a fit, in the order of the table.
var stages = []string{"read", "plan", "baseline", "fit", "evaluate", "total"}

func main() {
	program := flag.String("kft", "bin/kft", "the program")
	threads := flag.String("threads", "", "numbers of threads, separated by commas (default: 1, 2, 4, ... up to all CPUs)")
	launch := flag.String("launch", "", "measure processes: the command that starts as many as the number after it, such as 'mpirun -n'")
	picture := flag.String("o", "", "write a picture to this file, as SVG")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *program, strings.Fields(*launch), *threads, *picture, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// run measures the fits, prints the table and draws it.
func run(ctx context.Context, program string, launch []string, threads, picture string, args []string, out io.Writer) error {
	numbers, err := threadNumbers(threads)
	if err != nil {
		return err
	}
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "kft-scale-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	place := "" // the current folder
	if len(args) == 0 {
		place = filepath.Join(folder, "table")
		if text, err := exec.CommandContext(ctx, program, "data", "synthetic", "--shape", "alcohol", "-o", place).CombinedOutput(); err != nil {
			return fmt.Errorf("generating a table: %w: %s", err, text)
		}
	}
	fmt.Fprintf(out, "machine: %d CPUs, %s, %s/%s\n", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	what, tail := "threads", ""
	if len(launch) > 0 {
		what, tail = "ranks", " messages, share of a sweep | MB received per sweep |"
		fmt.Fprintf(out, "command: %s N kft-native fit %s --threads 1\n\n", strings.Join(launch, " "), strings.Join(args, " "))
	} else {
		fmt.Fprintf(out, "command: kft fit %s --threads N\n\n", strings.Join(args, " "))
	}
	fmt.Fprintf(out, "| %s | %s | times as fast | efficiency | MiB |%s\n|%s\n", what, strings.Join(stages, " | "), tail, strings.Repeat(" ---: |", len(stages)+4+strings.Count(tail, "|")))
	var first measured
	var all []measured
	for i, n := range numbers {
		m, err := fit(ctx, program, launch, place, filepath.Join(folder, "model.kft"), n, args)
		if err != nil {
			return err
		}
		if i == 0 {
			first = m
		}
		fmt.Fprintf(out, "| %d |", n)
		for _, stage := range stages {
			fmt.Fprintf(out, " %.2f |", m.Seconds[stage])
		}
		faster := first.Seconds["total"] / m.Seconds["total"]
		fmt.Fprintf(out, " %.2f | %.0f %% | %d |", faster, 100*faster*float64(numbers[0])/float64(n), m.PeakRSS>>20)
		if len(launch) > 0 {
			share, megabytes := m.messages()
			fmt.Fprintf(out, " %.1f %% | %.0f |", 100*share, megabytes)
		}
		fmt.Fprintln(out)
		if m.hash != first.hash {
			return fmt.Errorf("%d %s give another model than %d", n, what, numbers[0])
		}
		all = append(all, m)
	}
	fmt.Fprintln(out, "\nall models have the same bytes")
	if picture == "" {
		return nil
	}
	return atomicfile.Write(picture, func(w io.Writer) error { _, err := draw(numbers, all).WriteTo(w); return err })
}

// draw shows how many times as fast as with the first number of threads the stages are.
func draw(numbers []int, all []measured) *figure.Figure {
	c := figure.Lines{Title: "A fit on several threads", XName: "threads", YName: fmt.Sprintf("times as fast as on %d", numbers[0]), FromZero: true}
	line := func(name string, colour byte, value func(i int) float64) {
		s := figure.Series{Name: name, Colour: colour}
		for i, n := range numbers {
			s.X, s.Y = append(s.X, float64(n)), append(s.Y, value(i))
		}
		c.Series = append(c.Series, s)
	}
	line("as many times as threads", 's', func(i int) float64 { return float64(numbers[i]) / float64(numbers[0]) })
	for k, stage := range []string{"total", "fit", "evaluate"} {
		line(stage, "abc"[k], func(i int) float64 { return all[0].Seconds[stage] / all[i].Seconds[stage] })
	}
	return c.Figure()
}

// measured is what a fit reports.
type measured struct {
	Seconds map[string]float64 `json:"seconds"`
	PeakRSS int64              `json:"peak_rss_bytes"`
	hash    [sha256.Size]byte

	Communication struct {
		Sweeps []struct {
			Bytes int64   `json:"bytes"`
			Wall  float64 `json:"wall_seconds"`
			Least float64 `json:"least_seconds"`
		} `json:"sweeps"`
	} `json:"communication"`
}

// messages returns the share of the messages in the time of a sweep, and the MB that all ranks
// receive in it. The first sweep is left out, because it plans.
func (m *measured) messages() (share, megabytes float64) {
	var messages, wall float64
	sweeps := m.Communication.Sweeps
	for _, s := range sweeps[min(1, len(sweeps)):] {
		messages, wall, megabytes = messages+s.Least, wall+s.Wall, megabytes+float64(s.Bytes)/1e6
	}
	if wall == 0 {
		return 0, 0
	}
	return messages / wall, megabytes / float64(len(sweeps)-1)
}

// fit runs one fit in a folder.
func fit(ctx context.Context, program string, launch []string, folder, model string, number int, args []string) (m measured, err error) {
	command := []string{program}
	threads := number
	if len(launch) > 0 {
		command, threads = append(slices.Clone(launch), strconv.Itoa(number), program), 1
	}
	command = append(append(append(command, "fit"), args...), "--threads", strconv.Itoa(threads), "--json", "--quiet", "--force", "--output", model)
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Dir = folder
	text, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return m, fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("the report of kft fit: %w", err)
	}
	content, err := os.ReadFile(model)
	m.hash = sha256.Sum256(content)
	return m, err
}

// threadNumbers reads a list of numbers of threads.
func threadNumbers(text string) ([]int, error) {
	var numbers []int
	if text == "" {
		for n := 1; n < runtime.NumCPU(); n *= 2 {
			numbers = append(numbers, n)
		}
		return append(numbers, runtime.NumCPU()), nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-threads: %q is not a number of threads", part)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}
