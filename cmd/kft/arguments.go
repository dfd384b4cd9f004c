package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// deprecatedFlags maps flags of earlier versions to today's flags.
var deprecatedFlags = map[string]string{
	"--rate":         "--learning-rate",
	"--side-replace": "--placebo",
}

var negative = regexp.MustCompile(`^-[0-9.]`)

// normalize translates common forms into those of the grammar: kft --version,
// kft help fit, deprecated flags, and a negative number after a flag, which the
// grammar would take for another flag. It returns a warning per deprecated flag.
func normalize(args []string) (normal, warnings []string) {
	switch {
	case len(args) > 0 && args[0] == "--version":
		return append([]string{"version"}, args[1:]...), nil
	case len(args) > 0 && args[0] == "help":
		return append(slices.Clone(args[1:]), "--help"), nil
	}
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(normal, args[i:]...), warnings
		}
		flag, value, hasValue := strings.Cut(args[i], "=")
		if !strings.HasPrefix(flag, "--") {
			normal = append(normal, args[i])
			continue
		}
		if today, deprecated := deprecatedFlags[flag]; deprecated && slices.Contains([]string{"fit", "spec", "tune"}, args[0]) {
			warnings = append(warnings, fmt.Sprintf("%s is deprecated; use %s", flag, today))
			flag = today
		}
		if !hasValue && i+1 < len(args) && negative.MatchString(args[i+1]) {
			i++
			value, hasValue = args[i], true
		}
		if hasValue {
			flag += "=" + value
		}
		normal = append(normal, flag)
	}
	return normal, warnings
}

// checkVerb returns an error for a first word that is not a verb.
func checkVerb(model *kong.Application, args []string) error {
	var verbs []string
	for _, c := range model.Children {
		verbs = append(verbs, c.Name)
	}
	if len(args) == 0 {
		return usagef("no command given; use one of %s (kft --help describes them, kft demo demonstrates them)", strings.Join(verbs, ", "))
	}
	if strings.HasPrefix(args[0], "-") || verbNode(model, args) != nil {
		return nil
	}
	return usagef("unknown command %q%s; kft --help lists the commands", args[0], suggest.Hint(args[0], verbs))
}

func verbNode(model *kong.Application, args []string) *kong.Node {
	for _, c := range model.Children {
		if len(args) > 0 && c.Name == args[0] {
			return c
		}
	}
	return nil
}

// removeFlags removes the flags that a verb has from those it shares with others, but cannot
// use: the origins of a backtest take the place of a split.
func removeFlags(model *kong.Application) {
	backtest := verbNode(model, []string{"backtest"})
	backtest.Flags = slices.DeleteFunc(backtest.Flags, func(f *kong.Flag) bool { return f.Name == "split" || f.Name == "forecast" })
}

// helpCommand returns the command whose help describes args.
func helpCommand(model *kong.Application, args []string) string {
	if verb := verbNode(model, args); verb != nil {
		return "kft " + verb.Name
	}
	return "kft"
}

var missingValue = regexp.MustCompile(`expected .*but got "EOL" \(<EOL>\)`)

// badValues are the parser's texts about values of the wrong type, in words of users.
var badValues = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`expected a valid \d+ bit int but got "(.*?)"`), "$1 is not a whole number"},
	{regexp.MustCompile(`expected a valid \d+ bit uint but got "(.*?)"`), "$1 is not a whole number of 0 or more"},
	{regexp.MustCompile(`expected a (?:float|valid \d+ bit float) but got "(.*?)"(?: \(.*?\))?`), "$1 is not a number"},
	{regexp.MustCompile(`expected duration but got "(.*?)": time: .*`), "$1 is not a duration such as 90s, 5m or 2h"},
	{regexp.MustCompile(`bool value must be true, 1, yes, false, 0 or no but got "(.*?)"`), "$1 is neither true nor false"},
}

// callError rewords an error of the parser and refers to the help. With hints it names the
// flag that an unknown one may stand for; programs have options of their own.
func callError(err error, model *kong.Application, args []string, hints bool) error {
	text := missingValue.ReplaceAllString(err.Error(), "the value is missing")
	for _, bad := range badValues {
		text = bad.pattern.ReplaceAllString(text, bad.text)
	}
	if strings.HasPrefix(text, "unexpected argument") && slices.Contains([]string{"init", "spec", "fit", "tune", "split"}, args[0]) {
		text += "; write all tables one after another"
	}
	if hint := hintFlag(err, model, args); hints && hint != "" {
		text = hint
	}
	return usagef("%s (see %s --help)", text, helpCommand(model, args))
}
