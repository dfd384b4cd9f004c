package solver

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// memoryCheckpointer keeps all saved states.
type memoryCheckpointer struct{ states []State }

func (m *memoryCheckpointer) Save(s *State) error {
	m.states = append(m.states, cloneState(*s))
	return nil
}

func cloneState(s State) State {
	s.Trials = slices.Clone(s.Trials)
	for _, r := range []*Run{&s.Run, &s.Leader} {
		r.Points, r.Weights, r.Best = slices.Clone(r.Points), slices.Clone(r.Weights), slices.Clone(r.Best)
		memory := make([][]float32, len(r.Memory))
		for i := range memory {
			memory[i] = slices.Clone(r.Memory[i])
		}
		r.Memory = memory
	}
	return s
}

// Resuming from the state before any block gives identical bits.
func TestResumeFromEveryBlock(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*Options){
		"als": func(*Options) {},
		"als search": func(o *Options) {
			o.Ridge, o.PenaltySearch = nil, PenaltySearch{Kinds: []RidgeKind{Frequency, Uniform}}
		},
		"adam joint": func(o *Options) { o.Solver = "adam" },
		"adam block": func(o *Options) { o.Solver, o.Schedule = "adam", Blocks },
	} {
		t.Run(name, func(t *testing.T) {
			w := sumOfTerms
			w.cells = 1200
			opt := defaults()
			opt.Sweeps = 6
			set(&opt)
			checkResume(t, opt, 6, 15, func() *Problem { return w.problem(t, 5, true) })
		})
	}
}

// checkResume runs the problem, which must save at least the given number of states,
// and resumes it from about as many of them as resumes says. Every resumed run must
// end with the bits of the whole run, whose report is returned. problem returns the
// same problem with a new field every time.
func checkResume(t *testing.T, opt Options, least, resumes int, problem func() *Problem) Report {
	t.Helper()
	learned := func(p *Problem) []float32 {
		values := flatten(1, nil, p.Field)
		for _, k := range p.Kernels {
			for _, v := range k.Operator.Theta() {
				values = append(values, float32(v))
			}
		}
		return values
	}
	saved := &memoryCheckpointer{}
	opt.Checkpointer = saved
	p := problem()
	whole, want := solve(t, p, opt), learned(p)
	if len(saved.states) < least {
		t.Fatalf("got %d saved states, want at least %d", len(saved.states), least)
	}
	opt.Checkpointer = nil
	for i := 0; i < len(saved.states); i += 1 + len(saved.states)/resumes {
		if i+1+len(saved.states)/resumes >= len(saved.states) {
			i = len(saved.states) - 1 // the state of a run that is done
		}
		state := cloneState(saved.states[i])
		opt.Resume = &state
		p := problem()
		r := solve(t, p, opt)
		if !slices.Equal(learned(p), want) {
			t.Fatalf("resumed from state %d of %d: got other weights than the whole run", i, len(saved.states))
		}
		if r.Stop != whole.Stop || r.Score != whole.Score || r.Ridge != whole.Ridge || r.Noise != whole.Noise || r.Law != whole.Law || r.Best != whole.Best ||
			!slices.Equal(r.Points, whole.Points) || !slices.Equal(r.Trials, whole.Trials) {
			t.Fatalf("resumed from state %d of %d: got report %+v, want %+v", i, len(saved.states), r, whole)
		}
	}
	return whole
}

// failingCheckpointer fails at its second save.
type failingCheckpointer struct{ saves int }

func (f *failingCheckpointer) Save(*State) error {
	if f.saves++; f.saves == 2 {
		return errors.New("disk full")
	}
	return nil
}

// A checkpoint that cannot be written ends the fit, also during the penalty search.
func TestFailingCheckpointer(t *testing.T) {
	t.Parallel()
	p := threeCores.problem(t, 5, false)
	opt := defaults()
	opt.Ridge, opt.PenaltySearch = nil, PenaltySearch{Kinds: []RidgeKind{Frequency}}
	opt.Checkpointer = &failingCheckpointer{}
	if _, err := Solve(t.Context(), p, opt); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("got error %v, want the error of the save", err)
	}
}
