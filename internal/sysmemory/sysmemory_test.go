package sysmemory

import (
	"testing"
	"testing/fstest"
)

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
	if got := Available(); got <= 0 || got > Unknown {
		t.Errorf("Available() = %d, want a positive number of at most %d", got, Unknown)
	}
}
