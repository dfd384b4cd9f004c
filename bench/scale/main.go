// Command scale measures how a fit scales with the number of threads: it runs the same
// kft fit with each number, prints the seconds of its stages, and checks that all models
// have the same bytes.
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
	picture := flag.String("o", "", "write a picture to this file, as SVG")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *program, *threads, *picture, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// run measures the fits, prints the table and draws it.
func run(ctx context.Context, program, threads, picture string, args []string, out io.Writer) error {
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
	fmt.Fprintf(out, "command: kft fit %s --threads N\n\n", strings.Join(args, " "))
	fmt.Fprintf(out, "| threads | %s | times as fast | MiB |\n|%s\n", strings.Join(stages, " | "), strings.Repeat(" ---: |", len(stages)+3))
	var first measured
	var all []measured
	for i, n := range numbers {
		m, err := fit(ctx, program, place, filepath.Join(folder, "model.kft"), n, args)
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
		fmt.Fprintf(out, " %.2f | %d |\n", first.Seconds["total"]/m.Seconds["total"], m.PeakRSS>>20)
		if m.hash != first.hash {
			return fmt.Errorf("%d threads give another model than %d", n, numbers[0])
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
}

// fit runs one fit in a folder.
func fit(ctx context.Context, program, folder, model string, threads int, args []string) (m measured, err error) {
	full := append(append([]string{"fit"}, args...), "--threads", strconv.Itoa(threads), "--json", "--quiet", "--output", model)
	c := exec.CommandContext(ctx, program, full...)
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
