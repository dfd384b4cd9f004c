// Package sysmemory tells how much memory a process can still allocate, and how much it had.
package sysmemory

import (
	"bufio"
	"bytes"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Unknown is what Available returns on systems that do not tell: more than common
// machines have, so that only the impossible is above it.
const Unknown int64 = 1 << 40

// fromProc returns the memory that a Linux system with the given root still has: what
// /proc/meminfo calls available, with free swap space, and at most the limits of the
// control groups of this process.
func fromProc(root fs.FS) int64 { return min(left(root), groupLimit(root)) }

// roomFromProc is [fromProc] with the resident memory of this process, which the limits of control groups count too.
func roomFromProc(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/self/status")
	if err != nil {
		return fromProc(root)
	}
	own, _ := kibibytes(text, "VmRSS")
	return min(left(root)+own, groupLimit(root))
}

// left returns the memory that a Linux system can still give to processes, with free swap space.
func left(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return Unknown
	}
	available, found := kibibytes(text, "MemAvailable")
	if !found {
		return Unknown
	}
	swap, _ := kibibytes(text, "SwapFree")
	return available + swap
}

// kibibytes returns a value of /proc/meminfo, or of the status of a process, in bytes.
func kibibytes(text []byte, key string) (int64, bool) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if name != key {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		return kib << 10, err == nil && kib >= 0 && kib < Unknown
	}
	return 0, false
}

// groupLimit returns the lowest limit of the control groups of this process and of
// their parents. In a container the path of a group is often that of the host; the
// limit is then the one at the top of the mounted tree.
func groupLimit(root fs.FS) int64 {
	limit := Unknown
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return limit
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		parts := strings.SplitN(lines.Text(), ":", 3)
		if len(parts) != 3 {
			continue
		}
		tree, file := "sys/fs/cgroup", "memory.max" // version 2
		if parts[0] != "0" {
			if !strings.Contains(","+parts[1]+",", ",memory,") {
				continue
			}
			tree, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			value, err := fs.ReadFile(root, path.Join(tree, group, file))
			if n, bad := strconv.ParseInt(strings.TrimSpace(string(value)), 10, 64); err == nil && bad == nil && n > 0 {
				limit = min(limit, n)
			}
			if group == "/" {
				break
			}
		}
	}
	return limit
}
