package mpi

import (
	"math/bits"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// Placement tells how the ranks share the machine of this one.
type Placement struct {
	Ranks int // on this machine
	CPUs  int // that they may use together
	Own   int // that this one may use: fewer, if the launcher binds each rank to some
}

// Crowded reports whether there are more ranks than CPUs.
func (p Placement) Crowded() bool { return p.Ranks > p.CPUs }

// Threads returns the share of a rank of the threads that it would use alone.
func (p Placement) Threads(alone int) int { return max(1, alone*p.CPUs/(p.Own*p.Ranks)) }

// Place returns the placement of the ranks, given the number of CPUs of this process.
func Place(ranks backend.Ranks, host string, own int) Placement {
	return placement(ranks.Rank(), Texts(ranks, host), peers.Each(ranks, affinity()), own)
}

// cpuSet has a bit for each CPU.
type cpuSet [16]uint64

// placement returns the placement of a rank, given the hosts and the CPUs of all. CPUs that are not known are those of
// this process.
func placement(rank int, hosts []string, sets []cpuSet, own int) Placement {
	p := Placement{Own: own}
	var union cpuSet
	for r, host := range hosts {
		if host != hosts[rank] {
			continue
		}
		p.Ranks++
		for i, word := range sets[r] {
			union[i] |= word
		}
	}
	for i, word := range union {
		p.CPUs += bits.OnesCount64(word)
		own -= bits.OnesCount64(sets[rank][i])
	}
	if own != 0 || p.CPUs == 0 { // the set does not describe this process
		p.CPUs = p.Own
	}
	return p
}
