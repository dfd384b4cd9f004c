package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"testing"
)

// A fit keeps the least limit that its estimate allows and writes the same model; below that limit it is
// refused. The list of series of this table is two thirds as long as the table.
func TestMemoryLimitIsKept(t *testing.T) {
	if testing.Short() {
		t.Skip("fits of 400,000 rows")
	}
	if runtime.GOOS != "linux" {
		t.Skip("peaks of memory are read from /proc")
	}
	kft := program(t)
	inEmptyFolder(t)
	must(t, "data", "synthetic", "--shape", "retail", "--rows", "400000", "-o", ".")
	fit := func(flags ...string) (result struct {
		Least int64 `json:"least_bytes"`
		Disk  int64 `json:"disk_bytes"`
		Peak  int64 `json:"peak_rss_bytes"`
	}, err error) {
		args := append([]string{"fit", "sales.csv.gz", "--target", "units", "--modes", "store,article,time=year+month", "--transform", "log1p", "--term", "article,store,time:5",
			"--side", "article=articles.csv:department:cat,colour:cat,season:cat,price:log", "--variant", "wlr", "--space", "dual", "--inference", "mean-field", "--sweeps", "2",
			"--threads", "2", "--json"}, flags...)
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
	limit := int64(1 << 20)
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
	if limit > free.Peak*19/20 { // the peak without a limit depends on when the collector runs: 140 to 160 MiB were measured
		t.Errorf("the least limit, %d bytes, saves less than a twentieth of %d", limit, free.Peak)
	}
	if read(t, "limited.kft") != read(t, "free.kft") {
		t.Error("the limit changed the model")
	}
}
