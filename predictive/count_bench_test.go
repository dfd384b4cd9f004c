package predictive

import (
	"testing"

	"github.com/kernel-fried-tensor/kft/likelihood"
)

// BenchmarkCountMoments measures the moments and three quantiles of counts.
func BenchmarkCountMoments(b *testing.B) {
	levels, quantiles := NewLevels([]float64{0.05, 0.5, 0.95}), make([]float64, 3)
	for name, counts := range map[string]CountDistribution{"poisson": likelihood.Poisson{}, "negative-binomial": likelihood.NegativeBinomial{Size: 2}} {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				d := CountMixture(counts, 0.5+0.02*float64(i%128), 0.05)
				d.MomentsAndQuantiles(quantiles, levels)
			}
		})
	}
}
