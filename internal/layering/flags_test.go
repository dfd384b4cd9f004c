package layering

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// flag matches a command line flag: at the start of a text, or after a space, a quote
// or a bracket.
var flag = regexp.MustCompile("(^|[ \t\n\"'`(\\[])--[a-z]")

// TestLibraryNamesNoFlags checks that no text of the library contains a flag of the
// command line. The library names fields of the specification instead, and cmd/kft
// translates them.
func TestLibraryNamesNoFlags(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == "cmd" || name == "examples" || name == filepath.Join("bench", "accuracy") || name == filepath.Join("bench", "load") || name == filepath.Join("bench", "loops") || name == filepath.Join("bench", "paper") || name == filepath.Join("bench", "scale") || name == filepath.Join("bench", "throughput") || d.Name() == "testdata" || name != "." && strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		for _, found := range flagsIn(t, path) {
			t.Errorf("%s:%s; name a field of the specification, and add the flag in cmd/kft/advice.go", filepath.ToSlash(name), found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// flagsIn returns the string literals of a Go file that contain a flag, with their
// lines.
func flagsIn(t *testing.T, path string) []string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(literal.Value)
		if err == nil && flag.MatchString(text) {
			found = append(found, strconv.Itoa(files.Position(literal.Pos()).Line)+": "+literal.Value)
		}
		return true
	})
	return found
}

func TestFlagPattern(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"--lambda": true, "increase --lambda": true, "(--lambda sets it)": true, "a -- b": false, "increase fit.lambda": false, "<!--note-->": false, "1--2": false,
	} {
		if got := flag.MatchString(text); got != want {
			t.Errorf("flag in %q: got %v, want %v", text, got, want)
		}
	}
}
