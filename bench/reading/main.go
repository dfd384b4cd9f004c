// Command reading measures how fast a table is read on some numbers of threads, each time in a new
// process, as a fit reads it. Beside it, it measures as many processes with one thread each that
// read the same table at the same time: what the machine itself can do.
//
//	go run ./bench/reading -table sales.csv -target bottles -modes store,item,time=year+month -threads 2,16
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// options are what one process reads.
type options struct{ table, target, modes string }

func main() {
	var o options
	flag.StringVar(&o.table, "table", "", "the table; plain text, Parquet or Arrow, because gzip is read by one thread")
	flag.StringVar(&o.target, "target", "", "the column of the target")
	flag.StringVar(&o.modes, "modes", "", "the modes, separated by commas")
	threads := flag.String("threads", "1,2", "numbers of threads, separated by commas")
	repeat := flag.Int("repeat", 3, "measurements, of which the best counts")
	once := flag.Int("once", 0, "read once on so many threads and print the rows and the seconds")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *once > 0 {
		err = readOnce(ctx, o, *once, os.Stdout)
	} else {
		err = run(ctx, o, *threads, *repeat, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reading:", err)
		os.Exit(1)
	}
}

// readOnce reads the table and prints its rows and the seconds.
func readOnce(ctx context.Context, o options, threads int, out io.Writer) error {
	modes, err := dataset.ParseModes(o.modes)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(threads)
	start := time.Now()
	t, err := tableio.Read(ctx, tableio.Files(o.table), dataset.Schema{Target: o.target, Modes: modes}, tableio.Format{}, threads)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, t.Len(), time.Since(start).Seconds())
	return err
}

// process reads the table in a new process.
func process(ctx context.Context, o options, threads int) (rows int, seconds float64, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	command := exec.CommandContext(ctx, self, "-once", strconv.Itoa(threads), "-table", o.table, "-target", o.target, "-modes", o.modes)
	command.Stderr = os.Stderr
	text, err := command.Output()
	if err != nil {
		return 0, 0, err
	}
	_, err = fmt.Sscan(string(text), &rows, &seconds)
	return rows, seconds, err
}

// together runs so many processes with one thread each at the same time, and returns the seconds of the slowest.
func together(ctx context.Context, o options, processes int) (slowest float64, err error) {
	seconds, errs := make([]float64, processes), make([]error, processes)
	var group sync.WaitGroup
	for k := range processes {
		group.Go(func() { _, seconds[k], errs[k] = process(ctx, o, 1) })
	}
	group.Wait()
	for _, s := range seconds {
		slowest = max(slowest, s)
	}
	return slowest, errors.Join(errs...)
}

func run(ctx context.Context, o options, threads string, repeat int, out io.Writer) error {
	if o.table == "" || o.target == "" || o.modes == "" || repeat < 1 {
		return errors.New("give -table, -target, -modes and a -repeat above 0")
	}
	fmt.Fprintf(out, "machine: %d CPUs, %s; best of %d\n\n", runtime.NumCPU(), runtime.Version(), repeat)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "threads\ts\tmillion rows/s\ttimes the first\tas many processes, million rows/s\ttimes the first\t\n")
	first, firstTogether := 0.0, 0.0
	for text := range strings.SplitSeq(threads, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1024 {
			return fmt.Errorf("-threads: %q is not a number of threads", text)
		}
		best, most, rows := 0.0, 0.0, 0
		for range repeat {
			var seconds float64
			if rows, seconds, err = process(ctx, o, n); err != nil {
				return err
			}
			if best == 0 || seconds < best {
				best = seconds
			}
			slowest, err := together(ctx, o, n)
			if err != nil {
				return err
			}
			most = max(most, float64(n)/slowest)
		}
		if first == 0 {
			first, firstTogether = best, most
		}
		million := float64(rows) / 1e6
		fmt.Fprintf(w, "%d\t%.3f\t%.1f\t%.2f\t%.1f\t%.2f\t\n", n, best, million/best, first/best, million*most, most/firstTogether)
	}
	return w.Flush()
}
