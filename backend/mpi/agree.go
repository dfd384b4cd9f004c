package mpi

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
)

// A RankError reports a rank that failed, or that differs from rank 0. All ranks have the same
// one.
type RankError struct {
	Rank, Size int
	Host       string
	Problem    string
}

func (e *RankError) Error() string {
	return fmt.Sprintf("rank %d of %d on %s: %s", e.Rank, e.Size, e.Host, e.Problem)
}

// textSize is the number of bytes of the text of a rank, which is cut off there.
const textSize = 2000

// Texts returns the texts of all ranks.
func Texts(ranks backend.Ranks, text string) []string {
	size := ranks.Size()
	all := make([]byte, size*textSize)
	copy(all[ranks.Rank()*textSize:][:textSize], text)
	backend.GatherValues(ranks, all, backend.Even(size, size), textSize)
	texts := make([]string, size)
	for r := range texts {
		texts[r] = strings.TrimRight(string(all[r*textSize:][:textSize]), "\x00")
	}
	return texts
}

// AgreeErrors returns nil if no rank has an error. If all have the same one it is returned, and
// otherwise a [*RankError] with that of the first rank.
func AgreeErrors(ranks backend.Ranks, err error) error {
	text := ""
	if err != nil {
		text = strings.ToValidUTF8(err.Error(), "?")
		text = "!" + text[:min(len(text), textSize-1)]
	}
	texts, hosts := Texts(ranks, text), Texts(ranks, Hostname())
	failed, same := -1, true
	for r, t := range texts {
		if t != "" && failed < 0 {
			failed = r
		}
		same = same && t == texts[0]
	}
	switch {
	case failed < 0:
		return nil
	case same && err != nil:
		return err
	}
	return &RankError{failed, len(texts), hosts[failed], texts[failed][1:]}
}

// AgreeSame returns a [*RankError] unless all ranks have the same value; what names it.
func AgreeSame(ranks backend.Ranks, what string, value []byte) error {
	sum := sha256.Sum256(value)
	sums, hosts := Texts(ranks, fmt.Sprintf("%x", sum)), Texts(ranks, Hostname())
	for r, s := range sums {
		if s != sums[0] {
			return &RankError{r, len(sums), hosts[r], fmt.Sprintf("%s differs from that of rank 0 on %s; start all ranks with the same program, arguments and files", what, hosts[0])}
		}
	}
	return nil
}

func Hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "an unknown host"
	}
	return name
}
