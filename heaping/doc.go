// Package heaping models whole numbers that prefer some values, as sales by the case do:
// 6, 12 and 24 bottles are sold more often than a smooth distribution says, and 13 hardly
// ever. Statistics calls such values heaped.
//
// A [Table] changes the probability p(k) that the smooth predictive distribution of a row
// gives the whole number k, k = 0 to 255, to
//
//	q(k) = p(k) a(k) a_1(k) ... a_m(k) b(k) / constant,
//
// with a factor of all rows, one of each mode, such as the item and the store, and one of
// the finest combination of modes, the pair. Larger numbers keep their shape. The factors
// compare how often a value occurs with how often the distributions before them expect it:
//
//	a(k) = (N(k) + c) / (E(k) + c),    E(k) = sum of q(k) over training rows so far,
//
// and the factor of a pair, which has few rows, compares with the row itself,
//
//	b(k) = (N(k) + c) / (n q(k) + c),
//
// so that with n rows q goes from the other factors to the pair's own frequencies. The
// strength c of every factor maximises the probability of sampled training rows, each
// without its own part in N, E and n. A factor that gains too little is left out.
//
// Rows that the factors were not learned from correct the levels F(k) = sum of q up to k: a level p
// becomes the share of these rows with a level of at most p. They also determine which part of the
// value at the end of an interval is inside ([Table.WithBorder]).
//
// Learning costs one smooth distribution over cells, some 50 values of its CDF, per row and
// mode, for at most 500,000 rows; applying it costs one per row.
package heaping
