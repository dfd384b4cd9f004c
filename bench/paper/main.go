// Command paper fits tables of the sizes of the paper: it generates the table with its known truth,
// estimates memory and time (kft fit --dry-run), fits a wlr train with a posterior and prints
// what it took, beside the best R2 that can be learned from the training rows.
//
//	go run ./bench/paper -kft bin/kft -shape retail -folder retail -threads 2
//
// A folder that has the table already is used as it is, and a table sales.parquet in it is
// preferred.
package main

import (
	"context"
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
	"syscall"

	"github.com/kernel-fried-tensor/kft/internal/synthetic"
)

type options struct {
	program, shape, folder, memory string
	rows, sweeps, threads          int
	attainable                     bool
}

func main() {
	var o options
	flag.StringVar(&o.program, "kft", "bin/kft", "the program")
	flag.StringVar(&o.shape, "shape", "retail", "shape of kft data synthetic: "+strings.Join(synthetic.ShapeNames(), ", "))
	flag.StringVar(&o.folder, "folder", "", "folder of the table (default: a temporary one)")
	flag.StringVar(&o.memory, "memory", "", "limit of the memory, as in 1.5GiB")
	flag.IntVar(&o.rows, "rows", 0, "number of rows (0: that of the paper)")
	flag.IntVar(&o.sweeps, "sweeps", 12, "number of sweeps at most")
	flag.IntVar(&o.threads, "threads", 2, "number of threads")
	flag.BoolVar(&o.attainable, "attainable", true, "compute the best R2 that can be learned, which takes as long as generating the table twice")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := o.run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "paper:", err)
		os.Exit(1)
	}
}

// fits holds the table and the flags of the fit of each shape, at the paper's ranks.
func fits() map[string][]string {
	common := []string{"--variant", "wlr", "--space", "dual", "--inference", "mean-field"}
	return map[string][]string{
		"retail": append([]string{"sales.csv.gz", "--target", "units", "--modes", "store,article,time=year+month", "--transform", "log1p", "--term", "article,store,time:10",
			"--side", "store=stores.csv:city:cat,county:cat,lat,lon,brand:cat,opened,hours,floors,area:log",
			"--side", "article=articles.csv:department:cat,product:cat,colour:cat,appearance:cat,size,season:cat,price:log", "--side", "time=@month:cycle12"}, common...),
		"alcohol": append([]string{"sales_2015_2016.csv.gz", "--target", "bottles", "--modes", "store,item,time=year+month", "--transform", "log1p", "--term", "store,item,time:70",
			"--side", "store=stores.csv:city:cat,county:cat,zip:cat,lat,lon",
			"--side", "item=items.csv:category_name:cat,pack:log,bottle_volume_ml:log,state_bottle_cost:log,state_bottle_retail:log", "--side", "time=@month:cycle12"}, common...),
		"movielens": append([]string{"ratings.csv.gz", "--target", "rating", "--modes", "userId,movieId,hour(timestamp)",
			"--term", "userId", "--term", "movieId", "--term", "hour", "--term", "userId,hour,movieId:10",
			"--side", "movieId=genome.csv.gz", "--side", "hour=@hour:cycle24"}, common...),
	}
}

func (o options) run(ctx context.Context, out io.Writer) error {
	shape, err := synthetic.NewShape(o.shape, o.rows)
	if err != nil {
		return err
	}
	if o.program, err = filepath.Abs(o.program); err != nil {
		return err
	}
	if o.folder == "" {
		if o.folder, err = os.MkdirTemp("", "kft-paper-"); err != nil {
			return err
		}
		defer os.RemoveAll(o.folder)
	}
	args := fits()[o.shape]
	if err := o.prepare(ctx, args); err != nil {
		return err
	}
	args = append([]string{"fit"}, args...)
	args = append(args, "--sweeps", strconv.Itoa(o.sweeps), "--threads", strconv.Itoa(o.threads), "--json", "--quiet")
	if o.memory != "" {
		args = append(args, "--memory", o.memory, "--scratch", ".")
	}
	fmt.Fprintf(out, "machine: %d CPUs, %s, %s/%s\ncommand: kft %s\n\n", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, strings.Join(args, " "))

	var estimate struct {
		Memory       int64   `json:"memory_bytes"`
		SweepSeconds float64 `json:"sweep_seconds"`
	}
	if _, err := o.kft(ctx, append(args, "--dry-run"), &estimate); err != nil {
		return err
	}
	model, err := os.CreateTemp(o.folder, "model-*.kft")
	if err != nil {
		return err
	}
	defer os.Remove(model.Name())
	if err := model.Close(); err != nil {
		return err
	}
	var fit struct {
		Seconds map[string]float64 `json:"seconds"`
		PeakRSS int64              `json:"peak_rss_bytes"`
		History []struct{}         `json:"history"`
		Test    struct {
			R2Scale float64 `json:"r2_scale"`
		} `json:"test"`
	}
	usage, err := o.kft(ctx, append(args, "--output", filepath.Base(model.Name()), "--force"), &fit)
	if err != nil {
		return err
	}
	sweep := fit.Seconds["fit"] / float64(max(1, len(fit.History)))
	fmt.Fprintln(out, "| rows | sweeps | wall s | CPU s | s per sweep | estimated | MiB | estimated | R2 on the scale, test |")
	fmt.Fprintln(out, "|"+strings.Repeat(" ---: |", 9))
	fmt.Fprintf(out, "| %d | %d | %.0f | %.0f | %.1f | %.1f | %d | %d | %.4f |\n", shape.Rows, len(fit.History), fit.Seconds["total"], usage, sweep, estimate.SweepSeconds,
		fit.PeakRSS>>20, estimate.Memory>>20, fit.Test.R2Scale)
	if !o.attainable {
		return nil
	}
	set, err := synthetic.NewSet(shape, 1)
	if err != nil {
		return err
	}
	a := set.Attainable(shape.Items > shape.Owners, 0.6)
	truth, best := a.TruthLog, a.EstimateLog
	if o.shape == "movielens" {
		truth, best = a.Truth, a.Estimate
	}
	fmt.Fprintf(out, "\nR2 of the truth %.4f, best that can be learned from 60 %% of the rows %.4f\n", truth, best)
	return nil
}

// prepare generates the table unless the folder has it, and selects its file.
func (o options) prepare(ctx context.Context, args []string) error {
	if err := os.MkdirAll(o.folder, 0o777); err != nil {
		return err
	}
	_, err := os.Stat(filepath.Join(o.folder, args[0]))
	if errors.Is(err, os.ErrNotExist) {
		generate := []string{"data", "synthetic", "--shape", o.shape, "--rows", strconv.Itoa(o.rows), "-o", "."}
		if o.rows == 0 {
			generate = append(generate[:4], "-o", ".")
		}
		_, err = o.kft(ctx, generate, nil)
	}
	if _, parquet := os.Stat(filepath.Join(o.folder, "sales.parquet")); err == nil && parquet == nil {
		args[0] = "sales.parquet"
	}
	return err
}

// kft runs the program in the folder, decodes its JSON output and returns its CPU seconds.
func (o options) kft(ctx context.Context, args []string, result any) (cpu float64, err error) {
	c := exec.CommandContext(ctx, o.program, args...)
	c.Dir = o.folder
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	text, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return 0, fmt.Errorf("kft %s: %w: %s", strings.Join(args, " "), err, exit.Stderr)
	}
	if err != nil {
		return 0, err
	}
	if result != nil {
		if err := json.Unmarshal(text, result); err != nil {
			return 0, fmt.Errorf("kft %s: the JSON output: %w", strings.Join(args, " "), err)
		}
	}
	return (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), nil
}
