package spec

import "math"

// A Fit specifies how the weights are found. Fields of solvers other than Solver have no
// effect.
type Fit struct {
	Solver       string  `yaml:"solver" json:"solver" doc:"als or adam for a point estimate, cavi or adam for a posterior"`
	Ridge        string  `yaml:"ridge" json:"ridge" doc:"penalty: uniform, frequency, paper or auto (by validation)"`
	Lambda       Lambda  `yaml:"lambda" json:"lambda" doc:"weight of the penalty, 0 or more, 0.1,item=0.02 for one per core, or auto (by validation)"`
	Sweeps       int     `yaml:"sweeps" json:"sweeps" doc:"als, cavi: maximum number of sweeps over all cores"`
	Patience     int     `yaml:"patience" json:"patience" doc:"sweeps or epochs without improvement on the validation set before stopping"`
	CGSteps      int     `yaml:"cg-steps" json:"cg-steps" doc:"als, cavi: conjugate gradient steps per inner core"`
	Prune        string  `yaml:"prune" json:"prune" doc:"cavi: yes removes components and terms that the data does not support; no keeps all"`
	LearningRate float64 `yaml:"learning-rate" json:"learning-rate" doc:"adam: step size"`
	Batch        float64 `yaml:"batch" json:"batch" doc:"adam: share of the training data per step, 0.01 to 1"`
	Epochs       int     `yaml:"epochs" json:"epochs" doc:"adam: maximum number of passes over the data"`
	Effort       string  `yaml:"effort" json:"effort" doc:"time spent on automatic choices: quick, normal or thorough"`
	Schedule     string  `yaml:"schedule" json:"schedule" doc:"adam: joint (all cores per step) or block (one core after the other)"`
	Refit        string  `yaml:"refit" json:"refit" doc:"train again after choosing: auto, none, valid (training and validation set) or all (every row, after measuring)"`
}

// Values of fit.refit.
const (
	RefitNone  = "none"
	RefitValid = "valid" // the training and the validation set; the test set is measured afterwards
	RefitAll   = "all"   // all rows; the scores are those measured before
)

// Efforts returns the values of fit.effort.
func Efforts() []string { return []string{"quick", "normal", "thorough"} }

func (f *Fit) fill(d Fit) {
	fill(&f.Solver, d.Solver)
	fill(&f.Ridge, d.Ridge)
	fill(&f.Sweeps, d.Sweeps)
	fill(&f.Patience, d.Patience)
	fill(&f.CGSteps, d.CGSteps)
	fill(&f.Prune, d.Prune)
	f.Prune = yesNo(f.Prune)
	fill(&f.LearningRate, d.LearningRate)
	fill(&f.Batch, d.Batch)
	fill(&f.Epochs, d.Epochs)
	fill(&f.Schedule, d.Schedule)
	fill(&f.Effort, d.Effort)
	fill(&f.Refit, d.Refit)
}

func (f Fit) validate(ps *Problems) {
	oneOf(ps, "fit.solver", f.Solver, "als", "adam", "cavi")
	oneOf(ps, "fit.ridge", f.Ridge, "auto", "uniform", "frequency", "paper")
	for _, c := range []struct {
		path  string
		value int
	}{
		{"fit.sweeps", f.Sweeps}, {"fit.patience", f.Patience}, {"fit.cg-steps", f.CGSteps}, {"fit.epochs", f.Epochs},
	} {
		if c.value < 1 {
			ps.Addf(c.path, "%d must be 1 or more", c.value)
		}
	}
	if !(f.LearningRate > 0) || math.IsInf(f.LearningRate, 1) {
		ps.Addf("fit.learning-rate", "%v is not a number above 0", f.LearningRate)
	}
	if !(f.Batch >= 0.01 && f.Batch <= 1) {
		ps.Addf("fit.batch", "%v is not a share from 0.01 to 1", f.Batch)
	}
	oneOf(ps, "fit.prune", f.Prune, "yes", "no")
	oneOf(ps, "fit.schedule", f.Schedule, "joint", "block")
	oneOf(ps, "fit.effort", f.Effort, Efforts()...)
	oneOf(ps, "fit.refit", f.Refit, Auto, RefitNone, RefitValid, RefitAll)
}

// yesNo returns the spelling of a YAML boolean, and any other text as it is.
func yesNo(text string) string {
	switch text {
	case "true":
		return "yes"
	case "false":
		return "no"
	}
	return text
}
