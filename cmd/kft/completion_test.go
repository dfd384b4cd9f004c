package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
)

// The scripts are valid for the installed shells and contain verbs and flags, but no hidden
// flags.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script := must(t, "completion", shell).stdout
		for _, word := range []string{"init", "evaluate", "time-budget", "cg-steps", "als adam", "uniform frequency"} {
			if !strings.Contains(script, word) {
				t.Errorf("%s: the script does not contain %s", shell, word)
			}
		}
		if strings.Contains(script, "cpuprofile") {
			t.Errorf("%s: the script contains a hidden flag", shell)
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			continue // only bash is required
		}
		check := exec.Command(path, "-n")
		check.Stdin = strings.NewReader(script)
		if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s -n: %v\n%s", shell, err, out)
		}
	}
}

// Suggestions of bash.
func TestBashCompletes(t *testing.T) {
	inEmptyFolder(t)
	write(t, "sales.csv", "")
	script := must(t, "completion", "bash").stdout
	for _, c := range []struct {
		words []string // the last is incomplete
		want  []string
	}{
		{[]string{"kft", "in"}, []string{"init", "inspect"}},
		{[]string{"kft", "fit", "--so"}, []string{"--solver"}},
		{[]string{"kft", "fit", "--solver", ""}, []string{"als", "adam", "cavi"}},
		{[]string{"kft", "fit", "--rank", "3", "--ridge", "u"}, []string{"uniform"}},
		{[]string{"kft", "fit", "sa"}, []string{"sales.csv"}},
		{[]string{"kft", "predict", "m.kft", "sa"}, []string{"sales.csv"}},
		{[]string{"kft", "evaluate", "m.kft", "--part", "t"}, []string{"train", "test"}},
		{[]string{"kft", "fit", "-o", "sa"}, []string{"sales.csv"}},
		{[]string{"kft", "plot", ""}, []string{"calibration", "forecast", "study"}},
		{[]string{"kft", "plot", "calibration", "m.kft", "sa"}, []string{"sales.csv"}},
		{[]string{"kft", "plot", "calibration", "--b"}, []string{"--by"}},
		{[]string{"kft", "calibrate", "m.kft", "sales.csv", "--conformal", "s"}, []string{"split"}},
		{[]string{"kft", "predict", "--quan"}, []string{"--quantiles"}},
		{[]string{"kft", "completion", "z"}, []string{"zsh"}},
		{[]string{"kft", "predict", "--si"}, []string{"--side"}},
		{[]string{"kft", "fit", "--side"}, []string{"--side", "--side-columns"}},
		{[]string{"kft", "fit", "--variant", ""}, []string{"plain", "side", "wlr", "ls", "additive"}},
		{[]string{"kft", "fit", "--space", "dual-"}, []string{"dual-rff", "dual-unwhitened"}},
		{[]string{"kft", "fit", "--seed", ""}, nil},
	} {
		program := script + "\nCOMP_WORDS=(" + textformat.QuoteAll(c.words) + ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_kft\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"
		out, err := exec.Command("bash", "-c", program).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", c.words, err, out)
		}
		if got := strings.Fields(string(out)); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.words, got, c.want)
		}
	}
}
