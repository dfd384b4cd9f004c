package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/*.session with the output of the program")

// A session is a list of commands, "$ kft ...", in a folder with the tables sales.csv,
// stores.csv and new_stores.csv. Each command is followed by its standard output, its
// standard error after a line [stderr], and [exit N] unless N is 0. "$ cat F" prints a
// file.
func TestSessions(t *testing.T) {
	files, err := filepath.Glob("testdata/*.session")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".session"), func(t *testing.T) {
			want := read(t, file)
			t.Setenv("KFT_CPU", "generic") // the same digits on every machine
			t.Setenv("COLUMNS", "100")
			inEmptyFolder(t)
			writeSales(t, "sales.csv", smallSales)
			write(t, "stores.csv", storesTable)
			write(t, "new_stores.csv", newStoresTable)
			var got strings.Builder
			for line := range strings.Lines(want) {
				line = strings.TrimSuffix(line, "\n")
				switch {
				case strings.HasPrefix(line, "#") && got.Len() == 0: // description of the session
					got.WriteString(line + "\n")
				case strings.HasPrefix(line, "$ "):
					got.WriteString("\n" + line + "\n")
					perform(t, &got, strings.TrimPrefix(line, "$ "))
				}
			}
			text := strings.TrimPrefix(got.String(), "\n")
			if text == want {
				return
			}
			if *update {
				if err := os.WriteFile(filepath.Join(sourceFolder, file), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("%s differs from the output of the program (go test ./cmd/kft -update rewrites it):\n%s", file, firstDifference(want, text))
		})
	}
}

func perform(t *testing.T, out *strings.Builder, command string) {
	words := shellWords(command)
	if words[0] == "cat" {
		out.WriteString(scrub(read(t, words[1])))
		return
	}
	r := call(t, words[1:]...)
	out.WriteString(scrub(r.stdout))
	if r.stderr != "" {
		out.WriteString("[stderr]\n" + scrub(r.stderr))
	}
	if r.code != exitGood {
		fmt.Fprintf(out, "[exit %d]\n", r.code)
	}
}

// scrub removes what differs between runs or machines: times, memory, hashes, work, and
// the last digits of results.
func scrub(text string) string {
	for _, s := range []struct{ pattern, by string }{
		{`in \d+\.\d s, [\d.]+ [KMG]iB of memory`, "in # s, # MiB of memory"},
		{`, [\d.]+( [kM])? rows/s`, ", # rows/s"},
		{`at most [\dhmins ]+ left`, "at most # left"},
		{`kft \S+ \(go[\d.]+, .*\)`, "kft # (#)"},
		{`\d+ passes`, "# passes"},
		{`sha256 [0-9a-f]{64}`, "sha256 #"},
		{` +\n`, "\n"},
	} {
		text = regexp.MustCompile(s.pattern).ReplaceAllString(text, s.by)
	}
	// Results keep their first decimal and their width, up to 4 digits.
	return regexp.MustCompile(`\d+\.\d{3,}`).ReplaceAllStringFunc(text, func(number string) string {
		keep := strings.IndexByte(number, '.') + 2
		return number[:keep] + strings.Repeat("#", min(4, len(number)-keep))
	})
}

// shellWords splits a command like a shell, as far as sessions require.
func shellWords(command string) []string {
	var words []string
	for _, w := range regexp.MustCompile(`'[^']*'|[^ ']+`).FindAllString(command, -1) {
		words = append(words, strings.Trim(w, "'"))
	}
	return words
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var a, b string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, a, b)
		}
	}
	return ""
}
