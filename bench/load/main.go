// Command load measures the server on this machine: it starts kft serve with a copy of a
// model, sends requests for a limited time, and reports throughput, latency, memory and
// failures. It connects to the server that it started and to nothing else.
//
//	go run ./bench/load -kft bin/kft -model model.kft -table sales.csv -seconds 10
//	go run ./bench/load -kft bin/kft -model model.kft -soak -seconds 600
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"time"
)

// options of a run.
type options struct {
	kft, model string
	table      string // of the cells
	seconds    float64
	clients    int
	rows       int // of a bulk request
	soak       bool
}

// maxSeconds limits a run.
const maxSeconds = 3600

func main() {
	var o options
	flag.StringVar(&o.kft, "kft", "bin/kft", "the program")
	flag.StringVar(&o.model, "model", "", "the model file")
	flag.StringVar(&o.table, "table", "", "a table whose rows are the cells; without it ids are combined at random, which is mostly combinations without training rows")
	flag.Float64Var(&o.seconds, "seconds", 10, "duration of each phase, or of the soak")
	flag.IntVar(&o.clients, "clients", 16, "connections that send single predictions")
	flag.IntVar(&o.rows, "rows", 500_000, "rows of a bulk request")
	flag.BoolVar(&o.soak, "soak", false, "mix requests with reloads, slow clients and malformed requests, and stop the server under load")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// run starts the server and measures it.
func run(ctx context.Context, o options, out io.Writer) error {
	switch {
	case o.model == "":
		return fmt.Errorf("no model; give one with -model")
	case !(o.seconds > 0 && o.seconds <= maxSeconds):
		return fmt.Errorf("-seconds is not between 0 and %d", maxSeconds)
	case o.clients < 1 || o.clients > 256:
		return fmt.Errorf("-clients is not between 1 and 256")
	case o.rows < 1 || o.rows > 5_000_000:
		return fmt.Errorf("-rows is not between 1 and 5,000,000")
	}
	s, err := startServer(ctx, o.kft, o.model)
	if err != nil {
		return err
	}
	defer s.kill()
	c, err := s.cells(ctx)
	if err != nil {
		return err
	}
	if o.table != "" {
		if err := c.read(o.table, o.rows); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "machine: %d CPUs, %s\n", runtime.NumCPU(), runtime.Version())
	fmt.Fprintf(out, "start: %.3f s until the first answer, model file %.1f MiB\n", s.startup.Seconds(), float64(s.modelBytes)/(1<<20))
	if o.soak {
		return s.soak(ctx, o, c, out)
	}
	if err := s.measureSingle(ctx, o, c, out); err != nil {
		return err
	}
	if err := s.measureBulk(ctx, o, c, out); err != nil {
		return err
	}
	s.reportMemory(out)
	return s.stop()
}

// duration returns the time of a phase.
func (o options) duration() time.Duration { return time.Duration(o.seconds * float64(time.Second)) }
