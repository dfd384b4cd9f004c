package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// start runs a server on a free port and returns its address and a function that stops it and
// returns the error of Run.
func start(t *testing.T, s *Server) (url string, stop func() error) {
	t.Helper()
	listener, err := Listen("127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, listener) }()
	var once sync.Once
	var result error
	stop = func() error {
		once.Do(func() {
			cancel()
			result = <-done
		})
		return result
	}
	t.Cleanup(func() { stop() })
	return "http://" + listener.Addr().String(), stop
}

// TestReloadUnderLoad replaces the model file, also by damaged ones, and stops the server
// while clients send requests. No valid request may fail, and answers are those of one of
// the models.
func TestReloadUnderLoad(t *testing.T) {
	var log bytes.Buffer
	s := newServer(t, func(o *Options) {
		o.Watch, o.Drain = -1, 50*time.Millisecond
		o.Log = testLog(&log)
	})
	url, stop := start(t, s)
	var versions sync.Map
	var sent, stopping atomic.Int64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	defer client.CloseIdleConnections()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for stopping.Load() == 0 {
				response, err := client.Post(url+"/predict", jsonType, strings.NewReader(oneCell))
				if err != nil {
					t.Errorf("request: %v", err)
					return
				}
				text, err := io.ReadAll(response.Body)
				response.Body.Close()
				if err != nil || response.StatusCode != http.StatusOK {
					t.Errorf("status %d, %v: %s", response.StatusCode, err, text)
					return
				}
				version, _, _ := strings.Cut(strings.SplitN(string(text), `"version":"`, 2)[1], `"`)
				versions.Store(version, true)
				sent.Add(1)
			}
		})
	}
	path := s.models[0].file.Path
	for i := range 12 {
		content := fixture(t, (i+1)%2)
		if i%3 == 2 {
			content = bytes.Clone(content)
			content[len(content)/2] ^= 1 // the checksum is wrong
		}
		if i == 7 {
			content = content[:len(content)/3]
		}
		replace(t, path, content)
		s.Reload()
		for before := sent.Load(); sent.Load() < before+20 && !t.Failed(); {
			time.Sleep(time.Millisecond) // let the clients see this model
		}
	}
	if response, err := client.Get(url + "/readyz"); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("not ready: %v", err)
	}
	stopping.Store(1)
	group.Wait()
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	count := 0
	versions.Range(func(any, any) bool { count++; return true })
	if count != 2 {
		t.Errorf("the answers are those of %d versions", count)
	}
	if got := s.models[0].failures.Load(); got != 5 {
		t.Errorf("%d loads failed, want 5", got)
	}
	if !strings.Contains(log.String(), "reload failed; the model before is still served") {
		t.Errorf("the log has no failed reload:\n%s", log.String())
	}
}

// TestStop checks that a request in progress is answered after the server was told to
// stop, that it reports to be not ready, and that it then refuses connections.
func TestStop(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *Options) { o.Drain = 200 * time.Millisecond })
	url, stop := start(t, s)
	// A request whose body comes after the stop.
	body, send := io.Pipe()
	answered := make(chan string, 1)
	go func() {
		response, err := http.Post(url+"/predict", jsonType, body)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		answered <- fmt.Sprint(response.StatusCode, " ", string(text))
	}()
	if _, err := io.WriteString(send, oneCell[:10]); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	for !s.draining.Load() {
		time.Sleep(time.Millisecond)
	}
	if response, err := http.Get(url + "/readyz"); err != nil || response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("ready while stopping: %v, %v", response, err)
	}
	io.WriteString(send, oneCell[10:])
	send.Close()
	if got := <-answered; !strings.HasPrefix(got, "200 ") {
		t.Errorf("the request in progress: %s", got)
	}
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
	if _, err := http.Get(url + "/healthz"); err == nil {
		t.Error("the server still answers")
	}
}

// TestSlowClients checks that clients that send nothing, or slowly, lose their connection
// and do not keep others from theirs.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *Options) { o.Limits.Time, o.Limits.Connections = 300*time.Millisecond, 3 })
	url, _ := start(t, s)
	address := strings.TrimPrefix(url, "http://")
	var slow []net.Conn
	for _, text := range []string{"", "POST /predict HT", "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, conn)
	}
	// All connections are taken; this one is accepted when the slow ones have ended.
	response, err := http.Post(url+"/predict", jsonType, strings.NewReader(oneCell))
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("a client after slow ones: %v, %v", response, err)
	}
	for i, conn := range slow {
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		text, err := io.ReadAll(conn)
		if err != nil {
			t.Errorf("slow client %d: %v", i, err)
		}
		if i == 2 && !bytes.HasPrefix(text, []byte("HTTP/1.1 ")) {
			t.Errorf("slow client %d: %q", i, text)
		}
	}
}

// TestHost checks that a page of a stranger cannot read a server without a token by a
// name that resolves to this machine.
func TestHost(t *testing.T) {
	t.Parallel()
	url, _ := start(t, newServer(t, nil))
	r, err := http.NewRequest("GET", url+"/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "stranger.example"
	response, err := http.DefaultClient.Do(r)
	if err != nil || response.StatusCode != http.StatusForbidden {
		t.Errorf("got %v, %v", response, err)
	}
}
