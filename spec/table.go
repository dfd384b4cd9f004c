package spec

import (
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// Table returns the columns of the table and its format.
func (d Data) Table() (dataset.Schema, tableio.Format, error) {
	schema := dataset.Schema{Target: d.Target, Weight: d.Weight, Duplicates: d.Duplicates}
	var format tableio.Format
	for _, text := range d.Modes {
		mode, err := dataset.ParseMode(text)
		if err != nil {
			return schema, format, err
		}
		schema.Modes = append(schema.Modes, mode)
	}
	var err error
	if format.Delimiter, err = delimited.ParseDelimiter(d.Delimiter); err != nil {
		return schema, format, err
	}
	format.Header, err = delimited.ParseHeader(d.Header)
	return schema, format, err
}
