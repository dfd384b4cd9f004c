package entity

// An Axis is what one mode of a core is indexed by: the ids of a mode, or groups of
// its ids. A core over groups has one slice per group, which all ids of the group
// share.
type Axis struct {
	Mode  int     // column of codes
	Size  int     // number of ids, or of groups
	Group []int32 // by code of the mode: its group, Unknown for none; nil for the ids themselves
}

// Axes returns the axes of the ids of modes. sizes[m] is the number of codes of mode m.
func Axes(modes, sizes []int) []Axis {
	axes := make([]Axis, len(modes))
	for i, m := range modes {
		axes[i] = Axis{Mode: m, Size: sizes[m]}
	}
	return axes
}

// OnlyGroups returns the code of an id that has no weights of its own, although it
// may belong to groups that have: negative, so that cores over ids take it for unknown,
// while cores over groups still find its group. [CodeOf] is its inverse.
func OnlyGroups(code int32) int32 { return Unknown - 1 - code }

// CodeOf returns the code of an id in its dictionary, given that code or the result
// of [OnlyGroups] for it.
func CodeOf(code int32) int32 {
	if code < Unknown {
		return Unknown - 1 - code
	}
	return code
}

// Of returns the code of an axis for the code of an id, negative if it is unknown.
func (a *Axis) Of(code int32) int32 {
	if a.Group == nil {
		return code
	}
	if code = CodeOf(code); code < 0 || int(code) >= len(a.Group) {
		return Unknown
	}
	return a.Group[code]
}
