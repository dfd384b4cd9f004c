package tableio

import (
	"encoding/binary"
	"hash"
	"hash/fnv"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// joinIDs adds the ids of all processes to a dictionary, in their order, and returns the codes of
// those of this one. Most ids are those of several processes: each looks for the first place of a
// share of all ids, chosen by a hash, so that every process adds each id once and compares few.
func joinIDs(group peers.Group, all, own *dataset.Dict) []int32 {
	size := group.Size()
	order, sent := byShare(own.IDs(), size)
	var text []byte
	starts := make([]int, size+1)
	for r := range size {
		for _, k := range order[sent[r]:sent[r+1]] {
			text = appendID(text, own.ID(k))
		}
		starts[r+1] = len(text)
	}
	taken := peers.Taken(group, starts)
	asked := make([]byte, taken[size])
	peers.Pass(group, asked, text, starts, taken)
	// By sender and place: the number of the same id among the different ones of the share, and whether it is the first.
	var number []int32
	var first []bool
	different, received := dataset.NewDict(nil), make([]int, size+1)
	for r := range size {
		eachID(asked[taken[r]:taken[r+1]], func(id []byte) {
			key := dataset.WholeID(id)
			code, known := different.Code(key)
			if !known {
				code = different.Add(string(key))
			}
			number, first = append(number, code), append(first, !known)
		})
		received[r+1] = len(number)
	}
	answers := make([]bool, len(order))
	peers.Pass(group, answers, first, received, sent)
	isNew := make([]bool, len(order))
	for i, k := range order {
		isNew[k] = answers[i]
	}
	text = text[:0]
	for k, id := range own.IDs() {
		if isNew[k] {
			text = appendID(text, id)
		}
	}
	mine := make([]int32, len(order))
	for r, ids := range peers.Texts(group, text) {
		k := 0
		eachID(ids, func(id []byte) {
			code := all.Add(string(id))
			if r != group.Rank() {
				return
			}
			for !isNew[k] {
				k++
			}
			mine[k] = code
			k++
		})
	}
	// The process that compared the ids gets the codes of the new ones, and returns those of all.
	codes, found := make([]int32, len(order)), make([]int32, len(number))
	for i, k := range order {
		codes[i] = mine[k]
	}
	peers.Pass(group, found, codes, sent, received)
	byNumber := make([]int32, different.Len())
	for i, n := range number {
		if first[i] {
			byNumber[n] = found[i]
		}
	}
	for i, n := range number {
		found[i] = byNumber[n]
	}
	peers.Pass(group, codes, found, received, sent)
	for i, k := range order {
		mine[k] = codes[i]
	}
	return mine
}

// byShare returns the numbers of ids by share, in their order, and where those of each share start.
func byShare(ids []string, size int) (order []int32, starts []int) {
	shares, hash := make([]int32, len(ids)), fnv.New64a()
	starts = make([]int, size+1)
	for k, id := range ids {
		shares[k] = int32(shareOf(hash, dataset.WholeID([]byte(id)), size))
		starts[shares[k]+1]++
	}
	for r := range size {
		starts[r+1] += starts[r]
	}
	order = make([]int32, len(ids))
	next := slices.Clone(starts)
	for k, share := range shares {
		order[next[share]] = int32(k)
		next[share]++
	}
	return order, starts
}

// appendID appends an id with its length.
func appendID(text []byte, id string) []byte {
	return append(binary.AppendUvarint(text, uint64(len(id))), id...)
}

// eachID calls visit for ids that appendID has written.
func eachID(text []byte, visit func(id []byte)) {
	for len(text) > 0 {
		n, length := binary.Uvarint(text)
		visit(text[length:][:n])
		text = text[length+int(n):]
	}
}

// shareOf returns the share of an id, 0 to size-1.
func shareOf(hash hash.Hash64, id []byte, size int) int {
	hash.Reset()
	hash.Write(id)
	return int((hash.Sum64() >> 32) * uint64(size) >> 32)
}
