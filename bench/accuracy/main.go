// Command accuracy measures how long kft and LightGBM take until the pinball loss on the
// validation set reaches some values, on the Iowa table and the same cores.
//
//	go run ./bench/accuracy -kft bin/kft -python bench/peers/.venv/bin/python -data iowa-liquor -o accuracy.svg
//
// A point of kft is a whole command: kft fit with the default model and at most so many
// sweeps, from the start of the process to its end, with reading, the choice of the model,
// formulas, evaluation and writing. The points of LightGBM are measured in one training by
// bench/peers/peers/accuracy.py; its time includes imports, reading and binning, but not
// the measurements.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/internal/figure"
)

// levels are the values of the loss whose times are reported.
var levels = []float64{1.85, 1.80, 1.78}

type options struct {
	kft, python, peers, data string
	threads                  int
	sweeps                   string
	rounds                   int
}

func main() {
	var o options
	flag.StringVar(&o.kft, "kft", "bin/kft", "the program")
	flag.StringVar(&o.python, "python", "bench/peers/.venv/bin/python", "a Python with lightgbm and pandas")
	flag.StringVar(&o.peers, "peers", "bench/peers", "the folder of the Python package peers")
	flag.StringVar(&o.data, "data", "../shared/data/iowa-liquor", "the folder of sales_2015_2016.csv.gz, split.csv.gz, stores.csv and items.csv")
	flag.IntVar(&o.threads, "threads", runtime.NumCPU(), "threads of both programs")
	flag.StringVar(&o.sweeps, "sweeps", "1,2,3,5,8,12,20,60", "the most sweeps of the fits of kft, separated by commas; the default of kft is 60")
	flag.IntVar(&o.rounds, "rounds", 1000, "the most rounds of LightGBM")
	picture := flag.String("o", "", "write a picture to this file, as SVG")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, *picture, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
}

// A point is a loss that was reached after some time.
type point struct {
	Seconds float64 `json:"seconds"`
	Pinball float64 `json:"pinball"`
	Rounds  int     `json:"rounds"` // of LightGBM, or sweeps
}

func run(ctx context.Context, o options, picture string, out io.Writer) error {
	fmt.Fprintf(out, "machine: %d CPUs, %s, %s/%s; %d threads\n", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, o.threads)
	ours, err := o.fits(ctx, out)
	if err != nil {
		return err
	}
	theirs, err := o.lightgbm(ctx, out)
	if err != nil {
		return err
	}
	report(out, ours, theirs)
	if picture == "" {
		return nil
	}
	return atomicfile.Write(picture, func(w io.Writer) error { _, err := draw(ours, theirs, o.threads).WriteTo(w); return err })
}

// fits runs kft fit with each number of sweeps.
func (o options) fits(ctx context.Context, out io.Writer) ([]point, error) {
	folder, err := os.MkdirTemp("", "kft-accuracy-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	var points []point
	for text := range strings.SplitSeq(o.sweeps, ",") {
		sweeps, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || sweeps < 1 {
			return nil, fmt.Errorf("-sweeps: %q is not a number of sweeps", text)
		}
		begin := time.Now()
		c := exec.CommandContext(ctx, o.kft, "fit", filepath.Join(o.data, "sales_2015_2016.csv.gz"), "--target", "bottles", "--modes", "store,item,time=year+month",
			"--split", "file:"+filepath.Join(o.data, "split.csv.gz"), "--sweeps", strconv.Itoa(sweeps), "--threads", strconv.Itoa(o.threads),
			"--json", "--quiet", "--output", filepath.Join(folder, "model.kft"))
		text, err := output(c)
		if err != nil {
			return nil, fmt.Errorf("kft fit: %w", err)
		}
		p := point{Seconds: time.Since(begin).Seconds()}
		var record struct {
			Valid   struct{ Pinball float64 } `json:"valid"`
			History []json.RawMessage         `json:"history"`
		}
		if err := json.Unmarshal(text, &record); err != nil {
			return nil, fmt.Errorf("the report of kft fit: %w", err)
		}
		p.Pinball, p.Rounds = record.Valid.Pinball, len(record.History)
		fmt.Fprintf(out, "kft fit --sweeps %d: %.1f s, validation pinball %.4f\n", sweeps, p.Seconds, p.Pinball)
		points = append(points, p)
	}
	return points, nil
}

// lightgbm trains LightGBM.
func (o options) lightgbm(ctx context.Context, out io.Writer) ([]point, error) {
	data, err := filepath.Abs(o.data)
	if err != nil {
		return nil, err
	}
	python := o.python
	if strings.ContainsRune(python, filepath.Separator) { // the command runs in another folder
		if python, err = filepath.Abs(python); err != nil {
			return nil, err
		}
	}
	c := exec.CommandContext(ctx, python, "-m", "peers.accuracy", data, filepath.Join(data, "split.csv.gz"), "--threads", strconv.Itoa(o.threads), "--rounds", strconv.Itoa(o.rounds))
	c.Dir = o.peers
	text, err := output(c)
	if err != nil {
		return nil, fmt.Errorf("LightGBM: %w", err)
	}
	points, err := parsePoints(text)
	if err != nil {
		return nil, err
	}
	last := points[len(points)-1]
	fmt.Fprintf(out, "LightGBM: %d rounds in %.1f s\n", last.Rounds, last.Seconds)
	return points, nil
}

// parsePoints reads a line of JSON per point.
func parsePoints(text []byte) ([]point, error) {
	var points []point
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var p point
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("the output of LightGBM: %w", err)
		}
		points = append(points, p)
	}
	if len(points) == 0 {
		return nil, errors.New("LightGBM has measured nothing")
	}
	return points, nil
}

// output runs a command and returns its standard output; an error has its messages.
func output(c *exec.Cmd) ([]byte, error) {
	text, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return text, err
}

// best returns the point with the least loss.
func best(points []point) point {
	found := points[0]
	for _, p := range points[1:] {
		if p.Pinball < found.Pinball {
			found = p
		}
	}
	return found
}

// reached returns the least time of the points whose loss is at most a level, NaN if there
// is none.
func reached(points []point, level float64) float64 {
	seconds := math.NaN()
	for _, p := range points {
		if p.Pinball <= level && !(seconds <= p.Seconds) {
			seconds = p.Seconds
		}
	}
	return seconds
}

// report prints the times of all levels.
func report(out io.Writer, ours, theirs []point) {
	write := func(seconds float64) string {
		if math.IsNaN(seconds) {
			return "not reached"
		}
		return fmt.Sprintf("%.1f", seconds)
	}
	line := func(what string, mine, other float64) {
		ratio := ""
		if times := other / mine; !math.IsNaN(times) {
			ratio = fmt.Sprintf("%.1f", times)
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", what, write(mine), write(other), ratio)
	}
	fmt.Fprintf(out, "\n| validation pinball | kft, s | LightGBM, s | times as fast |\n| --- | ---: | ---: | ---: |\n")
	for _, level := range levels {
		line(fmt.Sprintf("%.2f", level), reached(ours, level), reached(theirs, level))
	}
	mine, other := best(ours), best(theirs)
	line(fmt.Sprintf("%.4f, the best of LightGBM", other.Pinball), reached(ours, other.Pinball), other.Seconds)
	line(fmt.Sprintf("%.4f, the best of kft", mine.Pinball), mine.Seconds, reached(theirs, mine.Pinball))
}

// draw shows the best loss so far by time.
func draw(ours, theirs []point, threads int) *figure.Figure {
	series := func(name string, colour byte, points []point) figure.Series {
		s := figure.Series{Name: name, Colour: colour, Step: true}
		for _, p := range points {
			if loss := best(upTo(points, p.Seconds)).Pinball; loss <= highest {
				s.X, s.Y = append(s.X, math.Log10(p.Seconds)), append(s.Y, loss)
			}
		}
		return s
	}
	return figure.Lines{Title: fmt.Sprintf("Time to accuracy, Iowa, %d threads", threads), XName: "seconds from the start of the process, with reading (logarithm to base 10)",
		YName: "best pinball loss on the validation set so far", Reference: levels, Series: []figure.Series{series("kft fit, default", 'a', ours), series("LightGBM", 'b', theirs)}}.Figure()
}

// highest is the largest loss that is drawn.
const highest = 2.2

// upTo returns the points up to a time.
func upTo(points []point, seconds float64) []point {
	var some []point
	for _, p := range points {
		if p.Seconds <= seconds {
			some = append(some, p)
		}
	}
	return some
}
