package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// An update that is killed at a random moment leaves the model as it was, or complete with
// all rows; the same update afterwards writes the same file as one without interruption.
func TestKillUpdate(t *testing.T) { killUpdates(t, 3) }

// The same 40 times, in make attack.
func TestAttackKilledUpdates(t *testing.T) {
	if os.Getenv("KFT_ATTACK") != "full" {
		t.Skip("part of make attack")
	}
	const kills = 40
	before := killUpdates(t, kills)
	t.Logf("attack on updates: %d kills, %d of them before the new model was there, no file but the old or the new one", kills, before)
}

// killUpdates kills updates and returns the number of those that were killed before they
// wrote their file.
func killUpdates(t *testing.T, kills int) (before int) {
	kft := program(t)
	inEmptyFolder(t)
	writeSales(t, "sales.csv", mediumSales)
	must(t, fitSales("--inference", "mean-field", "--term", "store,item,time:4", "--term", "series(store*item; time)", "--sweeps", "4", "-o", "fitted.kft")...)
	var rows strings.Builder
	rows.WriteString("store,item,year,month,units\n")
	seen := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSpace(read(t, "sales.csv")), "\n")[1:] {
		fields := strings.Split(line, ",")
		if pair := fields[2] + "," + fields[3]; !seen[pair] {
			seen[pair] = true
			fmt.Fprintf(&rows, "%s,2024,%d,%d\n", pair, 1+i%2, i%7)
		}
	}
	write(t, "new.csv", rows.String())
	must(t, "update", "fitted.kft", "new.csv", "-o", "updated.kft", "-q", "--threads", "2")
	old, updated := read(t, "fitted.kft"), read(t, "updated.kft")
	update := func() *exec.Cmd { return exec.Command(kft, "update", "model.kft", "new.csv", "-q", "--threads", "2") }
	write(t, "model.kft", old)
	whole := polls(t, update(), -1) // how often the folder is looked at during a whole update
	random := rand.New(rand.NewPCG(1, 2))
	for kill := range kills {
		write(t, "model.kft", old)
		polls(t, update(), random.IntN(whole))
		switch read(t, "model.kft") {
		case old:
			before++
			must(t, "update", "model.kft", "new.csv", "-q", "--threads", "2")
			if read(t, "model.kft") != updated {
				t.Fatalf("kill %d: the update after it differs from that without interruption", kill+1)
			}
		case updated:
		default:
			t.Fatalf("kill %d: the model is neither the old nor the new one", kill+1)
		}
	}
	if files := fmt.Sprint(listing(t)); files != "[fitted.kft model.kft new.csv sales.csv updated.kft]" {
		t.Errorf("left behind: %s", files)
	}
	return before
}

// polls starts a program and looks at its folder until it ends, or kills it (SIGKILL)
// after a number of looks. It returns their number.
func polls(t *testing.T, command *exec.Cmd, most int) int {
	t.Helper()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { command.Wait(); close(ended) }()
	for n := 0; ; n++ {
		select {
		case <-ended:
			return max(n, 1)
		default:
		}
		if n == most {
			command.Process.Kill()
			<-ended
			return n
		}
		os.ReadDir(".")
	}
}
