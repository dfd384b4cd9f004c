// Command notices prints the licences of the modules that are linked into a program,
// for its releases:
//
//	go run ./internal/notices ./cmd/kft
//
// It reads the module cache and needs no network. A module without a licence file is
// an error.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	err := errors.New("usage: notices PACKAGE")
	if len(os.Args) == 2 {
		err = write(out, os.Args[1])
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// platforms are those of releases; modules differ between them.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}

// A module is a line of go list.
type module struct{ path, version, folder string }

// write prints the notices of a package: the licence of Go, then those of the modules.
func write(w io.Writer, pkg string) error {
	modules := []module{{"Go standard library", strings.TrimPrefix(runtime.Version(), "go"), goRoot()}}
	for _, platform := range platforms {
		linked, err := list(platform, pkg)
		if err != nil {
			return err
		}
		modules = append(modules, linked...)
	}
	slices.SortFunc(modules[1:], func(a, b module) int { return strings.Compare(a.path, b.path) })
	fmt.Fprintln(w, "This program contains the following third-party software.")
	for _, m := range slices.Compact(modules) {
		texts, err := licences(m.folder)
		if err != nil {
			return fmt.Errorf("module %s: %w", m.path, err)
		}
		fmt.Fprintf(w, "\n%s\n%s %s\n", strings.Repeat("=", 80), m.path, m.version)
		for _, text := range texts {
			fmt.Fprintf(w, "\n%s\n", bytes.TrimSpace(text))
		}
	}
	return nil
}

// list returns the modules, except the main one, whose packages are linked on a
// platform.
func list(platform, pkg string) ([]module, error) {
	system, processor, _ := strings.Cut(platform, "/")
	command := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", pkg)
	command.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w", platform, err)
	}
	var modules []module
	for line := range strings.Lines(string(out)) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 3 {
			modules = append(modules, module{fields[0], fields[1], fields[2]})
		}
	}
	return modules, nil
}

// goRoot returns the folder of Go, "" if it is unknown.
func goRoot() string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// licenceFile matches the names of files with licences and notices.
var licenceFile = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying|notice|patents)([-.].*)?$`)

// licences returns the texts of the licences in a folder.
func licences(folder string) ([][]byte, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var texts [][]byte
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("no licence file in %s", folder)
	}
	return texts, nil
}
