package spec

import (
	"slices"
	"strings"
)

// NoiseByPower reports whether the noise grows with a power of the mean.
func (u Uncertainty) NoiseByPower() bool {
	return u.Noise == "power" || strings.HasPrefix(u.Noise, "power:")
}

// NoiseFactors returns the modes, or combinations of modes, whose entities have their own
// factor of the noise variance, as in entity:store,item or power:store*item. It is nil if
// the noise does not depend on entities.
func (u Uncertainty) NoiseFactors() [][]string {
	_, list, found := strings.Cut(u.Noise, ":")
	if !found {
		return nil
	}
	var factors [][]string
	for _, f := range strings.Split(list, ",") {
		factors = append(factors, strings.Split(f, "*"))
	}
	return factors
}

// MaxNoiseFactors is the largest number of factors: more of them explain each other's.
const MaxNoiseFactors = 4

// validateNoise reports a noise that does not exist, and whether it does.
func (u Uncertainty) validateNoise(ps *Problems, modes []string) (known bool) {
	const path = "uncertainty.noise"
	kind, _, _ := strings.Cut(u.Noise, ":")
	factors := u.NoiseFactors()
	if factors == nil || kind != "entity" && kind != "power" {
		return oneOf(ps, path, u.Noise, "constant", "entity:MODE", "power", "power:MODE", Auto)
	}
	if len(factors) > MaxNoiseFactors {
		ps.Addf(path, "%d factors; noise can depend on %d at most", len(factors), MaxNoiseFactors)
	}
	for i, f := range factors {
		for k, m := range f {
			knownMode(ps, path, m, modes)
			if slices.Contains(f[:k], m) {
				ps.Addf(path, "mode %q appears twice in %s", m, strings.Join(f, "*"))
			}
		}
		same := func(g []string) bool {
			return slices.Equal(slices.Sorted(slices.Values(f)), slices.Sorted(slices.Values(g)))
		}
		if slices.ContainsFunc(factors[:i], same) {
			ps.Addf(path, "%q appears twice", strings.Join(f, "*"))
		}
	}
	return true
}
