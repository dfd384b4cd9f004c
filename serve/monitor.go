package serve

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft"
)

// MonitorOptions configure the monitor of coverage. Zero values have defaults.
type MonitorOptions struct {
	Level  float64  // probability of the central interval that is watched; 0 means 0.9
	Window int      // outcomes of a group that its coverage is computed from; 0 means 1,000
	Least  int      // outcomes before a group can raise an alarm; 0 means 100
	Groups []string // modes whose ids are groups of their own
}

// alarmSigma is the number of standard errors that coverage or bias may be off. The
// monitor looks after every outcome, so it is larger than for a single look.
const alarmSigma = 4

// maxGroups limits the groups of a monitor; outcomes of others count for the whole only.
const maxGroups = 500

func (o MonitorOptions) filled() MonitorOptions {
	setDefault(&o.Level, 0.9)
	setDefault(&o.Window, 1000)
	setDefault(&o.Least, 100)
	return o
}

func (o MonitorOptions) check() error {
	switch {
	case !(o.Level > 0 && o.Level < 1):
		return errors.New("the level of the monitor is not between 0 and 1")
	case o.Window < 1 || o.Window > 1_000_000:
		return errors.New("the window of the monitor is not between 1 and 1,000,000 outcomes")
	case o.Least < 1 || o.Least > o.Window:
		return errors.New("the least number of outcomes for an alarm is not between 1 and the window")
	}
	return nil
}

// A monitor compares outcomes with the predictions of a model, in total and by group.
// For a calibrated model the share of outcomes inside of central intervals is their
// level, and the mean of the standardised residuals is 0.
type monitor struct {
	opt    MonitorOptions
	mutex  sync.Mutex
	groups map[string]*tally
	count  uint64 // outcomes so far, for the randomised PIT
}

// A tally holds the latest outcomes of a group, as a ring.
type tally struct {
	total  int64
	inside []bool
	score  []float32 // (value - mean)/sd
	value  []float32
	mean   []float32
	next   int // place of the next outcome
}

func newMonitor(opt MonitorOptions) *monitor {
	m := &monitor{opt: opt}
	m.reset()
	return m
}

// reset forgets all outcomes.
func (m *monitor) reset() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.groups = map[string]*tally{}
}

// An outcome is an observed value with what was predicted for its cell.
type outcome struct {
	cell       kft.Cell
	value      float64
	prediction *kft.Prediction
}

// add counts outcomes and returns the groups whose alarm began or ended.
func (m *monitor) add(outcomes []outcome) []change {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	before := m.alarms()
	for _, o := range outcomes {
		// The randomised PIT is uniform for a calibrated model even if the
		// distribution has atoms, where intervals would cover too much.
		pit := o.prediction.Distribution().PIT(o.value, 1, m.count)
		m.count++
		inside := math.Abs(pit-0.5) <= m.opt.Level/2
		for _, group := range m.groupsOf(o) {
			t := m.groups[group]
			if t == nil {
				if len(m.groups) >= maxGroups {
					continue
				}
				t = &tally{}
				m.groups[group] = t
			}
			t.add(m.opt.Window, inside, o.value, o.prediction)
		}
	}
	return changes(before, m.alarms())
}

const wholeGroup = "all"

// groupsOf names the groups of an outcome: the whole, how the ids are known, and the ids
// of the chosen modes.
func (m *monitor) groupsOf(o outcome) []string {
	known := "known ids"
	switch {
	case len(o.prediction.Unseen) > 0:
		known = "unseen ids"
	case len(o.prediction.FromSide) > 0:
		known = "ids from side information"
	}
	groups := []string{wholeGroup, known}
	for _, mode := range m.opt.Groups {
		if id, ok := o.cell[mode]; ok {
			groups = append(groups, mode+"="+id)
		}
	}
	return groups
}

// maxScore limits the effect of one outcome on the bias.
const maxScore = 1e6

func (t *tally) add(window int, inside bool, value float64, p *kft.Prediction) {
	score := 0.0
	if p.SD > 0 {
		score = max(-maxScore, min((value-p.Mean)/p.SD, maxScore))
	}
	t.total++
	if len(t.inside) < window {
		t.inside, t.score = append(t.inside, inside), append(t.score, float32(score))
		t.value, t.mean = append(t.value, float32(value)), append(t.mean, float32(p.Mean))
		return
	}
	t.inside[t.next], t.score[t.next] = inside, float32(score)
	t.value[t.next], t.mean[t.next] = float32(value), float32(p.Mean)
	t.next = (t.next + 1) % window
}

// A groupReport describes the outcomes of a group in the window.
type groupReport struct {
	Group    string  `json:"group"`
	Total    int64   `json:"total"`    // outcomes since the model was loaded
	Window   int     `json:"window"`   // outcomes that the other numbers are computed from
	Coverage float64 `json:"coverage"` // share inside of the interval
	Low      float64 `json:"low"`      // the band that the coverage should lie in
	High     float64 `json:"high"`
	Bias     float64 `json:"bias"`      // mean of (value - predicted mean)/sd
	BiasBand float64 `json:"bias_band"` // the bias should lie between -BiasBand and BiasBand
	Ratio    float64 `json:"ratio"`     // total of the values over total of the predicted means; 0 if the latter is 0
	Alarm    string  `json:"alarm"`     // "", coverage, bias, or coverage+bias
}

func (t *tally) report(group string, opt MonitorOptions) groupReport {
	n := len(t.inside)
	r := groupReport{Group: group, Total: t.total, Window: n}
	var inside int
	var score, square, value, mean float64
	for i := range n {
		if t.inside[i] {
			inside++
		}
		z := float64(t.score[i])
		score += z
		square += z * z
		value += float64(t.value[i])
		mean += float64(t.mean[i])
	}
	size := float64(n)
	r.Coverage = float64(inside) / size
	margin := alarmSigma * math.Sqrt(opt.Level*(1-opt.Level)/size)
	r.Low, r.High = max(opt.Level-margin, 0), min(opt.Level+margin, 1)
	r.Bias = score / size
	r.BiasBand = alarmSigma * math.Sqrt(max(square/size-r.Bias*r.Bias, 0)/size)
	if mean != 0 {
		r.Ratio = value / mean
	}
	if n >= opt.Least {
		if r.Coverage < r.Low || r.Coverage > r.High {
			r.Alarm = "coverage"
		}
		if math.Abs(r.Bias) > r.BiasBand {
			r.Alarm += "+bias"
		}
		if len(r.Alarm) > 0 && r.Alarm[0] == '+' {
			r.Alarm = r.Alarm[1:]
		}
	}
	return r
}

// report describes all groups: the whole first, then those with an alarm, then by size.
func (m *monitor) report() []groupReport {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	reports := []groupReport{}
	for group, t := range m.groups {
		reports = append(reports, t.report(group, m.opt))
	}
	slices.SortFunc(reports, func(a, b groupReport) int {
		return cmp.Or(compareBool(a.Group == wholeGroup, b.Group == wholeGroup), compareBool(a.Alarm != "", b.Alarm != ""),
			cmp.Compare(b.Total, a.Total), cmp.Compare(a.Group, b.Group))
	})
	return reports
}

// compareBool orders true before false.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// alarms returns the alarm of each group that has one. The mutex is held.
func (m *monitor) alarms() map[string]groupReport {
	all := map[string]groupReport{}
	for group, t := range m.groups {
		if r := t.report(group, m.opt); r.Alarm != "" {
			all[group] = r
		}
	}
	return all
}

// A change is an alarm that began or ended.
type change struct {
	began bool
	groupReport
}

func changes(before, after map[string]groupReport) []change {
	var all []change
	for group, r := range after {
		if before[group].Alarm != r.Alarm {
			all = append(all, change{true, r})
		}
	}
	for group, r := range before {
		if after[group].Alarm == "" {
			all = append(all, change{false, r})
		}
	}
	slices.SortFunc(all, func(a, b change) int { return cmp.Compare(a.Group, b.Group) })
	return all
}
