package main

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/spec"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		count(0): "0", count(999): "999", count(1000): "1,000", count(3028076): "3,028,076", count(-1234): "-1,234",
		plural(1, "pass"): "1 pass", plural(2, "pass"): "2 passes", plural(1234, "row"): "1,234 rows",
		ratio(math.NaN()): "-", ratio(0.73456): "0.7346", amount(123456): "123456", amount(5.4321): "5.432", amount(1e-9): "1.000e-09",
		bytesText(12): "12 B", bytesText(1536): "1.5 KiB", bytesText(3 << 30): "3.0 GiB", bytesText(5000 << 30): "5000.0 GiB",
		duration(1500 * time.Millisecond): "2 s", duration(200 * time.Second): "3 min 20 s", duration(2*time.Hour + 61*time.Second): "2 h 1 min",
		quote("a/b.csv"): "a/b.csv", quote("store*item"): "'store*item'", quote("it's"): `'it'\''s'`, quote(""): "''",
		rough(950): "950", rough(12_345): "12 k", rough(3.44e6): "3.4 M", rough(3e7): "30 M",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestParseCell(t *testing.T) {
	t.Parallel()
	cell, err := parseCell("store=2106,item=a,b,time=2016-12")
	if err != nil || cell["store"] != "2106" || cell["item"] != "a,b" || cell["time"] != "2016-12" || len(cell) != 3 {
		t.Errorf("%v, %v", cell, err)
	}
	for _, bad := range []string{"", "2106", "store=1,store=2"} {
		if _, err := parseCell(bad); exitCode(err) != exitUsage {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The comparison names each measure in which a baseline is better.
func TestComparison(t *testing.T) {
	t.Parallel()
	base := []kft.BaselineScores{{Name: "first", Test: kft.Score{N: 9, R2: 0.5, MAE: 3}}, {Name: "second", Test: kft.Score{N: 9, R2: 0.6, MAE: 2}}}
	for _, c := range []struct {
		model kft.Score
		says  []string
		not   []string
	}{
		{kft.Score{N: 9, R2: 0.7, MAE: 1}, []string{"beats both baselines"}, nil},
		{kft.Score{N: 9, R2: 0.55, MAE: 1}, []string{`"second" beats the model in R2 on test: 0.6000 against 0.5500`}, []string{"MAE", "both"}},
		{kft.Score{N: 9, R2: 0.7, MAE: 2.5}, []string{`"second" beats the model in MAE`}, []string{"in R2", "both"}},
		{kft.Score{N: 9, R2: 0.60004, MAE: 1}, []string{`no better than the baseline "second" in R2 on test: both have 0.6000`}, []string{"beats"}},
		{kft.Score{N: 9, R2: math.NaN(), MAE: 1}, []string{"beats both baselines on test, in MAE."}, []string{"R2"}},
		{kft.Score{N: 9, R2: -0.1, MAE: 5}, []string{"in R2", "in MAE", "below 0"}, []string{"both"}},
	} {
		var b strings.Builder
		part, score := lastPart(kft.Score{}, kft.Score{}, c.model)
		if won := writeComparison(&b, score, part, base); won != strings.Contains(b.String(), "beats both") {
			t.Errorf("%+v: won is %v, but the text is %q", c.model, won, b.String())
		}
		for _, s := range c.says {
			if !strings.Contains(b.String(), s) {
				t.Errorf("%+v: %q does not contain %q", c.model, b.String(), s)
			}
		}
		for _, s := range c.not {
			if strings.Contains(b.String(), s) {
				t.Errorf("%+v: %q contains %q", c.model, b.String(), s)
			}
		}
	}
}

// A comparison on rows that the fit has used has a caveat.
func TestComparisonCaveats(t *testing.T) {
	t.Parallel()
	better, worse := kft.Score{N: 9, R2: 0.9, MAE: 1}, kft.Score{N: 9, R2: 0.1, MAE: 2}
	base := []kft.BaselineScores{{Name: "mean", Train: worse, Valid: worse, Test: worse}, {Name: "mean", Train: worse, Valid: worse, Test: worse}}
	for part, says := range map[dataset.Part]string{
		dataset.Train: "The model beats the baseline on train, in R2 and in MAE. It was trained on these rows",
		dataset.Valid: "chosen on these rows",
		dataset.Test:  "The model beats the baseline on test, in R2 and in MAE.\n",
	} {
		var b strings.Builder
		writeComparison(&b, better, part, base)
		if !strings.Contains(b.String(), says) {
			t.Errorf("%v: %q", part, b.String())
		}
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		code int
	}{
		{errors.New("disk full"), exitFailed},
		{usagef("wrong"), exitUsage},
		{errors.Join(nil, usagef("wrong")), exitUsage},
		{spec.Problems{{Path: "seed", Message: "bad"}}, exitUsage},
	} {
		if got := exitCode(c.err); got != c.code {
			t.Errorf("%v: %d", c.err, got)
		}
	}
}

// A panic becomes one line with its location.
func TestPanicIsOneLine(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	func() {
		defer func() {
			if p := recover(); p != nil {
				complain(&b, errors.New(panicLocation()), nil)
			}
		}()
		panic("boom")
	}()
	if !strings.Contains(b.String(), "TestPanicIsOneLine") {
		t.Errorf("%q", b.String())
	}
}
