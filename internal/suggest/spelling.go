package suggest

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/kernel-fried-tensor/kft/internal/wholeid"
)

// Spelling says in what half or more of the ids differ from known ones that people take
// for the same, as in "apart from leading zeros"; "" if they do not.
func Spelling(ids, known []string) string {
	for _, s := range spellings {
		normal := map[string]bool{}
		for _, id := range known {
			normal[s.normal(id)] = true
		}
		matched := 0
		for _, id := range ids {
			if normal[s.normal(id)] {
				matched++
			}
		}
		if matched > 0 && 2*matched >= len(ids) {
			return s.text
		}
	}
	return ""
}

// Alike returns the first two of some ids that people take for the same, except by punctuation or
// as truth values, in what they differ, and how many ids have such an earlier one.
func Alike(ids []string) (first, second, text string, n int) {
	for _, s := range spellings[:alikeSpellings] {
		known := make(map[string]string, len(ids))
		n := 0
		for _, id := range ids {
			normal := s.normal(id)
			earlier, ok := known[normal]
			switch {
			case !ok:
				known[normal] = id
			case earlier != id:
				if n == 0 {
					first, second = earlier, id
				}
				n++
			}
		}
		if n > 0 {
			return first, second, s.text, n
		}
	}
	return "", "", "", 0
}

// alikeSpellings is the number of spellings that tell no ids of one table apart.
const alikeSpellings = 4

// spellings are normal forms of ids in which texts are equal that people take for the
// same.
var spellings = []struct {
	text   string
	normal func(id string) string
}{
	{"apart from how their spaces and accents are encoded", look},
	{"apart from upper and lower case", strings.ToLower},
	{"apart from the decimal places of a whole number", wholeid.Of[string]},
	{"apart from leading zeros", withoutZeros},
	{"apart from the words for yes and no", yesOrNo},
	{"apart from spaces and punctuation", lettersAndDigits},
}

// look returns how a text looks: with the spaces and letters of web pages, spreadsheets and macOS written in
// one way, and without marks that cannot be seen.
func look(id string) string {
	if !strings.ContainsFunc(id, func(r rune) bool { return r > unicode.MaxASCII }) && !strings.Contains(id, "  ") {
		return id
	}
	seen := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, norm.NFKC.String(id))
	return strings.Join(strings.Fields(seen), " ")
}

func withoutZeros(id string) string {
	digit := func(r rune) bool { return r >= '0' && r <= '9' }
	at := strings.IndexFunc(id, digit)
	if at < 0 {
		return id
	}
	return id[:at] + strings.TrimLeft(id[at:], "0")
}

func lettersAndDigits(id string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \u00a0_-./'\"", r) {
			return -1
		}
		return r
	}, strings.ToLower(id))
}

// yesOrNo returns 1 or 0 for the ways to write a truth value.
func yesOrNo(id string) string {
	switch lower := strings.ToLower(id); lower {
	case "true", "t", "yes", "y", "1", "1.0":
		return "1"
	case "false", "f", "no", "n", "0", "0.0":
		return "0"
	default:
		return id
	}
}

// Same returns the known id that people take for the same as an id that is not known, "" if
// there is none or more than one.
func Same(id string, known []string) string {
	for _, s := range spellings {
		found, normal := "", s.normal(id)
		for _, other := range known {
			if s.normal(other) != normal {
				continue
			}
			if found != "" {
				return ""
			}
			found = other
		}
		if found != "" {
			return found
		}
	}
	return ""
}
