package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/publicdata"
)

// fieldFlags lists the fields of a specification with the flags that set them. The
// library reports fields; this is the only place that translates them.
var fieldFlags = []struct{ path, flag string }{
	{"data.target", "--target"},
	{"data.weight", "--weight"},
	{"data.exposure", "--exposure"},
	{"data.censored", "--censored"},
	{"data.nonnegative", "--nonnegative"},
	{"data.modes", "--modes"},
	{"data.covariates", "--covariate"},
	{"data.lags", "--lags"},
	{"data.history", "--history"},
	{"data.absent", "--absent"},
	{"data.ends", "--ends"},
	{"data.delimiter", "--delimiter"},
	{"data.header", "--header"},
	{"data.decimal", "--decimal"},
	{"data.thousands", "--thousands"},
	{"data.duplicates", "--duplicates"},
	{"split", "--split"},
	{"transform", "--transform"},
	{"terms", "--term"},
	{"order", "--order"},
	{"side.tables", "--side"},
	{"side.variant", "--variant"},
	{"side.space", "--space"},
	{"side.kernels", "--kernel"},
	{"side.columns", "--side-columns"},
	{"side.intercept", "--intercept"},
	{"side.length-scales", "--length-scales"},
	{"side.placebo", "--placebo"},
	{"uncertainty.inference", "--inference"},
	{"uncertainty.likelihood", "--likelihood"},
	{"uncertainty.noise-use", "--noise-use"}, // before its prefix uncertainty.noise
	{"uncertainty.noise-variance", "--noise-variance"},
	{"uncertainty.noise", "--noise"},
	{"uncertainty.prior-mean", "--prior-mean"},
	{"uncertainty.prior-variance", "--prior-variance"},
	{"uncertainty.conformal", "--conformal"},
	{"uncertainty.heaping", "--heaping"},
	{"uncertainty.mixing", "--mixing"},
	{"uncertainty.covariance", "--covariance"},
	{"uncertainty.moments", "--moments"},
	{"fit.solver", "--solver"},
	{"fit.ridge", "--ridge"},
	{"fit.lambda", "--lambda"},
	{"fit.sweeps", "--sweeps"},
	{"fit.patience", "--patience"},
	{"fit.cg-steps", "--cg-steps"},
	{"fit.prune", "--prune"},
	{"fit.learning-rate", "--learning-rate"},
	{"fit.batch", "--batch"},
	{"fit.epochs", "--epochs"},
	{"fit.schedule", "--schedule"},
	{"fit.effort", "--effort"},
	{"fit.refit", "--refit"},
	{"seed", "--seed"},
}

// optionFields are the options of forecasts and backtests, which are no part of a
// specification. Their flags have the same names.
var optionFields = []string{"horizon", "only", "active", "level", "draws", "by", "future", "windows", "step"}

// flagOf returns the flag that sets a field, "" if there is none.
func flagOf(path string) string {
	if slices.Contains(optionFields, path) {
		return "--" + path
	}
	for _, f := range fieldFlags {
		if f.path == path {
			return f.flag
		}
	}
	return ""
}

// inPath matches text behind a path that belongs to it, such as that of a longer path,
// or that makes it the place of a problem.
var inPath = regexp.MustCompile(`^(:|\[|[-.]?[a-z])`)

// optionAdvice matches the advice to set an option of a forecast, with its value.
var optionAdvice = regexp.MustCompile(`\bset (` + strings.Join(optionFields, "|") + `)\b(?: to ([0-9]+))?`)

// wordAdvice lists the phrases that name fields without a section, such as split, which
// are ordinary words elsewhere.
var wordAdvice = []struct {
	pattern    *regexp.Regexp
	flag, text string
}{
	{regexp.MustCompile(`\bas in split (time:last=(\d+))`), "--forecast", "as in --forecast $2 or --split $1"},
	{regexp.MustCompile(`\bas in split (time:last=\d+)`), "--split", "as in --split $1"},
	{regexp.MustCompile(`\b((?:in|by|change|one to|validation set to) split)([,;.:)]|$)`), "--split", "$1 (--split)$2"},
	{regexp.MustCompile(`\b(set split)(\W)`), "--split", "$1 (--split)$2"},
	{regexp.MustCompile(`\b(set transform)(\W|$)`), "--transform", "$1 (--transform)$2"},
	{regexp.MustCompile(`\b((?:set|ranks in) terms)(\W|$)`), "--term", "$1 (--term)$2"},
	{regexp.MustCompile(`\b(set order)(\W|$)`), "--order", "$1 (--order)$2"},
}

// setTo matches the advice to set a field to a value, and fieldSetTo a field that is set to one.
var (
	setTo      = regexp.MustCompile(`\bset (\S+) to ([a-z0-9][a-z0-9:-]*)`)
	fieldSetTo = regexp.MustCompile(`(\S+) set to ([a-z0-9][a-z0-9:-]*)`)
)

// nameFlags puts flags behind the fields that a text names: "increase fit.lambda
// (--lambda)". If the verb has not the flag, it puts that of kft fit in place of the field.
// Without hasFlag the text stays as it is.
func nameFlags(text string, hasFlag func(string) bool) string {
	if hasFlag == nil {
		return text
	}
	text = optionAdvice.ReplaceAllStringFunc(text, func(advice string) string {
		part := optionAdvice.FindStringSubmatch(advice)
		if !hasFlag(flagOf(part[1])) {
			return advice
		}
		return fmt.Sprintf("use %s %s", flagOf(part[1]), cmp.Or(part[2], "N"))
	})
	for _, w := range wordAdvice {
		if hasFlag(w.flag) && !strings.Contains(text, w.flag) {
			text = w.pattern.ReplaceAllString(text, w.text)
		}
	}
	text = nameFlagsOfFit(text, hasFlag)
	for _, f := range fieldFlags {
		if !strings.Contains(f.path, ".") || !hasFlag(f.flag) || strings.Contains(text, f.flag) {
			continue
		}
		// The path at the start of a message ("fit.solver: ...") is the place of a problem,
		// not part of its advice.
		if start, end := fieldIn(text, f.path, 0); start >= 0 {
			text = text[:end] + " (" + f.flag + ")" + text[end:]
		}
	}
	return text
}

// fieldIn returns where a text names a field, from a byte on; start is -1 if it does not.
func fieldIn(text, path string, from int) (start, end int) {
	for end = from; ; {
		at := strings.Index(text[end:], path)
		if at < 0 {
			return -1, end
		}
		start = end + at
		if end = start + len(path); !inPath.MatchString(text[end:]) {
			return start, end
		}
	}
}

// nameFlagsOfFit puts flags of kft fit in place of the fields whose flags the verb has not, as
// those of a warning about a model: "fit the model with --refit none".
func nameFlagsOfFit(text string, hasFlag func(string) bool) string {
	flag := func(path string) string {
		if f := flagOf(path); strings.Contains(path, ".") && !hasFlag(f) {
			return f
		}
		return ""
	}
	for _, advice := range []struct {
		pattern *regexp.Regexp
		text    string
	}{{setTo, "fit the model with "}, {fieldSetTo, ""}} {
		text = advice.pattern.ReplaceAllStringFunc(text, func(found string) string {
			part := advice.pattern.FindStringSubmatch(found)
			if f := flag(part[1]); f != "" {
				return advice.text + f + " " + part[2]
			}
			return found
		})
	}
	for _, f := range fieldFlags {
		if flag(f.path) == "" {
			continue
		}
		for start, end := fieldIn(text, f.path, 0); start >= 0; start, end = fieldIn(text, f.path, end) {
			by := f.flag
			if !strings.HasSuffix(text[:start], "fit it with ") {
				by += " of kft fit"
			}
			text, end = text[:start]+by+text[end:], start+len(by)
		}
	}
	return text
}

// withAdvice returns the text of an error with the flag that can fix it.
func withAdvice(err error, hasFlag func(string) bool) string {
	if text, found := rephrased(err, hasFlag); found {
		return text
	}
	text := nameFlags(err.Error(), hasFlag)
	var input *kft.InputError
	if errors.As(err, &input) && input.Line > 0 {
		return text // the value in that line is wrong, not the flag that names the column
	}
	if flag := flagOf(kft.FieldPath(err)); flag != "" && hasFlag != nil && hasFlag(flag) && !strings.Contains(text, flag) {
		text += fmt.Sprintf(" (%s sets it)", flag)
	}
	return text
}

// forecastError is an error of the split that --forecast stands for.
type forecastError struct {
	error
	horizon int
}

func (e *forecastError) Unwrap() error { return e.error }

// text names --forecast in place of the split.
func (e *forecastError) text() string {
	split := fmt.Sprintf("time:last=%d", e.horizon)
	text := strings.Replace(e.Error(), "split "+split+": ", fmt.Sprintf("--forecast %d: ", e.horizon), 1)
	text = strings.Replace(text, "as in "+split, "as in --refit all --split "+split, 1)
	return strings.Replace(text, "choose last=", "choose --forecast ", 1)
}

// rephrased returns the text of an error whose remedy is a flag of the command line,
// not a field of the specification.
func rephrased(err error, hasFlag func(string) bool) (string, bool) {
	replace := func(part error, by string) (string, bool) {
		return strings.Replace(err.Error(), part.Error(), by, 1), true
	}
	var quantiles *kft.QuantileError
	var samples *kft.SamplesError
	var side *kft.SideError
	var unseen *kft.UnseenError
	var unknown *kft.UnknownTableError
	var checkpoint *kft.CheckpointError
	var existing *kft.CheckpointExistsError
	var row *kft.UpdateRowError
	var notFitted *kft.NotFittedError
	var exists *publicdata.ExistsError
	var overwritten *publicdata.InputOverwriteError
	var forecast *forecastError
	switch {
	case errors.As(err, &forecast):
		return forecast.text(), true
	case errors.As(err, &quantiles):
		return replace(quantiles, "--quantiles: "+quantiles.Problem)
	case errors.As(err, &samples):
		return replace(samples, "--samples: "+samples.Problem)
	case errors.As(err, &side):
		return replace(side, "--side: "+side.Problem)
	case errors.As(err, &unseen):
		return replace(unseen, unseen.Error()+"; leave out --strict to predict it by the prior")
	case errors.As(err, &unknown):
		return replace(unknown, unknown.Error()+"; correct the ids, or add --allow-unknown")
	case errors.As(err, &checkpoint):
		return replace(checkpoint, fmt.Sprintf("%s belongs to another fit: %s; choose another folder with --checkpoint, or delete the file to start again",
			checkpoint.File, checkpoint.Problem))
	case errors.As(err, &existing):
		return replace(existing, existing.File+" is the checkpoint of an earlier fit; add --resume to continue it, choose another folder with --checkpoint, or delete the file to start again")
	case errors.As(err, &row) && row.Late:
		return replace(row, row.Error()+"; use --late to add them")
	case errors.As(err, &notFitted) && hasFlag != nil && !hasFlag("--part"):
		return replace(notFitted, notFitted.Error()+"; give the table of the fit")
	case errors.As(err, &notFitted):
		return replace(notFitted, notFitted.Error()+"; leave out --part to use all rows")
	case errors.As(err, &exists):
		return replace(exists, exists.Error()+" (-o chooses another folder, --force overwrites)")
	case errors.As(err, &overwritten):
		return replace(overwritten, overwritten.Error()+" (-o chooses another folder)")
	}
	return "", false
}

// nameAllFlags is nameFlags for a verb that has all flags.
func nameAllFlags(text string) string {
	return nameFlags(text, func(string) bool { return true })
}
