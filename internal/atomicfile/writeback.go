package atomicfile

import "os"

// writebackStep is the number of bytes after which the system is told to write them to the disk.
const writebackStep = 8 << 20

// A writeback writes to a file and starts to store what was written on the disk, so that the sync at the end finds
// little left: otherwise that takes as long as the whole file, after all else is done.
type writeback struct {
	file             *os.File
	written, started int64
}

func (w *writeback) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	if w.written += int64(n); w.written-w.started >= writebackStep {
		startWriteback(w.file, w.started, w.written-w.started)
		w.started = w.written
	}
	return n, err
}
