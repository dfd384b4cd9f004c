// Package doctest runs the commands shown in the documentation and compares their
// output with the pages. It also generates the tables of the pages and checks the
// example specifications.
package doctest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the outputs in the pages, and their tables")

const root = "../.."

// dataFolder holds the tables of the concept pages.
var dataFolder = filepath.Join(root, "docs", "concepts", "data")

// TestPages runs the console blocks of every page. Each page has its own folder,
// which starts with the tables of docs/concepts/data. The output of a command is
// standard output followed by standard error, without the progress of fits. Times
// and sizes are ignored in the comparison.
func TestPages(t *testing.T) {
	program := program(t)
	for _, file := range pages(t) {
		t.Run(strings.TrimPrefix(filepath.ToSlash(file), root+"/"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p := parsePage(string(text))
			if p.String() != string(text) {
				t.Fatal("a console block is not closed, or has lines before its first command")
			}
			changed := runPage(t, &p, newShell(t, program))
			if changed && *update {
				if err := os.WriteFile(file, []byte(p.String()), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// runPage runs the commands of the page. It reports differences, or with -update
// corrects them.
func runPage(t *testing.T, p *page, sh *shell) (changed bool) {
	for b := range p.blocks {
		if !p.blocks[b].run {
			continue
		}
		for i := range p.blocks[b].commands {
			c := &p.blocks[b].commands[i]
			real := sh.output(t, c.text())
			if c.matches(real) {
				continue
			}
			changed = true
			if !*update {
				t.Errorf("the output differs (go test ./internal/doctest -update rewrites it)\n%s\ngot\n%s\nwant\n%s",
					strings.Join(c.lines, "\n"), strings.Join(real, "\n"), strings.Join(c.output, "\n"))
			}
			c.replace(real)
		}
	}
	return changed
}

// pages returns README.md and all pages under docs.
func pages(t *testing.T) []string {
	t.Helper()
	var files []string
	if readme := filepath.Join(root, "README.md"); exists(readme) {
		files = append(files, readme)
	}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// program returns a folder with the kft binary, built once.
func program(t *testing.T) (folder string) {
	t.Helper()
	folder, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

var built = sync.OnceValues(func() (folder string, err error) {
	if folder, err = os.MkdirTemp("", "kft-doctest-"); err != nil {
		return "", err
	}
	buildFolder = folder
	if err := openSources(); err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", filepath.Join(folder, "kft"), root+"/cmd/kft").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go build: %w\n%s", err, out)
	}
	return folder, err
})

// openSources opens every folder of the module. go test caches a result as long as
// the files that the test opened are unchanged, and does not track the files that
// the compiler reads.
func openSources() error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		return err
	})
}

// buildFolder is the folder to remove at the end.
var buildFolder string

func TestMain(m *testing.M) {
	code := m.Run()
	if buildFolder != "" {
		os.RemoveAll(buildFolder)
	}
	os.Exit(code)
}

// shell runs commands in one folder. Unless fast is set, numbers are computed with
// the same instructions on every machine, so that all digits agree.
type shell struct {
	folder, path string
	fast         bool
}

func newShell(t *testing.T, program string) *shell {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(dataFolder)); err != nil {
		t.Fatal(err)
	}
	return &shell{folder: folder, path: program + string(os.PathListSeparator) + os.Getenv("PATH")}
}

// allowed lists the commands that a page may run.
var allowed = map[string]bool{"kft": true, "awk": true, "cat": true, "head": true, "tail": true, "printf": true, "grep": true, "cut": true, "cmp": true, "cp": true}

// mostTime is the time that a command may take, beside other tests on a slow machine.
const mostTime = 4 * time.Minute

// output returns the lines that a command prints.
func (s *shell) output(t *testing.T, text string) []string {
	t.Helper()
	words := strings.Fields(text)
	for len(words) > 1 && strings.Contains(words[0], "=") {
		words = words[1:] // NAME=VALUE before the command
	}
	if !allowed[words[0]] {
		t.Fatalf("%s: pages may not run %s; mark the block norun", text, words[0])
	}
	ctx, cancel := context.WithTimeout(t.Context(), mostTime)
	defer cancel()
	command := exec.CommandContext(ctx, "sh", "-c", text)
	command.Dir = s.folder
	command.Env = append(os.Environ(), "PATH="+s.path, "COLUMNS=100", "GOMAXPROCS=2", "LC_ALL=C")
	if !s.fast {
		command.Env = append(command.Env, "KFT_CPU=generic")
	}
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s: timed out after %v", text, mostTime)
	}
	training := words[0] == "kft" && len(words) > 1 && words[1] == "fit"
	if err != nil || !training {
		stdout.Write(stderr.Bytes())
	}
	printed := strings.TrimRight(stdout.String(), "\n")
	if printed == "" {
		return nil
	}
	return strings.Split(printed, "\n")
}
