package kernel

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/nearest"
)

// Names lists the kernels Parse knows.
func Names() []string {
	var names []string
	for _, f := range forms {
		names = append(names, f.name)
	}
	return append(names, "periodic", "constant")
}

// Parse reads a kernel: base kernels joined by + and *, * binding tighter, with
// parentheses.
//
//	matern32
//	rbf*periodic:12+matern12
//	matern32:ard[lat,lon]+(rbf[year]+constant)*periodic:12[month]
//
// :ard asks for a length-scale a column, [names] restricts to those columns;
// names with , ] or " in them are quoted as in Go.
func Parse(text string) (Kernel, error) {
	p := parser{text: text}
	k, err := p.sum()
	if err == nil && p.peek() != 0 {
		err = fmt.Errorf("%q where + or * was expected", p.rest())
	}
	if err != nil {
		return nil, fmt.Errorf("kernel %q: %w", text, err)
	}
	return k, nil
}

type parser struct {
	text  string
	at    int
	depth int
}

// peek returns the next byte that is no space, 0 at the end.
func (p *parser) peek() byte {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) rest() string { return p.text[p.at:] }

func (p *parser) take(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

// list reads one or more items with a sign between them.
func (p *parser) list(sign byte, item func() (Kernel, error)) ([]Kernel, error) {
	var all []Kernel
	for {
		k, err := item()
		if err != nil {
			return nil, err
		}
		all = append(all, k)
		if !p.take(sign) {
			return all, nil
		}
	}
}

func (p *parser) sum() (Kernel, error) {
	terms, err := p.list('+', p.product)
	if err != nil {
		return nil, err
	}
	return Sum(terms...), nil
}

func (p *parser) product() (Kernel, error) {
	factors, err := p.list('*', p.factor)
	if err != nil {
		return nil, err
	}
	return Product(factors...), nil
}

// maxDepth bounds parentheses, so that no text can exhaust the stack.
const maxDepth = 50

func (p *parser) factor() (Kernel, error) {
	if p.take('(') {
		if p.depth++; p.depth > maxDepth {
			return nil, fmt.Errorf("more than %d parentheses inside each other", maxDepth)
		}
		k, err := p.sum()
		if err != nil {
			return nil, err
		}
		p.depth--
		if !p.take(')') {
			return nil, fmt.Errorf("a parenthesis is not closed")
		}
		return k, nil
	}
	name := p.word()
	if name == "" {
		if p.peek() == 0 {
			return nil, fmt.Errorf("ends where a kernel was expected; kernels are %s", strings.Join(Names(), ", "))
		}
		return nil, fmt.Errorf("%q where a kernel was expected; kernels are %s", p.rest(), strings.Join(Names(), ", "))
	}
	if name == "constant" {
		return Constant(), nil
	}
	b, err := p.named(name)
	if err != nil {
		return nil, err
	}
	for p.take(':') {
		if option := p.word(); option != "ard" {
			return nil, fmt.Errorf("unknown option %q of %s%s; the options are ard", option, name, nearest.Hint(option, []string{"ard"}))
		}
		b.ard = true
	}
	if p.take('[') {
		if b.columns, err = p.columns(); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (p *parser) named(name string) (*base, error) {
	if name == "periodic" {
		number := ""
		if p.take(':') {
			number = p.word()
		}
		period, err := strconv.ParseFloat(number, 64)
		if err != nil || !(period > 0) || math.IsInf(period, 0) {
			return nil, fmt.Errorf("periodic needs a period above 0, as in periodic:12, not %q", number)
		}
		return Periodic(period).(*base), nil
	}
	for i := range forms {
		if forms[i].name == name {
			return newBase(&forms[i]), nil
		}
	}
	return nil, fmt.Errorf("unknown kernel %q%s; kernels are %s", name, nearest.Hint(name, Names()), strings.Join(Names(), ", "))
}

// word reads up to the next sign of the grammar. A sign inside a number's
// exponent, 1e+3, belongs to the number.
func (p *parser) word() string {
	p.peek()
	from := p.at
	for p.at < len(p.text) && !strings.ContainsRune(" \t+*():[],", rune(p.text[p.at])) {
		p.at++
		if w := p.text[from:p.at]; p.at < len(p.text) && p.text[p.at] == '+' && w[0] >= '0' && w[0] <= '9' && w[len(w)-1] == 'e' {
			p.at++
		}
	}
	return p.text[from:p.at]
}

// columns reads the names up to ].
func (p *parser) columns() ([]string, error) {
	var names []string
	for {
		var name string
		if p.peek() == '"' {
			quoted, err := strconv.QuotedPrefix(p.rest())
			if err != nil {
				return nil, fmt.Errorf("a quotation in %q is not closed", p.rest())
			}
			p.at += len(quoted)
			name, _ = strconv.Unquote(quoted)
		} else {
			end := strings.IndexAny(p.rest(), ",]")
			if end < 0 {
				return nil, fmt.Errorf("a list of columns is not closed by ]")
			}
			name = strings.TrimSpace(p.rest()[:end])
			p.at += end
		}
		if name == "" {
			return nil, fmt.Errorf("an empty name in a list of columns")
		}
		names = append(names, name)
		if p.take(']') {
			return names, nil
		}
		if !p.take(',') {
			return nil, fmt.Errorf("%q where , or ] was expected", p.rest())
		}
	}
}

func quoteColumn(name string) string {
	if strings.ContainsAny(name, `,]"\`) || strings.TrimSpace(name) != name || strconv.Quote(name) != `"`+name+`"` {
		return strconv.Quote(name)
	}
	return name
}
