package tableio

import (
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/columnar"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
)

// typedLayout returns the layout that a typed table has when it is written as text.
func (p *pipeline) typedLayout(t columnar.Table) *delimited.Layout {
	format := p.format.text()
	format.Header = delimited.HeaderYes
	if p.outDelimiter != 0 {
		format.Delimiter = p.outDelimiter
	}
	if format.Delimiter == 0 {
		format.Delimiter = ','
	}
	format.Long = ""
	l := &delimited.Layout{Format: format, Names: t.Names(), LineEnd: "\n"}
	l.Header = fieldtext.AppendRecord(nil, len(l.Names), format.Delimiter, func(c int) []byte { return []byte(l.Names[c]) })
	return l
}

// typedColumns lists the columns to read.
func (p *pipeline) typedColumns(at dataset.Positions, n int) []int {
	wanted := make([]bool, n)
	for i := range wanted {
		wanted[i] = p.allColumns
	}
	for _, columns := range at.Modes {
		for _, i := range columns {
			wanted[i] = true
		}
	}
	for _, i := range []int{at.Target, at.Weight, at.Exposure, at.Censored, at.Part} {
		if i >= 0 {
			wanted[i] = true
		}
	}
	var list []int
	for i, isWanted := range wanted {
		if isWanted {
			list = append(list, i)
		}
	}
	return list
}
