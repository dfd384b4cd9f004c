package serve

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// A metricSet counts requests. It is written in the text format of Prometheus.
type metricSet struct {
	paths       []*pathMetrics
	connections atomic.Int64
}

// pathMetrics count the requests of one path.
type pathMetrics struct {
	path    string
	byCode  [20]atomic.Int64 // indexes of statuses
	buckets [20]atomic.Int64 // requests up to each of durations, not cumulative
	micros  atomic.Int64     // sum of durations
}

var (
	statuses  = []int{200, 400, 401, 403, 404, 405, 413, 415, 422, 499, 500, 503}
	durations = []time.Duration{250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond,
		25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 10 * time.Second}
)

func newMetricSet() *metricSet { return &metricSet{} }

// path returns the counters of a path. It is called before requests are answered.
func (m *metricSet) path(name string) *pathMetrics {
	p := &pathMetrics{path: name}
	m.paths = append(m.paths, p)
	slices.SortFunc(m.paths, func(a, b *pathMetrics) int { return bytes.Compare([]byte(a.path), []byte(b.path)) })
	return p
}

func (p *pathMetrics) add(status int, took time.Duration) {
	at := slices.Index(statuses, status)
	if at < 0 {
		at = len(statuses) // another
	}
	p.byCode[at].Add(1)
	bucket, _ := slices.BinarySearch(durations, took)
	p.buckets[bucket].Add(1)
	p.micros.Add(took.Microseconds())
}

// connection counts open connections.
func (m *metricSet) connection(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		m.connections.Add(1)
	case http.StateClosed, http.StateHijacked:
		m.connections.Add(-1)
	}
}

// An exposition is a text of metrics.
type exposition struct{ bytes.Buffer }

func (e *exposition) head(name, kind, help string) {
	fmt.Fprintf(e, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// value writes a sample; labels are pairs of names and values.
func (e *exposition) value(name string, v float64, labels ...string) {
	e.WriteString(name)
	for i := 0; i < len(labels); i += 2 {
		open := byte(',')
		if i == 0 {
			open = '{'
		}
		e.WriteByte(open)
		e.WriteString(labels[i])
		e.WriteByte('=')
		e.WriteString(quoteLabel(labels[i+1]))
	}
	if len(labels) > 0 {
		e.WriteByte('}')
	}
	e.WriteByte(' ')
	e.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
	e.WriteByte('\n')
}

// quoteLabel quotes the value of a label: only the quote, the backslash and the newline are
// escaped.
func quoteLabel(v string) string {
	text := []byte{'"'}
	for _, c := range []byte(v) {
		switch c {
		case '"', '\\':
			text = append(text, '\\', c)
		case '\n':
			text = append(text, '\\', 'n')
		default:
			text = append(text, c)
		}
	}
	return string(append(text, '"'))
}

func (s *Server) writeMetrics(w http.ResponseWriter, _ *http.Request) error {
	e := &exposition{}
	s.metrics.write(e)
	s.writeModelMetrics(e)
	s.writeMonitorMetrics(e)
	e.head("process_start_time_seconds", "gauge", "Start of the server.")
	e.value("process_start_time_seconds", float64(s.started.UnixMilli())/1000)
	if resident, ok := residentMemory(); ok {
		e.head("process_resident_memory_bytes", "gauge", "Memory of the server.")
		e.value("process_resident_memory_bytes", float64(resident))
	}
	e.head("go_goroutines", "gauge", "Goroutines of the server.")
	e.value("go_goroutines", float64(runtime.NumGoroutine()))
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, err := w.Write(e.Bytes())
	return err
}

func (m *metricSet) write(e *exposition) {
	e.head("kft_connections", "gauge", "Open connections.")
	e.value("kft_connections", float64(m.connections.Load()))
	e.head("kft_requests_total", "counter", "Requests by path and status.")
	for _, p := range m.paths {
		for i := range p.byCode {
			if n := p.byCode[i].Load(); n > 0 {
				status := "other"
				if i < len(statuses) {
					status = strconv.Itoa(statuses[i])
				}
				e.value("kft_requests_total", float64(n), "path", p.path, "code", status)
			}
		}
	}
	e.head("kft_request_seconds", "histogram", "Duration of requests.")
	for _, p := range m.paths {
		var total int64
		counts := make([]int64, len(durations)+1)
		for i := range counts {
			counts[i] = p.buckets[i].Load()
			total += counts[i]
		}
		if total == 0 {
			continue
		}
		var upTo int64
		for i, d := range durations {
			upTo += counts[i]
			e.value("kft_request_seconds_bucket", float64(upTo), "path", p.path, "le", strconv.FormatFloat(d.Seconds(), 'g', -1, 64))
		}
		e.value("kft_request_seconds_bucket", float64(total), "path", p.path, "le", "+Inf")
		e.value("kft_request_seconds_sum", float64(p.micros.Load())/1e6, "path", p.path)
		e.value("kft_request_seconds_count", float64(total), "path", p.path)
	}
}

func (s *Server) writeModelMetrics(e *exposition) {
	type series struct {
		name, kind, help string
		value            func(slot *modelSlot) float64
	}
	e.head("kft_model_info", "gauge", "The version of each model that is served.")
	for _, slot := range s.models {
		e.value("kft_model_info", 1, "model", slot.file.Name, "version", slot.current.Load().version)
	}
	for _, x := range []series{
		{"kft_cells_total", "counter", "Predicted cells.", func(slot *modelSlot) float64 { return float64(slot.cells.Load()) }},
		{"kft_unseen_cells_total", "counter", "Predicted cells with an id that the model does not know.", func(slot *modelSlot) float64 { return float64(slot.unseen.Load()) }},
		{"kft_model_loads_total", "counter", "How often the file of a model was loaded.", func(slot *modelSlot) float64 { return float64(slot.loads.Load()) }},
		{"kft_model_updates_total", "counter", "Number of updates of a model by /update.", func(slot *modelSlot) float64 { return float64(slot.updates.Load()) }},
		{"kft_model_load_failures_total", "counter", "How often it could not be loaded.", func(slot *modelSlot) float64 { return float64(slot.failures.Load()) }},
		{"kft_model_loaded_timestamp_seconds", "gauge", "When the model was loaded.", func(slot *modelSlot) float64 { return float64(slot.current.Load().loaded.UnixMilli()) / 1000 }},
	} {
		e.head(x.name, x.kind, x.help)
		for _, slot := range s.models {
			e.value(x.name, x.value(slot), "model", slot.file.Name)
		}
	}
}

// residentMemory returns the memory that the process uses, where the system tells.
func residentMemory() (int64, bool) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}
