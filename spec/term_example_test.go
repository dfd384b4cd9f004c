package spec_test

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/spec"
)

func ExampleParseTerm() {
	term, err := spec.ParseTerm("store*item,time:30", []string{"store", "item", "time"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(term.Cores, term.Ranks)
	capped, notices := term.CapRanks([]int{350_000, 24})
	fmt.Println(capped)
	fmt.Println(notices[0])
	// Output:
	// [[store item] [time]] [30]
	// store*item,time:24
	// term store*item,time:30: the rank 30 between store*item and time is reduced to 24, the maximum that time allows
}
