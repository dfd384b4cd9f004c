package doctest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
)

// TestLinks checks that every relative link of a page leads to a file, and its fragment to a heading.
func TestLinks(t *testing.T) {
	t.Parallel()
	anchors := map[string]map[string]bool{} // by path
	for _, page := range markdown(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		anchors[page] = map[string]bool{}
		for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			anchors[page][anchor(m[1])] = true
		}
	}
	for page := range anchors {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			path, fragment, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, ":") { // another site
				continue
			}
			to := page
			if path != "" {
				to = filepath.Join(filepath.Dir(page), path)
			}
			if !exists(to) {
				t.Errorf("%s: link to %s, which does not exist", page, m[1])
			} else if known := anchors[to]; fragment != "" && known != nil && !known[fragment] {
				t.Errorf("%s: link to %s, which has no such heading", page, m[1])
			}
		}
	}
}

// anchor returns the fragment that sites give a heading: lower case, without marks, with - for spaces.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// markdown returns all Markdown files of the repository.
func markdown(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if name := d.Name(); err == nil && d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "bin" || name == "node_modules") {
			return filepath.SkipDir
		}
		if err == nil && strings.HasSuffix(path, ".md") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}
