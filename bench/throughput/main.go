// Command throughput measures how reading, evaluation and prediction of a table grow with
// the number of cores of this machine.
//
//	go run ./bench/throughput -model model.kft -table sales.csv -cores 1,2,4,8,16
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/internal/figure"
)

func main() {
	model := flag.String("model", "", "the model file")
	table := flag.String("table", "", "a table with the target of the model; plain text, Parquet or Arrow, because gzip is read by one core")
	cores := flag.String("cores", "1,2", "numbers of cores, separated by commas")
	repeat := flag.Int("repeat", 3, "measurements, of which the best counts")
	picture := flag.String("o", "", "write a picture to this file, as SVG")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *model, *table, *cores, *picture, *repeat, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "throughput:", err)
		os.Exit(1)
	}
}

// A phase is what is measured. It returns the number of rows.
type phase struct {
	name string
	work func(ctx context.Context, threads int) (int, error)
}

func run(ctx context.Context, modelFile, table, cores, picture string, repeat int, out io.Writer) error {
	if modelFile == "" || table == "" || repeat < 1 {
		return errors.New("give -model, -table and a -repeat above 0")
	}
	counts, err := parseCores(cores)
	if err != nil {
		return err
	}
	m, err := kft.Load(modelFile)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "kft-throughput")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	fmt.Fprintf(out, "machine: %d CPUs, %s; best of %d; table %s\n\n", runtime.NumCPU(), runtime.Version(), repeat, filepath.Base(table))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\tcores\ts\tmillion rows/s\ttimes the first\t\n")
	all := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(all)
	chart := figure.Lines{Title: "Tables on several cores", XName: "cores", YName: fmt.Sprintf("times as fast as on %d", counts[0]), FromZero: true}
	for k, p := range phases(m, table, folder) {
		first := 0.0
		line := figure.Series{Name: p.name, Colour: "abcdsss"[k]}
		for _, n := range counts {
			runtime.GOMAXPROCS(n)
			best, rows := 0.0, 0
			for k := range repeat {
				start := time.Now()
				if rows, err = p.work(ctx, n); err != nil {
					return fmt.Errorf("%s: %w", p.name, err)
				}
				if s := time.Since(start).Seconds(); k == 0 || s < best {
					best = s
				}
			}
			if first == 0 {
				first = best
			}
			fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.2f\t\n", p.name, n, best, float64(rows)/best/1e6, first/best)
			p.name = ""
			line.X, line.Y = append(line.X, float64(n)), append(line.Y, first/best)
		}
		if line.Colour != 's' { // the other files of all columns differ little
			chart.Series = append(chart.Series, line)
		}
	}
	if err := w.Flush(); err != nil || picture == "" {
		return err
	}
	return atomicfile.Write(picture, func(w io.Writer) error { _, err := chart.Figure().WriteTo(w); return err })
}

func parseCores(text string) ([]int, error) {
	var counts []int
	for piece := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(piece)
		if err != nil || n < 1 || n > 1024 {
			return nil, fmt.Errorf("-cores: %q is not a number of cores", piece)
		}
		counts = append(counts, n)
	}
	return counts, nil
}

// phases returns what is measured: reading as for a fit, evaluation, and predictions that
// are written as a stream to nowhere and as files.
func phases(m *kft.Model, table, folder string) []phase {
	predict := func(name string, opt kft.TableOptions) func(ctx context.Context, threads int) (int, error) {
		return func(ctx context.Context, threads int) (int, error) {
			opt.Threads = threads
			f, err := os.Create(filepath.Join(folder, name))
			if err != nil {
				return 0, err
			}
			sum, err := m.PredictTable(ctx, kft.Files(table), f, opt)
			return sum.Rows, errors.Join(err, f.Close())
		}
	}
	levels := []float64{.05, .5, .95}
	return []phase{
		{"read", func(ctx context.Context, threads int) (int, error) {
			schema, format, err := m.Spec().Data.Table()
			if err != nil {
				return 0, err
			}
			t, err := tableio.Read(ctx, tableio.Files(table), schema, format, threads)
			if err != nil {
				return 0, err
			}
			return t.Len(), nil
		}},
		{"evaluate", func(ctx context.Context, threads int) (int, error) {
			_, sum, err := m.Evaluate(ctx, kft.Files(table), kft.TableOptions{Threads: threads})
			return sum.Rows, err
		}},
		{"predict means, Arrow", predict("means.arrow", kft.TableOptions{Only: []string{"prediction"}, Output: tableio.Output{Format: "arrow-stream", AddedOnly: true}})},
		{"predict three quantiles, Arrow", predict("quantiles.arrow", kft.TableOptions{Only: []string{"prediction", "q0.05", "q0.5", "q0.95"}, Quantiles: levels, Output: tableio.Output{Format: "arrow-stream", AddedOnly: true}})},
		{"all columns of kft predict, Arrow", predict("all.arrow", kft.TableOptions{Quantiles: levels, Output: tableio.Output{Format: "arrow"}})},
		{"the same, Parquet", predict("all.parquet", kft.TableOptions{Quantiles: levels, Output: tableio.Output{Format: "parquet"}})},
		{"the same, CSV", predict("all.csv", kft.TableOptions{Quantiles: levels})},
	}
}
