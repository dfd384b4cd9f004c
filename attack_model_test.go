package kft_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft"
)

// attackCount returns how many files an attack crafts: the full number with
// KFT_ATTACK=full, as in make attack.
func attackCount(small, full int) int {
	if os.Getenv("KFT_ATTACK") == "full" {
		return full
	}
	return small
}

// Limits of one crafted file.
const (
	attackSeconds = 5
	attackMemory  = 200 << 20 // bytes, besides ten times the file
)

// allocated returns the bytes that the process has allocated since it started.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// attackPriceTable returns a small table with covariates.
func attackPriceTable() string {
	var b strings.Builder
	b.WriteString("item,month,price,promo,y\n")
	for i := range 6 {
		for m := range 12 {
			if (i+m)%5 > 0 {
				fmt.Fprintf(&b, "i%d,%s,%d.%d,%s,%d\n", i, monthID(m), 1+(i*m)%7, m%4, []string{"a", "b", ""}[(i+2*m)%3], 10+i*m%9)
			}
		}
	}
	return b.String()
}

// attackModels returns the bytes of small valid models of many kinds, by name.
func attackModels(t testing.TB) map[string][]byte {
	t.Helper()
	s := newShop(t, 10, 12, nil)
	counts := s.write(t, "counts.csv", attackCountTable())
	posterior := func(spec *kft.Spec, inference string) {
		spec.Uncertainty.Inference = inference
		spec.Fit = kft.FitSpec{Sweeps: 3}
	}
	models := map[string][]byte{}
	add := func(name string, spec kft.Spec, change func(*kft.Spec)) {
		if change != nil {
			change(&spec)
		}
		m, _ := fit(t, spec, kft.Options{})
		models[name] = modelBytes(t, m)
	}
	add("plain", s.plainSpec(), nil)
	add("conformal by mean", s.plainSpec(), func(x *kft.Spec) { x.Uncertainty.Conformal = "group:mean"; x.Split = "random:30/60/10" })
	add("wlr, dual", s.spec("wlr", "dual"), nil)
	add("additive, primal, mean-field", s.spec("additive", "primal"), func(x *kft.Spec) { posterior(x, "mean-field"); x.Uncertainty.Noise = "power:store,store*item" })
	add("side, multivariate", s.spec("side", "dual"), func(x *kft.Spec) { posterior(x, "multivariate"); x.Uncertainty.Conformal = "split" })
	add("wlr, rff, entity-covariance", s.spec("wlr", "dual-rff"), func(x *kft.Spec) { posterior(x, "entity-covariance"); x.Side.Columns = 8 })
	add("joint cores and latent scaling", s.spec("wlr", "dual"), func(x *kft.Spec) {
		x.Terms = []string{"store,item,month:2", "store*item,month:1@additive", "store,item:2@ls:1:2"}
		posterior(x, "mean-field")
		x.Uncertainty.Noise = "power"
	})
	add("unwhitened", s.spec("wlr", "dual-unwhitened"), nil)
	add("entity-covariance, by store", s.plainSpec(), func(x *kft.Spec) {
		posterior(x, "entity-covariance")
		x.Uncertainty.Conformal, x.Uncertainty.Moments = "group:store", "paper"
	})
	add("groups, refit", s.spec("wlr", "dual"), func(x *kft.Spec) {
		x.Terms = []string{"store,item:2", "item.kind*month", "store.region,month:2"}
		x.Side.Tables[0], x.Fit.Refit = "store="+s.path("stores.csv")+":region:group", "all"
	})
	add("covariates and lags", kft.Spec{Version: 1}, func(x *kft.Spec) {
		x.Data = kft.DataSpec{Files: []string{s.write(t, "prices.csv", attackPriceTable())}, Target: "y", Modes: []string{"item", "month"},
			Covariates: []string{"number(price)", "promo"}, Lags: []string{"1"}, History: []string{"item"}}
		x.Terms, x.Split = []string{"item*price", "promo", "lag1", "item,periods:1"}, "time:last=2"
		posterior(x, "mean-field")
	})
	add("points", kft.Spec{Version: 1}, func(x *kft.Spec) {
		x.Data = kft.DataSpec{Files: []string{s.write(t, "points.csv", attackPriceTable())}, Target: "y", Modes: []string{"item", "month"},
			Covariates: []string{"number(price)", "level(promo)", "size=number(price)", "joint(price+size)"}}
		x.Terms = []string{"item", "promo", "joint"}
		posterior(x, "mean-field")
	})
	add("along time", s.plainSpec(), func(x *kft.Spec) {
		x.Terms = []string{"store", "item,along(month; walk, ar, season=3):2"}
		posterior(x, "mean-field")
	})
	add("pruned, power", s.plainSpec(), func(x *kft.Spec) {
		x.Transform, x.Terms = "power:0.4", []string{"store", "item", "month", "store,item,month:5"}
		posterior(x, "mean-field")
		x.Fit.Sweeps = 25
	})
	update := func(name string, spec kft.Spec, rows string) {
		posterior(&spec, "mean-field")
		m, _ := fit(t, spec, kft.Options{})
		m, _, err := m.Update(t.Context(), kft.Reader("rows", strings.NewReader(rows)), kft.TableOptions{}, kft.UpdateOptions{Late: true})
		if err != nil {
			t.Fatal(err)
		}
		models[name] = modelBytes(t, m)
	}
	updated := s.plainSpec()
	updated.Terms = []string{"store", "store,item:2", "store*item"}
	update("updated", updated, "store,item,month,units\nnew,i1,2,3\ns1,new,2,4\ns1,i1,2,5\n")
	curves := kft.Spec{Version: 1, Terms: []string{"item", "price", "item*price", "promo", "joint"}}
	curves.Data = kft.DataSpec{Files: []string{s.write(t, "curves.csv", attackPriceTable())}, Target: "y", Modes: []string{"item", "month"},
		Covariates: []string{"number(price)", "level(promo)", "size=number(price)", "joint(price+size)"}}
	update("updated curves", curves, "item,month,price,promo,y\nnew,2020-02,2.5,a,3\ni1,2020-02,77,c,4\ni2,2020-03,,,5\n")
	calendar := func(x *kft.Spec) {
		x.Data = kft.DataSpec{Files: []string{counts}, Target: "units", Modes: []string{"store", "item", "month=year+month"}}
		x.Transform, x.Side.Tables, x.Side.Variant = "identity", []string{"month=@year,@month:cycle12"}, "additive"
	}
	add("calendar", s.plainSpec(), calendar)
	add("negative binomial", s.plainSpec(), func(x *kft.Spec) {
		calendar(x)
		posterior(x, "mean-field")
		x.Uncertainty.Likelihood = "negative-binomial"
	})
	add("poisson", s.plainSpec(), func(x *kft.Spec) {
		calendar(x)
		posterior(x, "mean-field")
		x.Uncertainty.Likelihood, x.Side = "poisson", kft.SideSpec{}
	})
	add("series, by horizon, refit", s.plainSpec(), func(x *kft.Spec) {
		calendar(x)
		x.Side = kft.SideSpec{}
		posterior(x, "mean-field")
		x.Terms, x.Split, x.Fit.Refit = []string{"store,item:1", "series(store*item; month; walk, ar, scale)", "series(store; month; walk, trend, season=3)"}, "time:last=3", "all"
		x.Uncertainty.Conformal = "horizon"
	})
	add("series, point estimate", s.plainSpec(), func(x *kft.Spec) {
		calendar(x)
		x.Side = kft.SideSpec{}
		x.Terms = []string{"store", "series(item; month; ar, season=4)"}
	})
	target := func(column, likelihood string) func(x *kft.Spec) {
		return func(x *kft.Spec) {
			calendar(x)
			posterior(x, "mean-field")
			x.Data.Target, x.Side = column, kft.SideSpec{}
			x.Uncertainty.Likelihood = likelihood
		}
	}
	add("yes/no", s.plainSpec(), target("sold", "bernoulli"))
	add("ordered values", s.plainSpec(), target("stars", "ordinal"))
	add("outliers", s.plainSpec(), target("units", "student"))
	add("censored", s.plainSpec(), func(x *kft.Spec) {
		target("units", "gaussian")(x)
		x.Data.Censored = "sold"
	})
	add("zero-inflated", s.plainSpec(), target("units", "zero-inflated"))
	add("hurdle", s.plainSpec(), target("units", "hurdle"))
	add("two targets", s.plainSpec(), func(x *kft.Spec) {
		calendar(x)
		posterior(x, "mean-field")
		x.Side, x.Transform = kft.SideSpec{}, "log1p,power:0.5"
		x.Data.Target, x.Data.Modes = "units,year", []string{"store", "item", "month"}
		x.Data.Duplicates, x.Terms = "last", []string{"store*target", "item,target:1"}
	})
	return models
}

// attackCountTable returns a table of counts with the modes of the shop.
func attackCountTable() string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("store,item,year,month,units,sold,stars\n")
	for s := range 5 {
		for i := range 6 {
			for m := range 14 {
				units := rng.IntN(3 * (1 + s + i))
				fmt.Fprintf(&b, "s%d,i%d,%d,%d,%d,%d,%d\n", s, i, 2015+m/12, m%12+1, units, min(units/6, 1), 1+units%5)
			}
		}
	}
	return b.String()
}

// An attackResult is the outcome of one crafted file.
type attackResult struct{ refused bool }

// attackModel loads the bytes of a crafted model and uses all that predicts. It returns a
// problem, "" for none.
func attackModel(t testing.TB, data []byte) (result attackResult, problem string) {
	defer func() {
		if p := recover(); p != nil {
			problem = fmt.Sprintf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	before := allocated()
	m, err := kft.ReadModel(bytes.NewReader(data))
	if err != nil {
		var format *kft.FormatError
		switch {
		case !errors.As(err, &format):
			return result, fmt.Sprintf("error of type %T: %v", err, err)
		case strings.Contains(err.Error(), "cannot be decoded"):
			return result, "not validated: " + err.Error()
		case !strings.Contains(err.Error(), "not a valid model") && !strings.Contains(err.Error(), "not a model"):
			return result, "the message does not say that the model is invalid: " + err.Error()
		}
		result.refused = true
	} else {
		problem = useModel(t, m)
	}
	if used := allocated() - before; used > uint64(10*len(data)+attackMemory) && problem == "" {
		problem = fmt.Sprintf("%d MB allocated for a file of %d bytes", used>>20, len(data))
	}
	return result, problem
}

// useModel predicts with a model. It returns a problem for numbers that are wrong in
// themselves.
func useModel(t testing.TB, m *kft.Model) string {
	cells := []kft.Cell{{}, {}, {}, {}}
	table := "store,item,month,year,units\n"
	for c, cell := range cells {
		ids := []string{"s1", "i2", "3"}
		switch c {
		case 1:
			ids = []string{"s2", "i1", "2016-1"}
		case 2:
			ids = []string{"new", "i3", "2017-3"}
		case 3:
			ids = []string{"closed", "new", "new"}
		}
		for i, name := range []string{"store", "item", "month"} {
			cell[name] = ids[i]
		}
		table += fmt.Sprintf("%s,%s,%d,2015,%d\n", ids[0], ids[1], c+1, 3*c)
	}
	m.Terms()
	m.Uncertainty()
	m.HeldOut()
	m.Record()
	for i := range m.Modes() {
		m.IDs(i)
	}
	if p, err := m.Predict(t.Context(), cells); err == nil {
		for c, p := range p {
			low, high := p.Interval(0.9)
			for _, v := range []float64{p.Mean, p.Median, p.SD, p.SDModel, p.SDNoise, low, high} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Sprintf("cell %d: prediction %+v, interval %g to %g", c, p, low, high)
				}
			}
			if p.SD < 0 || low > high {
				return fmt.Sprintf("cell %d: sd %g, interval %g to %g", c, p.SD, low, high)
			}
		}
	}
	if draws, err := m.Samples(t.Context(), cells, 3); err == nil {
		for _, v := range slices.Concat(draws...) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Sprintf("draws %v", draws)
			}
		}
	}
	var out bytes.Buffer
	if _, err := m.PredictTable(t.Context(), kft.Reader("table", strings.NewReader(table)), &out, kft.TableOptions{Threads: 1, Quantiles: threeLevels(), Samples: 2}); err == nil {
		if text := strings.ToLower(out.String()); strings.Contains(text, "nan") || strings.Contains(text, "inf") || m.Targets() == nil && strings.Contains(text, ",,") {
			return "table with a missing number:\n" + out.String()
		}
	}
	if score, _, err := m.Evaluate(t.Context(), kft.Reader("table", strings.NewReader(table)), kft.TableOptions{Threads: 1}); err == nil {
		if v := score.RMSE; math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprintf("RMSE %g", v)
		}
	}
	out.Reset()
	if _, err := m.Forecast(t.Context(), &out, kft.ForecastOptions{Horizon: 2, Draws: 2, Threads: 1}); err == nil {
		if text := strings.ToLower(out.String()); strings.Contains(text, "nan") || strings.Contains(text, "inf") {
			return "forecasts with a missing number:\n" + out.String()
		}
	}
	if problem := explainModel(t, m, cells); problem != "" {
		return problem
	}
	if err := m.Save(os.DevNull); err != nil {
		return "a model that was read cannot be written: " + err.Error()
	}
	return ""
}

// explainModel explains a model and its predictions. It returns a problem for what JSON and
// pages cannot hold.
func explainModel(t testing.TB, m *kft.Model, cells []kft.Cell) string {
	if got, err := m.Explain(t.Context(), cells, kft.ExplainOptions{WhatIf: []kft.SideChange{{Mode: "item", Column: "kind", Value: "dry"}}}); err == nil {
		if _, err := json.Marshal(got); err != nil {
			return "explanations: " + err.Error()
		}
	}
	if got, err := m.ExplainModel(t.Context(), nil, kft.TableOptions{}); err == nil {
		if _, err := json.Marshal(got); err != nil {
			return "explanation of the model: " + err.Error()
		}
	}
	m.Report(t.Context(), io.Discard, kft.ReportOptions{}) // an error is allowed, a panic is not
	return ""
}

// TestAttackModels loads model files whose content was changed at random and whose
// checksum is right. None may crash, hang, take much memory or predict numbers that are
// not finite.
func TestAttackModels(t *testing.T) {
	valid := attackModels(t)
	names := slices.Sorted(maps.Keys(valid))
	for _, name := range names {
		if r, problem := attackModel(t, valid[name]); r.refused || problem != "" {
			t.Fatalf("%s: the unchanged model: refused %v, %s", name, r.refused, problem)
		}
	}
	refused, bad := 0, 0
	count := attackCount(600, 10_000)
	for i := range count {
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		name := names[i%len(names)]
		data, what := craft(t, valid[name], rng)
		watch := time.AfterFunc(attackSeconds*time.Second, func() { panic(fmt.Sprintf("model %d (%s: %s) takes more than %d s", i, name, what, attackSeconds)) })
		r, problem := attackModel(t, data)
		watch.Stop()
		if problem != "" {
			t.Errorf("model %d (%s: %s): %s", i, name, what, problem)
			if bad++; bad > 20 {
				t.FailNow()
			}
		}
		if r.refused {
			refused++
		}
	}
	t.Logf("attack on %-11s %6d files: %6d predict finite numbers, %6d refused, %d bad", "models", count, count-refused-bad, refused, bad)
}
