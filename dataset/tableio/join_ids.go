package tableio

import (
	"encoding/binary"
	"hash"
	"hash/fnv"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// joinIDs adds the ids of all processes to a dictionary, in their order, and returns the codes of
// those of this one. Most ids are those of several processes: each looks for the first place of a
// share of all ids, chosen by a hash, so that every process adds each id once.
func joinIDs(group peers.Group, all, own *dataset.Dict) []int32 {
	var text []byte
	for _, id := range own.IDs() {
		text = append(binary.AppendUvarint(text, uint64(len(id))), id...)
	}
	texts := peers.Texts(group, text)
	size, hash := group.Size(), fnv.New64a()
	each := func(visit func(process, share int, id []byte)) {
		for r, ids := range texts {
			for len(ids) > 0 {
				n, length := binary.Uvarint(ids)
				id := ids[length:][:n]
				ids = ids[length+int(n):]
				visit(r, shareOf(hash, dataset.WholeID(id), size), id)
			}
		}
	}
	bounds := make([]int, size+1) // ids by share
	each(func(_, share int, _ []byte) { bounds[share+1]++ })
	for r := range size {
		bounds[r+1] += bounds[r]
	}
	// By share and place: the number of the same id among the different ones of the share.
	number, different, at := make([]int32, bounds[size]), dataset.NewDict(nil), bounds[group.Rank()]
	each(func(_, share int, id []byte) {
		if share != group.Rank() {
			return
		}
		key := dataset.WholeID(id)
		code, known := different.Code(key)
		if !known {
			code = different.Add(string(key))
		}
		number[at] = code
		at++
	})
	peers.Values(group, number, bounds, 1)
	codes, mine, next := make([][]int32, size), make([]int32, 0, own.Len()), bounds[:size]
	each(func(process, share int, id []byte) {
		n := number[next[share]]
		next[share]++
		if int(n) == len(codes[share]) {
			codes[share] = append(codes[share], all.Add(string(id)))
		}
		if process == group.Rank() {
			mine = append(mine, codes[share][n])
		}
	})
	return mine
}

// shareOf returns the share of an id, 0 to size-1.
func shareOf(hash hash.Hash64, id []byte, size int) int {
	hash.Reset()
	hash.Write(id)
	return int((hash.Sum64() >> 32) * uint64(size) >> 32)
}
