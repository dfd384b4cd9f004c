package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/internal/synthetic"
)

// result is the outcome of a call of the program.
type result struct {
	code           int
	stdout, stderr string
}

// call runs the program in the current folder.
func call(t *testing.T, args ...string) result {
	t.Helper()
	return callWith(t.Context(), strings.NewReader(""), args...)
}

func callWith(ctx context.Context, stdin io.Reader, args ...string) result {
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, stdin, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// must runs the program and fails the test if it fails.
func must(t *testing.T, args ...string) result {
	t.Helper()
	r := call(t, args...)
	if r.code != exitGood {
		t.Fatalf("kft %s: exit %d\n%s%s", textformat.QuoteAll(args), r.code, r.stdout, r.stderr)
	}
	return r
}

// inEmptyFolder changes to a temporary folder.
func inEmptyFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
}

// writeSales writes a synthetic table with the columns year, month, store, item and units.
func writeSales(t *testing.T, file string, opt synthetic.Options) {
	t.Helper()
	var text bytes.Buffer
	if err := synthetic.New(opt).WriteCSV(&text); err != nil {
		t.Fatal(err)
	}
	write(t, file, text.String())
}

// smallSales has about 200 rows, mediumSales about 10,000.
var (
	smallSales  = synthetic.Options{Stores: 12, Items: 15, Months: 8, Pairs: 120, Seed: 1}
	mediumSales = synthetic.Options{Stores: 60, Items: 120, Months: 12, Pairs: 2500, Seed: 1}
)

// salesFlags describe the columns of such a table.
var salesFlags = []string{"--target", "units", "--modes", "store,item,time=year+month", "--transform", "log1p"}

func fitSales(more ...string) []string {
	return slices.Concat([]string{"fit", "sales.csv"}, salesFlags, more)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// listing returns all files below the current folder.
func listing(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// program builds the program once and returns its path.
func program(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "kft-test-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	path := filepath.Join(dir, "kft")
	build := exec.Command("go", "build", "-o", path, "github.com/kernel-fried-tensor/kft/cmd/kft")
	build.Dir = sourceFolder
	build.Stderr = os.Stderr
	return path, build.Run()
})

// builtIn is the folder of the program, sourceFolder that of this package, before any test
// changes the folder.
var builtIn, sourceFolder string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") { // in an experiment this binary is the program
		os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	var err error
	if sourceFolder, err = os.Getwd(); err != nil {
		panic(err)
	}
	code := m.Run()
	if builtIn != "" {
		os.RemoveAll(builtIn)
	}
	os.Exit(code)
}
