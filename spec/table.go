package spec

import "github.com/kernel-fried-tensor/kft/dataset"

// Table returns the columns of the table and its format.
func (d Data) Table() (dataset.Schema, dataset.Format, error) {
	schema := dataset.Schema{Target: d.Target, Weight: d.Weight, Duplicates: d.Duplicates}
	var format dataset.Format
	for _, text := range d.Modes {
		mode, err := dataset.ParseMode(text)
		if err != nil {
			return schema, format, err
		}
		schema.Modes = append(schema.Modes, mode)
	}
	var err error
	if format.Delimiter, err = dataset.ParseDelimiter(d.Delimiter); err != nil {
		return schema, format, err
	}
	format.Header, err = dataset.ParseHeader(d.Header)
	return schema, format, err
}
