package model

import (
	"encoding/json"
	"fmt"

	"github.com/kernel-fried-tensor/kft/history"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// Axes returns the axes of a core, given the modes and groups in its name. sizes, the
// numbers of ids, and groups are by mode; groups is nil without any, or nil for a mode
// without groups. It returns an error for a mode or a group that does not exist.
func Axes(core, modes []string, sizes []int, groups []*sideinfo.Groups) ([]entity.Axis, error) {
	axes := make([]entity.Axis, len(core))
	for i, name := range core {
		mode, column := spec.CutGroup(name, modes)
		if mode < 0 {
			return nil, fmt.Errorf("a core names the mode %q, which does not exist", name)
		}
		axes[i] = entity.Axis{Mode: mode, Size: sizes[mode]}
		if column == "" {
			continue
		}
		var c *sideinfo.GroupColumn
		if groups != nil {
			c = groups[mode].Column(column)
		}
		if c == nil {
			return nil, fmt.Errorf("a core names the groups %q, which do not exist", name)
		}
		axes[i].Size, axes[i].Group = len(c.Levels), c.Of
	}
	return axes, nil
}

// axesOf returns the axes of a core of the model.
func (m *Model) axesOf(c *tt.Core) []entity.Axis {
	axes, err := Axes(c.Modes, m.spec.ModeNames(), m.axisSizes(), m.groups)
	if err != nil {
		panic("model: " + err.Error()) // the core was built with them
	}
	if c.Along != nil {
		axes[0] = tt.StepAxis(axes[0].Mode, m.dicts[axes[0].Mode].Len())
	}
	return axes
}

// axisSizes returns the number of ids, by mode, that cores over ids are indexed by. Ids
// added to a mode for their groups alone have no weights of their own, so they do not
// count.
func (m *Model) axisSizes() []int {
	sizes := make([]int, len(m.dicts))
	for mode, d := range m.dicts {
		sizes[mode] = d.Len()
		if m.side[mode] == nil && (m.groupsOf(mode) != nil || m.lines != nil && m.lines[mode] != nil) {
			sizes[mode] = len(m.rows[mode])
		}
	}
	return sizes
}

// groupsOf returns the groups of a mode, nil if it has none.
func (m *Model) groupsOf(mode int) *sideinfo.Groups {
	if m.groups == nil {
		return nil
	}
	return m.groups[mode]
}

// GroupColumn returns the groups of a mode by a column that terms use, nil if there is none.
func (m *Model) GroupColumn(mode int, column string) *sideinfo.GroupColumn {
	if g := m.groupsOf(mode); g != nil {
		return g.Column(column)
	}
	return nil
}

// GroupNames returns the groups of all modes that terms use, as in item.vendor.
func (m *Model) GroupNames() []string {
	var names []string
	for mode := range m.modes {
		if g := m.groupsOf(mode); g != nil {
			for _, column := range g.Names() {
				names = append(names, m.modes[mode].Name+"."+column)
			}
		}
	}
	return names
}

// findGrouped finds the ids that belong to a group with training data, by mode and
// code. trained reports, for each axis of groups, which groups have training data. The
// groups of a mode whose own ids no term uses are all that is known of its ids, so those
// with training rows count as trained.
func (m *Model) findGrouped(trained map[*sideinfo.GroupColumn][]bool) {
	m.grouped = make([][]bool, len(m.modes))
	for mode := range m.modes {
		g := m.groupsOf(mode)
		if g == nil {
			continue
		}
		m.grouped[mode] = make([]bool, m.dicts[mode].Len())
		for k := range g.Columns {
			c := &g.Columns[k]
			for code, group := range c.Of {
				if group >= 0 && trained[c] != nil && trained[c][group] {
					m.grouped[mode][code] = true
				}
			}
		}
		if m.trained[mode] == nil {
			m.trained[mode] = make([]bool, m.dicts[mode].Len())
			for code, rows := range m.rows[mode] {
				m.trained[mode][code] = rows > 0
			}
		}
	}
}

// groupsMeta describes the groups of a mode in a model file.
type groupsMeta struct {
	Table   sideinfo.Spec `json:"table"`
	Columns []string      `json:"columns"`
}

// groupTensors returns the groups of a mode as text and tensors.
func groupTensors(mode string, g *sideinfo.Groups) (string, []modelfile.Tensor, error) {
	text, err := json.Marshal(groupsMeta{g.Table, g.Names()})
	if err != nil {
		return "", nil, fmt.Errorf("encoding the groups of the model: %w", err)
	}
	var tensors []modelfile.Tensor
	for k, c := range g.Columns {
		tensors = append(tensors, levelTensors(groupFolder(mode, k), c.Levels, c.Of)...)
	}
	return string(text), tensors, nil
}

// levelTensors returns the levels of a column, and the level of each id.
func levelTensors(folder string, levels []string, of []int32) []modelfile.Tensor {
	return append(modelfile.StringTensors(folder+"levels", levels), modelfile.NewTensor(folder+"of", of, len(of)))
}

// levels reads what levelTensors returns.
func (d *decoder) levels(folder string) (levels []string, of []int32, err error) {
	if levels, err = d.f.Strings(folder + "levels"); err == nil {
		of, err = modelfile.Values[int32](d.f, folder+"of", -1)
	}
	return levels, of, err
}

func groupFolder(mode string, column int) string { return fmt.Sprintf("groups/%s/%d/", mode, column) }

// groups reads the groups of a mode with that many ids, nil if it has none.
func (d *decoder) groups(mode string, ids int) (*sideinfo.Groups, error) {
	if _, has := d.f.Meta["groups/"+mode]; !has {
		return nil, nil
	}
	var meta groupsMeta
	if err := d.get("groups/"+mode, &meta); err != nil {
		return nil, err
	}
	g := &sideinfo.Groups{Table: meta.Table}
	for k, name := range meta.Columns {
		levels, of, err := d.levels(groupFolder(mode, k))
		if err != nil {
			return nil, err
		}
		g.Columns = append(g.Columns, sideinfo.GroupColumn{Name: name, Levels: levels, Of: of})
	}
	return g, checkModeGroups(mode, ids, g)
}

// operatorsOf returns the operators of the axes of a core, nil without side information.
func (m *Model) operatorsOf(axes []entity.Axis) []regression.Operator {
	return history.Operators(axes, m.modes, func(mode int) regression.Operator {
		if m.side[mode] == nil {
			return nil
		}
		return m.side[mode].Operator
	})
}
