// Package serve answers requests for predictions over HTTP: plain JSON, the Open
// Inference Protocol V2, Arrow streams, a page for people, metrics, and a monitor of
// coverage that is fed with outcomes.
//
// A [Server] holds models by name. It loads them again when their files change; a
// request uses the model that was current when it began. It is an [http.Handler], and
// [Server.Run] serves it on a listener with limits and a graceful stop.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// Options configure a server. Zero values have defaults.
type Options struct {
	Models []ModelFile // at least one, with different names
	Token  string      // required of clients as a bearer token; "" for none
	Limits Limits
	Log    *slog.Logger // nil discards

	// Watch is how often files are checked for changes; 0 means every second, and a
	// negative value never.
	Watch time.Duration
	// Drain is how long the server goes on answering after it was told to stop, while it
	// reports that it is not ready and closes connections one by one; 0 means 500 ms.
	Drain time.Duration

	Monitor MonitorOptions

	// Memory is how many bytes the garbage collector keeps the process below, if it can,
	// except while a model is loaded; 0 for no limit.
	Memory int64

	// Updates says what becomes of rows that clients send to /update.
	Updates Updates

	// Explain returns what answers /explain for a model. It is called once for each loaded
	// model, when first needed. Without it there is no such route.
	Explain func(m *kft.Model) (Explainer, error)
}

// An Explainer gives reasons for predictions. Its results are written as JSON.
type Explainer interface {
	// Explain returns one explanation per cell. The changes of side information are
	// written as in item.price=12.5.
	Explain(ctx context.Context, cells []kft.Cell, changes []string) ([]any, error)
}

// A ModelFile names a model and its file, and optionally the table of its history.
type ModelFile struct {
	Name, Path string
	// History are files with observed values, shown beside predictions.
	History []string
}

// Limits bound what clients can use.
type Limits struct {
	Body        int64         // bytes of a request; 0 means 32 MiB
	Cells       int           // cells of a JSON request; 0 means 100,000
	Bulk        int           // Arrow requests that are predicted at the same time; 0 means 2
	Time        time.Duration // of a request, including reading and writing; 0 means 30 s
	Connections int           // open at the same time; 0 means 512
}

func (l Limits) filled() Limits {
	setDefault(&l.Body, 32<<20)
	setDefault(&l.Cells, 100_000)
	setDefault(&l.Bulk, 2)
	setDefault(&l.Time, 30*time.Second)
	setDefault(&l.Connections, 512)
	return l
}

func setDefault[T int | int64 | float64 | time.Duration](value *T, otherwise T) {
	if *value == 0 {
		*value = otherwise
	}
}

// A Server answers requests about models. Its methods are safe for concurrent use.
type Server struct {
	opt      Options
	log      *slog.Logger
	models   []*modelSlot
	handler  http.Handler
	metrics  *metricSet
	bulk     chan struct{}          // one element per Arrow request that is being predicted
	document func() ([]byte, error) // OpenAPI
	draining atomic.Bool
	started  time.Time
}

// New loads the models and returns a server for them.
func New(opt Options) (*Server, error) {
	opt.Limits = opt.Limits.filled()
	setDefault(&opt.Watch, time.Second)
	setDefault(&opt.Drain, 500*time.Millisecond)
	opt.Monitor = opt.Monitor.filled()
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if err := opt.check(); err != nil {
		return nil, err
	}
	s := &Server{opt: opt, log: opt.Log, bulk: make(chan struct{}, opt.Limits.Bulk), started: time.Now()}
	for _, file := range opt.Models {
		s.models = append(s.models, &modelSlot{file: file, monitor: newMonitor(opt.Monitor)})
	}
	if err := s.loadAll(); err != nil {
		return nil, err
	}
	if err := s.checkMonitored(); err != nil {
		return nil, err
	}
	s.metrics = newMetricSet()
	s.document = s.newDocument()
	s.handler = s.routes()
	return s, nil
}

// checkMonitored returns an error for a group of the monitor that is not a mode of a model.
func (s *Server) checkMonitored() error {
	var modes []string
	for _, slot := range s.models {
		modes = append(modes, slot.current.Load().names...)
	}
	for _, group := range s.opt.Monitor.Groups {
		if !slices.Contains(modes, group) {
			return fmt.Errorf("the monitor cannot group by %q: no model has this mode%s", group, suggest.Hint(group, modes))
		}
	}
	return nil
}

func (o *Options) check() error {
	if len(o.Models) == 0 {
		return errors.New("there is no model to serve")
	}
	var names []string
	for _, m := range o.Models {
		if !validName(m.Name) {
			return fmt.Errorf("%q is not a name of a model; use letters, digits, dots, dashes and underscores", m.Name)
		}
		if slices.Contains(names, m.Name) {
			return fmt.Errorf("two models have the name %q", m.Name)
		}
		names = append(names, m.Name)
		for _, file := range m.History {
			if _, err := os.Stat(file); err != nil {
				return fmt.Errorf("the history of model %s: %w", m.Name, err)
			}
		}
	}
	if o.Limits.Body < 0 || o.Limits.Cells < 0 || o.Limits.Bulk < 0 || o.Limits.Time < 0 || o.Limits.Connections < 0 {
		return errors.New("a limit is negative")
	}
	if o.Updates != NoUpdates && o.Updates != UpdatesMemory && o.Updates != UpdatesFile {
		return fmt.Errorf("unknown kind of updates %q", o.Updates)
	}
	return o.Monitor.check()
}

// validName reports whether a name can be part of a path and of a metric.
func validName(name string) bool {
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_') {
			return false
		}
	}
	return name != "" && name[0] != '.' && len(name) <= 100
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Run serves requests on the listener until the context ends. It then reports that it is
// not ready, goes on answering for the time of Options.Drain, and waits for the requests
// in progress up to the time limit of a request. Meanwhile it loads changed files.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	limits := s.opt.Limits
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: min(limits.Time, 10*time.Second),
		ReadTimeout:       limits.Time,
		WriteTimeout:      limits.Time + 5*time.Second, // the handler's own limit comes first
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		ConnState:         s.metrics.connection,
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go s.watch(background)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(newLimitListener(listener, limits.Connections)) }()
	s.log.Info("listening", "address", listener.Addr().String(), "models", len(s.models), "token", s.opt.Token != "")
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.log.Info("stopping", "drain", s.opt.Drain.String())
	select {
	case err := <-failed:
		return err
	case <-time.After(s.opt.Drain):
	}
	patience, cancel := context.WithTimeout(context.Background(), limits.Time)
	defer cancel()
	if err := server.Shutdown(patience); err != nil {
		server.Close()
		return fmt.Errorf("requests in progress did not end: %w", err)
	}
	s.log.Info("stopped")
	return nil
}

// finite replaces numbers that JSON cannot represent by the largest ones.
func finite(v float64) float64 { return max(-math.MaxFloat64, min(v, math.MaxFloat64)) }
