// Package cxx takes CUDA C++ source text apart into tokens and brackets. It knows no types and expands no macros.
package cxx

import (
	"bytes"
	"slices"
)

// A Kind says what a token is.
type Kind uint8

// The kinds of tokens.
const (
	Identifier Kind = iota
	Number
	Literal // a string or a character, raw strings too
	Directive
	Punctuator
)

// A Token is a piece of source text. Comments and white space are between tokens.
type Token struct {
	Kind       Kind
	Start, End int // byte offsets
	Line       int // 1-based, of its first byte
	Match      int // of brackets ( [ {: the token of the other one; -1 for none
}

// A Source is CUDA C++ text taken apart into tokens. Nothing is expanded: what the preprocessor makes of it is not seen, and a directive, with
// the lines that it continues on, is one token.
type Source struct {
	Text   []byte
	Tokens []Token
}

// NewSource takes a text apart. It takes any text: what is no C++ makes odd tokens.
func NewSource(text []byte) *Source {
	s := &Source{Text: text}
	l := lexer{text: text, line: 1, fresh: true}
	for l.next() {
		s.Tokens = append(s.Tokens, l.token)
	}
	s.pair()
	return s
}

// pair finds the other one of each bracket. One of another kind ends the search: macros may leave brackets open.
func (s *Source) pair() {
	closes := map[string]string{")": "(", "]": "[", "}": "{"}
	var open []int
	for i := range s.Tokens {
		switch t := s.At(i); t {
		case "(", "[", "{":
			open = append(open, i)
		case ")", "]", "}":
			last := len(open) - 1
			if last < 0 || s.At(open[last]) != closes[t] {
				if t == "}" { // what is open in it is no bracket of this text
					for last >= 0 && s.At(open[last]) != "{" {
						last--
					}
				}
				if last < 0 || s.At(open[last]) != closes[t] {
					continue
				}
			}
			s.Tokens[i].Match, s.Tokens[open[last]].Match = open[last], i
			open = open[:last]
		}
	}
}

// At is the text of the i-th token, "" beyond the ends and of strings and directives, which match nothing.
func (s *Source) At(i int) string {
	if i < 0 || i >= len(s.Tokens) || s.Tokens[i].Kind == Literal || s.Tokens[i].Kind == Directive {
		return ""
	}
	return string(s.Text[s.Tokens[i].Start:s.Tokens[i].End])
}

// Is reports whether the i-th token is of a kind.
func (s *Source) Is(i int, k Kind) bool { return i >= 0 && i < len(s.Tokens) && s.Tokens[i].Kind == k }

// Match is the bracket that belongs to that at i, -1 for none.
func (s *Source) Match(i int) int {
	if i < 0 || i >= len(s.Tokens) {
		return -1
	}
	return s.Tokens[i].Match
}

// Between is the text from one token to the end of another, "" where there are none.
func (s *Source) Between(first, last int) string {
	if first < 0 || last < first || last >= len(s.Tokens) {
		return ""
	}
	return string(s.Text[s.Tokens[first].Start:s.Tokens[last].End])
}

// A lexer finds one token after the other.
type lexer struct {
	text  []byte
	pos   int
	line  int
	fresh bool // only white space and comments so far on this line
	token Token
}

// operators of more than one character that the patches must not take apart; the longest come first.
var operators = []string{"<<=", ">>=", "...", "->*", "<=>", "->", "++", "--", "<<", ">=", "<=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", "##"}

// next finds the next token. A ">>" is two tokens, as it may close two template argument lists.
func (l *lexer) next() bool {
	l.skipSpace()
	if l.pos >= len(l.text) {
		return false
	}
	l.token = Token{Start: l.pos, Line: l.line, Match: -1}
	c := l.text[l.pos]
	switch {
	case c == '#' && l.fresh:
		l.token.Kind = Directive
		l.skipDirective()
	case isLetter(c):
		l.word()
	case isDigit(c) || c == '.' && l.pos+1 < len(l.text) && isDigit(l.text[l.pos+1]):
		l.token.Kind = Number
		l.skipNumber()
	case c == '"' || c == '\'':
		l.token.Kind = Literal
		l.skipString(c)
	default:
		l.token.Kind = Punctuator
		n := 1
		if i := slices.IndexFunc(operators, func(o string) bool { return bytes.HasPrefix(l.text[l.pos:], []byte(o)) }); i >= 0 {
			n = len(operators[i])
		}
		l.advance(n)
	}
	l.fresh = false
	l.token.End = l.pos
	return true
}

// word reads an identifier, or the string that it is the prefix of.
func (l *lexer) word() {
	start := l.pos
	for l.pos < len(l.text) && (isLetter(l.text[l.pos]) || isDigit(l.text[l.pos])) {
		l.pos++
	}
	l.token.Kind = Identifier
	if l.pos >= len(l.text) || l.text[l.pos] != '"' && l.text[l.pos] != '\'' {
		return
	}
	switch string(l.text[start:l.pos]) {
	case "R", "LR", "uR", "UR", "u8R":
		if l.text[l.pos] == '"' {
			l.token.Kind = Literal
			l.skipRaw()
		}
	case "L", "u", "U", "u8":
		l.token.Kind = Literal
		l.skipString(l.text[l.pos])
	}
}

// advance goes over bytes and counts their lines.
func (l *lexer) advance(n int) {
	n = min(n, len(l.text)-l.pos)
	for _, c := range l.text[l.pos : l.pos+n] {
		if c == '\n' {
			l.line++
			l.fresh = true
		}
	}
	l.pos += n
}

// spliced is the length of a line's end behind a backslash, which is none; 0 where there is none at this place.
func (l *lexer) spliced() int {
	switch rest := l.text[l.pos:]; {
	case bytes.HasPrefix(rest, []byte("\\\n")):
		return 2
	case bytes.HasPrefix(rest, []byte("\\\r\n")):
		return 3
	}
	return 0
}

func (l *lexer) skipSpace() {
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v':
			l.advance(1)
		case l.spliced() > 0:
			fresh := l.fresh
			l.advance(l.spliced())
			l.fresh = fresh
		case !l.skipComment():
			return
		}
	}
}

// skipComment goes over a comment and reports whether there was one.
func (l *lexer) skipComment() bool {
	rest := l.text[l.pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		l.skipLine(false)
	case bytes.HasPrefix(rest, []byte("/*")):
		fresh := l.fresh
		if i := bytes.Index(rest[2:], []byte("*/")); i >= 0 {
			l.advance(i + 4)
		} else {
			l.advance(len(rest))
		}
		l.fresh = l.fresh || fresh
	default:
		return false
	}
	return true
}

// skipLine goes to the end of the line, and of those that it continues on. Comments in a directive may go over lines.
func (l *lexer) skipLine(comments bool) {
	for l.pos < len(l.text) && l.text[l.pos] != '\n' {
		switch n := l.spliced(); {
		case n > 0:
			l.advance(n)
		case comments && bytes.HasPrefix(l.text[l.pos:], []byte("/*")):
			l.skipComment()
		default:
			l.pos++
		}
	}
}

func (l *lexer) skipDirective() {
	l.skipLine(true)
	for l.pos > l.token.Start && (l.text[l.pos-1] == '\r' || l.text[l.pos-1] == ' ') {
		l.pos--
	}
}

// skipNumber goes over a number with its suffix: digits, letters, points, separators, and signs of exponents.
func (l *lexer) skipNumber() {
	hex := bytes.HasPrefix(bytes.ToLower(l.text[l.pos:min(len(l.text), l.pos+2)]), []byte("0x"))
	for ; l.pos < len(l.text); l.pos++ {
		c, before := l.text[l.pos], l.text[max(l.pos-1, 0)]|0x20
		sign := (c == '+' || c == '-') && l.pos > l.token.Start && (before == 'p' || before == 'e' && !hex)
		separator := c == '\'' && l.pos+1 < len(l.text) && (isDigit(l.text[l.pos+1]) || isLetter(l.text[l.pos+1]))
		if !isLetter(c) && !isDigit(c) && c != '.' && !sign && !separator {
			return
		}
	}
}

// skipString goes over a string or a character, to the end of the line where it has no end.
func (l *lexer) skipString(quote byte) {
	for l.pos++; l.pos < len(l.text) && l.text[l.pos] != '\n'; l.pos++ {
		switch {
		case l.text[l.pos] == quote:
			l.pos++
			return
		case l.spliced() > 0:
			l.advance(l.spliced())
			l.pos--
		case l.text[l.pos] == '\\':
			l.pos = min(l.pos+1, len(l.text)-1)
		}
	}
}

// skipRaw goes over a raw string.
func (l *lexer) skipRaw() {
	open := bytes.IndexByte(l.text[l.pos:], '(')
	if open < 0 {
		l.advance(len(l.text) - l.pos)
		return
	}
	end := []byte(")" + string(l.text[l.pos+1:l.pos+open]) + `"`)
	if i := bytes.Index(l.text[l.pos+open:], end); i >= 0 {
		l.advance(open + i + len(end))
	} else {
		l.advance(len(l.text) - l.pos)
	}
}

func isLetter(c byte) bool {
	return c == '_' || c == '$' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
