package kernel

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// kernelNames returns the names of all kernels.
func kernelNames() []string {
	var names []string
	for _, f := range forms {
		names = append(names, f.name)
	}
	return append(names, "periodic", "constant")
}

// Parse reads a kernel: base kernels combined by + and *, where * binds
// tighter, with parentheses.
//
//	matern32
//	rbf*periodic:12+matern12
//	matern32:ard[lat,lon]+(rbf[year]+constant)*periodic:12[month]
//
// :ard requests one length-scale per column, [names] restricts the kernel to
// those columns. Names that contain , ] or " are quoted as in Go.
func Parse(text string) (Kernel, error) {
	p := parser{text: text}
	k, err := p.sum()
	if err == nil && p.peek() != 0 {
		err = fmt.Errorf("unexpected %q, want + or *", p.rest())
	}
	if err != nil {
		return nil, fielderr.Errorf("side.kernels", "kernel %q: %w", text, err)
	}
	return k, nil
}

type parser struct {
	text  string
	at    int
	depth int
}

// peek returns the next byte that is not a space, 0 at the end.
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

// list reads one or more items separated by a sign.
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

// maxDepth limits nested parentheses, so that no text can exhaust the stack.
const maxDepth = 50

func (p *parser) factor() (Kernel, error) {
	if p.take('(') {
		if p.depth++; p.depth > maxDepth {
			return nil, fmt.Errorf("more than %d nested parentheses", maxDepth)
		}
		k, err := p.sum()
		if err != nil {
			return nil, err
		}
		p.depth--
		if !p.take(')') {
			return nil, fmt.Errorf("missing )")
		}
		return k, nil
	}
	name := p.word()
	if name == "" {
		if p.peek() == 0 {
			return nil, fmt.Errorf("unexpected end, want a kernel; kernels are %s", strings.Join(kernelNames(), ", "))
		}
		return nil, fmt.Errorf("unexpected %q, want a kernel; kernels are %s", p.rest(), strings.Join(kernelNames(), ", "))
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
			return nil, fmt.Errorf("unknown option %q of %s%s; the only option is ard", option, name, suggest.Hint(option, []string{"ard"}))
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
			return nil, fmt.Errorf("invalid period %q; use a positive number, as in periodic:12", number)
		}
		return Periodic(period).(*base), nil
	}
	for i := range forms {
		if forms[i].name == name {
			return newBase(&forms[i]), nil
		}
	}
	return nil, fmt.Errorf("unknown kernel %q%s; kernels are %s", name, suggest.Hint(name, kernelNames()), strings.Join(kernelNames(), ", "))
}

// word reads up to the next sign of the grammar. A sign inside the exponent of
// a number, 1e+3, belongs to the number.
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
				return nil, fmt.Errorf("missing closing quote in %q", p.rest())
			}
			p.at += len(quoted)
			name, _ = strconv.Unquote(quoted)
		} else {
			end := strings.IndexAny(p.rest(), ",]")
			if end < 0 {
				return nil, fmt.Errorf("missing ] after a list of columns")
			}
			name = strings.TrimSpace(p.rest()[:end])
			p.at += end
		}
		if name == "" {
			return nil, fmt.Errorf("empty name in a list of columns")
		}
		names = append(names, name)
		if p.take(']') {
			return names, nil
		}
		if !p.take(',') {
			return nil, fmt.Errorf("unexpected %q, want , or ]", p.rest())
		}
	}
}

func quoteColumn(name string) string {
	if strings.ContainsAny(name, `,]"\`) || strings.TrimSpace(name) != name || strconv.Quote(name) != `"`+name+`"` {
		return strconv.Quote(name)
	}
	return name
}
