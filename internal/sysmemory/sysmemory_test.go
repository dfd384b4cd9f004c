package sysmemory

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"testing/fstest"
)

// TestPeakOfChild starts a process while this one has much memory, which does not count as the child's.
func TestPeakOfChild(t *testing.T) {
	if os.Getenv("KFT_PRINT_PEAK") != "" {
		fmt.Println(Peak())
		os.Exit(0)
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the system has no /proc/self/status")
	}
	const much = 256 << 20
	memory := make([]byte, much)
	for i := 0; i < much; i += 4096 {
		memory[i] = 1
	}
	child := exec.Command(os.Args[0], "-test.run=^TestPeakOfChild$")
	child.Env = append(os.Environ(), "KFT_PRINT_PEAK=1")
	out, err := child.Output()
	if err != nil {
		t.Fatal(err)
	}
	var peak int64
	if _, err := fmt.Sscan(string(out), &peak); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if peak <= 0 || peak > much/2 {
		t.Errorf("a small process has a peak of %d bytes", peak)
	}
	if own := Peak(); own < much {
		t.Errorf("a process with %d bytes has a peak of %d", much, own)
	}
	runtime.KeepAlive(memory)
}

func TestFromProc(t *testing.T) {
	t.Parallel()
	const meminfo = "MemTotal:       24000 kB\nMemFree:  1 kB\nMemAvailable:   20000 kB\nSwapFree:         500 kB\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing":           {nil, Unknown},
		"damaged":           {map[string]string{"proc/meminfo": "MemAvailable: many kB\n"}, Unknown},
		"no group":          {map[string]string{"proc/meminfo": meminfo}, 20500 << 10},
		"no limit":          {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/job\n", "sys/fs/cgroup/job/memory.max": "max\n"}, 20500 << 10},
		"group":             {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/job\n", "sys/fs/cgroup/job/memory.max": "4096\n"}, 4096},
		"parent":            {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/job\n", "sys/fs/cgroup/a/memory.max": "8192\n", "sys/fs/cgroup/a/job/memory.max": "9000\n"}, 8192},
		"container":         {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/../host\n", "sys/fs/cgroup/memory.max": "8192\n"}, 8192},
		"version 1":         {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "3:cpu:/x\n5:hugetlb,memory:/x\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "7000\n"}, 7000},
		"version 1, no end": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "5:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 20500 << 10},
	} {
		root := fstest.MapFS{}
		for path, text := range test.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := fromProc(root); got != test.want {
			t.Errorf("%s: got %d bytes, want %d", name, got, test.want)
		}
	}
	root := fstest.MapFS{"proc/meminfo": &fstest.MapFile{Data: []byte(meminfo)}, "proc/self/status": &fstest.MapFile{Data: []byte("Name:\tkft\nVmRSS:\t   1500 kB\n")}}
	if got, want := roomFromProc(root), int64(22000<<10); got != want {
		t.Errorf("a process with memory: got %d bytes in all, want %d", got, want)
	}
	root["proc/self/cgroup"], root["sys/fs/cgroup/job/memory.max"] = &fstest.MapFile{Data: []byte("0::/job\n")}, &fstest.MapFile{Data: []byte("4096\n")}
	if got := roomFromProc(root); got != 4096 {
		t.Errorf("a process of a group: got %d bytes in all, want 4096", got)
	}
	if got := Available(); got <= 0 || got > Unknown {
		t.Errorf("Available() = %d, want a positive number of at most %d", got, Unknown)
	}
}
