package completion

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// grammar has one verb with all kinds of flags and arguments.
type grammar struct {
	Fit struct {
		Solver string `values:"als,adam" help:"Solver: als or adam."`
		Output string `short:"o" complete:"file" help:"File to write."`
		Quiet  bool   `help:"Print nothing."`
		Trace  string `hidden:"" help:"Write a trace."`
		Table  string `arg:"" complete:"file" help:"Table."`
	} `cmd:"" help:"Train a model (with $HOME)."`
}

// Each script offers verbs, flags and values, but no hidden flags.
func TestScript(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&grammar{})
	if err != nil {
		t.Fatal(err)
	}
	for shell, want := range map[string][]string{
		"bash": {`compgen -W "fit"`, `"fit --output" | "fit -o")`, `compgen -W "als adam"`, `"--solver --output --quiet --help"`},
		"zsh":  {`'fit:Train a model'`, `'*--solver=[Solver]:solver:(als adam)'`, `'*--output=[File to write]:output:_files'`, `'*--quiet[Print nothing]'`, `'*:table:_files'`},
		"fish": {`-a fit -d 'Train a model'`, `-l solver -x -a 'als adam' -d 'Solver'`, `-s o -l output -r -F`, `-l quiet -d 'Print nothing'`},
	} {
		script, known := Script(shell, parser.Model)
		if !known {
			t.Errorf("%s: got no script", shell)
		}
		for _, text := range want {
			if !strings.Contains(script, text) {
				t.Errorf("%s: the script does not contain %s:\n%s", shell, text, script)
			}
		}
		if strings.Contains(script, "trace") {
			t.Errorf("%s: the script contains a hidden flag:\n%s", shell, script)
		}
	}
	if script, known := Script("tcsh", parser.Model); known || script != "" {
		t.Errorf("tcsh: got known %v and the script %q, want none", known, script)
	}
}
