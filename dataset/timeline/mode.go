package timeline

import "github.com/kernel-fried-tensor/kft/dataset"

// ModeOf returns the position of the mode of time: the one called time, or else the last
// whose ids are dates or periods by [dataset.Mode.IsTime]. It is -1 if there is none.
func ModeOf(modes []dataset.Mode, ids func(mode int) []string) int {
	found := -1
	for m := range modes {
		if !modes[m].Covariate() && modes[m].IsTime(ids(m)) && (found < 0 || modes[found].Name != "time") {
			found = m
		}
	}
	return found
}

// ModeAlong is ModeOf for a user who asks for a time: if no mode is one by its name or its
// ids, it is the last that [dataset.Mode.Runs].
func ModeAlong(modes []dataset.Mode, ids func(mode int) []string) int {
	if m := ModeOf(modes, ids); m >= 0 {
		return m
	}
	for m := len(modes) - 1; m >= 0; m-- {
		if modes[m].Runs(ids(m)) {
			return m
		}
	}
	return -1
}
