package patch

import (
	"regexp"
	"strconv"

	"gpa/cubin/cxx"
)

// A loop is a statement that repeats.
type loop struct {
	keyword     int // token of for, while or do
	first, last int // its lines
	header      int // last line of its header; of do its first line
	pragma      int // token of the directive before it that says how it is unrolled, -1 for none
}

// Full is the factor of a loop that is unrolled in full.
const Full = 0

// Unroll puts #pragma unroll before the loop whose header is at a line, or else before the innermost loop around it: by a factor, Full
// for all rounds, 1 for none. A pragma that is there is replaced.
func (s *Source) Unroll(line, factor int) ([]byte, error) {
	l := s.loopAt(line)
	if l == nil {
		return nil, nothing("no loop at line %d", line)
	}
	pragma := "#pragma unroll"
	if factor != Full {
		pragma += " " + strconv.Itoa(factor)
	}
	if l.pragma >= 0 {
		t := s.Tokens[l.pragma]
		if string(s.Text[t.Start:t.End]) == pragma {
			return nil, nothing("the loop at line %d has %s already", line, pragma)
		}
		return s.apply([]edit{{t.Start, t.End, pragma}})
	}
	at := s.Tokens[l.keyword].Start
	space, first := s.indent(at)
	if !first { // if (x) for (…): the line is divided
		pragma = s.newline() + space + pragma
	}
	return s.apply([]edit{{at, at, pragma + s.newline() + space}})
}

// LoopHeader reports whether the header of a loop is at a line.
func (s *Source) LoopHeader(line int) bool {
	l := s.loopAt(line)
	return l != nil && l.first <= line && line <= l.header
}

// loopAt is the loop whose header is at a line, the innermost of several, else the innermost around it.
func (s *Source) loopAt(line int) *loop {
	var best *loop
	at := func(l *loop) bool { return l.first <= line && line <= l.header }
	for i := range s.loops {
		l := &s.loops[i]
		if l.first <= line && line <= l.last && (best == nil || at(l) || !at(best)) { // inner loops come later
			best = l
		}
	}
	return best
}

// findLoops lists the loops, in the order of their headers.
func (s *Source) findLoops() {
	ends := make(map[int]bool) // while that belongs to a do
	for i := range s.Tokens {
		if s.At(i) == "do" {
			if end := s.statementEnd(i+1, 0); end >= 0 {
				ends[end+1] = true
			}
		}
		if l := s.loop(i); l != nil && !ends[i] {
			s.loops = append(s.loops, *l)
		}
	}
}

// loop is the loop that begins at a token, nil for none.
func (s *Source) loop(i int) *loop {
	if !s.Is(i, cxx.Identifier) {
		return nil
	}
	l := &loop{keyword: i, first: s.Tokens[i].Line, pragma: -1}
	l.header = l.first
	switch s.At(i) {
	case "for", "while":
		closing := s.Match(i + 1)
		if s.At(i+1) != "(" || closing < 0 {
			return nil
		}
		l.header = s.Tokens[closing].Line
	case "do":
	default:
		return nil
	}
	end := s.statementEnd(i, 0)
	if end < 0 {
		return nil
	}
	l.last = s.Tokens[end].Line
	if s.Is(i-1, cxx.Directive) && unrolls.Match(s.Text[s.Tokens[i-1].Start:s.Tokens[i-1].End]) {
		l.pragma = i - 1
	}
	return l
}

var unrolls = regexp.MustCompile(`^#[ \t]*pragma[ \t]+(unroll|nounroll)\b`)

// deepest is how many statements may be in each other without braces.
const deepest = 100

// statementEnd is the last token of the statement that begins at a token, -1 where it has no end.
func (s *Source) statementEnd(i, depth int) int {
	if depth > deepest {
		return -1
	}
	for s.Is(i, cxx.Directive) {
		i++
	}
	switch s.At(i) {
	case "":
		if !s.Is(i, cxx.Literal) {
			return -1
		}
	case "{":
		return s.Match(i)
	case "for", "while", "switch":
		return s.behind(i+1, depth)
	case "if":
		next := i + 1
		if s.At(next) == "constexpr" {
			next++
		}
		end := s.behind(next, depth)
		if end >= 0 && s.At(end+1) == "else" {
			return s.statementEnd(end+2, depth+1)
		}
		return end
	case "do":
		end := s.statementEnd(i+1, depth+1)
		if end < 0 || s.At(end+1) != "while" || s.Match(end+2) < 0 || s.At(s.Match(end+2)+1) != ";" {
			return -1
		}
		return s.Match(end+2) + 1
	}
	return s.semicolon(i)
}

// behind is the end of the statement behind a condition in parentheses.
func (s *Source) behind(parenthesis, depth int) int {
	closing := s.Match(parenthesis)
	if s.At(parenthesis) != "(" || closing < 0 {
		return -1
	}
	return s.statementEnd(closing+1, depth+1)
}

// semicolon is the next one that is in no brackets, -1 where the block ends before.
func (s *Source) semicolon(i int) int {
	for ; i < len(s.Tokens); i++ {
		switch s.At(i) {
		case ";":
			return i
		case "(", "[", "{":
			if i = s.Match(i); i < 0 {
				return -1
			}
		case ")", "]", "}":
			return -1
		}
	}
	return -1
}
