package panel

import "slices"

// Only returns the series with one code of a mode that distinguishes series, without that
// mode. It is nil if there are none, and the panel itself if the mode distinguishes none.
func (p *Panel) Only(mode int, code int32) *Panel {
	if p == nil {
		return nil
	}
	at := slices.Index(p.Keys, mode)
	if at < 0 {
		return p
	}
	out := *p
	out.Keys = slices.Delete(slices.Clone(p.Keys), at, at+1)
	var keep []int
	for i, c := range p.Codes[at] {
		if c == code {
			keep = append(keep, i)
		}
	}
	if len(keep) == 0 {
		return nil
	}
	out.allocate(nil, len(keep))
	for i, from := range keep {
		out.First[i], out.Last[i], out.Rows[i], out.Mean[i] = p.First[from], p.Last[from], p.Rows[from], p.Mean[from]
		k := 0
		for key := range p.Keys {
			if key != at {
				out.Codes[k][i] = p.Codes[key][from]
				k++
			}
		}
	}
	return &out
}
