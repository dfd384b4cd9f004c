package main

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// checkFlags returns an error for a number or a time outside the range of its flag, which
// has the tags from and to, or above and below if the ends do not belong to it; and for a
// file whose ending is not among those of the tag endings.
func checkFlags(call *kong.Context) error {
	for _, f := range call.Flags() {
		value := f.Target
		if value.Kind() == reflect.Pointer {
			value = value.Elem()
		}
		if !f.Set || !value.IsValid() {
			continue
		}
		if err := checkEnding(f.Name, value, f.Tag.Get("endings")); err != nil {
			return err
		}
		for _, end := range []struct {
			tag    string
			inside func(v, end float64) bool
		}{
			{"from", func(v, end float64) bool { return v >= end }},
			{"above", func(v, end float64) bool { return v > end }},
			{"to", func(v, end float64) bool { return v <= end }},
			{"below", func(v, end float64) bool { return v < end }},
		} {
			if text := f.Tag.Get(end.tag); text != "" && !end.inside(asNumber(value), rangeEnd(text)) {
				return usagef("--%s: %v is out of range; use %s", f.Name, value.Interface(), describeRange(f.Tag))
			}
		}
	}
	return nil
}

// checkEnding returns an error for a file with an ending that says something else than the
// file will contain. A file without an ending may be a device.
func checkEnding(flag string, value reflect.Value, endings string) error {
	if endings == "" {
		return nil
	}
	file := value.String()
	if file == "-" {
		return usagef("--%s: standard output is not possible here; use the name of a file", flag)
	}
	if ending := strings.ToLower(filepath.Ext(file)); ending != "" && !slices.Contains(strings.Split(endings, ","), ending) {
		return usagef("--%s: %s has an unknown ending; use %s", flag, file, strings.ReplaceAll(endings, ",", ", "))
	}
	return nil
}

// rangeEnd reads a number or a time in a tag.
func rangeEnd(text string) float64 {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		panic("kft: " + err.Error()) // the grammar itself is wrong
	}
	return float64(d)
}

// asNumber returns the value of a flag.
func asNumber(v reflect.Value) float64 {
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	}
	return v.Float()
}

func describeRange(tag *kong.Tag) string {
	from, above, to, below := tag.Get("from"), tag.Get("above"), tag.Get("to"), tag.Get("below")
	text := ""
	switch {
	case from != "" && to != "":
		return fmt.Sprintf("%s to %s", from, to)
	case from != "" && below == "":
		return from + " or more"
	case from != "":
		text = from + " or more and "
	case above != "" && below == "" && to == "":
		return "a value above " + above
	case above != "":
		text = "a value above " + above + " and "
	}
	if below != "" {
		return text + "below " + below
	}
	return text + "at most " + to
}
