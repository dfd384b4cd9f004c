# Summarises a Go coverage profile: statements and the covered share, per package and in total.
# A block appears once per test binary that includes it. It is covered if any of them ran it.
NR > 1 {
	statements[$1] = $2
	if ($3 > 0) covered[$1] = 1
}
END {
	for (block in statements) {
		package = block
		sub(/\/[^\/]*$/, "", package)
		n[package] += statements[block]
		all += statements[block]
		if (block in covered) {
			hit[package] += statements[block]
			hits += statements[block]
		}
	}
	for (package in n) printf "%-60s %6d statements  %5.1f %%\n", package, n[package], 100 * hit[package] / n[package]
	if (all > 0) printf "%-60s %6d statements  %5.1f %%\n", "total", all, 100 * hits / all
}
