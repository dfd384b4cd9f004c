package search_test

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/search/tuning"
	"github.com/kernel-fried-tensor/kft/spec"
)

func ExampleSpace() {
	s := spec.Spec{
		Data:   spec.Data{Target: "units", Modes: []string{"store", "item", "time=year+month"}},
		Terms:  []string{"store,item,time:20", "store"},
		Order:  "auto",
		Search: spec.Search{"sweeps": {"10..40"}, "ridge": {"uniform", "frequency"}},
	}
	space, err := tuning.Space(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range space {
		fmt.Println(p.Name, p)
	}
	// Output:
	// rank.1 log-integer 5 80
	// order.1 choice "store,item,time" "store,time,item" "item,store,time"
	// sweeps log-integer 10 40
	// ridge choice "uniform" "frequency"
	// term.2 choice "use" "none"
}
