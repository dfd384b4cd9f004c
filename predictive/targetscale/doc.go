// Package targetscale holds the scales that a target can be modelled on.
//
// A [Transform] g maps the target to the modelling scale. A [Scale] also
// standardises it: solvers see (g(y) - Center) / Spread.
package targetscale
