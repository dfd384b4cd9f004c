// Package dynamics implements a prior along time for the slices of a core: a dynamic
// factor model. Each entry k of the slices G(t) is a Gaussian process along time,
//
//	G_k(t) = level + walk + ar + season,
//
// a series in the sense of package series with parameters of its own. Steps without data
// are states like the others, so that slices of future steps are forecasts.
//
// Given the other cores, the data of a slice are a vector g_t and a matrix H_t with
//
//	log p(y | G) = sum_t (g_t'G(t) - G(t)'H_t G(t) / 2) / s2 + const.
//
// The posterior is a product over entries, each exact along time: entry k has one site
// per step, of precision H_t[k,k]/s2 and value G_k + (g_t - H_t G)_k / H_t[k,k] at the
// means G of the others. Its mean is that of the joint posterior once the entries have
// been visited often enough; its variances are those given the other entries, as in a
// mean-field posterior. An update costs O(rounds T K (d^2 + K)) for T steps, K entries
// and d states.
package dynamics
