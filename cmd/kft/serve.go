package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/kernel-fried-tensor/kft/serve"
)

// tokenVariable is the environment variable with the token of the server.
const tokenVariable = "KFT_TOKEN"

// serveCommand answers requests for predictions over HTTP.
type serveCommand struct {
	Models []string `arg:"" complete:"file" name:"model" help:"Model files, or NAME=FILE. Without a name it is that of the file."`

	Listen    string   `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Address and port. One that other machines can reach requires a token. Port 0 chooses a free one (default: ${default})."`
	TokenFile string   `complete:"file" placeholder:"FILE" help:"File with the token that clients must send. Without it the environment variable KFT_TOKEN is used, if it is set."`
	Cert      string   `complete:"file" placeholder:"FILE" help:"TLS certificate (PEM); requires --key."`
	Key       string   `complete:"file" placeholder:"FILE" help:"Private key of the certificate (PEM)."`
	History   []string `complete:"file" sep:"none" placeholder:"FILE" help:"Table with observed values that the page shows beside predictions, or NAME=FILE for one of several models. May be repeated."`

	Reload  time.Duration `from:"0s" default:"1s" help:"How often the files are checked for changes; 0 for never. The signal HUP checks them as well (default: ${default})."`
	Drain   time.Duration `from:"0s" default:"500ms" help:"How long requests are still accepted after the signal TERM (default: ${default})."`
	Timeout time.Duration `above:"0s" default:"30s" help:"Time limit of a request (default: ${default})."`

	MaxBody        int64 `from:"1" to:"1048576" default:"32" placeholder:"MIB" help:"Largest request in MiB (default: ${default})."`
	MaxCells       int   `from:"1" default:"100000" placeholder:"N" help:"Maximum number of cells of a JSON request. Arrow requests are limited by --max-body only (default: ${default})."`
	MaxConnections int   `from:"1" default:"512" placeholder:"N" help:"Maximum number of open connections; further ones wait (default: ${default})."`
	MaxBulk        int   `from:"1" default:"2" placeholder:"N" help:"Maximum number of Arrow requests that are predicted at the same time; further ones wait (default: ${default})."`

	Updates string `enum:"none,memory,file" placeholder:"WHERE" values:"none,memory,file" default:"none" help:"Where rows that clients send to POST /update are kept: none (the route does not exist), memory (in the served model, until its file changes or the server ends) or file (also in the model file) (default: ${default})."`

	MonitorLevel  float64  `above:"0" below:"1" default:"0.9" placeholder:"P" help:"Probability of the central interval whose coverage is watched (default: ${default})."`
	MonitorWindow int      `from:"1" default:"1000" placeholder:"N" help:"Number of latest outcomes that the coverage is computed from (default: ${default})."`
	MonitorGroup  []string `placeholder:"MODE" help:"Mode whose ids are watched as groups of their own. May be repeated."`

	LogFormat string `enum:"json,text" placeholder:"FORMAT" values:"json,text" default:"json" help:"Format of the log on standard error: json or text (default: ${default})."`
	LogLevel  string `enum:"debug,info,warn,error" placeholder:"LEVEL" values:"debug,info,warn,error" default:"info" help:"Lowest level of the log: debug (with a line per request), info, warn or error (default: ${default})."`
}

// Help is shown by kft serve --help.
func (*serveCommand) Help() string {
	return `Answers requests for predictions over HTTP until it gets the signal TERM or INT. The page is at /, and GET /openapi.json describes the rest: POST /predict (JSON, or an Arrow stream), the Open Inference Protocol V2 below /v2, POST /outcomes and GET /monitor (coverage of the intervals), POST /update (new rows, with --updates), /metrics, /healthz and /readyz. A model is loaded again when its file changes.

Examples:

    kft serve model.kft
    kft serve sales=model.kft ratings=ratings.kft --history sales=sales.csv --monitor-group store
    KFT_TOKEN=... kft serve model.kft --listen 0.0.0.0:8080 --cert cert.pem --key key.pem
    curl -d '{"cells":[{"store":"S001","item":"A0001","time":"2024-12"}]}' -H 'Content-Type: application/json' http://127.0.0.1:8080/predict`
}

// Run serves.
func (c *serveCommand) Run(e *env) error {
	opt, err := c.options(e)
	if err != nil {
		return err
	}
	if (c.Cert == "") != (c.Key == "") {
		return usagef("--cert and --key belong together; give both")
	}
	listener, err := serve.Listen(c.Listen, opt.Token != "")
	if errors.Is(err, serve.ErrNoToken) {
		return usagef("--listen %s: %v; set --token-file or the environment variable %s", c.Listen, err, tokenVariable)
	}
	if err != nil {
		return fmt.Errorf("--listen %s: %w", c.Listen, err)
	}
	defer listener.Close()
	scheme := "http"
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return fmt.Errorf("--cert %s, --key %s: %w", c.Cert, c.Key, err)
		}
		scheme = "https"
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	}
	opt.Memory = memoryLimit(opt)
	server, err := serve.New(opt)
	if err != nil {
		return err
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	go func() {
		for range hangup {
			server.Reload()
		}
	}()
	if _, err := fmt.Fprintf(e.stdout, "%s://%s/\n", scheme, address(listener.Addr())); err != nil {
		return err
	}
	return server.Run(e.ctx, listener)
}

// memoryLimit returns how much memory the server should use: with the program itself it is
// 1.5 times the model files plus 100 MB. There is none with a history, which is as large as
// its table.
func memoryLimit(opt serve.Options) int64 {
	limit := int64(65 << 20)
	for _, m := range opt.Models {
		info, err := os.Stat(m.Path)
		if err != nil || len(m.History) > 0 || os.Getenv("GOMEMLIMIT") != "" {
			return 0
		}
		limit += info.Size() * 3 / 2
	}
	return limit
}

// address writes an address as a browser understands it.
func address(at net.Addr) string {
	if tcp, ok := at.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return at.String()
}

func (c *serveCommand) options(e *env) (serve.Options, error) {
	opt := serve.Options{
		Watch: c.Reload, Drain: c.Drain, Explain: newReasons,
		Limits:  serve.Limits{Body: c.MaxBody << 20, Cells: c.MaxCells, Bulk: c.MaxBulk, Time: c.Timeout, Connections: c.MaxConnections},
		Monitor: serve.MonitorOptions{Level: c.MonitorLevel, Window: c.MonitorWindow, Groups: c.MonitorGroup, Least: min(100, c.MonitorWindow)},
	}
	if c.Updates != "none" {
		opt.Updates = serve.Updates(c.Updates)
	}
	if c.Reload == 0 {
		opt.Watch = -1
	}
	var err error
	if opt.Token, err = c.token(); err != nil {
		return opt, err
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return opt, usagef("--log-level: %v", err)
	}
	options := &slog.HandlerOptions{Level: level}
	if opt.Log = slog.New(slog.NewJSONHandler(e.rawErr, options)); c.LogFormat == "text" {
		opt.Log = slog.New(slog.NewTextHandler(e.stderr, options))
	}
	for _, text := range c.Models {
		name, path := nameAndPath(text)
		opt.Models = append(opt.Models, serve.ModelFile{Name: name, Path: path})
	}
	for _, text := range c.History {
		name, path, named := strings.Cut(text, "=")
		if !named && len(opt.Models) > 1 {
			return opt, usagef("--history %s: there are several models; write it as NAME=FILE", text)
		}
		if !named {
			name, path = opt.Models[0].Name, text
		}
		found := false
		for i := range opt.Models {
			if opt.Models[i].Name == name {
				opt.Models[i].History, found = append(opt.Models[i].History, path), true
			}
		}
		if !found {
			return opt, usagef("--history %s: there is no model %q", text, name)
		}
	}
	return opt, nil
}

// token returns the token of the file, or else of the environment.
func (c *serveCommand) token() (string, error) {
	if c.TokenFile == "" {
		return strings.TrimSpace(os.Getenv(tokenVariable)), nil
	}
	text, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return "", fmt.Errorf("--token-file %s: %v", c.TokenFile, cause(err))
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", usagef("--token-file %s: the file does not contain one token", c.TokenFile)
	}
	return token, nil
}

// nameAndPath splits NAME=FILE. Without a name it is made of the name of the file.
func nameAndPath(text string) (name, path string) {
	if name, path, named := strings.Cut(text, "="); named && !strings.ContainsAny(name, `/\`) {
		return name, path
	}
	name = filepath.Base(text)
	name = strings.TrimSuffix(name, filepath.Ext(name))
	clean := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}
	return strings.TrimLeft(strings.Map(clean, name), "."), text
}
