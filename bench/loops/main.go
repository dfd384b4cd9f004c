// Command loops reads what a program with the build tag looptrace has written about its parallel
// loops, and prints how long the program would take on as many equally fast threads as its loops asked
// for, where threads wait for the last pieces of a loop, and what runs between the loops.
//
//	go build -tags looptrace -o kft-trace ./cmd/kft
//	KFT_LOOPTRACE=trace.txt ./kft-trace fit table.csv --threads 16 ...
//	go run ./bench/loops trace.txt
//
// Times are CPU times of a thread, so other programs on the machine matter little. What threads share,
// memory and cores, is not part of them: a real machine is slower.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "loops:", err)
		os.Exit(1)
	}
}

// most is the number of places that are listed.
const most = 20

func run(args []string, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("got %d arguments, want the file that a traced program wrote", len(args))
	}
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	loops, err := read(f)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	report(out, loops)
	return nil
}

// loop is one line of the trace; times are in microseconds.
type loop struct {
	thread, depth, threads, pieces int
	callers                        string
	between, work, span            float64
}

func read(r io.Reader) (loops []loop, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 8 {
			return nil, fmt.Errorf("line %d: got %d fields, want 8", n, len(fields))
		}
		var numbers [8]int
		for i, text := range fields {
			if i == 2 {
				continue
			}
			if numbers[i], err = strconv.Atoi(text); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
		loops = append(loops, loop{numbers[0], numbers[1], numbers[3], numbers[4], fields[2], float64(numbers[5]), float64(numbers[6]), float64(numbers[7])})
	}
	return loops, lines.Err()
}

// place is what loops at one place, or the code before them, take together.
type place struct {
	name                string
	loops               int
	between, work, lost float64
}

// report is about the thread with most loops, and those of its loops that are in no other.
func report(out io.Writer, loops []loop) {
	count := map[int]int{}
	busiest, threads := 0, 1
	for _, l := range loops {
		count[l.thread]++
		if count[l.thread] > count[busiest] {
			busiest = l.thread
		}
		threads = max(threads, l.threads)
	}
	var all place
	places := map[string]*place{}
	for _, l := range loops {
		if l.thread != busiest || l.depth != 1 {
			continue
		}
		p := places[l.callers]
		if p == nil {
			p = &place{name: l.callers}
			places[l.callers] = p
		}
		for _, sum := range []*place{p, &all} {
			sum.loops++
			sum.between += l.between
			sum.work += l.work
			sum.lost += l.span - l.work/float64(threads)
		}
	}
	even, n := all.work/float64(threads), float64(threads)
	fmt.Fprintf(out, "%d loops; seconds of one thread, and of %d equally fast ones that share nothing:\n", all.loops, threads)
	fmt.Fprintf(out, "in loops %.2f, divided evenly %.2f, with waiting %.2f; between loops %.2f\n", all.work/1e6, even/1e6, (even+all.lost)/1e6, all.between/1e6)
	fmt.Fprintf(out, "in all %.2f and %.2f: %.1f times as fast, %.1f times as fast as 2\n", (all.work+all.between)/1e6, (even+all.lost+all.between)/1e6,
		(all.work+all.between)/(even+all.lost+all.between), (all.work/min(n, 2)+all.between)/(even+all.lost+all.between))
	print := func(title string, size func(*place) float64) {
		fmt.Fprintf(out, "\n%s, ms\n", title)
		var sorted []*place
		for _, p := range places {
			sorted = append(sorted, p)
		}
		slices.SortFunc(sorted, func(a, b *place) int { return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(a.name, b.name)) })
		for _, p := range sorted[:min(most, len(sorted))] {
			fmt.Fprintf(out, "%8.1f of %6d loops with %9.1f of work  %s\n", size(p)/1e3, p.loops, p.work/1e3, p.name)
		}
	}
	print("More than an even division", func(p *place) float64 { return p.lost })
	print("On one thread before the loop", func(p *place) float64 { return p.between })
}
