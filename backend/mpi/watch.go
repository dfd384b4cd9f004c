package mpi

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/kernel-fried-tensor/kft/backend"
)

// A Watch notices ranks that end or hang while others wait for their messages, which MPI itself
// would do for ever. Each rank keeps a TCP connection with rank 0, and both send a sign of
// life over it several times per limit.
type Watch struct {
	limit  time.Duration
	hosts  []string
	lost   func(*RankError)
	listen net.Listener // of rank 0
	token  []byte       // known to the ranks of the job only

	mutex sync.Mutex
	peers []net.Conn
	over  bool
}

// Signs on a connection.
const (
	alive   = 1
	leaving = 2
	ending  = 3 // because another rank is lost; the launcher then ends the others
)

// launcherGrace is the time that a launcher has to end the other ranks of a job.
const launcherGrace = 10 * time.Second

// StartWatch connects the ranks. When a rank ends without [Watch.Stop], or sends nothing for the
// limit, lost is called on rank 0; on the other ranks, if that is rank 0.
func StartWatch(ranks backend.Ranks, limit time.Duration, lost func(*RankError)) (*Watch, error) {
	w := &Watch{limit: limit, lost: lost, hosts: Texts(ranks, Hostname()), token: make([]byte, 16)}
	var err error
	invitation := ""
	if ranks.Rank() == 0 {
		invitation, err = w.open()
	}
	if err := AgreeErrors(ranks, err); err != nil {
		return nil, err
	}
	invitation = Texts(ranks, invitation)[0]
	if ranks.Rank() == 0 {
		err = w.accept(ranks.Size() - 1)
	} else {
		err = w.dial(invitation, ranks.Rank())
	}
	if err := AgreeErrors(ranks, err); err != nil {
		w.Stop()
		return nil, err
	}
	return w, nil
}

// open listens for the other ranks and returns the token and the addresses.
func (w *Watch) open() (invitation string, err error) {
	if _, err := rand.Read(w.token); err != nil {
		return "", err
	}
	address := ":0"
	if oneHost(w.hosts) {
		address = "127.0.0.1:0"
	}
	if w.listen, err = net.Listen("tcp", address); err != nil {
		return "", fmt.Errorf("listening for signs of life of the other ranks: %w", err)
	}
	port := w.listen.Addr().(*net.TCPAddr).Port
	list := []string{hex.EncodeToString(w.token)}
	add := func(host string) { list = append(list, net.JoinHostPort(host, fmt.Sprint(port))) }
	if oneHost(w.hosts) {
		add("127.0.0.1")
		return strings.Join(list, " "), nil
	}
	add(w.hosts[0])
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	for _, a := range interfaces {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && !ip.IP.IsLinkLocalUnicast() {
			add(ip.IP.String())
		}
	}
	return strings.Join(list, " "), nil
}

func oneHost(hosts []string) bool {
	for _, h := range hosts {
		if h != hosts[0] {
			return false
		}
	}
	return true
}

// accept waits for the connections of n ranks. Strangers are ignored.
func (w *Watch) accept(n int) error {
	w.listen.(*net.TCPListener).SetDeadline(time.Now().Add(w.limit))
	for n > 0 {
		c, err := w.listen.Accept()
		if err != nil {
			return fmt.Errorf("waiting for signs of life of the other ranks: %w", err)
		}
		c.SetDeadline(time.Now().Add(w.limit))
		hello := make([]byte, len(w.token)+4)
		if _, err := io.ReadFull(c, hello); err != nil || subtle.ConstantTimeCompare(hello[:len(w.token)], w.token) != 1 {
			c.Close()
			continue
		}
		w.follow(c, int(binary.LittleEndian.Uint32(hello[len(w.token):])))
		n--
	}
	return w.listen.Close()
}

// dial connects with rank 0.
func (w *Watch) dial(invitation string, rank int) error {
	fields := strings.Fields(invitation)
	if len(fields) < 2 {
		return errors.New("rank 0 sent no address for signs of life")
	}
	var failures []error
	for _, address := range fields[1:] {
		c, err := net.DialTimeout("tcp", address, w.limit/time.Duration(len(fields)))
		if err != nil {
			failures = append(failures, err)
			continue
		}
		hello, err := hex.DecodeString(fields[0])
		if err != nil {
			return err
		}
		if _, err := c.Write(binary.LittleEndian.AppendUint32(hello, uint32(rank))); err != nil {
			return err
		}
		w.follow(c, 0)
		return nil
	}
	return fmt.Errorf("rank 0 cannot be reached for signs of life: %w", errors.Join(failures...))
}

// follow exchanges signs of life with a rank.
func (w *Watch) follow(c net.Conn, rank int) {
	w.mutex.Lock()
	w.peers = append(w.peers, c)
	w.mutex.Unlock()
	go func() {
		for {
			c.SetWriteDeadline(time.Now().Add(w.limit))
			if _, err := c.Write([]byte{alive}); err != nil {
				return
			}
			time.Sleep(w.limit / 8)
		}
	}()
	go func() {
		sign := make([]byte, 1)
		for {
			c.SetReadDeadline(time.Now().Add(w.limit))
			_, err := c.Read(sign)
			if err == nil && sign[0] == leaving {
				return
			}
			if err == nil && sign[0] == ending {
				time.Sleep(launcherGrace)
				err = io.EOF
			}
			if err != nil {
				w.report(rank, err)
				return
			}
		}
	}()
}

// report calls lost, unless this process is leaving.
func (w *Watch) report(rank int, err error) {
	if rank >= len(w.hosts) || !w.end(ending) {
		return
	}
	problem := "the process ended"
	if errors.Is(err, os.ErrDeadlineExceeded) {
		problem = fmt.Sprintf("no sign of life for %v", w.limit)
	}
	w.lost(&RankError{rank, len(w.hosts), w.hosts[rank], problem})
}

// Stop tells the other ranks that this process leaves the job in order.
func (w *Watch) Stop() { w.end(leaving) }

// Fail tells the other ranks that this process ends the job, so that they do not report its loss.
func (w *Watch) Fail() { w.end(ending) }

// end sends a last sign. It reports whether this is the first one.
func (w *Watch) end(sign byte) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.over {
		return false
	}
	w.over = true
	if w.listen != nil {
		w.listen.Close()
	}
	for _, c := range w.peers {
		c.SetWriteDeadline(time.Now().Add(time.Second))
		c.Write([]byte{sign}) // if it fails, nobody is there to learn it
	}
	return true
}
