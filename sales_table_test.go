package kft_test

import (
	"github.com/kernel-fried-tensor/kft"
)

// salesSpec describes a model of the table that testtable.WriteSales writes.
func salesSpec(table string) kft.Spec {
	return kft.Spec{
		Version:   1,
		Data:      kft.DataSpec{Files: []string{table}, Target: "units", Modes: []string{"store", "item", "time=year+month"}},
		Transform: "log1p",
		Terms:     []string{"store,item,time:4", "store*item,time:1"},
		Fit:       kft.FitSpec{Sweeps: 12},
	}
}
