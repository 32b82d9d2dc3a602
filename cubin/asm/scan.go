package asm

import (
	"strconv"
	"strings"
)

// Kinds of statements.
const (
	labelStatement = iota
	directiveStatement
	instStatement
)

// A statement is a label, a directive with its arguments or an instruction.
type statement struct {
	kind int
	at   position
	name string // of a label or directive
	text string // of an instruction with its control code, or the arguments of a directive
	from int    // column of text
}

// scan divides the text into statements. Comments become spaces, so that columns stay.
func (a *assembler) scan(text string) ([]statement, error) {
	var list []statement
	inComment := false
	for number, line := range strings.Split(text, "\n") {
		line, open, bad := blankComments(strings.TrimSuffix(line, "\r"), inComment)
		inComment = open
		if bad >= 0 {
			return nil, a.errorAt(position{number + 1, bad + 1}, "want the string to end on its line")
		}
		var err error
		if list, err = a.scanLine(list, line, number+1); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// blankComments replaces comments by spaces, outside of strings. open says that a comment goes on in the next line; bad
// is where a string without end begins, or -1.
func blankComments(line string, inComment bool) (blanked string, open bool, bad int) {
	if !inComment && !strings.ContainsAny(line, "/\"") {
		return line, false, -1
	}
	out, quote := []byte(line), -1
	for i := 0; i < len(out); i++ {
		two := string(out[i:min(i+2, len(out))])
		switch {
		case inComment:
			if two == "*/" {
				out[i+1], inComment = ' ', false
				out[i] = ' '
				i++
			} else {
				out[i] = ' '
			}
		case quote >= 0 && out[i] == '\\':
			i++
		case out[i] == '"':
			if quote < 0 {
				quote = i
			} else {
				quote = -1
			}
		case quote >= 0:
		case two == "//":
			return string(out[:i]), false, -1
		case two == "/*":
			out[i], out[i+1], inComment = ' ', ' ', true
			i++
		}
	}
	return string(out), inComment, quote
}

// scanLine takes the labels of a line and what follows them.
func (a *assembler) scanLine(list []statement, line string, number int) ([]statement, error) {
	at := 0
	for {
		for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
			at++
		}
		if at == len(line) {
			return list, nil
		}
		name, end, err := scanName(line, at)
		if err != nil {
			return nil, a.errorAt(position{number, at + 1}, "%v", err)
		}
		after := strings.TrimLeft(line[end:], " \t")
		if name != "" && strings.HasPrefix(after, ":") {
			list = append(list, statement{kind: labelStatement, at: position{number, at + 1}, name: name})
			at = len(line) - len(after) + 1
			continue
		}
		s := statement{kind: instStatement, at: position{number, at + 1}, text: line[at:], from: at + 1}
		if line[at] == '.' {
			s.kind, s.name = directiveStatement, name
			s.text, s.from = line[end:], end+1
		}
		return append(list, s), nil
	}
}

// scanName returns the name that begins at a place of the line, which is in quotes where it has characters that names
// do not have, and where it ends. It is empty where none begins there.
func scanName(line string, at int) (name string, end int, err error) {
	if at < len(line) && line[at] == '"' {
		end = at + 1
		for end < len(line) && line[end] != '"' {
			if line[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(line))
		name, err = strconv.Unquote(line[at:end])
		return name, end, err
	}
	end = at
	for end < len(line) && nameByte(line[end], end == at) {
		end++
	}
	return line[at:end], end, nil
}

// nameByte reports whether a name can have a byte.
func nameByte(c byte, first bool) bool {
	return c == '_' || c == '$' || c == '.' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || !first && '0' <= c && c <= '9'
}

// plainName reports whether a name stands in the text without quotes.
func plainName(name string) bool {
	for i := range len(name) {
		if !nameByte(name[i], i == 0) {
			return false
		}
	}
	return name != ""
}

// args are the arguments of a directive, to be read from left to right.
type args struct {
	a    *assembler
	line string // with the columns of the file
	at   int
	pos  position // of the directive
}

func (s *statement) args(a *assembler) *args {
	return &args{a: a, line: strings.Repeat(" ", s.from-1) + s.text, at: s.from - 1, pos: s.at}
}

func (g *args) spaces() {
	for g.at < len(g.line) && (g.line[g.at] == ' ' || g.line[g.at] == '\t') {
		g.at++
	}
}

func (g *args) fail(format string, list ...any) error {
	return g.a.errorAt(position{g.pos.line, g.at + 1}, format, list...)
}

// done reports whether nothing follows.
func (g *args) done() bool {
	g.spaces()
	return g.at >= len(g.line)
}

// end makes sure that nothing follows.
func (g *args) end() error {
	if !g.done() {
		return g.fail("want the end of the line")
	}
	return nil
}

// accept skips a character if it comes next.
func (g *args) accept(c byte) bool {
	g.spaces()
	if g.at < len(g.line) && g.line[g.at] == c {
		g.at++
		return true
	}
	return false
}

// name reads a name.
func (g *args) name(what string) (string, error) {
	g.spaces()
	name, end, err := scanName(g.line, g.at)
	if err != nil || name == "" {
		return "", g.fail("want %s", what)
	}
	g.at = end
	return name, nil
}

// number reads an integer, decimal or hexadecimal, or the name of one.
func (g *args) number(what string) (int64, error) {
	g.spaces()
	end := g.at
	for end < len(g.line) && !strings.ContainsRune(" \t,=", rune(g.line[end])) {
		end++
	}
	word := g.line[g.at:end]
	if v, ok := g.a.values[word]; ok {
		g.at = end
		return v, nil
	}
	v, err := parseInt(word)
	if err != nil {
		return 0, g.fail("want %s", what)
	}
	g.at = end
	return v, nil
}

// parseInt reads an integer of 64 bits, signed or not.
func parseInt(word string) (int64, error) {
	if u, err := strconv.ParseUint(word, 0, 64); err == nil {
		return int64(u), nil
	}
	return strconv.ParseInt(word, 0, 64)
}

// count reads a number from 0 to most.
func (g *args) count(what string, most int64) (int, error) {
	g.spaces()
	at := g.at
	v, err := g.number(what)
	if err == nil && (v < 0 || v > most) {
		g.at = at
		return 0, g.fail("want %s, from 0 to %d", what, most)
	}
	return int(v), err
}

// numbers reads numbers with commas between them, at most so many.
func (g *args) numbers(what string, most int) ([]int64, error) {
	var list []int64
	for {
		v, err := g.number(what)
		if err != nil {
			return nil, err
		}
		if list = append(list, v); len(list) > most {
			return nil, g.fail("want at most %d numbers", most)
		}
		if !g.accept(',') {
			return list, g.end()
		}
	}
}

// quoted reads a string in quotes.
func (g *args) quoted(what string) (string, error) {
	g.spaces()
	if g.at >= len(g.line) || g.line[g.at] != '"' {
		return "", g.fail("want %s in quotes", what)
	}
	s, end, err := scanName(g.line, g.at)
	if err != nil {
		return "", g.fail("want %s in quotes", what)
	}
	g.at = end
	return s, nil
}
