// Command capacity measures what a machine itself gives to programs with many threads:
// processes of one thread each, which share nothing and wait for nothing, repeat a loop at
// the same time. CPUs of virtual machines may share cores, and all CPUs share memory, so 16
// processes may do less than eight times the work of 2. Speeds of kft on several threads are
// to be seen beside this.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A loop is the work of a process; it returns a number that depends on all of it.
type loop struct {
	name string
	run  func() (seconds, result float64)
}

var loops = []loop{
	{"exp", func() (float64, float64) {
		return timed(func() (sum float64) {
			for i := range 60_000_000 {
				sum += math.Exp(-float64(i&1023) / 512)
			}
			return sum
		})
	}},
	{"in order", func() (float64, float64) {
		a := numbers(32 << 20)
		return timed(func() float64 {
			var sum float32
			for range 12 {
				for i := 0; i+8 <= len(a); i += 8 {
					sum += a[i] + a[i+1] + a[i+2] + a[i+3] + a[i+4] + a[i+5] + a[i+6] + a[i+7]
				}
			}
			return float64(sum)
		})
	}},
	{"at random", func() (float64, float64) {
		a := numbers(4 << 20)
		return timed(func() float64 {
			var sum float32
			at := uint32(1)
			for range 150_000_000 {
				at = at*1664525 + 1013904223 // a linear congruential generator
				sum += a[at>>10]
			}
			return float64(sum)
		})
	}},
}

func numbers(n int) []float32 {
	a := make([]float32, n)
	for i := range a {
		a[i] = float32(i)
	}
	return a
}

func timed(work func() float64) (seconds, result float64) {
	start := time.Now()
	result = work()
	return time.Since(start).Seconds(), result
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "capacity:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("capacity", flag.ContinueOnError)
	counts := flags.String("processes", "1,2,4,8,16", "numbers of processes at the same time")
	rounds := flags.Int("rounds", 2, "rounds of measurements")
	own := flags.Int("loop", -1, "run one loop in this process and print its seconds")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *own >= len(loops) {
		return fmt.Errorf("-loop %d: there are %d loops", *own, len(loops))
	}
	if *own >= 0 {
		seconds, result := loops[*own].run()
		_, err := fmt.Fprintln(out, seconds, result)
		return err
	}
	var numbers []int
	for text := range strings.SplitSeq(*counts, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-processes %q: %q is not a number of processes", *counts, text)
		}
		numbers = append(numbers, n)
	}
	fmt.Fprintln(out, "round  loop       processes  fastest s  slowest s  per second")
	for round := range *rounds {
		for k, l := range loops {
			for _, n := range numbers {
				seconds, err := together(ctx, k, n)
				if err != nil {
					return err
				}
				least, most, rate := math.Inf(1), 0.0, 0.0
				for _, s := range seconds {
					least, most, rate = min(least, s), max(most, s), rate+1/s
				}
				fmt.Fprintf(out, "%5d  %-9s  %9d  %9.2f  %9.2f  %10.2f\n", round+1, l.name, n, least, most, rate)
			}
		}
	}
	return nil
}

// together runs a loop in n processes at the same time and returns the seconds of each.
func together(ctx context.Context, k, n int) ([]float64, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	seconds, errs := make([]float64, n), make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			c := exec.CommandContext(ctx, program, "-loop", strconv.Itoa(k))
			c.Env = append(os.Environ(), "GOMAXPROCS=1")
			var text []byte
			if text, errs[i] = c.Output(); errs[i] == nil {
				_, errs[i] = fmt.Sscan(string(text), &seconds[i])
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return seconds, nil
}
