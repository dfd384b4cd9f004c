package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"slices"
	"testing"
)

// A fit keeps the least limit that its estimate allows and writes the same model; below that limit it is
// refused. The list of series of this table is two thirds as long as the table.
func TestMemoryLimitIsKept(t *testing.T) {
	if testing.Short() {
		t.Skip("fits of 400,000 rows")
	}
	inEmptyFolder(t)
	must(t, "data", "synthetic", "--shape", "retail", "--rows", "400000", "-o", ".")
	limit, free := keepLeastLimit(t, "sales.csv.gz", "--target", "units", "--modes", "store,article,time=year+month", "--transform", "log1p", "--term", "article,store,time:5",
		"--side", "article=articles.csv:department:cat,colour:cat,season:cat,price:log", "--variant", "wlr", "--space", "dual")
	if limit > free*19/20 { // the peak without a limit depends on when the collector runs: 140 to 160 MiB were measured
		t.Errorf("the least limit, %d bytes, saves less than a twentieth of %d", limit, free)
	}
}

// So does one whose gradients, which all threads write to, take more than its rows.
func TestMemoryLimitOfManyWeightsIsKept(t *testing.T) {
	if testing.Short() {
		t.Skip("fits of 800,000 weights")
	}
	inEmptyFolder(t)
	var table bytes.Buffer
	table.WriteString("user,item,rating\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300_000 {
		fmt.Fprintf(&table, "u%d,i%d,%d\n", i%15_000, i/15_000*97+rng.IntN(97), 1+rng.IntN(5))
	}
	write(t, "ratings.csv", table.String())
	keepLeastLimit(t, "ratings.csv", "--target", "rating", "--modes", "user,item", "--term", "user,item:50", "--term", "user:1", "--transform", "identity", "--refit", "none")
}

// keepLeastLimit fits a table with the least limit of memory and without one. It returns the limit and the peak without one.
func keepLeastLimit(t *testing.T, flags ...string) (limit, peak int64) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("peaks of memory are read from /proc")
	}
	kft := program(t)
	fit := func(more ...string) (result struct {
		Least int64 `json:"least_bytes"`
		Peak  int64 `json:"peak_rss_bytes"`
	}, err error) {
		args := slices.Concat([]string{"fit"}, flags, []string{"--inference", "mean-field", "--sweeps", "2", "--threads", "2", "--json"}, more)
		command := exec.Command(kft, args...) // prints an estimate that is refused, too
		var out, messages bytes.Buffer
		command.Stdout, command.Stderr = &out, &messages
		failed := command.Run()
		if err := json.Unmarshal(out.Bytes(), &result); err != nil {
			t.Fatalf("%v: %v\n%s%s", args, err, out.Bytes(), messages.Bytes())
		}
		return result, failed
	}
	free, err := fit("-o", "free.kft")
	if err != nil {
		t.Fatal(err)
	}
	limit = 1 << 20
	flag := func() string { return fmt.Sprintf("%dKiB", limit/1024) }
	for {
		planned, err := fit("--dry-run", "--memory", flag())
		if err == nil {
			break
		}
		if planned.Least <= limit {
			t.Fatalf("refused with a limit of %d bytes, which is not below the least, %d", limit, planned.Least)
		}
		limit = (planned.Least + planned.Least/100) / 1024 * 1024 // the estimate measures, so it varies
	}
	limited, err := fit("--memory", flag(), "-o", "limited.kft")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("limit %d MiB: peak %d MiB, %d without a limit", limit>>20, limited.Peak>>20, free.Peak>>20)
	if limited.Peak > limit {
		t.Errorf("limit %d bytes, peak %d", limit, limited.Peak)
	}
	if read(t, "limited.kft") != read(t, "free.kft") {
		t.Error("the limit changed the model")
	}
	return limit, free.Peak
}
