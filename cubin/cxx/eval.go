package cxx

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Value is that of a constant expression: an integer, or a number with a fraction's type.
type Value struct {
	Int    int64
	Real   float64 // where IsReal
	IsReal bool
}

// Number is the value as a floating-point number.
func (v Value) Number() float64 {
	if v.IsReal {
		return v.Real
	}
	return float64(v.Int)
}

func integer(n int64) Value { return Value{Int: n} }
func real(x float64) Value  { return Value{Real: x, IsReal: true} }

func truth(b bool) Value {
	if b {
		return integer(1)
	}
	return integer(0)
}

func (v Value) isTrue() bool { return v.Number() != 0 }

// Eval evaluates the tokens from first to last as they stand, with what the text before them defines: macros, and variables by the last
// assignment that can be evaluated, wherever it stands; argc is 1. It reports false for what is no such expression.
func (s *Source) Eval(first, last int) (Value, bool) {
	looks := mostLooks
	e := evaluator{scope: &scope{s, first, 0, &looks}, s: s, pos: first, end: last}
	return e.whole()
}

// Bounds of what is followed for an expression: how deep definitions are, and how many are looked for, as each may name others twice.
const (
	mostDeep  = 16
	mostLooks = 1000
)

// A scope is where names are looked up: before a token of a text.
type scope struct {
	s      *Source
	before int
	depth  int
	looks  *int // that are left
}

// look takes one of the looks that are left, false where there is none.
func (c *scope) look() bool {
	*c.looks--
	return c.depth < mostDeep && *c.looks >= 0
}

// An evaluator reads an expression. Its tokens are those of the scope's text, or of a macro's.
type evaluator struct {
	scope    *scope
	s        *Source
	pos, end int
	bound    map[string]Value // parameters of a macro or function
	failed   bool
}

func (e *evaluator) whole() (Value, bool) {
	v := e.choice()
	return v, !e.failed && e.pos > e.end
}

func (e *evaluator) fail() Value {
	e.failed = true
	return Value{}
}

// peek is the next token's text, "" at the end. The two of >> are told as one.
func (e *evaluator) peek() string {
	if e.failed || e.pos > e.end {
		return ""
	}
	if t := e.s.At(e.pos); t != ">" || e.pos+1 > e.end || e.s.At(e.pos+1) != ">" || e.s.Tokens[e.pos].End != e.s.Tokens[e.pos+1].Start {
		return t
	}
	return ">>"
}

// take goes over the next token where it has this text.
func (e *evaluator) take(text string) bool {
	if text == "" || e.peek() != text {
		return false
	}
	e.pos++
	if text == ">>" {
		e.pos++
	}
	return true
}

// choice is an expression with ?: in it.
func (e *evaluator) choice() Value {
	v := e.binary(0)
	if !e.take("?") {
		return v
	}
	// Only the side that is chosen has to have a value.
	sides := [2]Value{}
	var failed [2]bool
	for i := range sides {
		before := e.failed
		sides[i] = e.skipping(i)
		failed[i], e.failed = e.failed && !before, before
	}
	i := 1
	if v.isTrue() {
		i = 0
	}
	if failed[i] {
		return e.fail()
	}
	return sides[i]
}

// skipping reads a side of ?: to its end, also where it has no value.
func (e *evaluator) skipping(side int) Value {
	end := e.pos
	for nested := 0; end <= e.end; end++ {
		t := e.s.At(end)
		switch {
		case t == "?":
			nested++
		case t == ":" && nested > 0:
			nested--
		case t == ":" && side == 0:
			goto found
		case (t == "(" || t == "[" || t == "{") && e.s.Match(end) > 0:
			end = e.s.Match(end)
		}
	}
found:
	inner := *e
	inner.end = end - 1
	v, ok := inner.whole()
	e.pos, e.failed = min(end+1, e.end+1), e.failed || !ok
	return v
}

// levels are the binary operators, the weakest first.
var levels = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">="}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (e *evaluator) binary(level int) Value {
	if level == len(levels) {
		return e.unary()
	}
	v := e.binary(level + 1)
	for !e.failed {
		op := e.peek()
		if !slices.Contains(levels[level], op) {
			break
		}
		e.take(op)
		v = e.operate(op, v, e.binary(level+1))
	}
	return v
}

// operate is a binary operation as C++ has it: of integers, unless one side is a floating-point number.
func (e *evaluator) operate(op string, a, b Value) Value {
	x, y := a.Number(), b.Number()
	switch op {
	case "||":
		return truth(a.isTrue() || b.isTrue())
	case "&&":
		return truth(a.isTrue() && b.isTrue())
	case "==":
		return truth(x == y)
	case "!=":
		return truth(x != y)
	case "<":
		return truth(x < y)
	case ">":
		return truth(x > y)
	case "<=":
		return truth(x <= y)
	case ">=":
		return truth(x >= y)
	}
	if a.IsReal || b.IsReal {
		switch op {
		case "+":
			return real(x + y)
		case "-":
			return real(x - y)
		case "*":
			return real(x * y)
		case "/":
			return real(x / y)
		}
		return e.fail()
	}
	n, m := a.Int, b.Int
	switch {
	case op == "+":
		return integer(n + m)
	case op == "-":
		return integer(n - m)
	case op == "*":
		return integer(n * m)
	case op == "/" && m != 0:
		return integer(n / m)
	case op == "%" && m != 0:
		return integer(n % m)
	case op == "<<" && m >= 0 && m < 63:
		return integer(n << m)
	case op == ">>" && m >= 0 && m < 63:
		return integer(n >> m)
	case op == "|":
		return integer(n | m)
	case op == "^":
		return integer(n ^ m)
	case op == "&":
		return integer(n & m)
	}
	return e.fail()
}

func (e *evaluator) unary() Value {
	switch {
	case e.take("+"):
		return e.unary()
	case e.take("-"):
		v := e.unary()
		return Value{-v.Int, -v.Real, v.IsReal}
	case e.take("!"):
		return truth(!e.unary().isTrue())
	case e.take("~"):
		return integer(^e.unary().Int)
	}
	if t := e.typeIn(e.pos); t != "" { // (float)x
		e.pos = e.s.Match(e.pos) + 1
		return cast(t, e.unary())
	}
	return e.primary()
}

// typeIn is the type that stands in the parentheses at a token, "" for none.
func (e *evaluator) typeIn(open int) string {
	closing := e.s.Match(open)
	if e.s.At(open) != "(" || closing <= open+1 || closing > e.end {
		return ""
	}
	name := e.s.Between(open+1, closing-1)
	if ElementOf(name).Name == "" {
		return ""
	}
	return name
}

// cast converts a value to a type.
func cast(to string, v Value) Value {
	switch ElementOf(to).Name[0] {
	case 'f', 'b':
		return real(v.Number())
	}
	if v.IsReal {
		return integer(int64(v.Real))
	}
	return v
}

func (e *evaluator) primary() Value {
	if e.failed || e.pos > e.end {
		return e.fail()
	}
	i := e.pos
	switch {
	case e.s.Is(i, Number):
		e.pos++
		return e.literal(e.s.At(i))
	case e.s.At(i) == "(":
		closing := e.s.Match(i)
		if closing < 0 || closing > e.end {
			return e.fail()
		}
		v := e.inner(i+1, closing-1)
		e.pos = closing + 1
		return v
	case e.s.Is(i, Identifier):
		for e.s.At(e.pos+1) == "::" && e.s.Is(e.pos+2, Identifier) { // std::min
			e.pos += 2
		}
		return e.named(e.s.At(e.pos))
	}
	return e.fail()
}

// inner evaluates tokens between brackets.
func (e *evaluator) inner(first, last int) Value {
	in := *e
	in.pos, in.end = first, last
	v, ok := in.whole()
	if !ok {
		return e.fail()
	}
	return v
}

// literal is the value of a number.
func (e *evaluator) literal(text string) Value {
	text = strings.ReplaceAll(strings.ToLower(text), "'", "")
	hex := strings.HasPrefix(text, "0x")
	if n, err := strconv.ParseInt(strings.TrimRight(text, "ulz"), 0, 64); err == nil {
		return integer(n)
	}
	if !hex {
		if x, err := strconv.ParseFloat(strings.TrimRight(text, "fl"), 64); err == nil {
			return real(x)
		}
	}
	return e.fail()
}

// named is the value of a name: a variable, a macro, a call.
func (e *evaluator) named(name string) Value {
	e.pos++
	if e.s.At(e.pos) == "<" && strings.HasSuffix(name, "_cast") {
		closing := e.pos
		for closing <= e.end && e.s.At(closing) != ">" {
			closing++
		}
		to := e.s.Between(e.pos+1, closing-1)
		e.pos = closing + 1
		if ElementOf(to).Name == "" || e.s.At(e.pos) != "(" {
			return e.fail()
		}
		return cast(to, e.primary())
	}
	if e.s.At(e.pos) == "(" && e.pos <= e.end && e.s.Match(e.pos) > 0 {
		open, closing := e.pos, e.s.Match(e.pos)
		e.pos = closing + 1
		return e.call(name, open, closing)
	}
	if v, ok := e.bound[name]; ok {
		return v
	}
	switch name {
	case "true", "false":
		return truth(name == "true")
	case "argc":
		return integer(1)
	}
	if v, ok := e.scope.variable(name); ok {
		return v
	}
	return e.fail()
}

// call is the value of a call, its arguments in brackets.
func (e *evaluator) call(name string, open, closing int) Value {
	if name == "sizeof" {
		if open+1 < closing {
			if size := ElementOf(e.s.Between(open+1, closing-1)).Bytes(); size > 0 {
				return integer(int64(size))
			}
		}
		return e.fail()
	}
	var args []Value
	for _, part := range e.s.Parts(open+1, closing-1) {
		args = append(args, e.inner(part[0], part[1]))
	}
	if e.failed {
		return Value{}
	}
	switch {
	case len(args) == 1 && (name == "ceil" || name == "ceilf"):
		return real(math.Ceil(args[0].Number()))
	case len(args) == 1 && (name == "floor" || name == "floorf"):
		return real(math.Floor(args[0].Number()))
	case len(args) == 1 && (name == "sqrt" || name == "sqrtf"):
		return real(math.Sqrt(args[0].Number()))
	case len(args) == 1 && ElementOf(name).Name != "": // int(x)
		return cast(name, args[0])
	case len(args) == 2 && (name == "min" || name == "max"):
		if (args[0].Number() < args[1].Number()) == (name == "min") {
			return args[0]
		}
		return args[1]
	}
	if v, ok := e.scope.function(name, args); ok {
		return v
	}
	return e.fail()
}

// Parts are the pieces of the tokens from first to last between the commas that stand in no bracket, by their first and last tokens.
func (s *Source) Parts(first, last int) (list [][2]int) {
	begin := first
	for i := first; i <= last; i++ {
		if s.Tokens[i].Match > i {
			i = s.Tokens[i].Match
			continue
		}
		if s.At(i) == "," {
			list = append(list, [2]int{begin, i - 1})
			begin = i + 1
		}
	}
	if begin <= last {
		list = append(list, [2]int{begin, last})
	}
	return list
}

// variable is the value of a name that is a macro or was assigned to before.
func (c *scope) variable(name string) (Value, bool) {
	if !c.look() {
		return Value{}, false
	}
	for i := c.before - 1; i >= 0; i-- {
		inner := &scope{c.s, i, c.depth + 1, c.looks}
		if c.s.Is(i, Directive) {
			if params, body, ok := c.s.macro(i, name); ok && params == nil {
				if v, ok := evalText(body, inner, nil); ok {
					return v, true
				}
			}
			continue
		}
		if c.s.At(i) != name || c.s.At(i+1) != "=" || c.s.At(i-1) == "." || c.s.At(i-1) == "->" {
			continue
		}
		end := i + 2
		for ; end < len(c.s.Tokens) && c.s.At(end) != ";" && c.s.At(end) != ","; end++ {
			if c.s.Tokens[end].Match > end {
				end = c.s.Tokens[end].Match
			}
		}
		e := evaluator{scope: inner, s: c.s, pos: i + 2, end: end - 1}
		if v, ok := e.whole(); ok {
			return v, true
		}
	}
	return Value{}, false
}

// function is the value of a macro with parameters, or of a function that does nothing but return an expression.
func (c *scope) function(name string, args []Value) (Value, bool) {
	if !c.look() {
		return Value{}, false
	}
	for i := range c.s.Tokens {
		inner := &scope{c.s, i, c.depth + 1, c.looks}
		if c.s.Is(i, Directive) {
			if params, body, ok := c.s.macro(i, name); ok && len(params) == len(args) && params != nil {
				return evalText(body, inner, bind(params, args))
			}
			continue
		}
		closing := c.s.Match(i + 1)
		if c.s.At(i) != name || c.s.At(i+1) != "(" || closing < 0 || c.s.At(closing+1) != "{" || c.s.At(closing+2) != "return" {
			continue
		}
		var params []string
		for _, part := range c.s.Parts(i+2, closing-1) {
			params = append(params, c.s.At(part[1]))
		}
		end := c.s.Match(closing+1) - 2
		if len(params) != len(args) || c.s.At(end+1) != ";" {
			continue
		}
		e := evaluator{scope: inner, s: c.s, pos: closing + 3, end: end, bound: bind(params, args)}
		return e.whole()
	}
	return Value{}, false
}

func bind(names []string, values []Value) map[string]Value {
	m := make(map[string]Value)
	for i, name := range names {
		m[strings.TrimSpace(name)] = values[i]
	}
	return m
}

// evalText evaluates a macro's text.
func evalText(text string, c *scope, bound map[string]Value) (Value, bool) {
	s := NewSource([]byte(text))
	e := evaluator{scope: c, s: s, end: len(s.Tokens) - 1, bound: bound}
	return e.whole()
}

// macro is the definition of a name by the directive at a token: its parameters, nil without brackets, and its text.
func (s *Source) macro(i int, name string) (params []string, body string, ok bool) {
	text := strings.ReplaceAll(string(s.Text[s.Tokens[i].Start:s.Tokens[i].End]), "\\\n", " ")
	text = strings.TrimSpace(strings.TrimPrefix(text, "#"))
	rest, isDefine := strings.CutPrefix(text, "define")
	rest, isName := strings.CutPrefix(strings.TrimSpace(rest), name)
	if !isDefine || !isName || rest != "" && (isLetter(rest[0]) || isDigit(rest[0])) {
		return nil, "", false
	}
	if list, after, found := strings.Cut(rest, ")"); found && strings.HasPrefix(list, "(") {
		return strings.Split(list[1:], ","), after, true
	}
	return nil, rest, true
}
