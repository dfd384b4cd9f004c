package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// A keepAlive is a connection that sends prepared requests one after the other. It costs
// far less than an http.Client, which would take the processor from the server.
type keepAlive struct {
	conn net.Conn
	in   *bufio.Reader
}

func dial(address string) (*keepAlive, error) {
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &keepAlive{conn, bufio.NewReaderSize(conn, 8<<10)}, nil
}

// request returns the bytes of a request with a JSON body.
func request(path string, body []byte) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

// errClosing reports that the server answered and closes the connection.
var errClosing = errors.New("the server closes the connection")

// send sends a request and returns the status of the answer.
func (k *keepAlive) send(request []byte) (status int, err error) {
	k.conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := k.conn.Write(request); err != nil {
		return 0, err
	}
	line, err := k.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 12 {
		return 0, fmt.Errorf("answer %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, fmt.Errorf("answer %q", line)
	}
	length, closing := 0, false
	for {
		line, err := k.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			break
		}
		if v, is := bytes.CutPrefix(line, []byte("Content-Length: ")); is {
			length, _ = strconv.Atoi(strings.TrimSpace(string(v)))
		}
		closing = closing || bytes.HasPrefix(line, []byte("Connection: close"))
	}
	if _, err := k.in.Discard(length); err != nil {
		return 0, err
	}
	if closing {
		return status, errClosing
	}
	return status, nil
}

// latencies are the durations of requests.
type latencies struct {
	mutex sync.Mutex
	all   []time.Duration
}

func (l *latencies) add(some []time.Duration) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.all = append(l.all, some...)
}

func (l *latencies) quantile(p float64) float64 {
	if len(l.all) == 0 {
		return 0
	}
	return float64(l.all[min(int(p*float64(len(l.all))), len(l.all)-1)].Microseconds()) / 1000
}

// measureSingle sends single predictions from several connections.
func (s *server) measureSingle(ctx context.Context, o options, c *cells, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, o.duration())
	defer cancel()
	var all latencies
	var failed atomic.Int64
	var first atomic.Pointer[error]
	var group sync.WaitGroup
	begin, cpu := time.Now(), s.cpu()
	for client := range o.clients {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(client)))
			requests := make([][]byte, 1000)
			for i := range requests {
				requests[i] = request("/predict", c.body(rng))
			}
			k, err := dial(s.address)
			var took []time.Duration
			for i := 0; err == nil && ctx.Err() == nil; i++ {
				start := time.Now()
				var status int
				status, err = k.send(requests[i%len(requests)])
				took = append(took, time.Since(start))
				if err == nil && status != http.StatusOK {
					err = fmt.Errorf("status %d", status)
				}
			}
			if err != nil {
				failed.Add(1)
				first.CompareAndSwap(nil, &err)
			}
			if k != nil {
				k.conn.Close()
			}
			all.add(took)
		})
	}
	group.Wait()
	seconds := time.Since(begin).Seconds()
	slices.Sort(all.all)
	n := float64(len(all.all))
	fmt.Fprintf(out, "single predictions: %.0f per second from %d connections; latency %.2f ms (median), %.2f ms (p99), %.2f ms (p99.9), %.2f ms (most); server %.1f us of CPU per request; %d clients failed\n",
		n/seconds, o.clients, all.quantile(0.5), all.quantile(0.99), all.quantile(0.999), all.quantile(1), (s.cpu()-cpu).Seconds()/n*1e6, failed.Load())
	if err := first.Load(); err != nil {
		return *err
	}
	return nil
}

// arrowBody returns random cells as an Arrow stream. The id of a mode of several columns,
// as in 2016-12, is divided.
func (c *cells) arrowBody(rows int) ([]byte, error) {
	var fields []arrow.Field
	for _, name := range slices.Concat(c.columns...) {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String})
	}
	schema := arrow.NewSchema(fields, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(schema))
	rng := rand.New(rand.NewPCG(2, 2))
	for row := range rows {
		ids := c.random(rng)
		if c.rows != nil {
			ids = c.rows[row%len(c.rows)] // in the order of the table
		}
		at := 0
		for i, id := range ids {
			parts := strings.SplitN(id, "-", len(c.columns[i]))
			for k := range c.columns[i] {
				builder.Field(at).(*array.StringBuilder).Append(parts[min(k, len(parts)-1)])
				at++
			}
		}
		if (row+1)%65536 == 0 || row+1 == rows {
			if err := w.Write(builder.NewRecordBatch()); err != nil {
				return nil, err
			}
		}
	}
	return b.Bytes(), w.Close()
}

// bulk sends one Arrow request and returns the number of bytes of the answer.
func (s *server) bulk(ctx context.Context, path string, body []byte) (int64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/vnd.apache.arrow.stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return 0, fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	return io.Copy(io.Discard, response.Body)
}

// measureBulk sends Arrow requests one after the other.
func (s *server) measureBulk(ctx context.Context, o options, c *cells, out io.Writer) error {
	body, err := c.arrowBody(o.rows)
	if err != nil {
		return err
	}
	for _, phase := range []struct{ what, path string }{
		{"all columns and two quantiles", "/predict"}, {"mean and two quantiles", "/predict?columns=prediction,q0.05,q0.95"}, {"means", "/predict?columns=prediction"},
	} {
		begin, cpu := time.Now(), s.cpu()
		n := 0
		for ; time.Since(begin) < o.duration()/2; n++ {
			if _, err := s.bulk(ctx, phase.path, body); err != nil {
				return err
			}
		}
		cells := float64(n) * float64(o.rows)
		fmt.Fprintf(out, "bulk, %s: %.2f million cells per second in %d Arrow requests of %d rows; server %.2f us of CPU per cell\n",
			phase.what, cells/time.Since(begin).Seconds()/1e6, n, o.rows, (s.cpu()-cpu).Seconds()/cells*1e6)
	}
	return nil
}
