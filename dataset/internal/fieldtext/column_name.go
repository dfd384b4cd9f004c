package fieldtext

import "strings"

// quotable are the characters with a meaning in the text of a mode. A column whose
// name contains one, or begins or ends with a space, is written in double quotes.
const quotable = "+,=()\""

// IndexUnquoted returns the index of the first c outside double quotes, or -1. A
// quote opens only where the name of a column may begin.
func IndexUnquoted(s string, c byte) int {
	begins := true
	for i := 0; i < len(s); i++ {
		if s[i] == '"' && begins {
			closing := ClosingQuote([]byte(s), i+1)
			if closing < 0 {
				return -1
			}
			i = closing
			begins = false
			continue
		}
		if s[i] == c {
			return i
		}
		begins = s[i] == ' ' && begins || strings.IndexByte("+,=(", s[i]) >= 0
	}
	return -1
}

// CutUnquoted cuts s at the first c outside double quotes.
func CutUnquoted(s string, c byte) (before, after string, found bool) {
	i := IndexUnquoted(s, c)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// UnquoteColumn returns the name of a column that may be in quotes.
func UnquoteColumn(s string) (string, bool) {
	if !strings.HasPrefix(s, `"`) {
		return s, true
	}
	if ClosingQuote([]byte(s), 1) != len(s)-1 {
		return "", false
	}
	return strings.ReplaceAll(s[1:len(s)-1], `""`, `"`), true
}

// QuoteColumn returns the name of a column as it is written in a mode.
func QuoteColumn(name string) string {
	if !strings.ContainsAny(name, quotable) && strings.TrimSpace(name) == name {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
