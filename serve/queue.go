package serve

import (
	"net/http"
	"sync"
)

// A queue writes to a client from a goroutine of its own and keeps what the client does
// not take yet. The header is written with the first bytes, so that an error before them
// has a status of its own.
type queue struct {
	w       http.ResponseWriter
	mutex   sync.Mutex
	changed sync.Cond
	pending [][]byte
	held    int // bytes that were given to Write
	ended   bool
	err     error
	done    chan struct{} // closed when the goroutine ended; nil before it began
}

func newQueue(w http.ResponseWriter) *queue {
	q := &queue{w: w}
	q.changed.L = &q.mutex
	return q
}

// Write keeps a copy of the bytes for the client. It fails if an earlier write to the
// client did.
func (q *queue) Write(p []byte) (int, error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if q.held += len(p); q.done == nil && q.held > firstBytes {
		q.begin()
	}
	if q.err != nil {
		return 0, q.err
	}
	if n := len(q.pending); n > 0 && cap(q.pending[n-1])-len(q.pending[n-1]) >= len(p) {
		q.pending[n-1] = append(q.pending[n-1], p...)
	} else {
		q.pending = append(q.pending, append(make([]byte, 0, max(len(p), queueBlock)), p...))
	}
	q.changed.Signal()
	return len(p), nil
}

// begin starts to write to the client.
func (q *queue) begin() {
	q.w.Header().Set("Content-Type", arrowType)
	q.done = make(chan struct{})
	go q.drain()
}

const (
	queueBlock = 64 << 10 // the least size of a block of pending bytes
	// firstBytes are kept until there are more, or the response is complete: an error that
	// comes this early has a status of its own, whatever the client has taken by then.
	firstBytes = 256 << 10
)

// drain writes the pending bytes until the queue ended.
func (q *queue) drain() {
	defer close(q.done)
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for {
		for len(q.pending) == 0 && !q.ended {
			q.changed.Wait()
		}
		if len(q.pending) == 0 || q.err != nil {
			return
		}
		block := q.pending[0]
		q.pending[0] = nil
		q.pending = q.pending[1:]
		q.mutex.Unlock()
		_, err := q.w.Write(block)
		q.mutex.Lock()
		q.err = err
	}
}

// close waits until everything is written and returns the error of writing. If the
// response failed, what is pending is dropped.
func (q *queue) close(failed error) error {
	q.mutex.Lock()
	q.ended = true
	if failed != nil {
		q.pending = nil
	} else if q.done == nil && len(q.pending) > 0 {
		q.begin()
	}
	q.changed.Signal()
	done := q.done
	q.mutex.Unlock()
	if done != nil {
		<-done
	}
	return q.err
}
