package summary

import (
	"math"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/metrics"
)

func TestWriteBias(t *testing.T) {
	t.Parallel()
	nan := metrics.Number(math.NaN())
	for _, c := range []struct {
		score kft.Score
		means *kft.MeansInfo
		want  string
	}{
		{kft.Score{Bias: math.NaN(), MeanError: math.NaN()}, nil, ""},
		{kft.Score{Bias: .9981, MeanError: -.1}, nil, "Bias on test: predicted / actual total 0.998\n"},
		{kft.Score{N: 5, Bias: 1.02, BiasByDecile: []metrics.DecileBias{{N: 5, Ratio: 1.02}}}, nil, "Bias on test: predicted / actual total 1.020\n"},
		{kft.Score{N: 300, Bias: 1.02, BiasByDecile: []metrics.DecileBias{{N: 3, Ratio: .994}, {Ratio: nan}, {N: 2, Ratio: 1.1}}}, &kft.MeansInfo{Kind: "factor", Least: .8612, Most: 1.079},
			"Bias on test: predicted / actual total 1.020; by decile of the prediction 0.99 - 1.10; means corrected by factors of 0.861 to 1.08\n"},
		{kft.Score{N: 300, Bias: 1.5, BiasByDecile: []metrics.DecileBias{{N: 30, Ratio: nan}, {N: 30, Ratio: metrics.Number(math.Inf(1))}, {N: 30, Ratio: 2}}}, nil,
			"Bias on test: predicted / actual total 1.500; by decile of the prediction - - 2.00\n"},
		{kft.Score{N: 300, Bias: math.NaN(), MeanError: .5, BiasByDecile: []metrics.DecileBias{{N: 3, Predicted: 2, Actual: 1, Ratio: nan}}}, &kft.MeansInfo{Kind: "shift", Least: -.5, Most: .25},
			"Bias on test: mean of predicted - actual 0.500; by decile of the prediction 1.000; means corrected by -0.5 to 0.25\n"},
	} {
		var b strings.Builder
		WriteBias(&b, " on test", c.score, c.means)
		if b.String() != c.want {
			t.Errorf("got %q, want %q", b.String(), c.want)
		}
	}
}
