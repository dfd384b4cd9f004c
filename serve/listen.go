package serve

import (
	"errors"
	"net"
	"sync"
)

// ErrNoToken reports a listener that other machines can reach without a token.
var ErrNoToken = errors.New("the address can be reached from other machines; require a token of clients, or listen on 127.0.0.1")

// Listen returns a listener on a TCP address. Without a token the address must be one
// of this machine only; otherwise Listen returns [ErrNoToken].
func Listen(address string, token bool) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	if at, ok := listener.Addr().(*net.TCPAddr); !token && (!ok || !at.IP.IsLoopback()) {
		listener.Close()
		return nil, ErrNoToken
	}
	return listener, nil
}

// loopbackHost reports whether the Host header of a request names this machine. A page
// of a stranger whose name was made to resolve to 127.0.0.1 sends the stranger's name.
func loopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if n := len(host); n > 2 && host[0] == '[' && host[n-1] == ']' {
		host = host[1 : n-1]
	}
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// limitListener accepts a limited number of connections; others wait.
type limitListener struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	once   sync.Once
}

func newLimitListener(l net.Listener, limit int) net.Listener {
	return &limitListener{Listener: l, slots: make(chan struct{}, limit), closed: make(chan struct{})}
}

func (l *limitListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{Conn: conn, release: func() { <-l.slots }}, nil
}

func (l *limitListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	once    sync.Once
	release func()
}

func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.release)
	return err
}
