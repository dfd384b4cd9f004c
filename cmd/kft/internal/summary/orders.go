package summary

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
)

// writeOrders lists the orders of cores that were tried, one line per term, the chosen
// one first.
func writeOrders(b *strings.Builder, orders []kft.OrderChoice) {
	for len(orders) > 0 {
		n := 1
		for n < len(orders) && orders[n].Term == orders[0].Term {
			n++
		}
		var chosen string
		var others []string
		for _, c := range orders[:n] {
			text := c.Order + " diverged"
			if c.CRPS != nil {
				text = c.Order + " " + textformat.Amount(*c.CRPS)
			}
			if c.Taken {
				chosen = text
			} else {
				others = append(others, text)
			}
		}
		fmt.Fprintf(b, "Order chosen by CRPS of short fits: %s; others: %s\n", chosen, strings.Join(others, ", "))
		orders = orders[n:]
	}
}
