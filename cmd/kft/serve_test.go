package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// serving runs kft serve and returns the address of its page, and a function that stops it
// and returns the outcome.
func serving(t *testing.T, args ...string) (url string, stop func() result) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var stderr strings.Builder
	done := make(chan result, 1)
	go func() {
		code := run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0", "--drain", "1ms"}, args...), strings.NewReader(""), in, &stderr)
		in.Close()
		done <- result{code: code, stderr: stderr.String()}
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("kft serve wrote no address: %v\n%s", err, (<-done).stderr)
	}
	stop = func() result {
		cancel()
		return <-done
	}
	return strings.TrimSpace(line), stop
}

func TestServe(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("-o", "sales.kft", "--term", "store,item,time:1", "--sweeps", "2")...)
	write(t, "token", "secret-token\n")
	url, stop := serving(t, "sales.kft", "second=sales.kft", "--token-file", "token", "--history", "sales=sales.csv", "--monitor-group", "store", "--log-level", "debug")
	for _, tc := range []struct {
		path, token string
		status      int
		want        string
	}{
		{"", "", 200, "<title>kft"}, {"healthz", "", 200, "ok"}, {"models", "", 401, "unauthorized"}, {"models", "secret-token", 200, `"model":"second"`},
		{"models/sales/history?store=S001&item=A0001", "secret-token", 200, `"observed":true`},
	} {
		r, err := http.NewRequest("GET", url+tc.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tc.token != "" {
			r.Header.Set("Authorization", "Bearer "+tc.token)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != tc.status || !strings.Contains(string(text), tc.want) {
			t.Errorf("GET /%s: %d %.200s, %v; want %d and %q", tc.path, response.StatusCode, text, err, tc.status, tc.want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	r := stop()
	if r.code != exitGood {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	for _, want := range []string{`"msg":"listening"`, `"msg":"request","method":"GET","path":"/models","status":401`, `"msg":"stopped"`} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("the log does not contain %s:\n%s", want, r.stderr)
		}
	}
}

func TestServeWrongCalls(t *testing.T) {
	inEmptyFolder(t)
	t.Setenv(tokenVariable, "")
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("-o", "sales.kft", "--term", "store,item,time:1", "--sweeps", "2")...)
	content, err := os.ReadFile("sales.kft")
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	write(t, "damaged.kft", string(content))
	write(t, "empty", " \n")
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"sales.kft", "--listen", "0.0.0.0:0"}, exitUsage, "set --token-file or the environment variable KFT_TOKEN"},
		{[]string{"sales.kft", "--listen", "nonsense"}, exitFailed, "--listen nonsense"},
		{[]string{"missing.kft"}, exitFailed, "missing.kft"},
		{[]string{"damaged.kft"}, exitFailed, "damaged.kft"},
		{[]string{"a=sales.kft", "a=sales.kft"}, exitFailed, `two models have the name "a"`},
		{[]string{"a/b c=sales.kft"}, exitFailed, "a/b c=sales.kft"},
		{[]string{"a b=sales.kft"}, exitFailed, `"a b" is not a name of a model`},
		{[]string{"sales.kft", "--cert", "x"}, exitUsage, "--cert and --key belong together"},
		{[]string{"sales.kft", "--cert", "x", "--key", "y"}, exitFailed, "--cert x"},
		{[]string{"sales.kft", "--token-file", "empty"}, exitUsage, "does not contain one token"},
		{[]string{"sales.kft", "--token-file", "none"}, exitFailed, "--token-file none"},
		{[]string{"a=sales.kft", "b=sales.kft", "--history", "sales.csv"}, exitUsage, "NAME=FILE"},
		{[]string{"sales.kft", "--history", "x=sales.csv"}, exitUsage, `there is no model "x"`},
		{[]string{"sales.kft", "--max-cells", "0"}, exitUsage, "--max-cells: 0 is out of range; use 1 or more"},
		{[]string{"sales.kft", "--monitor-level", "2"}, exitUsage, "--monitor-level: 2 is out of range"},
		{[]string{"sales.kft", "--log-level", "x"}, exitUsage, "--log-level"},
	} {
		args := tc.args
		if !strings.Contains(strings.Join(args, " "), "--listen") {
			args = append(args, "--listen", "127.0.0.1:0")
		}
		r := call(t, append([]string{"serve"}, args...)...)
		if r.code != tc.code || !strings.Contains(r.stderr, tc.want) {
			t.Errorf("kft serve %q: exit %d, %s; want exit %d and %q", tc.args, r.code, r.stderr, tc.code, tc.want)
		}
	}
}
