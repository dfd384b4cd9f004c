package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// A route answers one method of a path. A path may have several.
type route struct {
	method, path string
	handle       func(w http.ResponseWriter, r *http.Request) error
	open         bool // needs no token
}

const (
	jsonType  = "application/json"
	arrowType = "application/vnd.apache.arrow.stream"
)

// table lists all routes.
func (s *Server) table() []route {
	get, post := http.MethodGet, http.MethodPost
	routes := []route{
		{method: get, path: "/healthz", handle: s.health, open: true},
		{method: get, path: "/readyz", handle: s.ready, open: true},
		{method: get, path: "/metrics", handle: s.writeMetrics},
		{method: get, path: "/openapi.json", handle: s.openAPI},
		{method: get, path: "/models", handle: s.listModels},
		{method: get, path: "/models/{model}", handle: s.describeModel},
		{method: get, path: "/models/{model}/ids", handle: s.listIDs},
		{method: get, path: "/models/{model}/history", handle: s.showHistory},
		{method: get, path: "/monitor", handle: s.showMonitor},
		{method: post, path: "/predict", handle: s.predict},
		{method: post, path: "/explain", handle: s.explain},
		{method: post, path: "/forecast", handle: s.forecast},
		{method: post, path: "/outcomes", handle: s.outcomes},
		{method: get, path: "/v2", handle: s.inferenceServer},
		{method: get, path: "/v2/health/live", handle: s.inferenceLive, open: true},
		{method: get, path: "/v2/health/ready", handle: s.inferenceReady, open: true},
		{method: get, path: "/v2/models/{model}", handle: s.inferenceModel},
		{method: get, path: "/v2/models/{model}/ready", handle: s.inferenceModelReady},
		{method: post, path: "/v2/models/{model}/infer", handle: s.infer},
		{method: get, path: "/v2/models/{model}/versions/{version}", handle: s.inferenceModel},
		{method: get, path: "/v2/models/{model}/versions/{version}/ready", handle: s.inferenceModelReady},
		{method: post, path: "/v2/models/{model}/versions/{version}/infer", handle: s.infer},
	}
	if s.opt.Updates != NoUpdates {
		routes = append(routes, route{method: post, path: "/update", handle: s.update})
	}
	for _, name := range pageFiles {
		routes = append(routes, route{method: get, path: "/" + name, handle: s.pageFile, open: true})
	}
	return append(routes, route{method: get, path: "/{$}", handle: s.pageFile, open: true})
}

// routes returns the handler of all routes.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	byPath := map[string][]route{}
	for _, r := range s.table() {
		byPath[r.path] = append(byPath[r.path], r)
	}
	for path, all := range byPath {
		mux.Handle(path, s.pathHandler(path, all))
	}
	mux.Handle("/", s.pathHandler("other", []route{{handle: func(_ http.ResponseWriter, r *http.Request) error {
		if r.URL.Path == "/update" {
			return problemf(notFound, "", "this server was started without updates, so it takes in no rows; start it with them")
		}
		return problemf(notFound, "", "there is no %s; GET /openapi.json describes what there is", r.URL.Path)
	}}}))
	return mux
}

// pathHandler answers the requests of one path: it checks where they come from, the token,
// the method and the limits, and turns errors and panics into JSON.
func (s *Server) pathHandler(path string, all []route) http.Handler {
	measured := s.metrics.path(path)
	token := sha256.Sum256([]byte(s.opt.Token))
	crossOrigin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(writer http.ResponseWriter, r *http.Request) {
		start := time.Now()
		w := &recorder{ResponseWriter: writer}
		var err error
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler { //nolint:errorlint // it is a value
					measured.add(499, time.Since(start))
					panic(p)
				}
				s.log.Error("panic", "path", path, "panic", p, "stack", string(debug.Stack()))
				err = errPanic
			}
			s.finish(w, r, path, err)
			measured.add(w.status, time.Since(start))
		}()
		matching := slices.IndexFunc(all, func(x route) bool {
			return x.method == "" || x.method == r.Method || x.method == http.MethodGet && r.Method == http.MethodHead
		})
		switch {
		case s.opt.Token == "" && !loopbackHost(r.Host) && r.Context().Value(http.LocalAddrContextKey) != nil:
			err = problemf(forbidden, "", "the host %q is not this machine, and the server has no token", r.Host)
			return
		case crossOrigin.Check(r) != nil:
			err = problemf(forbidden, "", "requests of pages of other sites are refused")
			return
		case s.opt.Token != "" && !(matching >= 0 && all[matching].open) && !authorized(r, token):
			w.Header().Set("WWW-Authenticate", "Bearer")
			err = problemf(unauthorized, "", "the request needs the header Authorization: Bearer TOKEN")
			return
		case matching < 0:
			w.Header().Set("Allow", allowed(all))
			err = problemf(methodNotAllowed, "", "%s does not accept %s; use %s", r.URL.Path, r.Method, allowed(all))
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), s.opt.Limits.Time)
		defer cancel()
		r = r.WithContext(ctx)
		r.Body = http.MaxBytesReader(w, r.Body, s.opt.Limits.Body)
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		err = all[matching].handle(w, r)
	})
}

var errPanic = errors.New("panic")

// levelRequest is the level of the lines of requests in the log.
const levelRequest = slog.LevelDebug

// finish writes the error of a request and the line of the log.
func (s *Server) finish(w *recorder, r *http.Request, path string, err error) {
	if err != nil {
		p := asProblem(err, "cells")
		if p.Code == internal {
			s.log.Error("request failed", "method", r.Method, "path", path, "error", err.Error())
		}
		if w.status != 0 { // part of the response was written: the client must notice
			s.log.Warn("response ended early", "path", path, "error", err.Error())
			panic(http.ErrAbortHandler)
		}
		if strings.HasPrefix(path, "/v2/") || path == "/v2" {
			p.writeInference(w)
		} else {
			p.write(w)
		}
	}
	if s.log.Enabled(r.Context(), levelRequest) {
		s.log.Log(r.Context(), levelRequest, "request", "method", r.Method, "path", path, "status", w.status, "remote", r.RemoteAddr)
	}
}

func authorized(r *http.Request, want [sha256.Size]byte) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got := sha256.Sum256([]byte(strings.TrimSpace(given)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

func allowed(all []route) string {
	var methods []string
	for _, r := range all {
		methods = append(methods, r.method)
	}
	return strings.Join(methods, ", ")
}

// A recorder remembers the status of a response.
type recorder struct {
	http.ResponseWriter
	status int
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(text []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(text)
}

// Unwrap is for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// contentType returns the media type of a request, and a problem unless it is one of
// those. A page of another site cannot send them without asking first.
func contentType(r *http.Request, accepted ...string) (string, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !slices.Contains(accepted, media) {
		return "", problemf(unsupportedMedia, "Content-Type", "the content type is %q; use %s", r.Header.Get("Content-Type"), strings.Join(accepted, " or "))
	}
	return media, nil
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, []byte("{\"status\":\"ok\"}\n"))
	return nil
}

func (s *Server) ready(w http.ResponseWriter, _ *http.Request) error {
	if s.draining.Load() {
		writeJSON(w, http.StatusServiceUnavailable, []byte("{\"status\":\"stopping\"}\n"))
		return nil
	}
	writeJSON(w, http.StatusOK, []byte("{\"status\":\"ready\"}\n"))
	return nil
}
